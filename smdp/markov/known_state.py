"""Decisions with their history, and regressions on what is known at them.

A column of the state is a number at each decision; the action of a decision is one column for each
of its levels ("none could be taken" is a level of its own). An earlier column that is a straight
line of one that is known already says nothing new and is left out: so it is with baseline
variables, with the decision number, and with earlier values that the state already has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.independence.given_others import RANDOM_COSINES, ROWS_A_COLUMN, says_the_same
from smdp.independence.people import FEWEST_IN_STRATUM, PeopleRows, people_rows, take

Floats = NDArray[np.float64]

#: What is left of a column, as a share of its standard deviation, when it is known without error:
#: no more than the ridge leaves, which is the square root of 1e-6.
KNOWN = 2e-3


@dataclass(frozen=True)
class History:
    """Decisions before which `back` others are known, and what was known at each of them."""

    trajectories: Trajectories
    rows: PeopleRows
    back: int
    left_out: tuple[int, ...] = ()  # actions that were too rare to be looked at
    share_kept: float = 1.0  # of the decisions with that history

    @property
    def length(self) -> int:
        """Of the longest person's study, in decisions."""
        return int(np.flatnonzero(self.trajectories.valid.any(axis=0))[-1]) + 1

    @property
    def people(self) -> int:
        """How many have such decisions."""
        return len(np.unique(self.rows.person))

    @cached_property
    def utility(self) -> Floats:
        return np.asarray(self.trajectories.utilities[self.rows.row, self.rows.time])

    @cached_property
    def _centre_and_scale(self) -> tuple[Floats, Floats]:
        here = self.trajectories.states[self.rows.row, self.rows.time]
        centre, scale = here.mean(axis=0), here.std(axis=0)
        return centre, np.where(scale > 1e-12 * np.abs(centre), scale, 1.0)

    def states(self, lag: int) -> Floats:
        """(R, p): the standardised state so many decisions ago; -1 is the next one."""
        centre, scale = self._centre_and_scale
        values = self.trajectories.states[self.rows.row, self.rows.time - lag]
        return np.asarray((values - centre) / scale)

    def actions(self, lag: int) -> Floats:
        """(R, levels): which action was taken so many decisions ago, as standardised columns."""
        level = self.trajectories.strata[self.rows.row, self.rows.time - lag]
        hot = (level[:, None] == np.unique(level)).astype(np.float64)
        spread = hot.std(axis=0)
        moving = spread > 0
        return np.asarray((hot - hot.mean(axis=0))[:, moving] / spread[moving])

    def earlier(self, lag: int, known: Floats) -> Floats:
        """(R, c): state and action so many decisions ago, without what is known already."""
        return without_known(np.column_stack([self.states(lag), self.actions(lag)]), known)

    def known(self, look_back: int) -> Floats:
        """(R, c): the present state and, the latest first, the earlier ones with their actions."""
        found = without_known(self.states(0), np.empty((len(self.rows.row), 0)))
        for lag in range(1, look_back + 1):
            found = np.column_stack([found, self.earlier(lag, found)])
        return found


def without_known(columns: Floats, known: Floats) -> Floats:
    """The columns that change and are no straight line of a known one, or of one before them."""
    changing = columns[:, columns.std(axis=0) > 1e-9]
    if not changing.shape[1]:
        return changing
    alike = says_the_same(np.column_stack([known, changing]))
    first = known.shape[1]
    new = [j for j in range(first, len(alike)) if not alike[:j, j].any()]
    return changing[:, [j - first for j in new]]


def with_history(trajectories: Trajectories, back: int, columns: int) -> History | None:
    """The decisions with so many before them, none if too few are left.

    Of an action, there must be enough people and rows for a regression on `columns`.
    """
    whole = people_rows(trajectories, 0)
    kept = whole.time >= back
    for lag in range(back + 1):
        before = np.maximum(whole.time - lag, 0)
        kept &= trajectories.valid[whole.row, before]
        kept &= np.isfinite(trajectories.states[whole.row, before]).all(axis=1)
    kept &= np.isfinite(trajectories.states[whole.row, whole.time + 1]).all(axis=1)
    kept &= np.isfinite(trajectories.utilities[whole.row, whole.time])
    usable = []
    for level in np.unique(whole.action):
        own = kept & (whole.action == level)
        people = len(np.unique(whole.person[own]))
        if people >= FEWEST_IN_STRATUM and own.sum() >= ROWS_A_COLUMN * (columns + 1):
            usable.append(int(level))
    frequent = kept & np.isin(whole.action, usable)
    if not frequent.any():
        return None
    left_out = tuple(int(k) for k in np.unique(whole.action[kept]) if k not in usable)
    share = float(frequent.sum() / kept.sum())
    return History(trajectories, take(whole, frequent), back, left_out, share)


class Flexible:
    """The functions of known columns that a regression is on; the same for the same seed."""

    def __init__(self, random: np.random.Generator, columns: int) -> None:
        self.frequencies = random.normal(size=(columns, RANDOM_COSINES))
        self.phases = random.uniform(0, 2 * np.pi, RANDOM_COSINES)

    def __call__(self, z: Floats) -> Floats:
        """The columns, their squares, cosines and sines, and cosines of random combinations.

        In the order in which they are kept where rows are few.
        """
        width = z.shape[1]
        if not width:
            return z
        combined = z @ (self.frequencies[:width] / np.sqrt(width))
        return np.concatenate(
            [z, z * z, np.cos(z), np.sin(z), np.cos(combined + self.phases)], axis=1
        )


def weighed(left: Floats, before: Floats) -> Floats:
    """Residuals (R, 1 + p) of utility and next state, of standard deviation 1.

    The utility counts as much as all next states; zero is what was known without error.
    """
    size, whole = left.std(axis=0), before.std(axis=0)
    known = size <= KNOWN * whole
    e = np.where(known, 0.0, left / np.where(known, 1.0, size))
    e[:, 1:] /= np.sqrt(max(int((~known[1:]).sum()), 1))
    return e


def unknown(left: Floats, before: Floats) -> Floats:
    """What is left of functions; nothing of those that are known without error."""
    return np.asarray(np.where(left.std(axis=0) > KNOWN * before.std(axis=0), left, 0.0))

"""The decisions of a trial as rows of states: what estimates of a policy's value work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, listing


@dataclass(frozen=True)
class ValueRows:
    """R usable decisions of N trajectories, which belong to C subjects.

    Where nothing could be chosen, no action is allowed and the level is K. After the last decision
    of the study nobody knows whether there would have been a choice: `open_next` is then the
    share of decisions with a choice.
    """

    place: tuple[NDArray[np.int64], NDArray[np.int64]]  # (R,) each: trajectory, time
    unit: NDArray[np.int64]  # (R,): the trajectory, 0 .. N-1 without those that have no decision
    cluster: NDArray[np.int64]  # (N,): the subject of each trajectory
    level: NDArray[np.int64]  # (R,): the action, or K
    utility: NDArray[np.float64]  # (R,)
    allowed: NDArray[np.bool_]  # (R, K)
    allowed_next: NDArray[np.bool_]  # (R, K)
    open_next: NDArray[np.float64]  # (R,): the probability that something can be chosen next
    first: NDArray[np.int64]  # (N,): each trajectory's first row
    actions: int  # K
    shape: tuple[int, int]  # (n, T)
    notes: tuple[str, ...]

    @property
    def units(self) -> int:
        return len(self.first)

    @property
    def clusters(self) -> int:
        return int(self.cluster.max()) + 1

    @property
    def available(self) -> NDArray[np.bool_]:
        """(R,)"""
        return np.asarray(self.level < self.actions)

    def at(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows' values of an array (n, T, ..) or, for states, (n, T + 1, ..)."""
        return np.asarray(grid[self.place])

    def after(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        """The states (n, T + 1, ..) that follow the rows."""
        row, time = self.place
        return np.asarray(states[row, time + 1])


def value_rows(
    trajectories: Trajectories, variables: tuple[str, ...], *, following: bool = True
) -> ValueRows:
    """The valid decisions; with `following` only those whose next state is known too.

    Known in these variables: others may be missing.
    """
    chosen = trajectories.select(variables)
    labels, strata = chosen.action_labels, chosen.strata
    row, time = np.nonzero(strata >= 0)
    if len(row) == 0:
        raise DataError(
            "No transition is valid, so nothing can be estimated.",
            "Check the roles of the columns and the exclusions.",
        )
    _check(chosen, row, time)
    known = np.isfinite(chosen.states[row, time + 1]).all(axis=1)
    notes = []
    if following and not known.all():
        notes.append(f"{(~known).sum()} decisions whose next state is missing were left out.")
        row, time = row[known], time[known]
    level = strata[row, time]
    never = [f"'{label}'" for k, label in enumerate(labels) if not (level == k).any()]
    if never:
        raise DataError(
            f"Nobody received the action {listing(never)} in a usable transition, so nothing can "
            "be said about a policy that would give it.",
            "Leave it out of the actions, or join it with a similar one.",
        )
    kept, first, unit = np.unique(row, return_index=True, return_inverse=True)
    _, cluster = np.unique(np.array(chosen.subjects)[kept], return_inverse=True)
    possible = _possible(chosen)
    last = time + 1 == chosen.actions.shape[1]
    then = np.minimum(time + 1, chosen.actions.shape[1] - 1)
    choice = (level < len(labels)).mean()
    allowed_next = np.where(last[:, None], True, possible[row, then])
    return ValueRows(
        place=(row, time),
        unit=unit,
        cluster=cluster,
        level=level,
        utility=chosen.utilities[row, time],
        allowed=possible[row, time],
        allowed_next=allowed_next,
        open_next=np.where(last, choice, allowed_next.any(axis=1).astype(float)),
        first=first,
        actions=len(labels),
        shape=chosen.actions.shape,
        notes=tuple(notes),
    )


def _possible(trajectories: Trajectories) -> NDArray[np.bool_]:
    """(n, T, K): the actions that could be chosen; a known probability of 0 rules one out."""
    return np.asarray(trajectories.available[:, :, None] & (trajectories.probabilities != 0))


def _check(trajectories: Trajectories, row: NDArray[np.int64], time: NDArray[np.int64]) -> None:
    complete = np.isfinite(trajectories.states[row, time]).all()
    if not (complete and np.isfinite(trajectories.utilities[row, time]).all()):
        raise DataError(
            "States or utilities are missing in transitions that are marked as valid.",
            "Prepare the data first, so that missing values are imputed.",
        )

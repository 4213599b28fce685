"""A process like a study's that is Markov, stationary and randomised by construction.

It is for asking how often a check is right. Utility and next state are drawn from regressions of
the study on the state, one for each action,

    (U, S') = m_a(S) + (e, r),

with what the regressions leave, (e, r), taken from a decision of the study with that action, at
random and anew at each decision. So nothing lasts but by the state, and nothing changes with time;
lengths, gaps, availability and probabilities are those of the study. (A draw that is to look like
the study itself, with people's own levels and their own series, is another thing.)

A *violation* is planted on top: `lasting` (what was one step before moves the utility and the first
variable that changes), `drift` (the effect of the last action falls by twice the size), `hidden` (a
hidden state that lasts moves both treatment and utility), `by level` (the worse an outcome, the
more often it is missing).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError

Floats = NDArray[np.float64]
Violation = Literal["lasting", "drift", "hidden", "by level"]
VIOLATIONS: tuple[Violation, ...] = ("lasting", "drift", "hidden", "by level")

#: How large a planted violation is: in standard deviations of what the state leaves of the utility;
#: of `hidden`, on the scale of the logit too; of `by level`, on that scale alone.
SIZES: dict[Violation, float] = {"lasting": 0.35, "drift": 0.4, "hidden": 0.7, "by level": 1.0}
#: How much of a hidden state is left after one decision.
HIDDEN_LASTS = 0.9
#: At least such a share of the outcomes is missing in draws about missing outcomes.
LEAST_MISSING = 0.1

RIDGE = 0.01  # a share of the rows
MOST_VALUES = 12
FEWEST_ROWS = 3  # a column of the regression


@dataclass(frozen=True)
class PlainProcess:
    """What draws are made with; see `fit_process`."""

    study: Trajectories
    centre: Floats  # (p,)
    scale: Floats  # (p,)
    low: Floats  # (p,)
    high: Floats
    seen: tuple[Floats | None, ...]  # (p,): the values of a variable that has few
    surfaces: dict[int, Floats]  # by level of the action: (1 + 2p, 1 + p)
    left: dict[int, Floats]  # (rows, 1 + p)
    still: NDArray[np.bool_]  # (p,): never changes within a person
    replayed: tuple[int, ...]  # the decision number
    chances: Floats  # (n, T, K)
    missing: float  # share of the outcomes that are missing in draws about that

    @property
    def moving(self) -> int:
        """A variable that changes, with many values where there is one."""
        fit = [j for j in np.flatnonzero(~self.still).tolist() if j not in self.replayed]
        fine = [j for j in fit if self.seen[j] is None]
        return next(iter([*fine, *fit, 0]))

    @property
    def spread(self) -> float:
        """Of what the state leaves of the utility."""
        return float(np.concatenate([each[:, 0] for each in self.left.values()]).std()) or 1.0


def fit_process(trajectories: Trajectories, missing: float = 0.0) -> PlainProcess:
    """The regressions. `missing`: the share of the study's outcomes that are missing."""
    rows = trajectories.rows()
    states, after = rows.at(trajectories.states), rows.after(trajectories.states)
    utility, level = rows.at(trajectories.utilities), rows.at(trajectories.strata)
    whole = np.isfinite(states).all(axis=1) & np.isfinite(after).all(axis=1) & np.isfinite(utility)
    if not whole.any():
        raise DataError("No decision is complete, so that nothing like it can be simulated.")
    states, after, utility, level = states[whole], after[whole], utility[whole], level[whole]
    centre, spread = states.mean(axis=0), states.std(axis=0)
    scale = np.where(spread > 1e-12 * np.abs(centre), spread, 1.0)
    still = np.array([not each.changes for each in trajectories.about])
    replayed = tuple(
        j for j, each in enumerate(trajectories.about) if each.comes_from == "decision number"
    )
    design = _design((states - centre) / scale)
    both = np.column_stack([utility, after])
    surfaces, left = {}, {}
    common = _ridge(design, both)
    for each in np.unique(level).tolist():
        own = level == each
        enough = own.sum() >= FEWEST_ROWS * design.shape[1]
        found = _ridge(design[own], both[own]) if enough else common
        surfaces[each], left[each] = found, both[own] - design[own] @ found
    values = [np.unique(column) for column in states.T]
    return PlainProcess(
        study=trajectories,
        centre=centre,
        scale=scale,
        low=states.min(axis=0),
        high=states.max(axis=0),
        seen=tuple(each if len(each) <= MOST_VALUES else None for each in values),
        surfaces=surfaces,
        left=left,
        still=still,
        replayed=replayed,
        chances=_chances(trajectories),
        missing=max(LEAST_MISSING, missing),
    )


def draw(
    process: PlainProcess,
    seed: int,
    violation: Violation | None = None,
    *,
    gaps: bool = False,
    size: float | None = None,
) -> Trajectories:
    """Another study. `gaps`: outcomes are missing, by chance or, as a violation, by their level."""
    study, random = process.study, np.random.default_rng(seed)
    n, times = study.actions.shape
    planted = SIZES.get(violation, 0.0) if violation and size is None else (size or 0.0)
    state = _beginnings(process, random.permutation(n))
    states = np.full(study.states.shape, np.nan)
    actions = np.full((n, times), -1)
    utilities = np.full((n, times), np.nan)
    before, hidden = state, random.normal(size=n)
    moving = process.moving
    for t in range(times):
        for j in process.replayed:
            state[:, j] = np.where(np.isfinite(study.states[:, t, j]), study.states[:, t, j], t + 1)
        states[:, t] = state
        tilt = np.asarray(planted * hidden if violation == "hidden" else np.zeros(n))
        action = _actions(process, t, tilt, random)
        utility, ahead = _step(process, state, action, random)
        if violation == "lasting":
            past = (before[:, moving] - process.centre[moving]) / process.scale[moving]
            utility = utility + planted * process.spread * past
            spread = np.concatenate([each[:, 1 + moving] for each in process.left.values()]).std()
            ahead[:, moving] += planted * spread * past
        if violation == "drift":
            last = len(study.action_labels) - 1
            share = process.chances[:, t, last]
            now = 1 - 2 * t / max(times - 1, 1)
            utility = utility + planted * process.spread * now * ((action == last) - share)
        if violation == "hidden":
            utility = utility + planted * process.spread * hidden
            noise = np.sqrt(1 - HIDDEN_LASTS**2) * random.normal(size=n)
            hidden = HIDDEN_LASTS * hidden + noise
        actions[:, t], utilities[:, t] = action, utility
        before, state = state, _within_reach(process, ahead, state)
    states[:, times] = state
    states[np.isnan(study.states)] = np.nan
    known = study.valid
    actions[~known & (study.actions < 0)] = -1
    utilities[~known] = np.nan
    if gaps:
        utilities[_gaps(process, utilities, violation, planted, random)] = np.nan
    return replace(
        study,
        states=states,
        actions=np.where(study.available, actions, -1),
        utilities=utilities,
    )


def _design(z: Floats) -> Floats:
    return np.column_stack([np.ones(len(z)), z, np.minimum(z * z, 9.0)])


def _ridge(design: Floats, values: Floats) -> Floats:
    gram = design.T @ design
    penalty = np.full(len(gram), RIDGE * len(design))
    penalty[0] = 1e-9 * len(design)
    # Lines are hardly held back: an earlier value that is a state is then handed on as it is.
    penalty[1 : 1 + design.shape[1] // 2] = 1e-6 * len(design)
    gram[np.diag_indices_from(gram)] += penalty
    return np.asarray(np.linalg.solve(gram, design.T @ values))


def _chances(trajectories: Trajectories) -> Floats:
    """(n, T, K): the stated probabilities, else how often each action was taken."""
    given = trajectories.probabilities
    taken = trajectories.actions[trajectories.valid & trajectories.available]
    shares = np.bincount(taken[taken >= 0], minlength=len(trajectories.action_labels))
    shares = shares / max(shares.sum(), 1)
    known = np.asarray(np.isfinite(given).all(axis=2, keepdims=True))
    return np.where(known, np.nan_to_num(given), shares)


def _beginnings(process: PlainProcess, order: NDArray[np.int64]) -> Floats:
    """(n, p): the first known states, of other people; what never changes goes with them."""
    states = process.study.states
    known = np.asarray(np.isfinite(states).all(axis=2))
    first = known.argmax(axis=1)
    found = states[np.arange(len(states)), first]
    found = np.where(known.any(axis=1, keepdims=True), found, process.centre)
    return found[order].copy()


def _actions(
    process: PlainProcess, t: int, tilt: Floats, random: np.random.Generator
) -> NDArray[np.int64]:
    """(n,): by their probabilities, the last of them tilted; K where none can be taken."""
    chance = process.chances[:, t]
    odds = chance.copy()
    odds[:, -1] *= np.exp(tilt)
    total = odds.sum(axis=1, keepdims=True)
    odds = odds / np.where(total > 0, total, 1.0)
    action = (random.random(len(odds))[:, None] > np.cumsum(odds, axis=1)).sum(axis=1)
    action = np.minimum(action, odds.shape[1] - 1)
    return np.where(process.study.available[:, t], action, odds.shape[1])


def _step(
    process: PlainProcess,
    state: Floats,
    action: NDArray[np.int64],
    random: np.random.Generator,
) -> tuple[Floats, Floats]:
    design = _design((state - process.centre) / process.scale)
    found = np.zeros((len(state), 1 + state.shape[1]))
    pick = random.random(len(state))
    for each in np.unique(action).tolist():
        own = action == each
        level = each if each in process.surfaces else next(iter(process.surfaces))
        left = process.left[level]
        found[own] = design[own] @ process.surfaces[level]
        found[own] += left[(pick[own] * len(left)).astype(np.int64)]
    return found[:, 0], found[:, 1:]


def _within_reach(process: PlainProcess, ahead: Floats, state: Floats) -> Floats:
    """Within the range that was seen; of a variable with few values, the nearest of them."""
    found = np.clip(ahead, process.low, process.high)
    for j, values in enumerate(process.seen):
        if values is not None:
            middle = (values[1:] + values[:-1]) / 2
            found[:, j] = values[np.searchsorted(middle, found[:, j])]
    return np.where(process.still, state, found)


def _gaps(
    process: PlainProcess,
    utilities: Floats,
    violation: Violation | None,
    planted: float,
    random: np.random.Generator,
) -> NDArray[np.bool_]:
    known = np.isfinite(utilities)
    z = (utilities - utilities[known].mean()) / (utilities[known].std() or 1.0)
    odds = process.missing / (1 - process.missing)
    if violation == "by level":
        odds = odds * np.exp(-planted * np.nan_to_num(z))
    return known & (random.random(utilities.shape) < odds / (1 + odds))

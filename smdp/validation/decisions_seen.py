"""What was known at each decision, as it was seen: nothing filled in, nothing left out.

Tests of how treatment was assigned, and of what is missing, must not use values that were filled
in: what fills a gap comes from before and after it, and so knows what the treatment did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.prepare import CompletedStudy
from smdp.data.to_trajectories import utilities_of
from smdp.data.trajectories import Trajectories

Floats = NDArray[np.float64]

#: Of a nominal variable, so many levels become columns.
MOST_LEVELS = 12


@dataclass(frozen=True)
class DecisionsSeen:
    """n trajectories of at most T decisions; those of one name are one person.

    `there`: the table has a row of this decision; `on_grid`: it lies within the trajectory.
    """

    person: NDArray[np.int64]  # (n,)
    states: Floats  # (n, T, c), NaN where not observed
    belongs: tuple[str, ...]  # (c,): the variable of each column
    actions: NDArray[np.int64]  # (n, T), -1 where unknown or none could be taken
    available: NDArray[np.bool_]  # (n, T)
    probabilities: Floats  # (n, T, K), NaN where unknown
    utilities: Floats  # (n, T), NaN where missing
    there: NDArray[np.bool_]  # (n, T)
    on_grid: NDArray[np.bool_]  # (n, T)
    labels: tuple[str, ...]  # K

    @property
    def people(self) -> int:
        return len(np.unique(self.person))

    @property
    def decisions(self) -> int:
        return int(self.there.sum())

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """(n, T): there was a choice, and it is known which."""
        return self.there & self.available & (self.actions >= 0)


def seen_in_study(completed: CompletedStudy) -> DecisionsSeen:
    """Of those who were not left out, with the values as the table has them."""
    study, arranged = completed.study, completed.arranged
    place = {name: i for i, name in enumerate(arranged.subjects)}
    kept = [place[name] for name in study.subjects]
    times = study.present.shape[1]
    values = arranged.values[kept][:, :times]
    columns, belongs = [], []
    for j, variable in enumerate(study.variables):
        own = values[:, :, j]
        if variable.kind == "nominal":
            for code, _ in variable.levels[1:MOST_LEVELS]:
                columns.append(np.where(np.isnan(own), np.nan, own == code))
                belongs.append(variable.belongs_to)
        else:
            columns.append(own)
            belongs.append(variable.belongs_to)
    on_grid = study.on_grid
    return DecisionsSeen(
        person=_numbers(study.subjects),
        states=np.stack(columns, axis=2),
        belongs=tuple(belongs),
        actions=study.actions,
        available=study.available,
        probabilities=study.probabilities,
        utilities=utilities_of(study, values),
        there=study.present & on_grid,
        on_grid=on_grid,
        labels=study.action_labels,
    )


def seen_in_trajectories(trajectories: Trajectories) -> DecisionsSeen:
    """Of trajectories, their transitions.

    A gap cannot be told there from a decision at which no action could be taken: both have a state
    that is known or filled in, and neither action nor outcome.
    """
    states, there = trajectories.states[:, :-1], trajectories.valid
    return DecisionsSeen(
        person=_numbers(trajectories.subjects),
        states=states,
        belongs=tuple(each.belongs_to for each in trajectories.about),
        actions=trajectories.actions,
        available=trajectories.available,
        probabilities=trajectories.probabilities,
        utilities=trajectories.utilities,
        there=there,
        on_grid=there,
        labels=trajectories.action_labels,
    )


def standardised_state(seen: DecisionsSeen) -> tuple[Floats, Floats]:
    """(n, T, c) twice: standardised values, 0 where they were not seen; and whether they were."""
    known = np.isfinite(seen.states) & seen.there[:, :, None]
    filled = np.where(known, seen.states, 0.0)
    count = np.maximum(known.sum(axis=(0, 1)), 1)
    mean = filled.sum(axis=(0, 1)) / count
    gap = np.where(known, seen.states - mean, 0.0)
    spread = np.sqrt((gap**2).sum(axis=(0, 1)) / count)
    scale = np.where(spread > 1e-12 * np.abs(mean), spread, 1.0)
    return gap / scale, known.astype(np.float64)


def standardised_utility(seen: DecisionsSeen) -> tuple[Floats, Floats]:
    """(n, T) twice, as for the state."""
    known = np.isfinite(seen.utilities) & seen.there
    if not known.any():
        return np.zeros(known.shape), known.astype(np.float64)
    mean, spread = seen.utilities[known].mean(), seen.utilities[known].std()
    gap = np.where(known, seen.utilities - mean, 0.0)
    return gap / (spread if spread > 0 else 1.0), known.astype(np.float64)


def mean_before(values: Floats, known: Floats) -> Floats:
    """(n, T): the mean of what was seen earlier, drawn towards 0 as much as one decision would."""
    total = np.cumsum(values * known, axis=1) - values * known
    count = np.cumsum(known, axis=1) - known
    return np.asarray(total / (1 + count))


def fading_sum(values: Floats, keep: float) -> Floats:
    """(n, T): of earlier values, each counting `keep` times as much as the one after it."""
    found = np.zeros(values.shape)
    for t in range(1, values.shape[1]):
        found[:, t] = keep * found[:, t - 1] + values[:, t - 1]
    return found * np.sqrt(1 - keep**2)


def shifted(values: NDArray, by: int) -> NDArray:
    """(n, T, ..): what was so many decisions before (after, where `by` is negative); else 0."""
    found = np.zeros_like(values)
    if by > 0:
        found[:, by:] = values[:, :-by]
    elif by < 0:
        found[:, :by] = values[:, -by:]
    return found


def _numbers(names: tuple[str, ...]) -> NDArray[np.int64]:
    return np.unique(np.array(names, dtype=str), return_inverse=True)[1]

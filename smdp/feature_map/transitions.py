"""Transitions as rows, folds of subjects, and the standardised training sets of the networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import Rows, numbered, require_complete
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError

#: How many ways to divide the subjects are tried before an action is called too rare.
ATTEMPTS = 200

Chosen = NDArray[np.bool_] | slice
EVERY_ROW = slice(None)


@dataclass(frozen=True)
class Transitions(Rows):
    """R valid transitions (s, action, (u, s')).

    Decisions without a choice ("unavailable") are a level of their own, with a network of their
    own, where every fold has two subjects with such decisions; otherwise they are left out.
    """

    states: NDArray[np.float64]  # (R, p)
    outcomes: NDArray[np.float64]  # (R, 1 + p): the utility, then the next state
    head: NDArray[np.int64]  # (R,): which network predicts the row
    fold: NDArray[np.int64]  # (R,)
    heads: int
    folds: int
    of_variable: tuple[int, ...] = ()  # p: columns of one variable have the same number

    @property
    def columns(self) -> int:
        return self.states.shape[1]

    def select(self, columns: Sequence[int]) -> Transitions:
        """The process (U, S_J): only these variables, as states and as outcomes."""
        kept = list(columns)
        outcomes = self.outcomes[:, [0, *(1 + j for j in kept)]]
        of_variable = tuple(self.of_variable[j] for j in kept) if self.of_variable else ()
        return replace(
            self, states=self.states[:, kept], outcomes=outcomes, of_variable=of_variable
        )

    @property
    def strata(self) -> NDArray[np.int64]:
        """(n, T): the head, -1 where there is no row."""
        grid = np.full(self.shape, -1, dtype=np.int64)
        grid[self.row, self.time] = self.head
        return grid


def transitions(trajectories: Trajectories, folds: int, random: np.random.Generator) -> Transitions:
    """The rows of the trajectories, divided into folds of subjects."""
    labels = [f"'{label}'" for label in trajectories.action_labels]
    rows, subject = trajectories.rows(), numbered(np.array(trajectories.subjects))
    level = rows.at(trajectories.strata)
    taken = np.zeros((subject.max() + 1, len(labels) + 1), dtype=bool)
    taken[subject[rows.row], level] = True
    fold = _divide(taken, labels, folds, random)
    per_fold = [taken[fold == f, -1].sum() for f in range(folds)]
    heads = len(labels) + int(min(per_fold) >= 2)
    kept = level < heads
    rows, states = rows.take(kept), trajectories.states
    found = Transitions(
        row=rows.row,
        time=rows.time,
        subject=rows.subject,
        shape=rows.shape,
        states=rows.at(states),
        outcomes=np.column_stack([rows.at(trajectories.utilities), rows.after(states)]),
        head=level[kept],
        fold=fold[subject[rows.row]],
        heads=heads,
        folds=folds,
        of_variable=_of_variable(trajectories),
    )
    require_complete(found.states, found.outcomes)
    return found


def _of_variable(trajectories: Trajectories) -> tuple[int, ...]:
    place = {name: k for k, name in enumerate(trajectories.wholes)}
    return tuple(place[each.belongs_to] for each in trajectories.about)


def _divide(
    taken: NDArray[np.bool_], labels: list[str], folds: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """(subjects,): folds in which every action is taken by two subjects, found by trying."""
    subjects = len(taken)
    rarest = int(np.argmin(taken[:, :-1].sum(axis=0)))
    if taken[:, rarest].sum() >= 2 * folds:
        for _ in range(ATTEMPTS):
            fold = random.permutation(np.arange(subjects) % folds)
            if all((taken[fold == f, :-1].sum(axis=0) >= 2).all() for f in range(folds)):
                return fold
    raise DataError(
        f"The action {labels[rarest]} was taken by {taken[:, rarest].sum()} of {subjects} "
        f"subjects, which leaves a fold of the {folds} with fewer than two of them.",
        "Use fewer folds (the setting 'folds'), join rare actions, or add subjects.",
    )


def some_people(rows: Transitions, most: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """(R,): about `most` rows, all those of people drawn at random; every row if there are fewer.

    Each fold gives the same share of its people: more than that share of the rows where otherwise
    an action would be taken by fewer than two people of some fold.
    """
    person_fold = np.zeros(rows.subjects, dtype=np.int64)
    person_fold[rows.subject] = rows.fold
    taken = np.zeros((rows.subjects, rows.heads), dtype=bool)
    taken[rows.subject, rows.head] = True
    place = random.permutation(rows.subjects)
    in_fold = np.empty(rows.subjects)  # 0 .. 1: the place among those of the fold
    for k in range(rows.folds):
        own = np.flatnonzero(person_fold == k)
        in_fold[own[np.argsort(place[own])]] = np.arange(len(own)) / len(own)
    share = most / len(rows.head)
    while share < 1:
        drawn = in_fold < share
        of_fold = [taken[drawn & (person_fold == k)].sum(axis=0) for k in range(rows.folds)]
        if np.min(of_fold) >= 2:
            return np.asarray(drawn[rows.subject])
        share *= 1.5
    return np.ones(len(rows.head), dtype=bool)


@dataclass(frozen=True)
class Scale:
    """Means and standard deviations of columns; constant columns are only centred."""

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Scale:
        mean, sd = values.mean(axis=0), values.std(axis=0)
        return cls(mean, np.where(sd <= 1e-13 * np.abs(mean), 1.0, sd))

    def standardise(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((values - self.mean) / self.sd)


@dataclass(frozen=True)
class TrainingSets:
    """The rows without each fold (sets 0 .. folds-1) and all rows (the last set).

    Each set is standardised with the means and deviations of its own training rows.
    """

    rows: Transitions

    @property
    def everything(self) -> int:
        return self.rows.folds

    def training(self, which: int) -> NDArray[np.bool_]:
        """(R,): the rows that the set is trained on; all if it is the last."""
        return self.rows.fold != which

    @cached_property
    def scales(self) -> tuple[tuple[Scale, Scale], ...]:
        """For each set, those of the states and of the outcomes."""
        return tuple(
            (Scale.of(self.rows.states[used]), Scale.of(self.targets(which)[used]))
            for which, used in enumerate(map(self.training, range(self.rows.folds + 1)))
        )

    def targets(self, which: int) -> NDArray[np.float64]:
        """(R, outputs): what the networks of a set predict, in its own units."""
        return self.rows.outcomes

    @property
    def outputs(self) -> int:
        return self.targets(0).shape[1]

    def states(self, which: int, rows: Chosen = EVERY_ROW) -> NDArray[np.float64]:
        return self.scales[which][0].standardise(self.rows.states[rows])

    def outcomes(self, which: int, rows: Chosen = EVERY_ROW) -> NDArray[np.float64]:
        return self.scales[which][1].standardise(self.targets(which)[rows])

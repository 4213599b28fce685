"""Decisions of people, one below the other, as the tests by person need them.

Rows are in the order of people and, within a person, of strata.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from smdp.data.rows import Rows, numbered
from smdp.data.trajectories import Trajectories

#: A stratum needs as many people, and on average as many rows, to be worth its own means.
FEWEST_IN_STRATUM = 4
ROWS_A_STRATUM = 30
#: Strata may leave out no more of the rows than this.
MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class PeopleRows:
    """R rows of n people, each in a stratum."""

    row: NDArray[np.int64]  # (R,): the trajectory
    time: NDArray[np.int64]  # (R,)
    person: NDArray[np.int64]  # (R,): 0 .. n-1
    action: NDArray[np.int64]  # (R,): 0 .. K-1, K where none could be taken
    stratum: NDArray[np.int64]  # (R,): 0 .. strata-1
    people: int  # n, also those without a row here

    @property
    def strata(self) -> int:
        return int(self.stratum.max()) + 1

    @cached_property
    def by_action(self) -> Cells:
        """By person and action: a stratum has one action, so these are in order too."""
        return Cells(self.person, self.action)

    @cached_property
    def at_time(self) -> Groups:
        return Groups(numbered(self.time))

    @cached_property
    def in_stratum(self) -> Groups:
        return Groups(self.stratum)

    @cached_property
    def leverage(self) -> NDArray[np.float64]:
        """(R,): how far each row pulls the means of its time and of its stratum towards itself."""
        time, stratum = self.at_time.group, self.stratum
        times = len(self.at_time.size)
        counts = np.diag(np.append(self.at_time.size, self.in_stratum.size))
        np.add.at(counts, (time, times + stratum), 1)
        np.add.at(counts, (times + stratum, time), 1)
        inverse = np.linalg.pinv(counts, hermitian=True)
        return np.asarray(
            inverse[time, time]
            + inverse[times + stratum, times + stratum]
            + 2 * inverse[time, times + stratum]
        )

    @cached_property
    def of_person(self) -> Groups:
        return Groups(self.person)


class Cells:
    """Neighbouring rows of one person with the same level of something."""

    def __init__(self, person: NDArray[np.int64], level: NDArray[np.int64]) -> None:
        new = (person[1:] != person[:-1]) | (level[1:] != level[:-1])
        start = np.flatnonzero(np.append(True, new))
        ends = [*start[1:].tolist(), len(person)]
        #: Of each cell: the person, the level, the rows.
        self.spans = [
            (who, which, slice(first, end))
            for who, which, first, end in zip(
                person[start].tolist(), level[start].tolist(), start.tolist(), ends, strict=True
            )
        ]
        self.levels = int(level.max()) + 1
        self.rows = [np.flatnonzero(level == k) for k in range(self.levels)]
        self.size = np.array([len(each) for each in self.rows])


class Groups:
    """Rows that belong together: their means, quickly."""

    def __init__(self, group: NDArray[np.int64]) -> None:
        self.group = group
        rows = len(group)
        self.size = np.bincount(group).astype(np.float64)
        ones = np.ones(rows)
        self._sum = csr_array((ones, (group, np.arange(rows))), shape=(len(self.size), rows))

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(groups, d)"""
        return np.asarray(self._sum @ values)

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(groups, d)"""
        return self.sums(values) / np.maximum(self.size, 1)[:, None]


def centred(values: NDArray[np.float64], *groups: Groups, sweeps: int = 4) -> NDArray[np.float64]:
    """(R, d): without the means of all the groups, taken in turn until they are gone."""
    left = values.copy()
    for _ in range(sweeps if len(groups) > 1 else 1):
        for each in groups:
            left -= each.means(left)[each.group]
    return left


def people_rows(trajectories: Trajectories, past: int) -> PeopleRows:
    """The valid decisions, in strata of the last `past` + 1 actions.

    Before a trajectory's beginning, and where an earlier decision is not valid, the earlier action
    is a level of its own.
    """
    rows: Rows = trajectories.rows()
    stratum = _of_last_actions(trajectories.strata, rows, past)
    order = np.lexsort((rows.time, rows.row, stratum, rows.subject))
    return PeopleRows(
        row=rows.row[order],
        time=rows.time[order],
        person=rows.subject[order],
        action=rows.at(trajectories.strata)[order],
        stratum=stratum[order],
        people=rows.subjects,
    )


def _of_last_actions(actions: NDArray[np.int64], rows: Rows, past: int) -> NDArray[np.int64]:
    unknown = int(actions.max()) + 1
    code = np.zeros(len(rows.row), dtype=np.int64)
    for lag in range(past + 1):
        earlier = rows.time - lag
        taken = np.where(earlier >= 0, actions[rows.row, np.maximum(earlier, 0)], -1)
        code = code * (unknown + 1) + np.where(taken < 0, unknown, taken)
    return numbered(code)


def in_large_strata(rows: PeopleRows) -> NDArray[np.bool_]:
    """(R,): in a stratum of enough people, at a time with somebody else."""
    pairs = np.unique(np.column_stack([rows.stratum, rows.person]), axis=0)
    enough = np.bincount(pairs[:, 0], minlength=rows.strata) >= FEWEST_IN_STRATUM
    kept = enough[rows.stratum]
    company = np.bincount(rows.time[kept], minlength=int(rows.time.max()) + 1)
    return np.asarray(kept & (company[rows.time] >= 2))


def take(rows: PeopleRows, kept: NDArray[np.bool_]) -> PeopleRows:
    return PeopleRows(
        row=rows.row[kept],
        time=rows.time[kept],
        person=rows.person[kept],
        action=rows.action[kept],
        stratum=numbered(rows.stratum[kept]),
        people=rows.people,
    )


def finest_strata(trajectories: Trajectories, most: int) -> tuple[PeopleRows, int]:
    """Rows in strata of as many of the last actions as the data allow, and how many earlier ones.

    The present action alone always goes, with the rows that it leaves.
    """
    for past in range(most, 0, -1):
        rows = people_rows(trajectories, past)
        kept = in_large_strata(rows)
        if kept.mean() >= 1 - MOST_LEFT_OUT:
            fine = take(rows, kept)
            if len(fine.row) >= ROWS_A_STRATUM * fine.strata:
                return fine, past
    rows = people_rows(trajectories, 0)
    return take(rows, in_large_strata(rows)), 0

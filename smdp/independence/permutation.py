"""Permutations within groups of subjects, and the p-values that they give.

Subjects of one group (a level of the action, say) are exchangeable under the null hypothesis;
subjects of different groups need not be. When a group is small there may be so few rearrangements
that all can be listed: then the p-value is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations as arrangements
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: Fewer subjects than this in a stratum say nothing: the stratum is left out.
SMALLEST_STRATUM = 4

#: Columns of a block of permutations. Part of the random stream's definition, not a tuning knob:
#: changing it changes results for a given seed.
BLOCK_COLUMNS = 1000

#: Statistics closer than this, relative to the largest value that they could have, are tied.
TIE_TOLERANCE = 1e-12


class Kernel(Protocol):
    """The statistics of p variables under given rearrangements of the subjects."""

    @property
    def scale(self) -> NDArray[np.float64]:
        """(p,): a bound on each statistic that no rearrangement changes."""
        ...

    def permuted(
        self, permutation: NDArray[np.intp], between: Callable[[], None]
    ) -> NDArray[np.float64]:
        """(p, B): statistics with subject i's outcome replaced by subject permutation[i, b]'s."""
        ...


@dataclass(frozen=True)
class PermutationPlan:
    """Which rearrangements the observed one is compared with.

    `groups` are index arrays that together hold 0 .. n-1 once each; only members of one group
    change places. If all rearrangements are no more than `requested` (besides the observed one),
    each is used once; otherwise `requested` are drawn at random.
    """

    groups: tuple[NDArray[np.intp], ...]
    requested: int

    @property
    def exact(self) -> bool:
        total = 1
        for group in self.groups:
            for factor in range(2, len(group) + 1):
                total *= factor
                if total > self.requested + 1:
                    return False
        return True

    @property
    def count(self) -> int:
        """The number of rearrangements, the observed one not counted."""
        if not self.exact:
            return self.requested
        return math.prod(math.factorial(len(group)) for group in self.groups) - 1

    def blocks(self, random: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        """(n, up to `BLOCK_COLUMNS`) arrays; the first column of the first is the observed order."""
        if self.exact:
            every = self._every_rearrangement()
            for start in range(0, every.shape[1], BLOCK_COLUMNS):
                yield np.ascontiguousarray(every[:, start : start + BLOCK_COLUMNS])
            return
        for start in range(0, self.count + 1, BLOCK_COLUMNS):
            columns = min(BLOCK_COLUMNS, self.count + 1 - start)
            block = np.empty((sum(map(len, self.groups)), columns), dtype=np.intp)
            for group in self.groups:
                # Sorting random keys is a uniform shuffle, and vectorised over the columns.
                block[group] = group[np.argsort(random.random((len(group), columns)), axis=0)]
            if start == 0:
                block[:, 0] = np.arange(len(block))
            yield block

    def _every_rearrangement(self) -> NDArray[np.intp]:
        order = np.concatenate(self.groups)
        every = product(*(arrangements(group.tolist()) for group in self.groups))
        rows = np.array([[i for part in one for i in part] for one in every], dtype=np.intp)
        placed = np.empty_like(rows)
        placed[:, order] = rows
        return placed.T


@dataclass
class Exceedances:
    """Counts, block by block, how often a permuted statistic reaches the observed one."""

    scale: NDArray[np.float64]  # (p,)
    statistic: NDArray[np.float64] | None = None  # (p,), known once the first block is in
    counts: NDArray[np.int64] | int = 0  # (p,), the observed arrangement included

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in (p, B) statistics; the first column of the first block is the observed one."""
        if self.statistic is None:
            self.statistic = block[:, 0].copy()
        threshold = self.statistic - TIE_TOLERANCE * self.scale
        reached = block >= threshold[:, None]
        self.counts = self.counts + reached.sum(axis=1, dtype=np.uint16).astype(np.int64)

    def p_values(self, permutations: int) -> NDArray[np.float64]:
        """(p,): (1 + how many permuted statistics reach the observed one) / (permutations + 1)."""
        return np.asarray(self.counts, dtype=np.float64) / (permutations + 1)


def permutation_test(
    kernel: Kernel,
    plan: PermutationPlan,
    random: np.random.Generator,
    between: Callable[[], None] = lambda: None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The p variables' observed statistics and permutation p-values."""
    found = Exceedances(kernel.scale)
    for block in plan.blocks(random):
        found.add(kernel.permuted(block, between))
    assert found.statistic is not None  # every plan has at least the observed arrangement
    return found.statistic, found.p_values(plan.count)


def large_strata(strata: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Who can be tested within strata; -1 marks subjects that are not there at all.

    Returns the subjects in strata of at least `SMALLEST_STRATUM`, ordered by stratum; where each
    one's stratum ends in that order; and how many smaller strata are left out.
    """
    present = np.flatnonzero(strata >= 0)
    sizes = np.bincount(strata[present])
    kept = present[sizes[strata[present]] >= SMALLEST_STRATUM]
    kept = kept[np.argsort(strata[kept], kind="stable")]
    tested = sizes[sizes >= SMALLEST_STRATUM]
    left_out = int(np.count_nonzero(sizes)) - len(tested)
    return kept, np.repeat(np.cumsum(tested), tested), left_out


def groups_from_ends(ends: NDArray[np.intp]) -> tuple[NDArray[np.intp], ...]:
    """Consecutive subjects whose stratum ends at the same place, as index arrays."""
    last = np.unique(ends)
    return tuple(np.split(np.arange(len(ends), dtype=np.intp), last[:-1]))

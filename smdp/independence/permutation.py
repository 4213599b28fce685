"""Permutations within groups of subjects, and the p-values that they give.

Subjects of one group (a level of the action, say) are exchangeable under the null hypothesis;
subjects of different groups need not be. When a group is small there may be so few rearrangements
that all can be listed: then the p-value is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations as arrangements
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smdp.independence.workspace import Workspace

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

    def permuted(self, permutation: NDArray[np.intp], workspace: Workspace) -> NDArray[np.float64]:
        """(p, B): statistics with subject i's outcome replaced by subject permutation[i, b]'s.

        The array may be overwritten by the next call with the same workspace.
        """


@dataclass(frozen=True)
class PermutationPlan:
    """Which rearrangements the observed one is compared with.

    `groups` are index arrays that together hold 0 .. n-1 once each; only members of one group
    change places. If all rearrangements are no more than `requested` (besides the observed one),
    each is used once; otherwise `requested` are drawn at random.
    """

    groups: tuple[NDArray[np.intp], ...]
    requested: int

    @cached_property
    def exact(self) -> bool:
        total = 1
        for group in self.groups:
            for factor in range(2, len(group) + 1):
                total *= factor
                if total > self.requested + 1:
                    return False
        return True

    @cached_property
    def count(self) -> int:
        """The number of rearrangements, the observed one not counted."""
        if not self.exact:
            return self.requested
        return math.prod(math.factorial(len(group)) for group in self.groups) - 1

    @property
    def number_of_blocks(self) -> int:
        return -(-(self.count + 1) // BLOCK_COLUMNS)

    def blocks(self, random: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        """(n, up to `BLOCK_COLUMNS`) arrays; the very first column is the observed order."""
        if self.exact:
            every = self._every_rearrangement()
            for start in range(0, every.shape[1], BLOCK_COLUMNS):
                yield np.ascontiguousarray(every[:, start : start + BLOCK_COLUMNS])
            return
        order = np.concatenate(self.groups)
        group = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        for start in range(0, self.count + 1, BLOCK_COLUMNS):
            # Sorting random keys is a uniform shuffle; whole numbers added keep groups apart.
            keys = random.random((len(order), min(BLOCK_COLUMNS, self.count + 1 - start)))
            keys += group[:, None]
            block = _in_place_of(order, keys.argsort(axis=0))
            if start == 0:
                block[:, 0] = np.arange(len(order))
            yield block

    def _every_rearrangement(self) -> NDArray[np.intp]:
        every = product(*(arrangements(group.tolist()) for group in self.groups))
        rows = [[i for part in one for i in part] for one in every]
        placed = np.empty((len(rows[0]), len(rows)), dtype=np.intp)
        placed[np.concatenate(self.groups)] = np.array(rows, dtype=np.intp).T
        return placed


def _in_place_of(order: NDArray[np.intp], sorted_: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rearrangements of the places in `order`, as rearrangements of the subjects 0 .. n-1."""
    if np.array_equal(order, np.arange(len(order))):
        return sorted_
    block = np.empty_like(sorted_)
    block[order] = order[sorted_]
    return block


class Exceedances:
    """Counts, block by block, how often a permuted statistic reaches the observed one.

    The blocks are (p, B) statistics; the first column of the first block is the observed one.
    """

    def __init__(self, scale: NDArray[np.float64], first: NDArray[np.float64]) -> None:
        self.statistic = first[:, 0].copy()  # (p,)
        self._threshold = self.statistic - TIE_TOLERANCE * scale
        self._counts = np.zeros(len(first), dtype=np.int64)
        self.add(first)

    def add(self, block: NDArray[np.float64]) -> None:
        reached = block >= self._threshold[:, None]
        self._counts += reached.sum(axis=1, dtype=np.uint16)

    def p_values(self, permutations: int) -> NDArray[np.float64]:
        """(p,): (1 + how many permuted statistics reach the observed one) / (permutations + 1)."""
        return self._counts / (permutations + 1)


def permutation_test(
    kernel: Kernel,
    plan: PermutationPlan,
    random: np.random.Generator,
    workspace: Workspace,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The p variables' observed statistics and permutation p-values."""
    blocks = plan.blocks(random)
    found = Exceedances(kernel.scale, kernel.permuted(next(blocks), workspace))
    for block in blocks:
        found.add(kernel.permuted(block, workspace))
    return found.statistic, found.p_values(plan.count)


@dataclass(frozen=True)
class Tested:
    """The subjects in strata that are large enough, ordered by stratum."""

    subjects: NDArray[np.intp]  # (n,)
    strata: tuple[slice, ...]  # the places in that order which belong to each stratum
    strata_left_out: int  # with fewer than `SMALLEST_STRATUM` subjects

    def plan(self, permutations: int) -> PermutationPlan:
        """Permutations that stay within strata."""
        places = np.arange(len(self.subjects), dtype=np.intp)
        return PermutationPlan(tuple(places[stratum] for stratum in self.strata), permutations)


def large_strata(strata: NDArray[np.int64]) -> Tested:
    """Who can be tested within strata (n,); -1 marks subjects that are not there at all."""
    present = np.flatnonzero(strata >= 0)
    sizes = np.bincount(strata[present])
    kept = present[sizes[strata[present]] >= SMALLEST_STRATUM]
    kept = kept[np.argsort(strata[kept], kind="stable")]
    ends = np.cumsum(sizes[sizes >= SMALLEST_STRATUM]).tolist()
    left_out = int(np.count_nonzero(sizes)) - len(ends)
    return Tested(kept, tuple(map(slice, [0, *ends], ends)), left_out)

"""The likelihood-ratio (G) test of independence for discrete data, by permutation within strata.

In a stratum with m subjects, counts O_kl of x = k and y = l, and margins r_k and c_l,

    G = 2 sum_kl O_kl log(m O_kl / (r_k c_l)) = 2 {sum f(O_kl) - sum f(r_k) - sum f(c_l) + f(m)}

with f(o) = o log o; the statistic is the sum over strata. Its asymptotic chi-square distribution is
useless at a trial's counts, so it is permuted. With several columns, G is summed over the pairs of
columns: their joint table would have a cell for nearly every subject, and no power.

Reference: Agresti (2013), "Categorical Data Analysis", section 3.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smdp.independence.inputs import single_test
from smdp.independence.single_test import TestResult
from smdp.independence.workspace import Workspace

#: Levels of x counted in one product; bounds the memory at some 20 MB for a block of permutations.
LEVELS_AT_ONCE = 1024


def likelihood_ratio_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    permutations: int = 999,
    seed: int = 0,
) -> TestResult:
    """Whether discrete x and y are independent within each stratum.

    As `distance_covariance_test`, with the G statistic: equal values are one level, and how far
    apart two levels are does not matter.
    """
    given = single_test(x, y, strata, permutations, seed)
    return given.run(LikelihoodRatioKernel(given.x[:, None, :], given.y, given.strata))


class LikelihoodRatioKernel:
    """G statistics of p variables x (n, p, d) with an outcome y (n, q) within strata (n,).

    Outcome and stratum are permuted together, which is no different from permuting the outcome
    where permutations stay within strata. A stratum below 0 counts for nothing.
    """

    def __init__(
        self, x: NDArray[np.float64], y: NDArray[np.float64], strata: NDArray[np.int64]
    ) -> None:
        self._variables, self._dimensions = x.shape[1:]
        columns = x.reshape(len(x), -1)
        codes = [np.unique(column, return_inverse=True)[1] for column in columns.T]
        self._levels = np.array([code.max() + 1 for code in codes])
        self._codes = codes
        self._tables = [
            _level_codes(column, strata, stratum)
            for stratum in np.unique(strata[strata >= 0])
            for column in y.T
        ]
        counts = np.arange(len(x) + 1, dtype=np.float64)
        self._f = counts * np.log(np.maximum(counts, 1))

    @property
    def scale(self) -> NDArray[np.float64]:
        """2 f(n) bounds each table's G, so every statistic is within this of the others."""
        return np.full(self._variables, 1 + 2 * self._f[-1] * len(self._tables) * self._dimensions)

    def permuted(self, permutation: NDArray[np.intp], workspace: Workspace) -> NDArray[np.float64]:
        out = np.zeros((len(self._codes), permutation.shape[1]))
        for columns in _columns_at_once(self._levels):
            indicator, starts = self._indicator(columns)
            for levels in self._tables:
                workspace.pause()
                out[columns] += self._statistics(indicator, starts, levels[permutation])
        return out.reshape(self._variables, self._dimensions, -1).sum(axis=1)

    def _indicator(self, columns: slice) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """(levels, n): which subjects have which level of these columns; where columns start."""
        levels = self._levels[columns]
        starts = np.cumsum(levels) - levels
        indicator = np.zeros((levels.sum(), len(self._codes[0])), dtype=np.float32)
        for start, code in zip(starts, self._codes[columns], strict=True):
            indicator[start + code, np.arange(len(code))] = 1
        return indicator, starts

    def _statistics(
        self, indicator: NDArray[np.float32], starts: NDArray[np.intp], levels: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """(columns, B): G of one table for each column of x and each permutation of the outcome."""
        cells = np.zeros((len(indicator), levels.shape[1]))
        margin = np.zeros(cells.shape, dtype=np.intp)
        outcome_margin = np.zeros(levels.shape[1])
        for level in range(levels.max() + 1):
            here = levels == level
            # Counts are whole numbers, exact in single precision far beyond any trial's size.
            counts = (indicator @ here.astype(np.float32)).astype(np.intp)
            cells += self._f[counts]
            margin += counts
            outcome_margin += self._f[here.sum(axis=0)]
        total = self._f[(levels >= 0).sum(axis=0)]
        by_column = np.add.reduceat(cells - self._f[margin], starts, axis=0)
        return 2 * (by_column - outcome_margin + total)


def _level_codes(
    column: NDArray[np.float64], strata: NDArray[np.int64], stratum: int
) -> NDArray[np.intp]:
    """The column's levels within one stratum as 0, 1, ..; -1 for subjects outside it."""
    inside = strata == stratum
    codes = np.full(len(column), -1, dtype=np.intp)
    codes[inside] = np.unique(column[inside], return_inverse=True)[1]
    return codes


def _columns_at_once(levels: NDArray[np.intp]) -> list[slice]:
    """Consecutive columns with some `LEVELS_AT_ONCE` levels together."""
    block = (np.cumsum(levels) - levels) // LEVELS_AT_ONCE
    stops = np.flatnonzero(np.diff(block, append=-1)) + 1
    return [slice(a, b) for a, b in zip([0, *stops[:-1]], stops, strict=True)]

"""Distance covariance within strata, tested by permutation.

For a stratum with m subjects, a_ik = |x_i - x_k|, b_ik = |y_i - y_k| (Euclidean), and B the doubly
centred b, the V-statistic is dCov^2 = m^-2 sum_ik a_ik B_ik (centring one side is enough). The
statistic is the sum over strata of m dCov^2; without strata it is R's `energy::dcov.test`'s nV^2.
It is zero in the population exactly when x and y are independent within every stratum.

Reference: Székely, Rizzo & Bakirov (2007), "Measuring and testing dependence by correlation of
distances", Annals of Statistics 35.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from smdp.independence.inputs import tested_arrays
from smdp.independence.merge_sort import MergeSortKernel, merge_sort_wins
from smdp.independence.pair_products import pair_products
from smdp.independence.permutation import (
    Kernel,
    PermutationPlan,
    groups_from_ends,
    permutation_test,
)
from smdp.independence.result import TestResult


def distance_covariance_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    permutations: int = 999,
    seed: int = 0,
    standardise: bool = False,
) -> TestResult:
    """Whether x and y, of any dimensions, are independent within each stratum.

    The rows of y are permuted within strata. Strata with fewer than 4 subjects are left out. If
    there are no more than `permutations` rearrangements, all are listed and the p-value is exact.
    `standardise` gives every column mean 0 and variance 1 first, so that no unit dominates.

    >>> x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> distance_covariance_test(x, x, permutations=999).p_value <= 0.01
    True
    """
    given = tested_arrays(x, y, strata, permutations, seed)
    x_rows, y_rows = given.x, given.y
    if standardise:
        x_rows, y_rows = standardised(x_rows), standardised(y_rows)
    kernel = distance_kernel(x_rows[:, None, :], y_rows, given.ends, permutations)
    plan = PermutationPlan(groups_from_ends(given.ends), permutations)
    statistic, p_value = permutation_test(kernel, plan, np.random.default_rng(seed))
    return given.result(statistic, p_value, plan)


def distance_kernel(
    x: NDArray[np.float64], y: NDArray[np.float64], ends: NDArray[np.intp], permutations: int
) -> Kernel:
    """The quickest way to the statistics of x (n, p, d) and y (n, q), ordered by stratum."""
    stratum_sizes = np.unique(ends, return_counts=True)[1]
    if x.shape[2] == 1 and y.shape[1] == 1 and merge_sort_wins(x.shape[1], stratum_sizes):
        return MergeSortKernel(x[:, :, 0], y[:, 0], ends)
    return DistanceKernel(x, stratified_weights(y, ends), ends)


class DistanceKernel:
    """Distance covariances of p variables with weights W that stand for the outcome.

    `ends` says who is paired with whom: to the end of the stratum where permutations stay within
    strata, to the end of all subjects where they do not.
    """

    def __init__(
        self, x: NDArray[np.float64], weights: NDArray[np.float64], ends: NDArray[np.intp]
    ) -> None:
        self._x = np.ascontiguousarray(x)
        self._weights = weights
        self._ends = ends

    @property
    def scale(self) -> NDArray[np.float64]:
        """Cauchy-Schwarz over the pairs, whose squared distances sum to m sum_i |x_i - mean|^2."""
        squares = np.zeros(self._x.shape[1])
        for group in groups_from_ends(self._ends):
            rows = self._x[group[0] : group[-1] + 1]
            squares += len(rows) * rows.var(axis=0).sum(axis=1) * len(rows)
        return np.sqrt(squares / 2) * np.linalg.norm(self._weights)

    def permuted(
        self, permutation: NDArray[np.intp], between: Callable[[], None]
    ) -> NDArray[np.float64]:
        return pair_products(self._x, self._weights, self._ends, permutation, between)


def stratified_weights(y: NDArray[np.float64], ends: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n, n): 2 / m times the doubly centred distances within each stratum, 0 across strata.

    With them, sum_{i<k} |x_i - x_k| W_ik is the sum over strata of m dCov^2.
    """
    weights = np.zeros((len(y), len(y)))
    first = 0
    for last in np.unique(ends).tolist():
        distances = cdist(y[first:last], y[first:last])
        # Twice: the second pass removes what rounding left of the row means, which the sum over
        # all pairs would add up.
        for _ in range(2):
            means = distances.mean(axis=0)
            distances -= means
            distances -= (means - means.mean())[:, None]
        distances *= 2 / (last - first)
        weights[first:last, first:last] = distances
        first = last
    return weights


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns with mean 0 and variance 1 over the rows; constant columns become exactly 0.

    Permuting rows, within strata or not, leaves a column's mean and variance as they are, so
    standardising before permuting keeps the test exact.
    """
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    # Rounding gives a constant column a spread of some 1e-16 of its size.
    constant = spread <= 1e-13 * np.abs(values).max(axis=0, initial=0.0)
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))

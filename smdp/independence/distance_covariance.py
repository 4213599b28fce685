"""Distance covariance within strata, tested by permutation.

For a stratum with m subjects, a_ik = |x_i - x_k|, b_ik = |y_i - y_k| (Euclidean), and B the doubly
centred b, the V-statistic is dCov^2 = m^-2 sum_ik a_ik B_ik (centring one side is enough). The
statistic is the sum over strata of m dCov^2; without strata it is R's `energy::dcov.test`'s nV^2.
It is zero in the population exactly when x and y are independent within every stratum.

Reference: Székely, Rizzo & Bakirov (2007), "Measuring and testing dependence by correlation of
distances", Annals of Statistics 35.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from smdp.independence.inputs import single_test
from smdp.independence.merge_sort import MergeSortKernel, merge_sort_wins
from smdp.independence.pair_products import pair_products
from smdp.independence.permutation import Kernel
from smdp.independence.single_test import TestResult
from smdp.independence.workspace import Workspace


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
    given = single_test(x, y, strata, permutations, seed)
    x_rows, y_rows = given.x[:, None, :], given.y
    if standardise:
        x_rows, y_rows = standardised(x_rows), standardised(y_rows)
    return given.run(distance_kernel(x_rows, y_rows, given.tested.strata))


def distance_kernel(
    x: NDArray[np.float64], y: NDArray[np.float64], strata: tuple[slice, ...]
) -> Kernel:
    """The quickest way to the statistics of x (n, p, d) and y (n, q), ordered by stratum."""
    if x.shape[2] == 1 and y.shape[1] == 1 and merge_sort_wins(x.shape[1], strata):
        return MergeSortKernel(x[:, :, 0], y[:, 0], strata)
    return DistanceKernel(x, stratified_weights(y, strata), strata)


class DistanceKernel:
    """Distance covariances of p variables with weights W that stand for the outcome.

    Pairs are formed within each of `groups`: the strata where permutations stay within strata, all
    subjects where they do not.
    """

    def __init__(
        self, x: NDArray[np.float64], weights: NDArray[np.float64], groups: tuple[slice, ...]
    ) -> None:
        self._x = np.ascontiguousarray(x)
        self._weights = weights
        self._groups = groups

    @property
    def scale(self) -> NDArray[np.float64]:
        """Cauchy-Schwarz over the pairs, whose squared distances sum to m sum_i |x_i - mean|^2."""
        squares = np.zeros(self._x.shape[1])
        for group in self._groups:
            rows = self._x[group]
            centred = rows - rows.mean(axis=0)
            squares += len(rows) * np.einsum("ijk,ijk->j", centred, centred)
        return np.sqrt(squares / 2) * np.linalg.norm(self._weights)

    def permuted(self, permutation: NDArray[np.intp], workspace: Workspace) -> NDArray[np.float64]:
        return pair_products(self._x, self._weights, self._groups, permutation, workspace)


def stratified_weights(
    y: NDArray[np.float64],  # (n, q), ordered by stratum
    strata: tuple[slice, ...],
    *,
    unbiased: bool = False,
) -> NDArray[np.float64]:
    """(n, n) weights W, 0 across strata: sum_{i<k} |x_i - x_k| W_ik = sum over strata of m dCov^2.

    That is dCov^2 as a V-statistic; `unbiased` makes it the U-statistic, whose mean is 0 under
    independence (Székely & Rizzo, 2014, "Partial distance correlation with methods for
    dissimilarities", Annals of Statistics 42).
    """
    weights = np.zeros((len(y), len(y)))
    for stratum in strata:
        distances = cdist(y[stratum], y[stratum])
        size = len(distances)
        # Twice: the second pass removes what rounding left of the row means, which the sum over
        # all pairs would add up.
        for _ in range(2):
            means = distances.sum(axis=0) / (size - 2 if unbiased else size)
            distances -= means
            distances -= (means - means.sum() / (size - 1 if unbiased else size))[:, None]
            if unbiased:
                np.fill_diagonal(distances, 0.0)
        distances *= 2 / (size - 3 if unbiased else size)
        weights[stratum, stratum] = distances
    return weights


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns with mean 0 and variance 1 over the rows; constant columns become exactly 0.

    Permuting rows, within strata or not, leaves a column's mean and variance as they are, so
    standardising before permuting keeps the test exact.
    """
    mean = values.mean(axis=0)
    centred = values - mean
    spread = np.sqrt(np.square(centred).mean(axis=0))
    # Rounding gives a constant column a spread of some 1e-16 of its size.
    constant = spread <= 1e-13 * np.abs(mean)
    if constant.any():
        centred[:, constant] = 0.0
        spread[constant] = 1.0
    centred /= spread
    return centred

"""The statistic at one time, for either test and either way to permute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.independence.distance_covariance import (
    DistanceKernel,
    distance_kernel,
    standardised,
    stratified_weights,
)
from smdp.independence.likelihood_ratio import LikelihoodRatioKernel
from smdp.independence.permutation import Kernel, Tested

Test = Literal["distance_covariance", "likelihood_ratio"]


@dataclass(frozen=True)
class Observations:
    """p variables of d dimensions and an outcome of q, for n subjects at T times."""

    x: NDArray[np.float64]  # (n, T, p, d)
    y: NDArray[np.float64]  # (n, T, q)
    strata: NDArray[np.int64]  # (n, T), -1 where there is nothing to test


def kernel_within_strata(test: Test, data: Observations, t: int, tested: Tested) -> Kernel:
    """For permutations of the tested subjects that stay within strata.

    Columns are standardised over all subjects tested at this time, whatever their stratum: a
    column has one unit, not one for each action.
    """
    rows = tested.subjects
    x, y = data.x[rows, t], data.y[rows, t]
    if test == "likelihood_ratio":
        return LikelihoodRatioKernel(x, y, data.strata[rows, t])
    return distance_kernel(standardised(x), standardised(y), tested.strata)


def kernel_across_strata(
    test: Test, data: Observations, t: int, tested: Tested, present: NDArray[np.intp]
) -> Kernel:
    """For trajectories that move between all who are `present`: strata stay with the outcomes.

    x is standardised over those present, which no permutation changes, y over those tested.
    Distance covariance is unbiased here: moved across strata, a variable that is spread
    differently in different strata (as one that goes with availability is) would change the bias
    of the V-statistic and be selected, or never be, for that alone.
    """
    x = data.x[present, t]
    place = np.searchsorted(present, tested.subjects)
    if test == "likelihood_ratio":
        strata = np.full(len(present), -1, dtype=np.int64)
        strata[place] = data.strata[tested.subjects, t]
        return LikelihoodRatioKernel(x, data.y[present, t], strata)
    weights = np.zeros((len(present), len(present)))
    y = standardised(data.y[tested.subjects, t])
    weights[np.ix_(place, place)] = stratified_weights(y, tested.strata, unbiased=True)
    return DistanceKernel(standardised(x), weights, groups=(slice(0, len(present)),))

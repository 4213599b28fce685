"""The statistic at one time, for either test and either way to permute."""

from __future__ import annotations

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
from smdp.independence.permutation import Kernel

Test = Literal["distance_covariance", "likelihood_ratio"]


def within_strata(
    test: Test,
    x: NDArray[np.float64],  # (n, p, d), ordered by stratum
    y: NDArray[np.float64],  # (n, q)
    strata: NDArray[np.int64],  # (n,)
    ends: NDArray[np.intp],  # (n,): where each subject's stratum ends
) -> Kernel:
    """For permutations that stay within strata.

    Columns are standardised over all subjects tested at this time, whatever their stratum: a
    column has one unit, not one for each action.
    """
    if test == "likelihood_ratio":
        return LikelihoodRatioKernel(x, y, strata)
    return distance_kernel(standardised(x), standardised(y), ends)


def across_strata(
    test: Test,
    x: NDArray[np.float64],  # (n, p, d): all whose trajectory may be placed here
    y: NDArray[np.float64],  # (n, q), any value where not tested
    strata: NDArray[np.int64],  # (n,)
    tested: NDArray[np.intp],  # the subjects whose outcomes count here, ordered by stratum
    ends: NDArray[np.intp],  # (len(tested),)
) -> Kernel:
    """For whole trajectories that move between subjects: strata stay with the outcomes."""
    if test == "likelihood_ratio":
        counted = np.full(len(strata), -1, dtype=np.int64)
        counted[tested] = strata[tested]
        return LikelihoodRatioKernel(x, y, counted)
    weights = np.zeros((len(x), len(x)))
    weights[np.ix_(tested, tested)] = stratified_weights(standardised(y[tested]), ends)
    everybody = np.full(len(x), len(x), dtype=np.intp)
    return DistanceKernel(standardised(x), weights, everybody)

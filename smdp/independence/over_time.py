"""Tests of p variables at T times within strata that change over time, pooled over the times.

Two poolings, with different null hypotheses:

- `ruger`: at each time, variable and outcome are independent given the stratum. Each time is tested
  by permuting within its strata, and the p-values are pooled by Rüger's rule, which holds whatever
  the dependence between times.
- `trajectory`: the variable's *whole trajectory* is independent of the outcomes, the strata and the
  times of observation together: a stronger hypothesis. Rejecting it does not say that the variable
  depends on the outcome given the action: a variable that merely follows earlier actions, as
  outcomes do, is rejected too. The statistic is summed over the times, and whole trajectories are
  permuted (see `by_trajectory`). More powerful where dependence is weak at each time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError, SettingError
from smdp.independence.by_trajectory import by_trajectory, circles, shared_times
from smdp.independence.in_parallel import in_parallel
from smdp.independence.inputs import check_permutations
from smdp.independence.kernels import Test, within_strata
from smdp.independence.permutation import (
    SMALLEST_STRATUM,
    PermutationPlan,
    Tested,
    groups_from_ends,
    large_strata,
    permutation_test,
)
from smdp.independence.pooling import (
    check_rank,
    default_permutations,
    minimum_permutations,
    pool_p_values,
)

Pooling = Literal["ruger", "trajectory"]


@dataclass(frozen=True)
class TimesTested:
    """p variables tested at T times, and pooled. Times not tested have NaN and 0."""

    pooled: NDArray[np.float64]  # (p,)
    p_values: NDArray[np.float64]  # (p, T)
    statistics: NDArray[np.float64]  # (p, T)
    subjects: NDArray[np.int64]  # (T,): how many were tested
    strata_left_out: NDArray[np.int64]  # (T,): with fewer than 4 subjects
    permutations: NDArray[np.int64]  # (T,): fewer than asked for where that is all there are
    requested: int  # permutations
    rank: int | None  # Rüger's u; None for trajectories


def independence_over_time(
    x: NDArray[np.float64],  # (n, T, p), or (n, T, p, d) for p variables of d dimensions
    y: NDArray[np.float64],  # (n, T, q)
    strata: NDArray[np.int64],  # (n, T), -1 where there is nothing to test
    *,
    level: float,
    test: Test = "distance_covariance",
    pooling: Pooling = "ruger",
    permutations: int | None = None,
    rank: int | None = None,
    seed: np.random.SeedSequence,
    jobs: int = 1,
    report: Callable[[float], None] = lambda share: None,
) -> TimesTested:
    """Test every variable at every time and pool the times; see above for the two poolings.

    The random numbers of time t come from `seed` spawned with t: the result does not depend on
    `jobs`. `report` gets the share done, often, and may raise to stop.
    """
    x = x[..., None] if x.ndim == 3 else x
    if pooling == "trajectory":
        # Somebody who is never there would keep all others of the circle from being tested.
        there = (strata >= 0).any(axis=1)
        x, y, strata = x[there], y[there], strata[there]
        groups = circles(np.isfinite(x).all(axis=(2, 3)))
        shared = shared_times(np.isfinite(x).all(axis=(2, 3)), groups)
        strata = np.where(shared, strata, -1)
    times = strata.shape[1]
    slices = [large_strata(strata[:, t]) for t in range(times)]
    tested = {t: slice_ for t, slice_ in enumerate(slices) if len(slice_.subjects)}
    _check(tested, x, y, test, pooling)

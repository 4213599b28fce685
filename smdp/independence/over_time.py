"""Tests of p variables at T times within strata that change over time, pooled over the times.

Two poolings, with different null hypotheses:

- `ruger`: at each time, variable and outcome are independent given the stratum. Each time is tested
  by permuting within its strata, and the p-values are pooled by Rüger's rule, which holds whatever
  the dependence between times.
- `trajectory`: the variable's *whole trajectory* is independent of the outcomes, the strata and the
  times of observation together: a stronger hypothesis. Rejecting it does not say that the variable
  depends on the outcome given the action: a variable that merely follows earlier actions, as
  outcomes do, or whose spread goes with availability, may be rejected too. The statistic
  (distance covariance made unbiased) is summed over the times, and whole trajectories are permuted
  (see `by_trajectory`). More powerful where dependence is weak at each time.
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
from smdp.independence.kernels import Observations, Test, kernel_within_strata
from smdp.independence.permutation import (
    SMALLEST_STRATUM,
    PermutationPlan,
    Tested,
    large_strata,
    permutation_test,
)
from smdp.independence.pooling import (
    check_rank,
    default_permutations,
    minimum_permutations,
    pool_p_values,
)
from smdp.independence.workspace import Workspace
from smdp.parallel import divided, each
from smdp.progress import Progress

Pooling = Literal["ruger", "trajectory"]
Found = tuple[NDArray[np.float64], NDArray[np.float64]]  # (p,): statistics and p-values


@dataclass(frozen=True)
class TimesTested:
    """p variables tested at T times, and pooled. Times not tested have NaN and 0."""

    pooled: NDArray[np.float64]  # (p,)
    p_values: NDArray[np.float64]  # (p, T)
    statistics: NDArray[np.float64]  # (p, T)
    subjects: NDArray[np.int64]  # (T,): how many were tested
    strata_left_out: NDArray[np.int64]  # (T,): with fewer than 4 subjects
    permutations: NDArray[np.int64]  # (T,): fewer than requested where those are all there are
    requested: int  # permutations
    rank: int | None  # Rüger's u; None for trajectories


@dataclass(frozen=True)
class HowToTest:
    """What the tests of all times share."""

    level: float = 0.10
    test: Test = "distance_covariance"
    pooling: Pooling = "ruger"
    permutations: int | None = None  # None: `default_permutations`
    rank: int | None = None  # None: `default_rank`
    jobs: int = 1  # threads


def independence_over_time(
    x: NDArray[np.float64],  # (n, T, p), or (n, T, p, d) for p variables of d dimensions
    y: NDArray[np.float64],  # (n, T, q)
    strata: NDArray[np.int64],  # (n, T), -1 where there is nothing to test
    how: HowToTest,
    *,
    seed: np.random.SeedSequence,
    report: Callable[[float], None] = lambda share: None,
) -> TimesTested:
    """Test every variable at every time and pool the times; see above for the two poolings.

    The random numbers of time t come from `seed` spawned with key t: the result does not depend on
    `how.jobs`. `report` gets the share done (0 to 1), often, and may raise to stop.
    """
    x = x[..., None] if x.ndim == 3 else x
    if how.pooling == "trajectory":
        return _by_trajectory(Observations(x, y, strata), how, seed, report)
    return _by_time(Observations(x, y, strata), how, seed, report)


def _by_time(
    data: Observations,
    how: HowToTest,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> TimesTested:
    tested = _tested_times(data, how)
    times = list(tested)
    rank = check_rank(how.rank, len(times))
    requested = _permutations(how, len(times), rank)
    plans = {t: tested[t].plan(requested) for t in times}
    _check_reach([plan.count for plan in plans.values()], rank, how)

    def one_time(i: int, workspace: Workspace) -> Found:
        t = times[i]
        kernel = kernel_within_strata(how.test, data, t, tested[t])
        return permutation_test(kernel, plans[t], _random_of(seed, t), workspace)

    if divided():
        found = _by_time_elsewhere(data, tested, requested, how.test, seed, report)
    else:
        found = list(in_parallel(one_time, len(times), how.jobs, report))
    pooled = np.array(
        [pool_p_values(row, rank) for row in np.array([p_values for _, p_values in found]).T]
    )
    counts = {t: plan.count for t, plan in plans.items()}
    return _gathered(data, tested, found, pooled, counts, requested, rank)


def _random_of(seed: np.random.SeedSequence, t: int) -> np.random.Generator:
    key = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, t))
    return np.random.default_rng(key)


def _by_time_elsewhere(
    data: Observations,
    tested: dict[int, Tested],
    permutations: int,
    test: Test,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> list[Found]:
    """Each time's test by a worker, which gets the data of that time only."""
    pieces = (
        (
            Observations(data.x[:, [t]], data.y[:, [t]], data.strata[:, [t]]),
            who,
            _random_of(seed, t),
        )
        for t, who in tested.items()
    )

    def progress(k: int) -> Progress:
        return lambda share, what: report((k + share) / len(tested))

    return list(each(_one_time, pieces, test, permutations, progress=progress))


def _one_time(
    piece: tuple[Observations, Tested, np.random.Generator], test: Test, permutations: int
) -> Found:
    data, who, random = piece
    kernel = kernel_within_strata(test, data, 0, who)
    return permutation_test(kernel, who.plan(permutations), random, Workspace())


def _by_trajectory(
    data: Observations,
    how: HowToTest,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> TimesTested:
    # Somebody who is never there would keep all others of the circle from being tested.
    there = (data.strata >= 0).any(axis=1)
    x, y, strata = data.x[there], data.y[there], data.strata[there]
    observed = np.asarray(np.isfinite(x).all(axis=(2, 3)))
    groups = circles(observed)
    shared = shared_times(observed, groups)
    data = Observations(x, y, np.where(shared, strata, -1))
    tested = _tested_times(data, how)
    requested = _permutations(how, times=1, rank=1)
    plan = PermutationPlan(groups, requested)
    _check_reach([plan.count], 1, how)
    at_time, summed = by_trajectory(
        how.test, data, shared, tested, plan, np.random.default_rng(seed), how.jobs, report
    )
    found = [(each.statistic, each.p_values(plan.count)) for each in at_time]
    counts = dict.fromkeys(tested, plan.count)
    pooled = summed.p_values(plan.count)
    return _gathered(data, tested, found, pooled, counts, requested, None)


def _tested_times(data: Observations, how: HowToTest) -> dict[int, Tested]:
    """Who is tested at each time at which anybody can be."""
    times = range(data.strata.shape[1])
    tested = {t: who for t in times if len((who := large_strata(data.strata[:, t])).subjects)}
    if not tested:
        where = "observed together " if how.pooling == "trajectory" else ""
        raise DataError(
            f"At none of the {len(times)} times do {SMALLEST_STRATUM} subjects {where}share an "
            "action, so nothing can be tested.",
            "Use more subjects, join rare actions"
            + (", or choose pooling='ruger'." if where else "."),
        )
    for t, who in tested.items():
        for name, values in (("x", data.x), ("y", data.y)):
            if not np.isfinite(values[who.subjects, t]).all():
                raise DataError(
                    f"'{name}' is missing for some subjects whose transition at time {t + 1} is "
                    "valid.",
                    "Impute the missing values, or mark those transitions as not valid.",
                )
    if how.test == "likelihood_ratio" and not any(_repeats(data, *item) for item in tested.items()):
        raise DataError(
            "The test 'likelihood_ratio' counts equal values, but no two subjects with the same "
            "action ever have the same outcome.",
            "Choose the test 'distance_covariance', or rescale the outcome to a few levels.",
        )
    return tested


def _repeats(data: Observations, t: int, who: Tested) -> bool:
    """Whether any column of the outcome takes a value twice within a stratum."""
    y = data.y[who.subjects, t]
    return any(
        len(np.unique(values)) < len(values)
        for column in y.T
        for values in (column[stratum] for stratum in who.strata)
    )


def _permutations(how: HowToTest, times: int, rank: int) -> int:
    """The number of permutations, refused where it could never reject."""
    if how.permutations is None:
        return default_permutations(times, rank, how.level)
    check_permutations(how.permutations)
    needed = minimum_permutations(times, rank, how.level)
    if how.permutations < needed:
        pooled = f" with {times} times pooled at rank {rank}" if how.pooling == "ruger" else ""
        raise SettingError(
            f"The setting 'permutations' must be at least {needed} to reach a level of "
            f"{how.level:g}{pooled}: with fewer, nothing can ever be found. "
            f"Got {how.permutations} instead.",
            f"Leave it empty for {default_permutations(times, rank, how.level)}.",
        )
    return how.permutations


def _check_reach(counts: list[int], rank: int, how: HowToTest) -> None:
    """Refuse data with so few rearrangements that the pooled p-value cannot reach the level."""
    needed = minimum_permutations(len(counts), rank, how.level)
    if sum(count >= needed for count in counts) < rank:
        raise DataError(
            f"There are too few subjects to reach a level of {how.level:g}: that takes "
            f"{needed + 1} different arrangements of the subjects, and there are at most "
            f"{max(counts) + 1}.",
            "Use more subjects, join rare actions, or raise the level.",
        )


def _gathered(
    data: Observations,
    tested: dict[int, Tested],
    found: list[Found],
    pooled: NDArray[np.float64],
    counts: dict[int, int],
    requested: int,
    rank: int | None,
) -> TimesTested:
    times = data.strata.shape[1]
    statistics, p_values = np.full((2, data.x.shape[2], times), np.nan)
    subjects, permutations = np.zeros((2, times), dtype=np.int64)
    for (t, who), (statistic, p_value) in zip(tested.items(), found, strict=True):
        statistics[:, t] = statistic
        p_values[:, t] = p_value
        subjects[t] = len(who.subjects)
        permutations[t] = counts[t]
    left_out = [large_strata(data.strata[:, t]).strata_left_out for t in range(times)]
    return TimesTested(
        pooled=pooled,
        p_values=p_values,
        statistics=statistics,
        subjects=subjects,
        strata_left_out=np.array(left_out, dtype=np.int64),
        permutations=permutations,
        requested=requested,
        rank=rank,
    )

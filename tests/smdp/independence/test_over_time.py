"""Tests at many times, pooled: both poolings against enumeration, and their size."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from smdp.errors import DataError, SettingError
from smdp.independence.by_trajectory import circles, shared_times
from smdp.independence.in_parallel import in_parallel
from smdp.independence.over_time import HowToTest, TimesTested, independence_over_time
from smdp.independence.pair_products import BlockSize, pair_products
from smdp.independence.pooling import pool_p_values

TESTS = ("distance_covariance", "likelihood_ratio")


def run(x: np.ndarray, y: np.ndarray, strata: np.ndarray, seed: int = 0, **how: Any) -> TimesTested:
    return independence_over_time(
        x, y, strata, HowToTest(**how), seed=np.random.SeedSequence(seed, spawn_key=(1,))
    )


def noise(
    random: np.random.Generator, kind: str, subjects: int, times: int, columns: int
) -> np.ndarray:
    """(n, T, columns) of white noise, AR(0.95), or values that are constant in time."""
    values = random.normal(size=(subjects, times, columns))
    if kind == "constant":
        values[:] = values[:, :1]
    if kind == "AR":
        for t in range(1, times):
            values[:, t] = 0.95 * values[:, t - 1] + math.sqrt(1 - 0.95**2) * values[:, t]
    return values


def levels(values: np.ndarray) -> np.ndarray:
    """Three levels: discrete data for the likelihood-ratio test."""
    return np.digitize(values, [-0.4, 0.4]).astype(float)


def statistic_of(naive: Any, test: str) -> Any:
    return naive.over_strata(
        naive.n_dcov_squared if test == "distance_covariance" else naive.g_statistic
    )


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


@pytest.mark.parametrize("test", TESTS)
def test_each_time_has_its_enumerated_p_value(naive, test):
    random = np.random.default_rng(0)
    x, y = levels(random.normal(size=(8, 3, 2))), levels(random.normal(size=(8, 3, 1)))
    strata = np.array([random.permutation([0, 0, 0, 0, 1, 1, 1, 1]) for _ in range(3)]).T
    found = run(x, y, strata, test=test)
    statistic = statistic_of(naive, test)
    for t in range(3):
        for j in range(2):
            expected = naive.enumerated_p(
                lambda order, t=t, j=j: statistic(x[:, t, j], y[order, t, 0], strata[:, t]),
                strata[:, t],
            )
            assert found.p_values[j, t] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(found.permutations, 575)
    np.testing.assert_allclose(found.pooled, [pool_p_values(row) for row in found.p_values])


@pytest.mark.parametrize("test", TESTS)
def test_trajectories_have_their_enumerated_p_value(naive, test):
    """Strata stay with the outcomes; 4 + 2 and 5 + 1 subjects leave a small stratum out."""
    random = np.random.default_rng(3)
    x, y = levels(random.normal(size=(6, 3, 2))), levels(random.normal(size=(6, 3, 1)))
    strata = np.array([[0, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0], [0, 1, 1, 1, 1, 1]]).T
    found = run(x, y, strata, test=test, pooling="trajectory")
    unbiased = naive.n_unbiased_dcov_squared
    statistic = naive.over_strata(unbiased if test == "distance_covariance" else naive.g_statistic)
    tested = [np.arange(6), np.array([1, 2, 4, 5]), np.array([1, 2, 3, 4, 5])]

    def at(t: int, j: int, order: np.ndarray) -> float:
        outcome = y[:, t, 0]
        if test == "distance_covariance":
            outcome = (outcome - outcome[tested[t]].mean()) / outcome[tested[t]].std()
        moved = standard(x[:, t, j]) if test == "distance_covariance" else x[:, t, j]
        return statistic(moved[order], outcome, strata[:, t])

    everybody = np.zeros(6)
    for j in range(2):
        summed = naive.enumerated_p(
            lambda order, j=j: sum(at(t, j, order) for t in range(3)), everybody
        )
        assert found.pooled[j] == pytest.approx(summed, abs=1e-12)
        for t in range(3):
            assert found.p_values[j, t] == pytest.approx(
                naive.enumerated_p(partial(at, t, j), everybody), abs=1e-12
            )
            assert found.statistics[j, t] == pytest.approx(at(t, j, np.arange(6)), abs=1e-12)
    assert found.rank is None
    np.testing.assert_array_equal(found.subjects, [6, 4, 5])
    np.testing.assert_array_equal(found.strata_left_out, [0, 1, 1])
    np.testing.assert_array_equal(found.permutations, 719)


def test_variables_of_several_dimensions_are_tested_as_one():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(20, 2, 1, 3)), random.normal(size=(20, 2, 1))
    y[:, :, 0] += 2 * x[:, :, 0, 2]
    found = run(x, y, np.zeros((20, 2), dtype=int))
    assert found.p_values.shape == (1, 2)
    assert found.pooled[0] <= 0.01


@pytest.mark.parametrize("pooling", ["ruger", "trajectory"])
@pytest.mark.parametrize("test", TESTS)
def test_the_result_depends_neither_on_threads_nor_on_blocks(pooling, test, monkeypatch):
    random = np.random.default_rng(1)
    x, y = levels(random.normal(size=(20, 7, 9))), levels(random.normal(size=(20, 7, 2)))
    strata = random.integers(0, 2, (20, 7))
    settings: dict[str, Any] = {"pooling": pooling, "test": test, "permutations": 1234}
    alone = run(x, y, strata, **settings)
    monkeypatch.setattr(pair_products, "__defaults__", (BlockSize(pairs=13),))
    for jobs in (1, 3):
        other = run(x, y, strata, jobs=jobs, **settings)
        np.testing.assert_array_equal(other.p_values, alone.p_values)
        np.testing.assert_array_equal(other.pooled, alone.pooled)
        np.testing.assert_allclose(other.statistics, alone.statistics, rtol=1e-12)
    assert not np.array_equal(run(x, y, strata, seed=1, **settings).p_values, alone.p_values)


@pytest.mark.parametrize("pooling", ["ruger", "trajectory"])
@pytest.mark.parametrize("test", TESTS)
def test_constant_columns_have_p_one_and_identical_ones_the_same(pooling, test):
    random = np.random.default_rng(1)
    x, y = levels(random.normal(size=(20, 6, 5))), levels(random.normal(size=(20, 6, 1)))
    x[:, :, 1] = 0.1
    x[:, :, 4] = x[:, :, 0]
    found = run(x, y, random.integers(0, 2, (20, 6)), pooling=pooling, test=test)
    assert found.pooled[1] == 1
    np.testing.assert_array_equal(found.p_values[1], 1)
    np.testing.assert_array_equal(found.p_values[4], found.p_values[0])
    assert found.pooled[4] == found.pooled[0]


@pytest.mark.parametrize("kind", ["white", "AR", "constant"])
@pytest.mark.parametrize("pooling", ["ruger", "trajectory"])
@pytest.mark.parametrize("lengths", ["equal", "unequal"])
def test_size_under_independence(kind, pooling, lengths):
    """10 data sets of 40 variables: false selections at 0.1 no more than 0.1 + 4 binomial errors.

    The larger study with n = 30 and T = 90 is in bench/size_and_power.py.
    """
    random = np.random.default_rng(7)
    selected = 0
    for seed in range(10):
        x, y = noise(random, kind, 20, 20, 40), noise(random, kind, 20, 20, 1)
        strata = random.integers(0, 2, (20, 20))
        if lengths == "unequal":
            after_end = np.arange(20) >= random.integers(10, 21, 20)[:, None]
            strata[after_end] = -1
            x[after_end], y[after_end] = np.nan, np.nan
        found = run(x, y, strata, seed, pooling=pooling, permutations=199)
        selected += int(np.sum(found.pooled <= 0.1))
    assert selected / 400 <= 0.1 + 4 * math.sqrt(0.1 * 0.9 / 400)


def test_trajectories_find_weak_dependence_that_single_times_do_not_show():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 30, 40, 1))
    y += 0.35 * x
    strata = random.integers(0, 2, (30, 40))
    assert run(x, y, strata, pooling="trajectory").pooled[0] == 0.001
    assert run(x, y, strata).pooled[0] > 0.001


def test_circles_join_those_who_were_observed_for_about_as_long():
    observed = np.arange(10) < np.array([10, 10, 3, 10, 10, 4, 10, 10, 5, 2, 6])[:, None]
    found = circles(observed)
    assert [group.tolist() for group in found] == [[2, 5, 8, 9, 10], [0, 1, 3, 4, 6, 7]]
    shared = shared_times(observed, found)
    assert shared.sum(axis=1).tolist() == [10, 10, 2, 10, 10, 2, 10, 10, 2, 2, 2]


def test_a_few_who_stayed_longer_join_the_last_circle():
    observed = np.arange(10) < np.array([5, 5, 5, 5, 5, 5, 10, 9])[:, None]
    assert [group.tolist() for group in circles(observed)] == [list(range(8))]


def test_absent_subjects_and_unreached_times_are_counted():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(12, 4, 2)), random.normal(size=(12, 4, 1))
    strata = np.zeros((12, 4), dtype=int)
    strata[:5, 1] = 1
    strata[:9, 2] = -1
    strata[:, 3] = [0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, -1]
    x[:9, 2], y[:9, 2] = np.nan, np.nan
    found = run(x, y, strata)
    np.testing.assert_array_equal(found.subjects, [12, 12, 0, 0])
    np.testing.assert_array_equal(found.strata_left_out, [0, 0, 1, 3])
    assert np.isnan(found.p_values[:, 2:]).all()
    assert found.rank == 1
    np.testing.assert_allclose(found.pooled, np.minimum(1, 2 * found.p_values[:, :2].min(axis=1)))


def test_somebody_never_observed_does_not_matter_to_the_others():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(12, 6, 2)), random.normal(size=(12, 6, 1))
    strata = random.integers(0, 2, (12, 6))
    with_absent = [np.concatenate([part, np.full((1, *part.shape[1:]), np.nan)]) for part in (x, y)]
    longer = np.concatenate([strata, np.full((1, 6), -1)])
    one = run(x, y, strata, pooling="trajectory")
    other = run(*with_absent, longer, pooling="trajectory")
    np.testing.assert_array_equal(one.pooled, other.pooled)


def test_an_error_in_a_thread_reaches_the_caller():
    def work(i: int, workspace: object) -> int:
        if i == 3:
            raise DataError("broken")
        return i

    with pytest.raises(DataError, match="broken"):
        list(in_parallel(work, 10, 3, lambda share: None))


def data(subjects: int = 20, times: int = 6) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(subjects, times, 2)),
        "y": random.normal(size=(subjects, times, 1)),
        "strata": np.zeros((subjects, times), dtype=int),
    }


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"permutations": 58}, "must be at least 59 .*level of 0.1 with 6 times.*rank 1.*Got 58"),
        ({"permutations": 8, "pooling": "trajectory"}, "must be at least 9 .*Got 8"),
        ({"permutations": 100, "level": 0.01}, "must be at least 599"),
        ({"rank": 7}, "'rank' must be a whole number from 1 to 6.*Got 7"),
    ],
)
def test_too_few_permutations_are_refused_with_the_number_needed(how, message):
    with pytest.raises(SettingError, match=message):
        run(**data(), **how)


def test_the_minimum_is_enough_to_find_something():
    given = data()
    given["x"][:, :, 0] = given["y"][:, :, 0]
    assert run(**given, permutations=59).pooled[0] == pytest.approx(0.1)


def test_nobody_to_test_at_any_time_is_an_error():
    given = data()
    given["strata"] = np.tile(np.arange(20)[:, None] // 3, (1, 6))
    for pooling in ("ruger", "trajectory"):
        with pytest.raises(DataError, match="At none of the 6 times do 4 subjects"):
            run(**given, pooling=pooling)


def test_too_few_subjects_ever_to_reject_is_an_error():
    with pytest.raises(DataError, match=r"60 different arrangements .* at most 24"):
        run(**data(subjects=4))


def test_missing_values_in_valid_transitions_are_an_error():
    given = data()
    given["x"][3, 2, 1] = np.nan
    with pytest.raises(DataError, match=r"'x' is missing .* time 3"):
        run(**given)


def test_the_likelihood_ratio_refuses_an_outcome_that_never_repeats():
    with pytest.raises(DataError, match=r"counts equal values.*distance_covariance"):
        run(**data(), test="likelihood_ratio")

"""The stratified distance-covariance test against R's energy, dcor and plain enumeration."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

from smdp.errors import DataError, SettingError
from smdp.independence import distance_covariance as module
from smdp.independence.distance_covariance import distance_covariance_test, standardised
from smdp.independence.merge_sort import MergeSortKernel, merge_sort_wins
from smdp.independence.permutation import PermutationPlan
from smdp.independence.workspace import Workspace

REFERENCE = Path(__file__).parents[2] / "reference" / "energy.json"
CASES: list[dict[str, Any]] = json.loads(REFERENCE.read_text(encoding="utf-8"))
NAMES = [case["name"] for case in CASES]


def random_cases(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_there_are_thirty_reference_cases_from_8_to_200_subjects():
    sizes = [len(case["x"]) for case in CASES]
    assert (len(CASES), min(sizes), max(sizes)) == (30, 8, 200)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_statistic_is_that_of_energy(case):
    found = distance_covariance_test(case["x"], case["y"], permutations=1)
    assert found.statistic == pytest.approx(case["statistic"], rel=1e-10)


def test_the_statistic_is_that_of_dcor():
    dcor = pytest.importorskip("dcor")
    for case in CASES:
        x, y = np.array(case["x"]), np.array(case["y"])
        # dcor's fast algorithm loses 4 digits to an offset of 1e4; distances do not change.
        expected = len(x) * dcor.distance_covariance_sqr(x - x.mean(axis=0), y - y.mean(axis=0))
        found = distance_covariance_test(x, y, permutations=1)
        assert found.statistic == pytest.approx(expected, rel=1e-10), case["name"]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_p_value_is_that_of_energy_within_monte_carlo_error(case):
    permutations = 4999
    p = distance_covariance_test(case["x"], case["y"], permutations=permutations, seed=1).p_value
    middle = (p + case["p_value"]) / 2
    error = math.sqrt(middle * (1 - middle) * (1 / permutations + 1 / case["replicates"]))
    assert abs(p - case["p_value"]) <= 3.5 * error + 1 / permutations


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["continuous", "binary x", "both binary", "3 x 2 dimensions"])
def test_the_p_value_is_the_enumerated_one_in_two_small_strata(naive, kind, seed):
    random = random_cases(seed)
    strata = random.permutation([0, 0, 0, 0, 1, 1, 1, 1])
    x, y = random.normal(size=(8, 1)), random.normal(size=(8, 1))
    if "binary" in kind:
        x = (x > 0).astype(float)
    if kind == "both binary":
        y = (y > 0).astype(float)
    if kind == "3 x 2 dimensions":
        x, y = random.normal(size=(8, 3)), random.normal(size=(8, 2))
    statistic = naive.over_strata(naive.n_dcov_squared)
    found = distance_covariance_test(x, y, strata=strata, permutations=999)
    assert found.exact
    assert found.permutations == 24 * 24 - 1
    assert found.statistic == pytest.approx(statistic(x, y, strata), rel=1e-10, abs=1e-12)
    expected = naive.enumerated_p(lambda order: statistic(x, y[order], strata), strata)
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_binary_column_gets_the_exact_permutation_p_with_all_its_ties(seed):
    """For two binary columns dCov^2 grows with |n11 - E n11|: the p-value is hypergeometric."""
    random = random_cases(seed)
    x, y = random.random(30) < 0.3, random.random(30) < 0.5
    both, expected = np.sum(x & y), x.sum() * y.sum() / 30
    counts = np.arange(31)
    reach = np.abs(counts - expected) >= abs(both - expected) - 1e-9
    exact = hypergeom(30, x.sum(), y.sum()).pmf(counts)[reach].sum()
    found = distance_covariance_test(x, y, permutations=19999, seed=seed)
    assert abs(found.p_value - exact) <= 4 * math.sqrt(exact * (1 - exact) / 19999) + 1e-4


def test_one_stratum_is_no_stratum():
    x, y = random_cases().normal(size=(2, 20))
    alone = distance_covariance_test(x, y, seed=3)
    assert distance_covariance_test(x, y, strata=["a"] * 20, seed=3) == alone


def test_strata_are_summed_and_small_ones_left_out(naive):
    x, y = random_cases().normal(size=(2, 25))
    strata = np.array(["a"] * 12 + ["b"] * 10 + ["c"] * 3)
    found = distance_covariance_test(x, y, strata=strata)
    expected = naive.n_dcov_squared(x[:12], y[:12]) + naive.n_dcov_squared(x[12:22], y[12:22])
    assert found.statistic == pytest.approx(expected, rel=1e-12)
    assert (found.subjects_tested, found.strata_tested, found.strata_left_out) == (22, 2, 1)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9, -1e-9])
@pytest.mark.parametrize("standardise", [False, True])
def test_a_constant_column_has_p_one(value, standardise):
    y = random_cases().normal(size=30)
    for x, z in ((np.full(30, value), y), (y, np.full(30, value))):
        found = distance_covariance_test(x, z, standardise=standardise)
        assert (found.statistic, found.p_value) == (0.0, 1.0)


def test_a_column_that_is_constant_within_strata_has_p_one():
    strata = np.repeat([0, 1], 15)
    found = distance_covariance_test(1e6 * strata, random_cases().normal(size=30), strata=strata)
    assert found.p_value == 1.0


def test_an_offset_between_strata_makes_no_ties():
    """The tolerance for ties must not grow with differences that are never compared."""
    strata = np.repeat([0, 1], 15)
    x = random_cases().normal(size=30)
    y = x + 0.5 * random_cases(1).normal(size=30)
    found = distance_covariance_test(x + 1e9 * strata, y, strata=strata)
    assert found.p_value == distance_covariance_test(x, y, strata=strata).p_value == 0.001


def test_standardising_makes_units_irrelevant():
    x, y = random_cases().normal(size=(2, 30, 3))
    units = np.array([1.0, 1e5, 1e-3])
    one = distance_covariance_test(x, y, standardise=True)
    other = distance_covariance_test(x * units + 7, y / units, standardise=True)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9)
    assert other.p_value == one.p_value


def test_standardised_columns():
    values = random_cases().normal(3, 5, size=(50, 4))
    values[:, 2] = 0.1
    found = standardised(values)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), [1, 1, 0, 1], atol=1e-12)
    assert (found[:, 2] == 0).all()


def test_the_seed_decides():
    x, y = random_cases().normal(size=(2, 20))
    assert distance_covariance_test(x, y, seed=5) == distance_covariance_test(x, y, seed=5)
    assert len({distance_covariance_test(x, y, seed=s).p_value for s in range(10)}) > 1


def test_more_permutations_than_a_block():
    x, y = random_cases(4).normal(size=(2, 30))
    few = distance_covariance_test(x, y, permutations=999)
    many = distance_covariance_test(x, y, permutations=3456)
    assert many.permutations == 3456
    assert (many.p_value * 3457) == pytest.approx(round(many.p_value * 3457))
    assert abs(many.p_value - few.p_value) < 0.08


def test_sorting_gives_the_same_statistics_as_matrix_products():
    pytest.importorskip("dcor")
    random = random_cases()
    x, y = random.normal(size=(40, 2)), 1e4 + random.normal(size=40)
    strata = (slice(0, 15), slice(15, 40))
    plan = PermutationPlan((np.arange(15), np.arange(15, 40)), 20)
    block = next(plan.blocks(np.random.default_rng(0)))
    weights = module.stratified_weights(y[:, None], strata)
    products = module.DistanceKernel(x[:, :, None], weights, strata)
    sorting = MergeSortKernel(x, y, strata)
    np.testing.assert_allclose(
        sorting.permuted(block, Workspace()), products.permuted(block, Workspace()), rtol=1e-10
    )


def test_the_unbiased_weights_give_the_u_statistic(naive):
    random = random_cases()
    x, y = random.normal(size=(20, 1)), random.normal(size=(20, 3))
    strata = (slice(0, 8), slice(8, 20))
    weights = module.stratified_weights(y, strata, unbiased=True)
    found = (np.abs(x - x.T) * weights).sum() / 2
    expected = sum(naive.n_unbiased_dcov_squared(x[part], y[part]) for part in strata)
    assert found == pytest.approx(expected, rel=1e-12)


def test_sorting_wins_only_for_few_variables_and_many_subjects():
    assert merge_sort_wins(1, (slice(0, 5000),))
    assert not merge_sort_wins(100, (slice(0, 5000),))
    assert not merge_sort_wins(1, (slice(0, 1000), slice(1000, 2000)))


def test_size_under_independence():
    """400 tests at level 0.1 within two strata: the share rejected is 0.1 +- 4 binomial errors."""
    random = random_cases()
    strata = np.arange(20) % 2
    rejected = 0
    for seed in range(400):
        x, y = random.standard_exponential((2, 20))
        p = distance_covariance_test(x, y, strata=strata, permutations=99, seed=seed).p_value
        rejected += p <= 0.1
    assert abs(rejected / 400 - 0.1) < 4 * math.sqrt(0.1 * 0.9 / 400)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": [1.0, 2.0]}, DataError, "'x' has 2 rows and 'y' has 8"),
        ({"x": [math.nan] + [1.0] * 7}, DataError, "'x' has 1 missing or infinite value"),
        ({"y": [1.0] * 7 + [math.inf]}, DataError, "first in row 7"),
        ({"x": np.zeros((8, 0))}, DataError, "at least one column"),
        ({"x": np.zeros((8, 2, 2))}, DataError, r"'x' has shape \(8, 2, 2\)"),
        ({"x": list("abcdefgh")}, DataError, "'x' is not a table of numbers"),
        ({"strata": [0, 1]}, DataError, "one label for each row"),
        ({"strata": [None, *"aaaabbb"]}, DataError, "'strata' is missing for 1 subjects"),
        ({"strata": range(8)}, DataError, "No stratum has 4 subjects or more"),
        ({"permutations": 0}, SettingError, "'permutations' must be a whole number of at least 1"),
        ({"permutations": 99.5}, SettingError, "'permutations' must be a whole number"),
        ({"seed": -1}, SettingError, "'seed' must be a whole number of at least 0"),
    ],
)
def test_bad_input_is_explained(arguments, error, message):
    good = {"x": np.arange(8.0), "y": np.arange(8.0)}
    with pytest.raises(error, match=message):
        distance_covariance_test(**{**good, **arguments})

"""The permutation likelihood-ratio test against scipy's G and plain enumeration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from smdp.independence import likelihood_ratio as module
from smdp.independence.likelihood_ratio import LikelihoodRatioKernel, likelihood_ratio_test
from smdp.independence.permutation import PermutationPlan
from smdp.independence.workspace import Workspace


@pytest.mark.parametrize("seed", range(4))
def test_the_statistic_is_scipys_summed_over_strata(seed):
    random = np.random.default_rng(seed)
    x, y, strata = random.integers(0, 4, 60), random.integers(0, 3, 60), np.arange(60) % 2
    expected = sum(
        chi2_contingency(
            pd.crosstab(x[strata == a], y[strata == a]), correction=False, lambda_="log-likelihood"
        ).statistic
        for a in (0, 1)
    )
    found = likelihood_ratio_test(x, y, strata=strata)
    assert found.statistic == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_p_value_is_the_enumerated_one_in_two_small_strata(naive, seed):
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 3, 8), random.integers(0, 2, 8)
    strata = random.permutation([0, 0, 0, 0, 1, 1, 1, 1])
    statistic = naive.over_strata(naive.g_statistic)
    found = likelihood_ratio_test(x, y, strata=strata, permutations=999)
    expected = naive.enumerated_p(lambda order: statistic(x, y[order], strata), strata)
    assert found.exact
    assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_columns_are_summed_over_pairs(naive):
    random = np.random.default_rng(0)
    x, y = random.integers(0, 3, (2, 30, 2))
    found = likelihood_ratio_test(x, y).statistic
    expected = sum(naive.g_statistic(a, b) for a in x.T for b in y.T)
    assert found == pytest.approx(expected, rel=1e-10)


def test_a_constant_column_and_one_without_repeats_have_p_one():
    y = np.random.default_rng(0).integers(0, 3, 30)
    assert likelihood_ratio_test(np.full(30, 2.5), y).p_value == 1
    assert likelihood_ratio_test(np.arange(30.0), y).p_value == 1


def test_strong_dependence_is_found():
    y = np.random.default_rng(0).integers(0, 3, 30)
    assert likelihood_ratio_test(y % 2, y).p_value == 0.001


def test_blocks_of_columns_do_not_change_the_statistics(monkeypatch):
    random = np.random.default_rng(0)
    x, y = random.integers(0, 5, (30, 20, 1)).astype(float), random.integers(0, 4, (30, 2))
    strata = np.repeat([0, 1], 15)
    plan = PermutationPlan((np.arange(15), np.arange(15, 30)), 50)
    block = next(plan.blocks(np.random.default_rng(1)))

    def statistics() -> np.ndarray:
        return LikelihoodRatioKernel(x, y.astype(float), strata).permuted(block, Workspace())

    whole = statistics()
    monkeypatch.setattr(module, "LEVELS_AT_ONCE", 7)
    np.testing.assert_allclose(statistics(), whole, rtol=1e-12)

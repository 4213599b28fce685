"""Rüger's pooling and the numbers of permutations that it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smdp.errors import DataError, SettingError
from smdp.independence.pooling import (
    at_most,
    default_permutations,
    default_rank,
    minimum_permutations,
    pool_p_values,
)


def test_the_rank_is_the_papers():
    assert [default_rank(t) for t in (1, 19, 20, 39, 40, 90)] == [1, 1, 2, 2, 3, 5]


def test_pooled_is_t_times_the_order_statistic_over_its_rank():
    p_values = np.linspace(0.01, 0.9, 90)
    assert pool_p_values(p_values) == pytest.approx(90 * p_values[4] / 5)
    assert pool_p_values(p_values[::-1], rank=2) == pytest.approx(90 * p_values[1] / 2)
    assert pool_p_values([0.02, 0.3, 0.4], rank=1) == pytest.approx(0.06)
    assert pool_p_values([0.2]) == pytest.approx(0.2)
    assert pool_p_values([0.9, 0.8]) == 1.0


@given(st.integers(1, 300), st.floats(0.001, 0.5), st.integers(1, 20))
def test_the_minimum_can_reject_and_one_fewer_cannot(times, level, rank):
    rank = min(rank, times)
    needed = minimum_permutations(times, rank, level)

    def smallest(permutations: int) -> float:
        return pool_p_values(np.full(times, 1 / (permutations + 1)), rank)

    assert at_most(smallest(needed), level)
    if needed > 1:
        assert not at_most(smallest(needed - 1), level)


def test_the_papers_trial_needs_179_permutations():
    assert minimum_permutations(90, 5, 0.10) == 179
    assert default_permutations(90, 5, 0.10) == 1799
    assert default_permutations(1, 1, 0.10) == 999


def test_rounding_does_not_ask_for_one_more():
    # 3 / 0.1 is 30.000000000000004 or 30 depending on how it is computed
    assert minimum_permutations(3, 1, 0.1) == 29
    assert minimum_permutations(7, 1, 0.07) == 99


@pytest.mark.parametrize(
    ("p_values", "rank", "error", "message"),
    [
        ([], None, DataError, "at least one p-value"),
        ([[0.1]], None, DataError, "shape"),
        ([0.1, math.nan], None, DataError, "between 0 and 1.*nan.*Leave out the times"),
        ([1.2], None, DataError, "between 0 and 1"),
        ([0.1, 0.2], 3, SettingError, "'rank' must be a whole number from 1 to 2.*Got 3"),
        ([0.1, 0.2], 0, SettingError, "'rank' must be"),
    ],
)
def test_bad_input_is_explained(p_values, rank, error, message):
    with pytest.raises(error, match=message):
        pool_p_values(p_values, rank)

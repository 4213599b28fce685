"""Permutations within groups: uniform, complete where few, and counted with ties."""

from __future__ import annotations

import math

import numpy as np
import pytest

from smdp.independence.pair_products import BlockSize, pair_products
from smdp.independence.permutation import (
    BLOCK_COLUMNS,
    Exceedances,
    PermutationPlan,
    large_strata,
)
from smdp.independence.workspace import Workspace


def plan(*groups: list[int], requested: int) -> PermutationPlan:
    return PermutationPlan(tuple(np.array(group) for group in groups), requested)


def everything(given: PermutationPlan, seed: int = 0) -> np.ndarray:
    return np.hstack(list(given.blocks(np.random.default_rng(seed))))


def test_few_rearrangements_are_listed_once_each():
    given = plan([0, 3, 4], [1, 2], requested=11)
    assert given.exact
    assert given.count == 11
    columns = {tuple(column) for column in everything(given).T}
    assert len(columns) == 12
    assert all({c[0], c[3], c[4]} == {0, 3, 4} for c in columns)
    np.testing.assert_array_equal(everything(given)[:, 0], np.arange(5))


def test_one_permutation_too_few_and_they_are_drawn():
    given = plan([0, 3, 4], [1, 2], requested=10)
    assert not given.exact
    assert given.count == 10
    assert everything(given).shape == (5, 11)


@pytest.mark.parametrize("requested", [BLOCK_COLUMNS - 2, BLOCK_COLUMNS - 1, BLOCK_COLUMNS, 2500])
def test_blocks_hold_all_permutations_and_the_observed_order_first(requested):
    groups = ([5, 0, 7, 2, 9, 4, 11, 6], [1, 8, 3, 10])
    drawn = everything(plan(*groups, requested=requested))
    assert drawn.shape == (12, requested + 1)
    np.testing.assert_array_equal(drawn[:, 0], np.arange(12))
    np.testing.assert_array_equal(
        np.sort(drawn, axis=0).T, np.tile(np.arange(12), (requested + 1, 1))
    )
    for group in groups:
        assert np.isin(drawn[group], group).all()


def test_every_rearrangement_is_equally_likely():
    given = plan([0, 1, 2, 3], [4, 5], requested=47)
    drawn = np.hstack(
        [everything(plan(*map(list, given.groups), requested=46), s) for s in range(400)]
    )
    _, counts = np.unique(drawn[:, drawn[0] >= 0], axis=1, return_counts=True)
    expected = 400 * 46 / 48
    without_identity = counts[1:]
    assert len(counts) == 48
    assert np.sum((without_identity - expected) ** 2 / expected) < 47 + 5 * math.sqrt(2 * 47)


def test_ties_count_and_rounding_does_not_break_them():
    scale = np.array([1.0])
    found = Exceedances(scale, np.array([[0.3, 0.3 - 1e-15, 0.3 + 1e-15, 0.2, 0.4]]))
    found.add(np.array([[0.3, 0.1]]))
    assert found.p_values(6) == pytest.approx(5 / 7)


def test_small_strata_and_absent_subjects_are_left_out():
    strata = np.array([2, 0, 0, -1, 2, 2, 0, 5, 0, 2, -1, 5, 1])
    tested = large_strata(strata)
    np.testing.assert_array_equal(tested.subjects, [1, 2, 6, 8, 0, 4, 5, 9])
    assert tested.strata == (slice(0, 4), slice(4, 8))
    assert tested.strata_left_out == 2
    assert len(large_strata(np.full(5, -1)).subjects) == 0


@pytest.mark.parametrize("dimensions", [1, 3])
@pytest.mark.parametrize(
    "block", [BlockSize(), BlockSize(pairs=1), BlockSize(pairs=17), BlockSize(bytes=1)]
)
def test_pair_products_are_the_sums_over_pairs_whatever_the_blocks(block, dimensions):
    random = np.random.default_rng(0)
    x = random.normal(size=(11, 4, dimensions))
    weights = random.normal(size=(11, 11))
    weights += weights.T
    groups = (slice(0, 5), slice(5, 11))
    order = everything(plan(list(range(5)), list(range(5, 11)), requested=30))
    expected = np.zeros((4, 31))
    for group in groups:
        for i in range(group.start, group.stop):
            for k in range(i + 1, group.stop):
                distance = np.linalg.norm(x[i] - x[k], axis=1)
                expected += distance[:, None] * weights[order[i], order[k]]
    found = pair_products(x, weights, groups, order, Workspace(), block)
    np.testing.assert_allclose(found, expected, rtol=1e-12)

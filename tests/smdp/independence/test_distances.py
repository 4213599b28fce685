"""Values as points: their squared distances are the distances of the values, and R agrees."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from smdp.independence.distances import points, points_of_several, standardised_by_time

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "reference" / "energy.json").read_text(encoding="utf-8")
)


def squared_distances(found: np.ndarray) -> np.ndarray:
    return cdist(found, found, "sqeuclidean")


@pytest.mark.parametrize("case", REFERENCE, ids=[case["name"] for case in REFERENCE])
def test_distance_covariance_of_points_is_that_of_r(case):
    def centred_points(values: np.ndarray) -> np.ndarray:
        rows, columns = values.shape
        found = (
            points(values[:, 0], rows)
            if columns == 1
            else points_of_several(values, np.random.default_rng(0), rows)
        )
        return found - found.mean(axis=0)

    x, y = centred_points(np.array(case["x"])), centred_points(np.array(case["y"]))
    assert 4 * ((x.T @ y) ** 2).sum() / len(x) == pytest.approx(case["statistic"], rel=1e-6)


def test_few_values_have_points_without_loss():
    values = np.random.default_rng(0).integers(0, 6, 200).astype(float) ** 2
    expected = np.abs(values[:, None] - values)
    np.testing.assert_allclose(squared_distances(points(values)), expected, atol=1e-9)


def test_many_values_lie_on_lines_between_quantiles():
    values = np.sort(np.random.default_rng(0).normal(size=500))
    found = points(values, 9)
    assert found.shape == (500, 9)
    ends = squared_distances(found[[0, -1]])[0, 1]
    assert ends == pytest.approx(values[-1] - values[0])
    away = np.abs(np.corrcoef(squared_distances(found).ravel(), cdist(
        values[:, None], values[:, None]).ravel())[0, 1])  # fmt: skip
    assert away > 0.97


def test_a_constant_has_no_place():
    assert not points(np.full(20, 3.7)).any()
    assert not points_of_several(np.ones((20, 3)), np.random.default_rng(0)).any()


def test_each_time_is_standardised_on_its_own():
    random = np.random.default_rng(0)
    time = np.repeat(np.arange(5), 40)
    values = random.normal(size=200) * (1 + time) + 100 * time
    found = standardised_by_time(values, time)
    for t in range(5):
        assert found[time == t].mean() == pytest.approx(0, abs=1e-12)
        assert found[time == t].std() == pytest.approx(1)


def test_a_time_at_which_all_are_equal_says_nothing():
    time = np.repeat([0, 1], 10)
    values = np.append(np.full(10, 0.1), np.arange(10.0))
    found = standardised_by_time(values, time)
    assert not found[:10].any()
    assert found[10:].std() == pytest.approx(1)


def test_ranks_do_not_see_the_scale_and_share_ties():
    time = np.repeat([0, 1], 5)
    values = np.array([1, 5, 5, 9, 1e6, 4, 3, 2, 1, 0])
    ranked = standardised_by_time(values, time, ranks=True)
    expected = standardised_by_time(np.array([0, 1.5, 1.5, 3, 4, 4, 3, 2, 1, 0]), time)
    np.testing.assert_allclose(ranked, expected)

"""Local polynomial regression against R, and where R does not answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smdp.data import local_polynomial as module
from smdp.data.local_polynomial import local_polynomial
from smdp.errors import DataError, SettingError

REFERENCE = Path(__file__).parents[2] / "reference" / "loess.json"
SERIES: list[dict[str, Any]] = json.loads(REFERENCE.read_text(encoding="utf-8"))
WITHOUT_WARNING = [series for series in SERIES if not series["warnings"]]


def fit(series: dict[str, Any], values: Any = None) -> np.ndarray:
    values = series["values"] if values is None else values
    return local_polynomial(
        series["time"], values, series["at"], span=series["span"], degree=series["degree"]
    )


def deviation_from_r(series: dict[str, Any], where: np.ndarray) -> float:
    """The largest difference at the points `where`, relative to the series' largest value."""
    difference = np.abs(fit(series) - np.array(series["fitted"], dtype=float))
    return float(difference[where].max(initial=0) / np.abs(series["values"]).max())


def r_keeps_constants(series: dict[str, Any]) -> np.ndarray:
    """Where the weights that R gives the observations sum to 1 (False where R gives no number)."""
    return np.abs(np.array(series["of_ones"], dtype=float) - 1) < 1e-9


def test_the_reference_covers_enough() -> None:
    assert len(SERIES) >= 60
    assert len(WITHOUT_WARNING) >= 40
    assert {series["degree"] for series in WITHOUT_WARNING} == {0, 1, 2}
    assert min(series["span"] for series in WITHOUT_WARNING) < 0.3
    assert max(series["span"] for series in WITHOUT_WARNING) == 1.5


def test_agrees_with_r_wherever_r_does_not_warn() -> None:
    """loess(values ~ time, span =, degree =, control = loess.control(surface = "direct"))"""
    everywhere = [deviation_from_r(s, np.full(len(s["at"]), True)) for s in WITHOUT_WARNING]
    assert max(everywhere) < 1e-11


def test_agrees_with_r_where_r_warns_but_keeps_constants() -> None:
    warned = [series for series in SERIES if series["warnings"]]
    compared = sum(int(r_keeps_constants(series).sum()) for series in warned)
    assert compared > 100
    assert max(deviation_from_r(s, r_keeps_constants(s)) for s in warned) < 1e-11


def test_keeps_constants_where_r_does_not() -> None:
    """R answers y / 2 from one point y with a positive weight, and 0 from none."""
    not_followed = [series for series in SERIES if not r_keeps_constants(series).all()]
    assert len(not_followed) > 20
    for series in not_followed:
        ones = np.ones(len(series["time"]))
        np.testing.assert_allclose(fit(series, ones), 1, rtol=1e-12)
        assert np.isfinite(fit(series)).all()


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("span", [0.1, 0.75, 2.0])
def test_one_observation_is_the_answer_everywhere(degree: Any, span: float) -> None:
    fitted = local_polynomial([3], [7.5], [0, 3, 100], span=span, degree=degree)
    np.testing.assert_array_equal(fitted, [7.5, 7.5, 7.5])


def test_degree_falls_with_the_number_of_distinct_times() -> None:
    line = local_polynomial([0, 4], [0.0, 8.0], [1, 2, 6], span=2.0, degree=2)
    np.testing.assert_allclose(line, [2, 4, 12])
    mean = local_polynomial([2, 2, 2], [1.0, 2.0, 6.0], [0, 2, 9], degree=2)
    np.testing.assert_allclose(mean, 3)


def test_zero_width_neighbourhood_is_the_mean_of_the_ties() -> None:
    fitted = local_polynomial([1, 1, 1, 4, 5], [1, 2, 3, 9, 9], [1], span=0.4)
    np.testing.assert_allclose(fitted, 2)


def test_points_all_on_the_boundary_give_the_mean_of_the_nearest() -> None:
    fitted = local_polynomial([0, 2, 10], [1.0, 3.0, 50.0], [1, 2, 9], span=0.4)
    np.testing.assert_allclose(fitted, [2, 3, 50])


def test_a_span_of_less_than_one_point_takes_one() -> None:
    fitted = local_polynomial(range(5), [5.0, 4, 3, 2, 1], [0.2, 3.9], span=0.01, degree=0)
    np.testing.assert_allclose(fitted, [5, 1])


def test_nan_means_unobserved() -> None:
    nan = float("nan")
    fitted = local_polynomial([0, 1, nan, 3, 4], [1.0, nan, 5.0, 2.0, 8.0], [2.0, nan])
    np.testing.assert_array_equal(fitted[0], local_polynomial([0, 3, 4], [1, 2, 8], 2.0))
    assert np.isnan(fitted[1])


def test_keeps_the_shape_of_the_points() -> None:
    points = np.arange(6.0).reshape(2, 3)
    assert local_polynomial([0, 1, 2], [1, 3, 2], points).shape == (2, 3)
    assert local_polynomial([0, 1, 2], [1, 3, 2], 1.5).shape == ()
    assert local_polynomial([0, 1, 2], [1, 3, 2], []).shape == (0,)


def test_blocks_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    at = np.linspace(-1, 31, 50)
    values = np.sin(np.arange(30))
    at_once = local_polynomial(np.arange(30), values, at, degree=2)
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 100)
    np.testing.assert_array_equal(local_polynomial(np.arange(30), values, at, degree=2), at_once)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [float("nan")] * 2, [0]), "without a single observed value"),
        (([], [], [0]), "without a single observed value"),
        (([0, 1], [1.0], [0]), "'time' has 2 entries but 'values' has 1"),
        (([0, 1], [1.0, float("inf")], [0]), "'values' holds an infinite number"),
        (([0, float("inf")], [1.0, 2.0], [0]), "'time' holds an infinite number"),
        (([0, 1], [1.0, 2.0], [float("inf")]), "'at' holds an infinite time"),
    ],
)
def test_refuses_what_cannot_be_fitted(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        local_polynomial(*arguments)


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"span": 0}, "'span' must be"), ({"degree": 3}, "'degree' must be 0, 1 or 2. Got 3")],
)
def test_refuses_settings(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        local_polynomial([0, 1], [1, 2], [0], **setting)


TIMES = st.lists(st.integers(0, 30), min_size=1, max_size=15)
SPANS = st.floats(0.05, 3)
DEGREES = st.sampled_from([0, 1, 2])


@settings(deadline=None, max_examples=150)
@given(TIMES, SPANS, DEGREES, st.randoms(use_true_random=False))
def test_order_scale_and_origin_change_nothing(
    times: list[int], span: float, degree: Any, random: Any
) -> None:
    time = np.array(times, dtype=float)
    values = np.array([random.uniform(-5, 5) for _ in times])
    at = np.array([-3, 0.5, 7, 15.25, 29, 33])
    fitted = local_polynomial(time, values, at, span=span, degree=degree)
    assert np.isfinite(fitted).all()
    tolerance = 1e-9 * (1 + np.abs(fitted).max())
    order = np.array(random.sample(range(len(times)), len(times)))
    shuffled = local_polynomial(time[order], values[order], at, span=span, degree=degree)
    np.testing.assert_allclose(shuffled, fitted, rtol=0, atol=tolerance)
    moved = local_polynomial(time + 64, 4 * values + 3, at + 64, span=span, degree=degree)
    np.testing.assert_allclose(moved, 4 * fitted + 3, rtol=0, atol=8 * tolerance)


@settings(deadline=None, max_examples=60)
@given(DEGREES, st.floats(0.4, 2), st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_reproduces_polynomials_of_its_degree(
    degree: Any, span: float, coefficients: list[float]
) -> None:
    time = np.arange(20.0)
    at = np.array([-2, 0, 3.3, 10, 19, 21.5])
    polynomial = np.polynomial.Polynomial(coefficients[: degree + 1])
    fitted = local_polynomial(time, polynomial(time), at, span=span, degree=degree)
    np.testing.assert_allclose(fitted, polynomial(at), rtol=1e-9, atol=1e-8)

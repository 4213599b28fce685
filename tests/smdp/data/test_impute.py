"""Filling in missing state values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import study_of

from smdp.data.column_roles import StateVariable
from smdp.data.impute import fitted_curve, impute, value_range
from smdp.data.local_polynomial import local_polynomial
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.study import Cell, Study
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.progress import Cancelled

NAN = float("nan")
OBSERVED, IMPUTED, EXTRAPOLATED, ABSENT = Cell
CONTINUOUS = StateVariable("stress", "continuous")


def one_series(values: Sequence[float], variable: StateVariable = CONTINUOUS) -> Study:
    return study_of([[[value] for value in values]], [variable])


def test_a_missing_cell_gets_the_fitted_value_at_its_decision() -> None:
    series = [1.0, NAN, 2.0, 4.0, NAN, 3.0, 7.0, 2.0]
    imputed, origin = impute(one_series(series), ImputationSettings(span=0.8, degree=2))
    expected = np.array(series)
    expected[[1, 4]] = local_polynomial(range(8), series, [1, 4], span=0.8, degree=2)
    np.testing.assert_array_equal(imputed.values[0, :, 0], expected)
    np.testing.assert_array_equal(np.flatnonzero(origin[0, :, 0]), [1, 4])


def test_origin_tells_inside_outside_and_after_the_end() -> None:
    study = study_of(
        [[[NAN], [1], [NAN], [3], [NAN]], [[2], [5], [4], [NAN], [NAN]]], [CONTINUOUS], [5, 3]
    )
    origin = impute(study)[1]
    assert origin.dtype == np.uint8
    np.testing.assert_array_equal(
        origin[:, :, 0],
        [[EXTRAPOLATED, OBSERVED, IMPUTED, OBSERVED, EXTRAPOLATED], [OBSERVED] * 3 + [ABSENT] * 2],
    )
    assert np.isnan(impute(study)[0].values[1, 3:]).all()


def test_series_with_one_value_are_carried() -> None:
    """Within a variable that varies elsewhere, carried cells outside are still extrapolated."""
    value = 0.1 + 0.2
    study = study_of([[[NAN], [value], [NAN]], [[1], [2], [3]]], [CONTINUOUS])
    imputed, origin = impute(study)
    np.testing.assert_array_equal(imputed.values[0, :, 0], [value] * 3)
    assert origin[0, :, 0].tolist() == [EXTRAPOLATED, OBSERVED, EXTRAPOLATED]


def test_carried_cells_of_a_baseline_variable_are_not_extrapolated() -> None:
    study = study_of([[[NAN], [30], [NAN]], [[40], [40], [NAN]]], [CONTINUOUS])
    origin = impute(study)[1][:, :, 0]
    np.testing.assert_array_equal(origin, [[IMPUTED, OBSERVED, IMPUTED], [0, 0, IMPUTED]])


def test_fitted_values_stay_in_the_observed_range_of_the_study() -> None:
    rising = [[1], [2], [3], [4], [NAN], [NAN]]
    alone = impute(study_of([rising], [CONTINUOUS]))[0]
    assert alone.values[0, 4:, 0].tolist() == [4, 4]
    other = [[0], [1], [0], [1], [0], [5.5]]
    together = impute(study_of([rising, other], [CONTINUOUS]))[0]
    np.testing.assert_allclose(together.values[0, 4:, 0], [5, 5.5])


def test_fitted_values_stay_in_the_declared_range() -> None:
    declared = StateVariable("stress", "continuous", low=0, high=4.5)
    values = impute(one_series([1, 2, 3, 4, NAN, NAN], declared))[0].values
    assert values[0, 4:, 0].tolist() == [4.5, 4.5]


def test_an_observed_value_outside_the_declared_range_is_left_alone() -> None:
    declared = StateVariable("stress", "continuous", high=3)
    values = impute(one_series([1, 9, NAN, 9, 2], declared))[0].values[0, :, 0]
    assert values.tolist() == [1, 9, 3, 9, 2]


@pytest.mark.parametrize("kind", ["ordinal", "binary"])
def test_whole_variables_are_rounded(kind: Any) -> None:
    values = impute(one_series([0, NAN, 1, 0, NAN, 1, 1], StateVariable("x", kind)))[0].values
    assert set(values.ravel()) <= {0.0, 1.0}


def test_other_variables_are_not_rounded() -> None:
    fitted = impute(one_series([0, NAN, 1, 0, 1, 1]))[0].values[0, 1, 0]
    assert 0 < fitted < 1
    halves = StateVariable("x", "ordinal")
    fitted = impute(one_series([0, NAN, 0.5, 0, 1, 1], halves))[0].values[0, 1, 0]
    assert fitted != round(fitted)


def test_rounding_does_not_lead_out_of_the_range() -> None:
    odd = StateVariable("x", "ordinal", low=0.4, high=3.6)
    values = impute(one_series([3, 2, 1, NAN, NAN, NAN], odd), ImputationSettings(1.0))[0].values
    assert values[0, 3:, 0].tolist() == [1, 1, 1]


def test_the_range_is_never_upside_down() -> None:
    values = np.array([1.0, 2.0, NAN])
    assert value_range(Variable("x"), values) == (1, 2)
    assert value_range(Variable("x", low=5), values) == (5, 5)
    assert value_range(Variable("x", high=0), values) == (0, 0)
    assert value_range(Variable("x", high=9, rescaled_from=(3, 9)), values) == (0, 1)


def test_refuses_series_without_any_value() -> None:
    names = [StateVariable(f"v{i}", "continuous") for i in range(9)]
    study = study_of(np.full((1, 3, 9), NAN), names)
    with pytest.raises(DataError) as refusal:
        impute(study)
    assert refusal.value.problem == (
        "There is no observed value at all of 'v0' of subject s0, 'v1' of subject s0, "
        "'v2' of subject s0, 'v3' of subject s0, 'v4' of subject s0 and 4 more."
    )
    assert "unobserved='exclude'" in refusal.value.remedy
    with pytest.raises(DataError, match="no observed value at all of 'v3' of subject s0"):
        fitted_curve(study, 0, 3)


def test_the_curve_runs_through_the_imputed_values() -> None:
    study = one_series([NAN, 3.0, 5.0, NAN, 2.0, 6.0, 1.0, NAN, 4.0])
    positions, fitted = fitted_curve(study, 0, 0, points=17)
    np.testing.assert_array_equal(positions, np.arange(17) / 2)
    imputed = impute(study)[0].values[0, [0, 3, 7], 0]
    np.testing.assert_allclose(fitted[[0, 6, 14]], imputed)
    assert fitted_curve(study, 0, 0)[1].shape == (200,)
    np.testing.assert_array_equal(fitted_curve(one_series([NAN, 2, 2]), 0, 0, points=3)[1], 2)


def test_progress_is_reported_and_can_cancel() -> None:
    study = study_of([[[1], [NAN], [3]]] * 4, [CONTINUOUS])
    shares: list[float] = []
    impute(study, progress=lambda share, _: shares.append(share))
    assert shares == [0, 0.25, 0.5, 0.75, 1]

    def cancel(share: float, message: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        impute(study, progress=cancel)


KINDS = (
    StateVariable("continuous", "continuous"),
    StateVariable("ordinal", "ordinal", low=0, high=10),
    StateVariable("binary", "binary"),
)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Small studies with each kind of variable, every series observed at least once."""
    n, rows = draw(st.integers(1, 4)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = rng.integers(2, rows + 1, n)
    shape = (n, rows)
    values = np.stack(
        [rng.normal(0, 3, shape), rng.integers(0, 11, shape), rng.integers(0, 2, shape)], axis=2
    ).astype(float)
    values[rng.random(values.shape) < draw(st.floats(0, 0.9))] = NAN
    first = rng.integers(0, lengths)
    empty = np.isnan(values[np.arange(n), first])
    values[np.arange(n), first] = np.where(empty, [0.5, 3, 1], values[np.arange(n), first])
    return study_of(values, KINDS, lengths)


SETTINGS = st.builds(ImputationSettings, st.floats(0.2, 2), st.sampled_from([0, 1, 2]))


@settings(deadline=None, max_examples=80)
@given(studies(), SETTINGS)
def test_completes_within_range_and_leaves_observed_cells_alone(
    study: Study, how: ImputationSettings
) -> None:
    imputed, origin = impute(study, how)
    values, grid = imputed.values, study.on_grid
    assert np.isfinite(values[grid]).all()
    assert np.isnan(values[~grid]).all()
    observed = ~np.isnan(study.values)
    assert values[observed].tobytes() == study.values[observed].tobytes()
    np.testing.assert_array_equal(origin == OBSERVED, observed)
    np.testing.assert_array_equal(
        origin == ABSENT, np.broadcast_to(~grid[:, :, None], values.shape)
    )
    for column, variable in enumerate(study.variables):
        low, high = value_range(variable, study.values[:, :, column])
        cells = values[grid, column]
        assert cells.min() >= low
        assert cells.max() <= high
        if variable.kind != "continuous":
            np.testing.assert_array_equal(cells, np.rint(cells))


@settings(deadline=None, max_examples=60)
@given(studies(), SETTINGS, st.randoms(use_true_random=False))
def test_order_of_subjects_changes_nothing(
    study: Study, how: ImputationSettings, random: Any
) -> None:
    order = random.sample(range(len(study.subjects)), len(study.subjects))
    moved = replace(
        study,
        subjects=tuple(study.subjects[i] for i in order),
        values=study.values[order],
        lengths=study.lengths[order],
    )
    before, after = impute(study, how), impute(moved, how)
    np.testing.assert_array_equal(after[0].values, before[0].values[order])
    np.testing.assert_array_equal(after[1], before[1][order])

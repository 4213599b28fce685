"""Ordinal rescaling to the levels of a reference variable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import study_of

from smdp.data.column_roles import StateVariable
from smdp.data.impute import impute
from smdp.data.preparation_settings import RescalingSettings
from smdp.data.rescale import rescale, unique_counts
from smdp.data.study import Study
from smdp.errors import DataError, SettingError


def imputed_of(columns: dict[StateVariable, Any]) -> Study:
    """One subject, complete, with these columns."""
    return impute(study_of(np.array(list(columns.values())).T[None], tuple(columns)))[0]


def column(rescaled: Any, index: int) -> list[float]:
    return rescaled.values[0, :, index].tolist()


CIGS = StateVariable("cigs", "ordinal")
URGE = StateVariable("urge", "ordinal", low=1, high=5)
#: 0 to 20 cigarettes, 18 of the 21 numbers occurring, as in the paper's study.
SMOKED = np.array([c for c in range(21) if c not in (13, 17, 19)], dtype=float)


def test_the_papers_case() -> None:
    """Cigarettes, 0 to 20 with 18 unique values, are the reference without being asked for."""
    urge = np.resize([1.0, 2.0, 3.0, 4.0, 5.0], 18)
    imputed = imputed_of({URGE: urge, CIGS: SMOKED})
    assert unique_counts(imputed) == {"urge": 5, "cigs": 18}
    rescaled = rescale(imputed)
    assert rescaled.reference == "cigs"
    np.testing.assert_array_equal(rescaled.levels, SMOKED / 20)
    assert column(rescaled, 1) == (SMOKED / 20).tolist()
    assert column(rescaled, 0)[:5] == [0, 0.25, 0.5, 0.75, 1]
    assert [v.rescaled_from for v in rescaled.variables] == [(1, 5), (0, 20)]


def test_the_first_of_equally_rich_variables_is_the_reference() -> None:
    other = StateVariable("other", "ordinal")
    assert rescale(imputed_of({other: [0, 1, 2], CIGS: [5, 6, 7]})).reference == "other"


def test_a_reference_with_levels_from_zero_on_is_preferred() -> None:
    """Divided by its maximum, age begins at 0.75, and all lower values would become that."""
    age = StateVariable("age", "ordinal")
    rescaled = rescale(imputed_of({age: [60, 65, 70, 75, 80], CIGS: [0, 5, 10, 10, 5]}))
    assert rescaled.reference == "cigs"


def test_halfway_goes_to_the_lower_level_in_spite_of_rounding() -> None:
    """0.15 lies halfway between 0.1 and 0.2, 0.35 between 0.3 and 0.4, and so on."""
    halves = StateVariable("halves", "continuous", low=0, high=1)
    tenths = np.arange(11) / 10
    where = np.arange(11) / 10 + 0.05
    where[-1] = 1
    rescaled = rescale(
        imputed_of({CIGS: np.arange(11.0), halves: where}), RescalingSettings("cigs")
    )
    assert column(rescaled, 1) == tenths.tolist()


def test_the_declared_maximum_of_the_reference_is_used() -> None:
    declared = StateVariable("cigs", "ordinal", high=40)
    rescaled = rescale(imputed_of({declared: [0, 10, 20]}))
    assert rescaled.levels.tolist() == [0, 0.25, 0.5]


def test_a_reference_with_negative_values_is_rescaled_by_its_range() -> None:
    mood = StateVariable("mood", "ordinal")
    rescaled = rescale(imputed_of({mood: [-2, -1, 0, 2]}))
    assert rescaled.levels.tolist() == [0, 0.25, 0.5, 1]
    assert rescaled.variables[0].rescaled_from == (-2, 2)


def test_a_reference_that_starts_above_zero_keeps_its_lowest_level() -> None:
    rescaled = rescale(imputed_of({CIGS: [5, 8, 10], URGE: [1, 3, 5]}))
    assert rescaled.levels.tolist() == [0.5, 0.8, 1]
    assert column(rescaled, 1) == [0.5, 0.5, 1]


def test_values_outside_a_declared_range_count_as_its_end() -> None:
    rescaled = rescale(imputed_of({CIGS: [0, 1, 2], URGE: [0, 3, 9]}))
    assert column(rescaled, 1) == [0, 0.5, 1]


def test_a_constant_variable_goes_to_the_lowest_level() -> None:
    constant = StateVariable("constant", "continuous")
    rescaled = rescale(imputed_of({CIGS: [2, 3, 4], constant: [7, 7, 7], URGE: [3, 3, 3]}))
    assert column(rescaled, 1) == [0.5] * 3
    assert column(rescaled, 2) == [0.5] * 3
    assert rescaled.variables[1].rescaled_from == (7, 7)


def test_cells_after_a_subjects_end_stay_missing() -> None:
    study = study_of([[[1], [2], [9]], [[3], [4], [5]]], [CIGS], lengths=[2, 3])
    rescaled = rescale(impute(study)[0])
    assert np.isnan(rescaled.values[0, 2, 0])
    assert rescaled.levels.tolist() == [0.2, 0.4, 0.6, 0.8, 1]


def test_refuses_an_unknown_reference() -> None:
    with pytest.raises(SettingError, match=r"'reference' names 'x'.* Choose one of: cigs, urge\."):
        rescale(imputed_of({CIGS: [0, 1], URGE: [1, 2]}), RescalingSettings("x"))


@pytest.mark.parametrize("value", [0, 3, -1])
def test_refuses_a_constant_reference(value: float) -> None:
    with pytest.raises(DataError, match="reference variable 'cigs' has a single value"):
        rescale(imputed_of({CIGS: [value] * 3, URGE: [1, 2, 3]}), RescalingSettings("cigs"))


NAMES = ("first", "second", "third")


@st.composite
def completed_studies(draw: st.DrawFn) -> Study:
    """Complete small studies of whole numbers and fractions, negative ones too."""
    n, rows = draw(st.integers(1, 3)), draw(st.integers(2, 8))
    number = st.one_of(st.integers(-3, 20), st.integers(-5000, 5000).map(lambda k: k / 1000))
    cells = draw(st.lists(number, min_size=3 * n * rows, max_size=3 * n * rows))
    variables = [
        StateVariable(name, "continuous", low=draw(st.sampled_from([None, -6.0]))) for name in NAMES
    ]
    return impute(study_of(np.reshape(cells, (n, rows, 3)), variables))[0]


def has_reference(imputed: Study) -> bool:
    return max(unique_counts(imputed).values()) > 1


@settings(deadline=None, max_examples=80)
@given(completed_studies().filter(has_reference))
def test_on_the_levels_monotone_and_idempotent(imputed: Study) -> None:
    rescaled = rescale(imputed)
    before, after = imputed.values, rescaled.values
    assert np.isin(after, rescaled.levels).all()
    assert rescaled.levels.min() >= 0
    assert rescaled.levels.max() <= 1
    for index in range(len(NAMES)):
        order = np.argsort(before[:, :, index], axis=None)
        assert (np.diff(after[:, :, index].ravel()[order]) >= 0).all()
    twice = rescale(rescaled)
    np.testing.assert_array_equal(twice.values, after)
    np.testing.assert_array_equal(twice.levels, rescaled.levels)


@settings(deadline=None, max_examples=40)
@given(completed_studies().filter(has_reference), st.randoms(use_true_random=False))
def test_order_of_subjects_changes_nothing(imputed: Study, random: Any) -> None:
    order = random.sample(range(len(imputed.subjects)), len(imputed.subjects))
    moved = replace(imputed, values=imputed.values[order])
    before, after = rescale(imputed), rescale(moved)
    assert after.reference == before.reference
    np.testing.assert_array_equal(after.values, before.values[order])

"""Who is left out of a study, and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_studies import study_of

from smdp.data.column_roles import StateVariable
from smdp.data.exclude import exclude, missing_shares, varies_over_time
from smdp.data.preparation_settings import PreparationSettings
from smdp.data.study import Study
from smdp.errors import DataError, SettingError

NAN = float("nan")
STRESS, AGE = StateVariable("stress", "continuous"), StateVariable("age", "continuous")


@pytest.fixture
def diary() -> Study:
    """Stress varies, age does not. s0 is complete, s1 misses 3 of 4, s2 half of its 2 rows."""
    return study_of(
        [
            [[1, 30], [2, 30], [3, 30], [4, 30]],
            [[NAN, 40], [2, 40], [NAN, 40], [NAN, 40]],
            [[5, NAN], [NAN, 50], [NAN, NAN], [NAN, NAN]],
        ],
        [STRESS, AGE],
        lengths=[4, 4, 2],
    )


def test_baseline_variables_do_not_vary(diary: Study) -> None:
    np.testing.assert_array_equal(varies_over_time(diary), [True, False])


def test_baseline_variables_do_not_dilute_the_share(diary: Study) -> None:
    np.testing.assert_array_equal(missing_shares(diary), [0, 0.75, 0.5])


def test_the_share_counts_all_variables_if_none_varies() -> None:
    study = study_of([[[1, 5], [NAN, 5]], [[2, 6], [2, 6]]], [STRESS, AGE])
    np.testing.assert_array_equal(missing_shares(study), [0.25, 0])


def test_leaves_out_whoever_is_above_the_limit(diary: Study) -> None:
    kept, exclusions = exclude(diary, PreparationSettings(exclude_above=0.5))
    assert kept.subjects == ("s0", "s2")
    (case,) = exclusions
    assert (case.subject, case.missing_share, case.limit) == ("s1", 0.75, 0.5)
    assert case.cause == "too much missing"
    assert case.reason == "75 % of the values that change over time are missing (limit 50 %)"


def test_the_reason_tells_share_and_limit_apart(diary: Study) -> None:
    _, (case,) = exclude(diary, PreparationSettings(exclude_above=0.7499))
    assert case.reason == "75.00 % of the values that change over time are missing (limit 74.99 %)"


def test_leaves_out_by_hand_and_cuts_the_grid(diary: Study) -> None:
    settings = PreparationSettings(also_exclude=("s0",))
    kept, exclusions = exclude(diary, settings)
    assert kept.subjects == ("s2",)
    assert exclusions[0].cause == "by hand"
    assert exclusions[0].reason == "left out by hand"
    shapes = {
        "values": (1, 2, 2),
        "present": (1, 2),
        "actions": (1, 2),
        "utilities": (1, 2),
        "available": (1, 2),
        "probabilities": (1, 2, 2),
        "times": (1, 2),
        "lengths": (1,),
    }
    assert {name: getattr(kept, name).shape for name in shapes} == shapes
    np.testing.assert_array_equal(kept.utilities, diary.utilities[[2], :2])


def test_leaves_out_a_single_row(diary: Study) -> None:
    present = diary.present.copy()
    present[2, 1:] = False
    short = replace(diary, present=present)
    kept, exclusions = exclude(short, PreparationSettings(exclude_above=1))
    assert kept.subjects == ("s0", "s1")
    assert exclusions[0].cause == "single row"
    assert "single row" in exclusions[0].reason


def test_leaves_out_the_unobserved_only_when_asked() -> None:
    study = study_of([[[1, 5], [2, 5]], [[2, NAN], [2, NAN]]], [STRESS, AGE])
    kept, exclusions = exclude(study, PreparationSettings())
    assert kept.subjects == ("s0", "s1")
    assert exclusions == ()
    kept, exclusions = exclude(study, PreparationSettings(unobserved="exclude"))
    assert kept.subjects == ("s0",)
    assert (exclusions[0].cause, exclusions[0].variables) == ("empty series", ("age",))
    assert exclusions[0].reason == "has no value at all of age"


def test_refuses_an_unknown_name(diary: Study) -> None:
    with pytest.raises(SettingError, match=r"'also_exclude' .* not in the data: s9\."):
        exclude(diary, PreparationSettings(also_exclude=("s0", "s9")))


def test_refuses_to_leave_out_everyone(diary: Study) -> None:
    with pytest.raises(DataError, match=r"Every subject would be left out \(s0: left out by hand"):
        exclude(diary, PreparationSettings(also_exclude=diary.subjects))


def test_order_of_subjects_changes_nothing(diary: Study) -> None:
    order = [2, 0, 1]
    fields = ("values", "present", "actions", "utilities", "available", "probabilities")
    moved = replace(
        diary,
        subjects=tuple(diary.subjects[i] for i in order),
        **{name: getattr(diary, name)[order] for name in (*fields, "times", "lengths")},
    )
    kept, exclusions = exclude(moved, PreparationSettings())
    assert kept.subjects == ("s2", "s0")
    assert exclusions == exclude(diary, PreparationSettings())[1]

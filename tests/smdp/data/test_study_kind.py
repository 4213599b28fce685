"""What kind of study a table is of, and what can be seen of one without treatments."""

import numpy as np
import pandas as pd
import pytest

from smdp.data.column_roles import ColumnRoles, StateVariable
from smdp.data.study_kind import (
    ACTION_LEFT_OUT,
    ASSIGNED,
    HOWS,
    MEANS,
    guess_how,
    how_in,
    look_without_treatment,
)
from smdp.data.synthetic_files import BY_A_FAIR_COIN
from smdp.errors import SettingError


def diary():
    return pd.DataFrame(
        {"who": [1, 1, 1, 2, 2], "day": [1, 2, 3, 1, 3], "mood": [3.0, np.nan, 5, 2, 4],
         "steps": [10.0, 20, 30, 40, 50]}
    )  # fmt: skip


def roles(**more):
    return ColumnRoles("who", "day", "given", ["mood"], "steps", **more)


def test_every_answer_has_its_words_and_its_meaning():
    assert set(HOWS) == set(MEANS) == set(ASSIGNED)


def test_nobody_is_called_randomised_by_a_guess():
    frame = diary()
    assert guess_how(frame, None, ["p"]) == "none"
    assert guess_how(frame, "given", []) == "observed"
    assert guess_how(frame, "given", ["p"]) == "column"


def test_a_sample_says_of_itself_that_it_was_randomised():
    frame = diary()
    frame.attrs["fingerprint"] = next(iter(BY_A_FAIR_COIN))
    assert guess_how(frame, "given", []) == "constant"
    assert guess_how(frame, None, []) == "none"


@pytest.mark.parametrize(
    ("more", "how"),
    [
        ({}, "observed"),
        ({"assignment": "randomised"}, "unknown"),
        ({"assignment": "observed", "probability": 0.5}, "observed"),
        ({"probability": 0.5}, "constant"),
        ({"probability": {"1": 0.4, "2": 0.3}}, "constant"),
        ({"probability": "chance"}, "column"),
        ({"probability": {"1": 0.4, "2": "chance"}}, "column"),
    ],
)
def test_the_answer_that_roles_have(more, how):
    assert how_in(roles(**more)) == how


def test_people_and_variables_without_a_treatment():
    study = look_without_treatment(diary(), "who", "day", [StateVariable("mood")], "steps")
    assert study.subjects == ("1", "2")
    assert study.action_labels == ("none",)
    assert study.present.tolist() == [[True, True, True], [True, False, True]]
    assert np.nansum(study.utilities) == 150
    without = look_without_treatment(diary(), "who", "day", [StateVariable("mood")])
    assert np.isnan(without.utilities).all()
    assert ACTION_LEFT_OUT not in diary().columns


def test_what_is_lacking_is_named():
    with pytest.raises(SettingError, match="a time and a state is needed"):
        look_without_treatment(diary(), "who", None, [])

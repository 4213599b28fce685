"""From a table to subjects on a grid."""

import numpy as np
import pandas as pd
import pytest

from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.errors import DataError, SettingError


def test_unequal_lengths_and_gap(frame, roles):
    study = arrange(frame, roles)
    assert study.subjects == ("P1", "P2", "P3", "P4", "P5", "P6")
    assert study.lengths.tolist() == [5, 6, 7, 8, 9, 10]
    assert not study.present[3, 2]
    assert np.isnan(study.values[3, 2]).all()
    assert study.present.sum() == len(frame)
    assert [v.kind for v in study.variables] == ["ordinal", "continuous", "ordinal"]


def test_row_order_changes_nothing(frame, roles):
    one, two = arrange(frame, roles), arrange(frame.sample(frac=1, random_state=3), roles)
    for name in ("values", "present", "actions", "utilities", "times", "lengths"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_numeric_subjects_in_numeric_order(frame, roles):
    frame["id"] = frame["id"].str[1:].astype(int) * 5
    assert arrange(frame, roles).subjects == ("5", "10", "15", "20", "25", "30")


def test_availability_forces_no_action(frame, roles):
    frame["avail"] = np.where(frame["time"] == 2, "no", "yes")
    study = arrange(frame, ColumnRoles("id", "time", "treat", ["stress"], "reward", "avail"))
    assert (study.actions[:, 1] == -1).all()
    assert not study.available[:, 1].any()


def test_probability_column_is_the_second_levels(frame):
    frame["p"] = 0.6
    study = arrange(frame, ColumnRoles("id", "time", "treat", ["stress"], "reward", None, "p"))
    np.testing.assert_allclose(study.probabilities[study.present], [[0.4, 0.6]] * len(frame))


def test_three_actions_with_labels_and_constants(frame):
    frame["treat"] = np.resize(["none", "call", "message"], len(frame))
    roles = ColumnRoles(
        "id", "time", "treat", ["stress"], "reward", None, {"call": 0.25, "message": 0.25}
    )
    study = arrange(frame, roles)
    assert study.action_labels == ("none", "call", "message")
    np.testing.assert_allclose(study.probabilities[0, 0], [0.5, 0.25, 0.25])
    with pytest.raises(DataError, match="3 actions"):
        arrange(frame, ColumnRoles("id", "time", "treat", ["stress"], "reward", None, 0.5))


def test_labels_from_the_file(frame, roles):
    frame.attrs["value_labels"] = {"treat": {0.0: "information", 1.0: "treatment"}}
    assert arrange(frame, roles).action_labels == ("information", "treatment")


def test_two_words_are_zero_and_one(frame):
    frame["sex"] = np.where(frame["age"] > 22, "male", "female")
    study = arrange(frame, ColumnRoles("id", "time", "treat", ["sex"], "reward"))
    assert study.variables[0].kind == "binary"
    assert study.values[0, 0, 0] == 0
    assert study.values[5, 0, 0] == 1


def test_time_as_state(frame):
    study = arrange(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", add_time=True))
    assert study.variables[-1].name == "decision"
    np.testing.assert_array_equal(study.values[3, :8, -1], np.arange(1, 9))


BAD = [
    ("duplicated", lambda f: pd.concat([f, f.iloc[[3]]]), r"share their subject and time.*P1"),
    ("one level", lambda f: f.assign(treat=1), r"'treat' has only the level '1'"),
    ("thirty", lambda f: f.assign(treat=np.arange(len(f)) % 30), r"'treat' has 30 levels"),
    ("text", lambda f: f.assign(stress=["high", *f["stress"].iloc[1:].astype(str)]),
     r"'stress' holds text in 1 of \d+ rows: 'high' in data row 1"),
    ("infinite", lambda f: f.assign(steps=[np.inf, *f["steps"].iloc[1:]]),
     r"'steps' is infinite in data row 1"),
    ("empty", lambda f: f.assign(steps=np.nan), "'steps' has no value"),
    ("no subject", lambda f: f.assign(id=[None, *f["id"].iloc[1:]]), "'id' is empty in data row 1"),
    ("one subject", lambda f: f.assign(id="A", time=range(len(f))), "only one value"),
    ("own rows", lambda f: f.assign(id=range(len(f))), "one row only"),
    ("reward", lambda f: f.assign(reward="good"), "'reward' is no finite number"),
    ("flat", lambda f: f.assign(reward=1.0), "'reward' does not vary"),
    ("no outcome", lambda f: f.assign(reward=np.nan), "'reward' has no value in any row"),
    ("two", lambda f: f.assign(treat=1, reward=1.0), r" \(and 1 more problem\)"),
    ("time", lambda f: f.assign(time="soon"), "neither numbers nor dates"),
    ("gone", lambda f: f.drop(columns="age"), "no column 'age'"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_tables_are_refused_by_name(frame, roles, spoil, message):
    with pytest.raises(DataError, match=message):
        arrange(spoil(frame), roles)


def test_declared_range_is_kept(frame):
    states = [StateVariable("stress", "ordinal", 0, 3)]
    with pytest.raises(DataError, match=r"outside its declared range 0 to 3"):
        arrange(frame, ColumnRoles("id", "time", "treat", states, "reward"))


def test_roles_refuse_nonsense():
    with pytest.raises(SettingError, match="more than one role: id"):
        ColumnRoles("id", "time", "treat", ["id"], "reward")
    with pytest.raises(SettingError, match="not a state variable"):
        ColumnRoles("id", "time", "treat", ["stress"], NextValue("cigs"))
    with pytest.raises(SettingError, match="at least one column"):
        ColumnRoles("id", "time", "treat", [], "reward")
    with pytest.raises(SettingError, match="between 0 and 1"):
        ColumnRoles("id", "time", "treat", ["stress"], "reward", None, 1.5)
    with pytest.raises(SettingError, match="range of 'x' is empty"):
        StateVariable("x", "ordinal", 3, 1)
    with pytest.raises(SettingError, match="sign"):
        NextValue("x", 2)


def test_probabilities_must_add_up(frame):
    frame["treat"] = np.resize(["none", "call", "message"], len(frame))
    for given in ({"call": 0.9, "message": 0.9}, {"none": 0.5, "call": 0.5, "message": 0.5}):
        with pytest.raises(DataError, match="randomisation probabilities do not"):
            arrange(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", None, given))
    with pytest.raises(DataError, match="for too few actions"):
        arrange(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", None, {"call": 0.2}))


def test_a_code_among_the_actions_is_warned_of(frame, roles):
    frame.loc[3, "treat"] = -9
    found = [p for p in find_problems(frame, roles) if p.about == "treat"]
    assert "looks like a missing code" in found[0].message


def test_look_back_longer_than_the_study_is_refused_at_once(frame):
    with pytest.raises(DataError, match="look-back of 10 leaves no transition"):
        arrange(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", lags=10))


def test_two_levels_with_one_label():
    with pytest.raises(SettingError, match="same label"):
        ColumnRoles("i", "t", "a", ["x"], "u", action_levels={"0": "same", "1": "same"})

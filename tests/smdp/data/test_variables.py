"""A variable knows what it is, from the table to the trajectories, whatever it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from smdp.data.arrange import arrange
from smdp.data.column_roles import ColumnRoles, StateVariable
from smdp.data.describe import variable_table
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import PreparedData, prepare
from smdp.data.rescale import rescale
from smdp.data.trajectories import Trajectories
from smdp.data.variables import BACKGROUND, CHANGING, EARLIER, Variable, changing
from smdp.errors import DataError
from smdp.plain_data import from_plain, to_plain

STATES = (
    StateVariable("stress", "ordinal", low=0, high=10),
    StateVariable("sleep", unit="hours"),
    "home",
    "age",
)


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "who": np.repeat(np.arange(6), 8),
            "day": np.tile(np.arange(8), 6),
            "stress": random.integers(1, 10, 48).astype(float),
            "sleep": random.uniform(4, 9, 48).round(2),
            "home": np.where(random.random(48) < 0.5, "yes", "no"),
            "age": np.repeat(random.integers(20, 60, 6), 8),
            "do": random.choice(["nothing", "call", "text"], 48),
            "gain": random.normal(size=48),
        }
    )


def prepared(
    frame: pd.DataFrame, rescaled: bool = False, states: Any = STATES, **roles: Any
) -> PreparedData:
    settings = PreparationSettings(rescaling=RescalingSettings("stress") if rescaled else None)
    return prepare(frame, ColumnRoles("who", "day", "do", states, "gain", **roles), settings)


def test_look_back_time_and_action_are_variables_that_say_so(frame):
    data = prepared(frame, lags=2, add_time=True).trajectories
    assert [v.name for v in data.about] == list(data.variables)
    earlier = data.variable("sleep_lag2")
    assert (earlier.column, earlier.lag, earlier.unit, earlier.group) == (
        "sleep", 2, "hours", EARLIER,
    )  # fmt: skip
    time = data.variable("decision")
    assert (time.comes_from, time.kind, time.low, time.high) == ("decision number", "ordinal", 1, 8)
    assert data.variable("decision_lag1").comes_from == "decision number"
    called = data.variable("do=call_lag1")
    assert (called.comes_from, called.column, called.action, called.lag) == (
        "action", "do", "call", 1,
    )  # fmt: skip
    assert (called.kind, called.low, called.high) == ("binary", 0, 1)
    assert data.variable("age").group == BACKGROUND
    assert data.variable("stress").group == CHANGING
    assert "age_lag1" not in data.variables


def test_words_of_the_table_are_the_names_of_the_values(frame):
    home = prepared(frame).trajectories.variable("home")
    assert home.kind == "binary"
    assert home.levels == ((0.0, "no"), (1.0, "yes"))
    assert home.text(1.0) == "yes"
    assert home.text(0.5) == "0.5"


def test_names_in_the_file_are_kept(frame):
    frame["home"] = (frame["home"] == "yes") + 1.0
    frame.attrs = {
        "variable_labels": {"home": "Was at home"},
        "value_labels": {"home": {2.0: "in", 1.0: "out", "-9": "refused"}},
    }
    study = arrange(frame, ColumnRoles("who", "day", "do", ["sleep", "home"], "gain"))
    sleep, home = study.variables
    assert (home.label, home.levels) == ("Was at home", ((1.0, "out"), (2.0, "in")))
    assert (sleep.label, sleep.levels) == ("", ())
    assert variable_table(study)["label"].tolist() == ["", "Was at home"]


@pytest.mark.parametrize("rescaled", [False, True])
def test_the_range_is_the_declared_one_or_that_of_the_data_in_own_units(frame, rescaled):
    data = prepared(frame, rescaled, lags=1).trajectories
    stress, sleep, again = (data.variable(n) for n in ("stress", "sleep", "sleep_lag1"))
    seen = float(frame["sleep"].min()), float(frame["sleep"].max())
    assert (stress.low, stress.high) == (0, 10)
    assert (sleep.low, sleep.high) == (again.low, again.high) == seen
    assert sleep.rescaled_from == again.rescaled_from == (seen if rescaled else None)


def test_rescaled_numbers_come_back_in_own_units(frame):
    data = prepared(frame, rescaled=True, lags=1).trajectories
    stress, sleep = data.variable("stress"), data.variable("sleep")
    held = data.states[:, :, data.variables.index("stress")]
    own = np.sort(np.unique(stress.own(held).round(9)))
    assert set(own) <= set(frame["stress"])
    assert sleep.own(1.0) == pytest.approx(frame["sleep"].max())
    assert sleep.width == pytest.approx(np.ptp(frame["sleep"]))
    assert (sleep.text(0.5), sleep.title) == ("0.5", "sleep")
    assert (sleep.in_own_units().text(7.5), sleep.in_own_units().title) == (
        "7.5 hours", "sleep (hours)",
    )  # fmt: skip
    assert data.variable("do=text_lag1").own(1.0) == 1.0
    assert sleep.as_held().text(0.5) == "0.5"


def test_rescaling_again_still_knows_the_first_units(frame):
    once = prepared(frame, rescaled=True).study
    assert once.reference is not None
    twice = rescale(once, RescalingSettings("stress"))
    for first, second in zip(once.variables, twice.variables, strict=True):
        assert second.rescaled_from == pytest.approx(first.rescaled_from)


@pytest.mark.parametrize("rescaled", [False, True])
def test_a_column_that_is_called_like_a_look_back_is_none(frame, rescaled):
    frame["tension_lag1"] = frame.pop("sleep")
    states = ["stress", "home", "tension_lag1"]
    data = prepared(frame, rescaled, states, lags=1).trajectories
    column, earlier = data.variable("tension_lag1"), data.variable("tension_lag1_lag1")
    assert (column.lag, column.column, column.group) == (0, "tension_lag1", CHANGING)
    assert (earlier.lag, earlier.column, earlier.group) == (1, "tension_lag1", EARLIER)


def test_what_is_declared_stays(frame):
    frame["home"] = (frame["home"] == "yes").astype(float)
    for kind in ("ordinal", "continuous", "binary"):
        states = ["sleep", StateVariable("home", kind)]
        assert prepared(frame, states=states).trajectories.variable("home").kind == kind


def test_names_are_enough_for_trajectories_made_by_hand():
    states = np.random.default_rng(0).normal(size=(3, 5, 2))
    states[:, :, 1] = 7
    data = Trajectories(
        states=states,
        actions=np.zeros((3, 4), dtype=np.int64),
        utilities=np.zeros((3, 4)),
        valid=np.ones((3, 4), dtype=bool),
        available=np.ones((3, 4), dtype=bool),
        probabilities=np.full((3, 4, 2), 0.5),
        variables=("mood_lag1", "age"),
        subjects=("a", "b", "c"),
        action_labels=("0", "1"),
    )
    assert data.about == (Variable("mood_lag1"), Variable("age", changes=False))
    assert data.select(["age"]).about == data.about[1:]
    renamed = replace(data, variables=("mood", "age"))
    assert renamed.about == (Variable("mood"), data.about[1])
    with pytest.raises(DataError, match=r"no state variable rain\. The variables are: mood_lag1"):
        data.variable("rain")


def test_they_go_through_a_file(frame):
    data = prepared(frame, rescaled=True, lags=1).trajectories
    arrays: dict[str, np.ndarray] = {}
    code = to_plain(data, arrays)
    assert from_plain(code, arrays).about == data.about


def test_gaps_are_no_change():
    values = np.array([[[1.0, 1.0], [np.nan, np.nan], [1.0, 2.0], [1.0, 2.5]]])
    assert changing(values).tolist() == [False, True]


def test_a_table_without_labels_and_units_has_no_columns_for_them(frame):
    roles = ColumnRoles("who", "day", "do", ["stress", "home"], "gain")
    assert not {"label", "unit"} & set(variable_table(arrange(frame, roles)))
    with_unit = variable_table(arrange(frame, replace(roles, states=STATES)))
    assert with_unit["unit"].tolist() == ["", "hours", "", ""]


def test_a_number_has_no_power_of_ten_in_a_sentence() -> None:
    assert Variable("x").amount(-8.371e-05) == "-0.0000837"
    assert Variable("x", unit="steps").amount(12_345.0) == "12,345 steps"
    assert Variable("x").amount(7.25) == "7.25"

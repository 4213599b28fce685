"""The table of participants and variables: its numbers, and how they are written."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_studies import study_of

from smdp.data.arrange import arrange
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.measured import every_measurement, measured, places
from smdp.data.participants import as_in_papers, describe_variables, participants_table
from smdp.data.read_table import read_table
from smdp.data.variables import Variable
from smdp.simulation.samples import sample_file
from smdp.text import plain_number

NAN = np.nan
LETTERS = re.compile(r"\de[+-]\d|\b0\.0+\b")


@pytest.fixture
def study(frame, roles):
    return arrange(frame, roles)


def row(table, name):
    return table.set_index("variable").loc[name]


def test_every_number_is_that_of_the_table(frame, study):
    table = participants_table(describe_variables(study))
    assert table["variable"].tolist() == ["age", "stress", "steps", "treat", "reward"]
    assert table["role"].tolist() == ["background", "state", "state", "action", "outcome"]
    own = row(table, "stress")
    seen = frame["stress"].dropna()
    assert own["decisions"] == len(seen)
    assert own["people"] == frame.dropna(subset="stress")["id"].nunique()
    # The gap is a decision, too.
    assert own["missing"] == len(frame) + 1 - len(seen)
    assert own["missing (%)"] == pytest.approx(100 * own["missing"] / (len(frame) + 1))
    found = own[["mean", "SD", "median", "lowest", "highest"]].astype(float)
    np.testing.assert_allclose(
        found, [seen.mean(), seen.std(), seen.median(), seen.min(), seen.max()]
    )
    means = frame.groupby("id")["stress"].mean()
    assert own["SD between people"] == pytest.approx(means.std())


def test_what_does_not_change_is_described_over_people(frame, study):
    age = row(participants_table(describe_variables(study)), "age")
    people = frame.groupby("id")["age"].first()
    assert age["people"] == 6
    assert pd.isna(age["decisions"])
    assert (age["mean"], age["SD"]) == (people.mean(), pytest.approx(people.std()))
    assert np.isnan(age["intraclass correlation"])


def test_a_value_that_comes_back_later_has_changed():
    """Measured at every second decision only, so that no two neighbours differ."""
    study = study_of([[[1], [NAN], [2], [NAN]], [[3], [NAN], [3], [NAN]]], [StateVariable("x")])
    assert [place.role for place in places(study)] == ["state", "action", "outcome"]


def test_the_action_has_counts_and_no_mean(frame, study):
    table = participants_table(describe_variables(study))
    own, counts = row(table, "treat"), frame["treat"].value_counts()
    assert own["levels"] == f"0: {counts[0]}; 1: {counts[1]}"
    assert np.isnan(own["mean"])
    assert own["SD between people"] == pytest.approx(frame.groupby("id")["treat"].mean().std())


def test_decisions_without_a_choice_do_not_lack_an_action(frame, roles):
    shut = frame.assign(free=(frame["time"] != 2).astype(int))
    study = arrange(shut, replace(roles, available="free"))
    own = row(participants_table(describe_variables(study)), "treat")
    assert own["decisions"] == (shut["free"] == 1).sum()
    assert own["missing"] == 1  # the gap


def test_an_outcome_that_is_the_next_value(frame, roles):
    study = arrange(frame, replace(roles, utility=NextValue("stress", -1)))
    own = row(participants_table(describe_variables(study)), "minus next stress")
    later = frame.groupby("id")["stress"].shift(-1)
    follows = frame.groupby("id")["time"].shift(-1) == frame["time"] + 1
    expected = -later[follows].dropna()
    assert own["decisions"] == len(expected)
    assert own["mean"] == pytest.approx(expected.mean())
    assert own["missing"] == len(frame) + 1 - 6 - len(expected)  # the last of each has no next


def test_a_variable_without_any_value_has_nothing_but_its_name():
    values = np.stack([np.full((3, 4), NAN), np.arange(12.0).reshape(3, 4)], axis=2)
    study = study_of(values, [StateVariable("lost"), StateVariable("kept")])
    text = as_in_papers(describe_variables(study)).set_index("Variable").loc["lost"]
    assert text["Role"] == "state"
    assert text["Missing"] == "100.0 %"
    assert (text["People"], text["Decisions"]) == ("0", "0")
    assert text["Mean (SD), or n (%)"] == text["Median (range)"] == text["ICC"] == ""


def test_as_in_papers():
    values = np.array([[[0.5], [1.5], [NAN]], [[2.5], [3.5], [4.5]]])
    study = study_of(values, [StateVariable("sleep")])
    study = replace(study, variables=(Variable("sleep", label="Hours", unit="h"),))
    table = as_in_papers(describe_variables(study))
    assert table.iloc[0].tolist() == [
        "sleep (h)", "Hours", "state", "2", "5", "16.7 %", "2.50 (1.58)", "2.50 (0.50 to 4.50)",
        "1.77", "0.91", "0.77",
    ]  # fmt: skip
    levels = table.set_index("Variable")["Mean (SD), or n (%)"]
    assert levels["action: 0"] == "6 (100 %)"
    assert levels["action: 1"] == "0 (0 %)"


def test_levels_by_their_names_and_in_their_order():
    values = np.array([[[2.0], [1.0], [2.0]], [[1.0], [2.0], [2.0]]])
    study = study_of(values, [StateVariable("home", "binary")])
    home = Variable("home", kind="binary", levels=((1.0, "no"), (2.0, "yes")))
    table = as_in_papers(describe_variables(replace(study, variables=(home,))))
    assert table["Variable"].tolist()[:3] == ["home", "home: no", "home: yes"]
    assert table["Mean (SD), or n (%)"].tolist()[:3] == ["", "2 (33 %)", "4 (67 %)"]


@pytest.mark.parametrize("name", ["basics_mobile_synthetic.csv", "three_action_synthetic.csv"])
def test_no_number_is_written_as_by_a_machine(name):
    from smdp.data.guess_roles import guess_roles

    frame = read_table(sample_file(name))
    table = as_in_papers(describe_variables(arrange(frame, guess_roles(frame))))
    assert not any(LETTERS.search(cell) for cell in table.to_numpy().ravel())


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.00001234, None, "0.0000123"),
        (1234.5, 1, "1,234.5"),
        (-0.0, 2, "0"),
        (0.0004, 2, "0.0004"),
        (-0.0004, 2, "-0.0004"),
        (12.0, None, "12"),
        (0.1 + 0.2, None, "0.3"),
        (2.5e-16, 3, "2.5 × 10^-16"),
        (3e20, None, "3.0 × 10^20"),
        (120.0, None, "120"),
    ],
)
def test_numbers_as_people_write_them(value, decimals, text):
    assert plain_number(value, decimals) == text


def test_all_at_once_is_the_same_as_one_by_one():
    random = np.random.default_rng(3)
    values = random.normal(size=(7, 9, 45))
    values[random.random(values.shape) < 0.2] = NAN
    values[:, :, 4] = 1.0
    study = study_of(values, [StateVariable(f"v{j}") for j in range(45)], random.integers(5, 10, 7))
    for place, found in zip(places(study), every_measurement(study), strict=True):
        one = measured(study, place)
        assert (one.role, one.variable) == (found.role, found.variable)
        np.testing.assert_array_equal(one.values, found.values)
        np.testing.assert_array_equal(one.expected, found.expected)


def test_a_state_may_be_the_outcome(frame):
    states = ["stress", "reward"]
    roles = ColumnRoles("id", "time", "treat", states, "reward", known_before=("reward",))
    titles = [place.title for place in places(arrange(frame, roles))]
    assert titles == ["stress", "reward", "treat (action)", "reward (outcome)"]

"""The Screening page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from waiting import finish

from dashboard.session import Key
from tests.dashboard.conftest import open_file

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


@pytest.fixture
def prepared(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    return sample.go("rescaling").press("Rescale all variables").go("screening")


def test_empty_page_says_what_it_will_do(prepared):
    assert "15 variables can be screened" in prepared.text
    assert prepared.sidebar[4] == "ready"


@pytest.mark.usefixtures("in_this_process")
def test_screening_says_of_every_variable_what_became_of_it(prepared):
    finish(prepared.press("Screen 15 variables"))
    table = next(d.value for d in prepared.at.dataframe if "status" in d.value.columns)
    status = table.set_index("variable")["status"]
    assert len(status) == 15
    assert status["cigs"] == "kept"  # the strongest; the others need not show in 28 students
    kept = (status == "kept").sum()
    assert prepared.sidebar[4] == f"{kept} of 15 variables kept"
    assert "not proven useless" in prepared.text
    assert [tab.label for tab in prepared.at.tabs] == [
        "Ranked table", "How they lead to the outcome", "Round by round",
    ]  # fmt: skip


@pytest.mark.usefixtures("in_this_process")
def test_as_in_the_paper_there_is_a_p_value_for_each_decision(prepared):
    assert "screening.past_actions" in keys(prepared)
    assert "screening.test" not in keys(prepared)
    prepared.at.radio(key="screening.method").set_value("paper")
    prepared.run()
    assert "screening.past_actions" not in keys(prepared)
    prepared.at.radio(key="screening.pooling").set_value("trajectory")
    prepared.at.number_input(key="screening.permutations").set_value(99)
    finish(prepared.run().press("Screen 15 variables"))
    assert [tab.label for tab in prepared.at.tabs] == [
        "Ranked table", "By decision", "Round by round",
    ]  # fmt: skip
    assert "Whole trajectories were permuted" in prepared.text


@pytest.mark.usefixtures("in_this_process")
def test_all_variables_kept_by_hand_need_no_test(prepared):
    several = prepared.at.multiselect(key="screening.force_in")
    several.set_value(list(several.options))
    finish(prepared.run().press("Screen 0 variables"))
    assert prepared.sidebar[4] == "15 of 15 variables kept"
    assert "Nothing was left to test" in prepared.text
    assert [tab.label for tab in prepared.at.tabs] == ["Ranked table"]


@pytest.mark.parametrize("version", ["format-1", "format-2"])
def test_a_screening_of_an_earlier_version_shows_as_it_was(version):
    app = open_file((GOLDEN / version / "students.smdp").read_bytes()).go("screening")
    assert "What this says" in [each.value for each in app.at.header]
    assert app.at.tabs[1].label == "By decision"
    assert app.at.radio(key="screening.method").value == "paper"
    assert not app.at.exception


def keys(app):
    found = [*app.at.radio, *app.at.number_input, *app.at.checkbox]
    return {each.key for each in found}


@pytest.mark.usefixtures("in_this_process")
def test_forced_variables_are_recorded(prepared):
    prepared.at.multiselect(key="screening.force_in").set_value(["age"])
    prepared.at.multiselect(key="screening.force_out").set_value(["female"])
    finish(prepared.run().press("Screen 13 variables"))
    assert "Decided by hand, not by the test: age, female" in prepared.text


def test_a_job_survives_a_page_switch(prepared):
    prepared.press("Screen 15 variables").go("data")
    finish(prepared)
    assert prepared.sidebar[4].endswith("of 15 variables kept")


@pytest.mark.usefixtures("in_this_process")
def test_changing_back_brings_the_result_back_at_once(prepared):
    finish(prepared.press("Screen 15 variables"))
    first = prepared.sidebar[4]
    prepared.at.multiselect(key="screening.force_in").set_value(["age", "female", "sleep"])
    finish(prepared.run().press("Screen 12 variables"))
    assert prepared.sidebar[4] != first
    prepared.at.multiselect(key="screening.force_in").set_value([])
    prepared.run().press("Screen 15 variables")
    assert prepared.sidebar[4] == first


@pytest.mark.usefixtures("in_this_process")
def test_too_few_permutations_is_one_clear_message(prepared):
    prepared.at.radio(key="screening.method").set_value("paper")
    prepared.at.number_input(key="screening.permutations").set_value(10)
    finish(prepared.run().press("Screen 15 variables"))
    assert len(prepared.at.error) == 1
    assert "permutations" in prepared.at.error[0].value


def test_cancel(prepared):
    prepared.at.radio(key="screening.method").set_value("paper")
    prepared.at.number_input(key="screening.permutations").set_value(1_000_000)
    prepared.run().press("Screen 15 variables")
    assert prepared.sidebar[4] == "running"
    prepared.press("Cancel")
    assert prepared.sidebar[4] == "ready"
    assert "Cancelled" in prepared.text


def late_effects() -> bytes:
    """What was done two decisions ago acts on the outcome."""
    random = np.random.default_rng(4)
    people, times = 24, 30
    done = random.integers(0, 2, (people, times))
    mood = random.normal(size=(people, times))
    steps = 0.6 * mood + 0.8 * np.roll(done, 2, axis=1) + random.normal(size=(people, times))
    return (
        pd.DataFrame(
            {
                "person": np.repeat(np.arange(people), times),
                "day": np.tile(np.arange(1, times + 1), people),
                "mood": mood.ravel().round(3),
                "noise": random.normal(size=people * times).round(3),
                "treated": done.ravel(),
                "steps": steps.ravel().round(3),
            }
        )
        .to_csv(index=False)
        .encode()
    )


@pytest.mark.usefixtures("in_this_process")
def test_a_click_adds_earlier_treatments_which_are_then_screened(app):
    app.upload("late.csv", late_effects())
    app.set_role("steps", role="utility").set_role("treated", role="action")
    app.press("Use these roles").go("screening")
    finish(app.press("Screen 2 variables"))
    assert "Earlier treatments still matter" in app.text
    app.press("Add 2 earlier treatments to the state")
    assert app.title == "Screening"
    assert "The state now has 2 earlier treatments." in app.text
    assert app.at.session_state[Key.ANALYSIS].plan.roles.action_lags == 2
    finish(app.press("Screen 4 variables"))
    table = next(d.value for d in app.at.dataframe if "status" in d.value.columns)
    status = table.set_index("variable")["status"]
    assert status[["mood", "treated_lag1", "treated_lag2"]].tolist() == ["kept"] * 3
    assert "Earlier treatments still matter" not in app.text
    assert not [b for b in app.at.button if "earlier treatment" in b.label]

"""The page Markov check, and its buttons."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_process import process
from waiting import finish

from dashboard.session import Key
from tests.dashboard.conftest import Driver, saved


def as_csv(**options: float) -> bytes:
    """A study with a look-back of 1, or whatever is asked for."""
    data = process(3, people=24, times=30, **options)
    rows = [
        {
            "person": name,
            "day": t + 1,
            "mood": round(float(data.states[i, t, 0]), 3),
            "weekend": int(data.states[i, t, 1]),
            "age": round(float(data.states[i, t, 2]), 3),
            "treated": int(data.actions[i, t]),
            "steps": round(float(data.utilities[i, t]), 3),
        }
        for i, name in enumerate(data.subjects)
        for t in range(data.actions.shape[1])
    ]
    return pd.DataFrame(rows).to_csv(index=False).encode()


def checked(app: Driver, **options: float) -> Driver:
    app.upload("process.csv", as_csv(**options))
    app.set_role("steps", role="utility")
    app.set_role("treated", role="action")
    app.press("Use these roles").go("markov_check")
    app.at.number_input(key="markov.most").set_value(1)
    app.at.number_input(key="markov.draws").set_value(199)
    return finish(app.run().press("Test look-backs 0 to 1"))


@pytest.mark.usefixtures("in_this_process")
def test_a_click_adds_the_look_back_and_loses_nothing(app, autosaves):
    checked(app, back=1)
    assert "needs one step back" in app.text
    assert "look-back 1" in app.sidebar[7]
    before = app.at.session_state[Key.ANALYSIS]
    app.press("Add a look-back of 1 to the state")
    after = app.at.session_state[Key.ANALYSIS]
    assert app.title == "Markov check"
    assert "The state now looks back 1 decision." in app.text
    assert after.plan.roles.lags == 1
    assert after.plan.replace(roles=before.plan.roles) == before.plan
    assert after.results.keys() == before.results.keys()
    assert app.sidebar[7] == "out of date"
    assert "own units" in app.sidebar[2]  # with nothing to decide, these are made again at once
    app.go("data")
    assert next(n for n in app.at.number_input if n.label == "Look-back (m)").value == 1
    again = finish(app.go("markov_check").press("Test look-backs 0 to 1"))
    assert "beyond the one step back that the state already holds" in again.text
    assert "Add a look-back" not in [b.label for b in again.at.button]
    assert saved(app, autosaves).plan.roles.lags == 1


@pytest.mark.usefixtures("in_this_process")
def test_a_click_adds_the_decision_number(app):
    checked(app, fall=2.5)
    assert "changes over the study" in app.text
    app.press("Add the decision number to the state")
    assert app.at.session_state[Key.ANALYSIS].plan.roles.add_time
    app.go("markov_check")
    finish(app.press("Test look-backs 0 to 1"))
    assert not [b for b in app.at.button if "decision number" in b.label]


@pytest.mark.usefixtures("in_this_process")
def test_where_nothing_is_amiss_nothing_is_offered(app):
    checked(app)
    assert "The present state is enough" in app.text
    assert not [b for b in app.at.button if b.label.startswith("Add ")]
    assert any(b.label == "Next: Q-functions" for b in app.at.button)


def test_the_page_teaches_before_it_is_used(app):
    assert "No file is loaded yet" in app.go("markov_check").text


def test_it_can_be_left_undone(sample):
    sample.press("Use these roles").go("markov_check")
    assert "Missing values" in sample.text
    assert np.all([c != "out of date" for c in sample.sidebar])

"""The page Effects: what treatment did, before any policy."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.session import Key

EFFECTS = 3  # its place in the sidebar


@pytest.fixture
def walking(app):
    app.press("Walking after a knee operation").press("Use these roles")
    app.go("missing_values").press("mpute").go("rescaling").press("Rescale all variables")
    return app.go("effects")


def tables(app, column):
    return [shown.value for shown in app.at.dataframe if column in shown.value.columns]


def test_it_is_there_at_once_for_three_actions_in_the_outcomes_words(walking):
    assert "On average, message changed outcome_walked by" in walking.text
    assert "Next: screening" in [b.label for b in walking.at.button]
    assert tables(walking, "term")[0]["action"].nunique() == 2
    assert "decisions later" in tables(walking, "decisions later")[0].columns
    assert "p = " in walking.sidebar[EFFECTS] or "p < " in walking.sidebar[EFFECTS]


def test_controls_moderators_and_what_is_compared_with(walking):
    walking.at.multiselect(key="trial.controls").set_value(["pain"])
    walking.at.multiselect(key="trial.moderators").set_value(["pain"])
    walking.at.checkbox(key="trial.logarithm").check()
    walking.run()
    assert "before the logarithm +" in walking.text
    assert "per unit of pain" in tables(walking, "term")[0]["term"].tolist()
    walking.at.selectbox(key="trial.reference").set_value("message")
    walking.run()
    assert "against message" in walking.text
    asked = walking.at.session_state[Key.ANALYSIS].records["trial"].asked
    assert asked.reference == "message"


def test_too_many_controls_for_so_few_people_is_one_message(walking):
    own = walking.at.session_state[Key.ANALYSIS]
    everybody = own.completed.study.subjects
    walking.go("missing_values")
    walking.at.multiselect(key="missing.also_exclude").set_value(list(everybody[4:]))
    walking.run().press("Leave out").go("rescaling").press("Rescale all variables")
    walking.go("effects")
    controls = walking.at.multiselect(key="trial.controls")
    controls.set_value(list(controls.options))
    walking.run()
    assert "subjects are too few for the" in walking.text
    assert not walking.at.exception


def test_a_yes_no_outcome_is_told_as_a_risk(app):
    random = np.random.default_rng(2)
    rows = [
        (i, t, random.integers(0, 2), round(random.normal(), 2))
        for i in range(12)
        for t in range(10)
    ]
    frame = pd.DataFrame(rows, columns=["id", "time", "action", "mood"])
    frame["relapsed"] = (random.random(len(frame)) < 0.3 + 0.3 * frame["action"]).astype(int)
    text = io.StringIO()
    frame.to_csv(text, index=False)
    app.upload("relapse.csv", text.getvalue().encode())
    app.set_role("relapsed", role="utility").press("Use these roles").go("effects")
    assert "times as likely" in app.text
    assert "percentage points" in app.text


MRT = Path(__file__).parents[3] / "shared" / "data" / "mrt"


@pytest.mark.skipif(not MRT.exists(), reason="the trials with values of R are not here")
def test_the_values_of_r_from_the_page(app):
    """MRTAnalysis 0.3.0 on its synthetic trial, by day in study."""
    app.upload("mimic.csv", (MRT / "mimic_heartsteps.csv").read_bytes())
    app.set_role("logstep_30min", role="utility").set_role("day_in_study", role="state")
    app.press("Use these roles").go("effects")
    app.at.multiselect(key="trial.controls").set_value(["logstep_pre30min"])
    app.at.multiselect(key="trial.moderators").set_value(["day_in_study"])
    found = app.run().at.session_state[Key.ANALYSIS].trial
    effects = found.effects.set_index("term")
    assert found.freedom == 32
    expected = {
        "intercept": (0.64860063176, 0.43049809467, 0.86670316885, 0.10707396871),
        "day_in_study": (-0.02374011092, -0.03278932632, -0.01469089552, 0.00444256825),
    }
    for term, values in expected.items():
        shown = effects.loc[term, ["estimate", "lower", "upper", "standard_error"]]
        assert tuple(shown) == pytest.approx(values, abs=1e-6)
    assert "per unit of day_in_study" in tables(app, "term")[0]["term"].tolist()

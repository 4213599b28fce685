"""The page Effects: what treatment did, before any policy."""

import io
import re
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
    assert "before the logarithm over +1,000 %" in walking.text
    assert "per unit of pain" in tables(walking, "term")[0]["term"].tolist()
    walking.at.selectbox(key="trial.reference").set_value("message")
    walking.run()
    assert "against message" in walking.text
    asked = walking.at.session_state[Key.ANALYSIS].records["trial"].asked
    assert asked.reference == "message"


def test_probabilities_that_seem_to_have_been_learned_are_asked_about(app, monkeypatch):
    seem = "smdp.evaluation.trial_effects.seem_to_have_learned"
    monkeypatch.setattr(seem, lambda *_: True)
    app.press("Walking after a knee operation").press("Use these roles")
    app.go("missing_values").press("mpute").go("rescaling").press("Rescale all variables")
    app.go("effects")
    assert "They look like it" in app.text
    assert "ordinary interval" in " ".join(tables(app, "term")[0].columns)
    app.press("No, they were fixed")
    assert "They look like it" not in app.text
    assert "95 % interval" in " ".join(tables(app, "term")[0].columns)
    asked = app.at.session_state[Key.ANALYSIS].records["trial"].asked
    assert asked.learned == "no"


def test_what_screening_kept_is_proposed_and_taken_by_one_click(walking):
    state = walking.at.session_state
    screened = state[Key.ANALYSIS].run("screening", seed=1)
    state[Key.ANALYSIS] = screened
    kept = list(screened.screening.selected)
    assert kept
    walking.run().press("Adjust for what screening kept")
    assert walking.at.multiselect[0].value == kept
    assert state[Key.ANALYSIS].records["trial"].asked.controls == tuple(kept)
    assert f"adjusted for {', '.join(kept)}, which screening of the same data kept" in walking.text


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
    assert "At least" in walking.text
    assert not walking.at.exception


def test_what_cannot_be_estimated_is_one_message_that_leaves_with_its_cause(app):
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"id": np.repeat(np.arange(12), 10), "time": np.tile(np.arange(10), 12)})
    frame["mood"] = random.normal(size=len(frame)).round(2)
    frame["minus"] = 3 - 2 * frame["mood"]
    frame["high"] = (frame["mood"] > 0).astype(int)
    frame["action"] = random.integers(0, 2, len(frame))
    frame["prob"] = np.where(frame["time"] % 5 == 0, 0, 0.5)
    frame.loc[frame["prob"] == 0, "action"] = 0
    never = (frame["action"] == 1) & (frame["high"] == 1)
    frame["relapsed"] = np.where(never, 0, random.random(len(frame)) < 0.5).astype(int)
    app.upload("relapse.csv", frame.to_csv(index=False).encode())
    app.set_role("relapsed", role="utility").set_role("prob", role="probability")
    app.press("Use these roles").go("effects")
    assert "24 decisions were left out at which an action had probability 0" in app.text
    assert "By mood" in app.text
    assert "the effect could not be estimated" in app.text
    for chosen, said in (
        (["mood", "minus"], "cannot be told apart"),
        (["high"], "it would be 0 or infinite somewhere"),
    ):
        app.at.multiselect(key="trial.moderators").set_value(chosen)
        app.run()
        (error,) = app.at.error
        assert said in error.value
    assert not re.search(r"\b(inf|nan)\b", app.text)
    app.at.multiselect(key="trial.moderators").set_value([])
    assert not app.run().at.error


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
needs_mrt = pytest.mark.skipif(not MRT.exists(), reason="the trials with values of R are not here")


@pytest.fixture
def files(monkeypatch):
    """By name, what the page's buttons 'Download as CSV' hand out."""
    found = {}

    def button(label, data=b"", file_name="", **_):
        found[file_name] = data
        return False

    monkeypatch.setattr("dashboard.show.st.download_button", button)
    return found


def assert_page_says(app, files, freedom, expected):
    """`expected`: by the table's words, estimate, lower, upper, error and p-value of R."""
    written = pd.read_csv(io.BytesIO(files["smdp-trial-summary.csv"])).set_index("term")
    shown = tables(app, "term")[0].set_index("term")
    assert f"with {freedom} degrees of freedom" in app.text
    columns = ["estimate", "lower", "upper", "standard_error", "p_value"]
    for (term, words), values in expected.items():
        np.testing.assert_allclose(written.loc[term, columns].astype(float), values, atol=1e-6)
        row = shown.loc[words]
        ratio = [name for name in shown.columns if name.startswith("risk ratio")]
        if ratio:
            numbers = [f"{np.exp(v):.2f}" for v in values[:3]]
            assert row[ratio[0]] == f"{numbers[0]} ({numbers[1]} to {numbers[2]})"
        else:
            told = re.findall(r"-?[\d.]+", row["estimate (95 % interval)"])
            for text, value in zip(told, values[:3], strict=True):
                digits = len(text.partition(".")[2])
                assert float(text) == pytest.approx(value, abs=0.5001 * 10**-digits)


@needs_mrt
def test_the_values_of_r_from_the_page(app, files):
    """MRTAnalysis 0.3.0 on its synthetic trial, read from the page's table and its file."""
    app.upload("mimic.csv", (MRT / "mimic_heartsteps.csv").read_bytes())
    app.set_role("logstep_30min", role="utility").set_role("day_in_study", role="state")
    app.press("Use these roles").go("effects")
    app.at.multiselect(key="trial.controls").set_value(["logstep_pre30min"])
    app.run()
    assert_page_says(app, files, 34, {
        ("average", "average"): (
            0.1574444084, 0.03099683162, 0.2838919852, 0.06222065122, 0.01619006223
        ),
    })  # fmt: skip
    app.at.multiselect(key="trial.moderators").set_value(["is_at_home_or_work"])
    app.run()
    assert_page_says(app, files, 32, {
        ("intercept", "all moderators 0"): (
            0.1060265621, -0.03388690107, 0.2459400254, 0.06868828755, 0.1325204507
        ),
        ("is_at_home_or_work", "per unit of is_at_home_or_work"): (
            0.1324598454, -0.16944930006, 0.4343689908, 0.14821748901, 0.3781624401
        ),
    })  # fmt: skip
    app.at.multiselect(key="trial.moderators").set_value(["day_in_study"])
    app.run()
    assert_page_says(app, files, 32, {
        ("intercept", "all moderators 0"): (
            0.64860063176, 0.43049809467, 0.86670316885, 0.10707396871, 9.191087831e-07
        ),
        ("day_in_study", "per unit of day_in_study"): (
            -0.02374011092, -0.03278932632, -0.01469089552, 0.00444256825, 7.307052746e-06
        ),
    })  # fmt: skip


@needs_mrt
def test_the_log_relative_risks_of_r_from_the_page(app, files):
    """`emee` with a numerator of .5, and `emee2`, of MRTAnalysis 0.3.0."""
    app.upload("binary.csv", (MRT / "binary_outcome.csv").read_bytes())
    app.set_role("userid", role="subject").set_role("time", role="time")
    app.set_role("A", role="action").set_role("Y", role="utility")
    app.set_role("avail", role="available").set_role("rand_prob", role="probability")
    app.set_role("time_var1", role="state").set_role("time_var2", role="state")
    app.press("Use these roles").go("effects")
    app.at.multiselect(key="trial.controls").set_value(["time_var1", "time_var2"])
    app.at.number_input(key="trial.numerator").set_value(0.5)
    app.run()
    assert "times as likely" in app.text
    assert "percentage points" in app.text
    assert_page_says(app, files, 96, {
        ("average", "average"): (
            0.3405625707, 0.2412750146, 0.4398501269, 0.0500193153, 8.537818557e-10
        ),
    })  # fmt: skip
    app.at.multiselect(key="trial.moderators").set_value(["time_var1"])
    app.run()
    assert_page_says(app, files, 95, {
        ("intercept", "all moderators 0"): (
            0.0811449531, -0.18020067393, 0.3424905801, 0.1316436192, 0.53910569408
        ),
        ("time_var1", "per unit of time_var1"): (
            0.4293133239, 0.05103279696, 0.8075938509, 0.1905454405, 0.02655486481
        ),
    })  # fmt: skip
    app.at.multiselect(key="trial.moderators").set_value([])
    app.at.number_input(key="trial.numerator").set_value(0.0)
    app.at.checkbox(key="trial.own_probabilities").check()
    app.run()
    assert_page_says(app, files, 96, {
        ("average", "average"): (
            0.3347771091, 0.2355306925, 0.4340235257, 0.04999858992, 1.446879739e-09
        ),
    })  # fmt: skip

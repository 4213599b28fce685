"""The table of roles: searched, changed many at once, taken back; the outcome; what leaks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.leak_widgets import NO, YES
from dashboard.session import Key
from smdp.data.column_roles import NEVER_ASKED
from smdp.simulation.basics_like import basics_like
from tests.dashboard.conftest import open_file


def content(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def leaky() -> pd.DataFrame:
    """The students, with a copy of the outcome and a note on what came after."""
    frame = basics_like(3, subjects=20, missing=False)
    later = frame.groupby("student")["cigs"].shift(-1)
    frame["x7"] = later + np.random.default_rng(0).normal(0, 0.3, len(frame))
    return frame.drop(columns=["day", "period", "age", "peers", "confidence"])


def many() -> pd.DataFrame:
    frame = basics_like(3, subjects=20, missing=False)
    return frame.assign(**{f"response.{k}": frame["stress"] + k for k in range(4)})


def roles(app) -> dict[str, str]:
    name = next(n for n in app.at.session_state[Key.KEPT] if n.startswith("roles:"))
    table = app.at.session_state[Key.KEPT][name]
    return dict(zip(table["column"], table["role"], strict=True))


def button(app, label):
    return next(b for b in app.at.button if b.label.startswith(label))


def box(app, kind, label):
    return next(each for each in getattr(app.at, kind) if each.label.startswith(label))


def answers(app):
    return [g for g in app.at.button_group if "known before the decision" in g.label]


def test_a_leak_is_asked_about_and_blocks_until_it_is_answered(app):
    app.upload("leaky.csv", content(leaky()))
    assert "Known before the decision?" in [h.value for h in app.at.header]
    assert "x7: explains 9" in app.text.replace("**", "")
    assert button(app, "Use these roles").disabled
    answers(app)[0].set_value(YES)
    app.run()
    assert not button(app, "Use these roles").disabled
    app.press("Use these roles")
    assert app.at.session_state[Key.ANALYSIS].plan.roles.known_before == ("x7",)
    app.go("start").go("data")
    assert app.at.session_state[Key.ANALYSIS].plan.roles.known_before == ("x7",)
    assert "Done. What was understood" in app.text
    answers(app)[0].set_value(NO)
    app.run()
    assert roles(app)["x7"] == "ignore"
    assert not answers(app)
    assert not button(app, "Use these roles").disabled
    app.press("Undo")
    assert roles(app)["x7"] == "state"
    assert not button(app, "Use these roles").disabled  # answered again, as before
    app.press("Undo")
    assert button(app, "Use these roles").disabled


def test_of_many_columns_suspected_ones_start_ignored(app):
    app.upload("many.csv", content(many()))
    assert {roles(app)[f"response.{k}"] for k in range(4)} == {"ignore"}
    assert roles(app)["stress"] == "state"


def test_a_pattern_changes_many_and_undo_takes_it_back(app):
    app.upload("many.csv", content(many()))
    box(app, "button_group", "Which").set_value("By pattern")
    app.run()
    pattern = box(app, "text_input", "Pattern")
    pattern.set_value("nothing*")
    app.run()
    assert "No column is called like nothing*." in app.text
    assert button(app, "Set 0").disabled
    box(app, "text_input", "Pattern").set_value("response*")
    app.run()
    box(app, "selectbox", "Role").set_value("state")
    app.run().press("Set 4 columns")
    assert {roles(app)[f"response.{k}"] for k in range(4)} == {"state"}
    assert len(answers(app)) == 4
    app.press("Ignore all 4")
    assert not answers(app)
    app.press("Undo").press("Undo")
    assert {roles(app)[f"response.{k}"] for k in range(4)} == {"ignore"}
    assert button(app, "Undo").disabled


def test_a_search_shows_fewer_rows_and_keeps_what_was_changed(app):
    app.upload("many.csv", content(many()))
    app.set_role("stress", role="ignore")
    search = next(t for t in app.at.text_input if "Search 24 columns" in t.placeholder)
    search.set_value("urge")
    app.run()
    assert list(app.at.data_editor[0].value["column"]) == ["urge", "alcohol_urge"]
    app.set_role("urge", role="ignore")
    search = next(t for t in app.at.text_input if "Search 24 columns" in t.placeholder)
    search.set_value("no such thing")
    app.run()
    assert "No column has “no such thing”" in app.text
    search = next(t for t in app.at.text_input if "Search 24 columns" in t.placeholder)
    search.set_value("")
    app.run()
    assert len(app.at.data_editor[0].value) == 24
    assert roles(app)["stress"] == roles(app)["urge"] == "ignore"
    assert roles(app)["alcohol_urge"] == "state"


def test_ticked_columns_get_a_role_together(app):
    app.upload("many.csv", content(many()))
    app.set_role("mood", pick=True).set_role("sleep", pick=True)
    app.press("Set 2 columns")
    assert roles(app)["mood"] == roles(app)["sleep"] == "ignore"
    assert not app.at.data_editor[0].value["pick"].any()


def test_an_outcome_takes_the_place_of_the_one_before(sample):
    outcome = box(sample, "selectbox", "Outcome")
    assert outcome.value == "cigs (next value)"
    assert outcome.options[0] == "day (measured after this decision)"
    outcome.set_value("drinks (measured after this decision)")
    sample.run()
    assert roles(sample)["drinks"] == "utility"
    box(sample, "selectbox", "Outcome").set_value("urge (measured after this decision)")
    sample.run()
    assert (roles(sample)["drinks"], roles(sample)["urge"]) == ("ignore", "utility")
    box(sample, "selectbox", "Outcome").set_value("mood (next value)")
    sample.run()
    assert "utility" not in roles(sample).values()
    sample.press("Use these roles")
    assert sample.at.session_state[Key.ANALYSIS].plan.roles.utility.variable == "mood"


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("words", pd.DataFrame({f"c{k}x": [f"{k}w{i}" for i in range(8)] for k in range(5)})),
        ("one", pd.DataFrame({"x": range(8)})),
        ("wide", pd.DataFrame({f"c{k}x": np.arange(30) % (k + 2) for k in range(300)})),
        (
            "suspects",
            many()[["student", "report", "module"]].assign(
                **{f"response.{k}": np.arange(560) % (k + 5) for k in range(20)}
            ),
        ),
    ],
)
def test_odd_tables_are_one_message(app, name, frame):
    app.upload(f"{name}.csv", content(frame))
    assert len(app.at.error) == 1
    assert button(app, "Use these roles").disabled
    assert len(app.at.data_editor[0].value) == frame.shape[1]


@pytest.mark.parametrize("number", [1, 3])
def test_a_file_of_before_the_question_opens_as_it_was(number):
    path = Path(__file__).parents[1] / "golden" / f"format-{number}" / "continuous.smdp"
    app = open_file(path.read_bytes()).go("data")
    assert app.at.session_state[Key.ANALYSIS].plan.roles.known_before == (NEVER_ASKED,)
    assert "Done. What was understood" in app.text
    assert not button(app, "Use these roles").disabled

"""Undo, redo and history on the pages: the analysis and every control go back together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from saved_members import members, resealed
from streamlit.testing.v1 import AppTest
from waiting import finish

from dashboard.jobs import Job, JobState
from dashboard.running import AskedStep
from dashboard.session import Key
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.simulation.samples import sample_file
from smdp.steps import MISSING, RESCALING
from tests.dashboard.conftest import APP, Driver, open_file, saved

SECOND = "three_action_synthetic.csv"
NOT_THOSE = "not those that the result"


def way(app: Driver, label: str) -> Driver:
    """Undo or redo, in the sidebar."""
    button = next(b for b in app.at.sidebar.button if b.label == label)
    assert not button.disabled
    button.click()
    return app.run()


def can(app: Driver, label: str) -> bool:
    return not next(b for b in app.at.sidebar.button if b.label == label).disabled


def back_to(app: Driver, line: str) -> Driver:
    """On the page History: the way back to the last turn that says this."""
    history = app.at.session_state[Key.HISTORY].history
    turn = next(t for t in reversed(history.turns) if line in t.headline)
    app.at.button(key=f"history.back {turn.number}").click()
    return app.run()


def headlines(app: Driver) -> list[str]:
    return [turn.headline for turn in app.at.session_state[Key.HISTORY].history.turns]


def span(app: Driver) -> float:
    return next(s.value for s in app.at.slider if str(s.key).startswith("missing.span"))


def role(app: Driver, column: str) -> str:
    return app.at.data_editor[0].value.set_index("column").loc[column, "role"]


def impute(app: Driver, wanted: float) -> Driver:
    key = next(s.key for s in app.at.slider if str(s.key).startswith("missing.span"))
    app.at.slider(key=key).set_value(wanted)
    return app.run().press("impute")


@pytest.fixture
def imputed(sample) -> Driver:
    """Imputed twice, with one span and with another."""
    sample.press("Use these roles").go("missing_values")
    return impute(impute(sample, 0.8), 0.4)


def test_before_a_file_there_is_nothing_to_go_back_to(app):
    assert not [b for b in app.at.sidebar.button if b.label in ("Undo", "Redo")]
    app.go("history")
    assert "Nothing has been done yet" in app.text


def test_undo_on_the_open_page_brings_the_result_and_its_controls(imputed):
    assert can(imputed, "Undo")
    assert not can(imputed, "Redo")
    way(imputed, "Undo")
    assert span(imputed) == 0.8
    assert NOT_THOSE not in imputed.text
    assert imputed.sidebar[1] == "28 of 30 subjects kept"
    way(imputed, "Redo")
    assert span(imputed) == 0.4
    assert NOT_THOSE not in imputed.text
    way(way(imputed, "Undo"), "Undo")
    assert imputed.sidebar[1] == "ready"
    way(imputed, "Undo")
    assert "works on the result of **Data**" in imputed.text
    assert not can(imputed, "Undo")


def test_a_change_after_undo_ends_redo_and_the_list_keeps_all(imputed):
    way(imputed, "Undo")
    impute(imputed, 0.6)
    assert not can(imputed, "Redo")
    assert headlines(imputed)[-2:] == [
        "Missing values: neighbourhood (span) 0.8 → 0.4",
        "Missing values: neighbourhood (span) 0.8 → 0.6",
    ]
    back_to(imputed.go("history"), "0.8 → 0.4")
    assert span(imputed.go("missing_values")) == 0.4
    assert NOT_THOSE not in imputed.text
    way(imputed, "Undo")
    assert span(imputed) == 0.6


def test_roles_go_back_with_their_table_and_what_follows(imputed):
    imputed.go("data").set_role("stress", role="ignore").press("Use these roles")
    assert headlines(imputed)[-1] == "Column 'stress' left out of the state"
    assert imputed.sidebar[1] == "out of date"
    way(imputed, "Undo")
    assert role(imputed, "stress") == "state"
    assert imputed.sidebar[:2] == ["30 subjects, 15 state variables", "28 of 30 subjects kept"]
    assert NOT_THOSE not in imputed.text
    way(imputed, "Redo")
    assert role(imputed, "stress") == "ignore"
    assert imputed.sidebar[:2] == ["30 subjects, 14 state variables", "out of date"]


def test_roles_that_nothing_was_made_with_come_back_with_redo(imputed):
    imputed.go("data").set_role("stress", role="ignore")
    way(imputed, "Undo")
    assert role(imputed, "stress") == "state"
    way(imputed, "Redo")
    assert role(imputed, "stress") == "ignore"
    assert NOT_THOSE in imputed.text


def test_notes_stay(imputed):
    imputed.at.text_area[0].set_value("Of the second.")
    way(imputed.run(), "Undo")
    assert imputed.at.text_area[0].value == "Of the second."


def test_hiding_the_outcome_goes_back_on_its_own_page(sample):
    sample.press("Use these roles").go("report")
    sample.at.toggle(key="report.hide-outcome").set_value(True)
    sample.run()
    assert headlines(sample)[-1] == "Outcome hidden"
    way(sample, "Undo")
    assert not sample.at.session_state[Key.ANALYSIS].outcome_hidden
    sample.run()
    assert not sample.at.session_state[Key.ANALYSIS].outcome_hidden


def test_the_way_of_the_paper_goes_back_where_it_is_chosen(sample, in_this_process):
    sample.press("Use these roles").go("missing_values").press("impute").go("rescaling")
    sample.press("Rescale all variables").go("screening")
    sample.at.number_input(key="screening.permutations").set_value(299)
    finish(sample.run().press("Screen 15 variables")).go("start")
    sample.at.segmented_control(key="paper or default").set_value("As in the paper")
    sample.run()
    assert sample.sidebar[4] == "out of date"
    assert headlines(sample)[-1].startswith("Screening: ")
    way(sample, "Undo").run()
    assert sample.sidebar[4].endswith("variables kept")
    assert "screening" in sample.at.session_state[Key.ANALYSIS].results


def test_a_reloaded_page_has_its_history_and_its_results(imputed, autosaves):
    way(imputed, "Undo")
    saved(imputed, autosaves)
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["work"] = imputed.at.query_params["work"]
    at.run()
    again = Driver.__new__(Driver)
    again.at = at
    assert headlines(again) == headlines(imputed)
    result = imputed.at.session_state[Key.HISTORY].history[4].state.records["missing"].output
    way(again, "Redo")
    own = again.at.session_state[Key.ANALYSIS]
    assert own.records["missing"].output == result
    assert span(again.go("missing_values")) == 0.4
    assert NOT_THOSE not in again.text


def test_another_file_has_a_history_of_its_own(imputed, autosaves):
    before = headlines(imputed)
    imputed.go("start").upload(SECOND, sample_file(SECOND).read_bytes())
    assert headlines(imputed) == [f"Loaded: {SECOND}"]
    imputed.go("start")
    next(b for b in imputed.at.button if "basics" in b.label).click()
    assert headlines(imputed.run()) == before
    assert span(way(imputed, "Undo").go("missing_values")) == 0.8


def test_a_file_from_before_begins_one(imputed, autosaves):
    parts = members(analysis_to_bytes(saved(imputed, autosaves)))
    choices = json.loads(parts["choices.json"])
    choices["$map"] = [pair for pair in choices["$map"] if pair[0] != "history"]
    app = open_file(resealed(parts | {"choices.json": json.dumps(choices).encode()}))
    assert headlines(app) == [
        "Opened: basics_mobile_synthetic.csv, with Data, Missing values"
    ]  # fmt: skip
    assert not can(app, "Undo")
    assert span(impute(app.go("missing_values"), 0.7)) == 0.7
    assert span(way(app, "Undo")) == 0.4


@pytest.mark.parametrize("wrong", [3, "text", None, {"$map": []}, {"$tuple": [1]}])
def test_a_history_that_is_none_does_no_harm(imputed, autosaves, wrong):
    parts = members(analysis_to_bytes(saved(imputed, autosaves)))
    choices = json.loads(parts["choices.json"])
    choices["$map"] = [[name, wrong if name == "history" else v] for name, v in choices["$map"]]
    app = open_file(resealed(parts | {"choices.json": json.dumps(choices).encode()}))
    assert len(headlines(app)) == 1
    assert app.sidebar[1] == "28 of 30 subjects kept"
    app.go("history")


def test_a_file_without_its_data_has_none(imputed, autosaves):
    content = analysis_to_bytes(saved(imputed, autosaves), with_data=False)
    assert "choices.json" not in members(content)


def test_a_result_that_is_no_longer_known_is_made_again_or_asked_for(sample, in_this_process):
    sample.press("Use these roles").go("missing_values").press("impute").go("rescaling")
    sample.press("Rescale all variables").go("screening")
    sample.at.number_input(key="screening.permutations").set_value(299)
    finish(sample.run().press("Screen 15 variables"))
    sample.go("data").set_role("stress", role="ignore").press("Use these roles")
    del sample.at.session_state[Key.KNOWN]
    way(sample, "Undo")
    assert sample.sidebar[2] == "756 transitions, 18 levels"
    assert sample.sidebar[4] == "ready"
    assert "Screening: no longer in memory" in sample.text


def ended_job(app: Driver, folder: Path) -> Driver:
    """Rescaling, asked of what is imputed now, and ended when something else is."""
    own = app.at.session_state[Key.ANALYSIS]
    done = own.run_one(RESCALING)
    job = Job(folder, AskedStep(RESCALING, own, {"rescaling": own.plan.rescaling}))
    job.state, job.result = JobState.RUNNING, done.results["rescaling"]
    app.at.session_state[Key.JOBS] = {"rescaling": job}
    return app


def test_what_a_job_finds_for_a_state_that_was_left_replaces_nothing_fresh(sample, tmp_path):
    sample.press("Use these roles").go("missing_values").press("impute").go("rescaling")
    sample.press("Rescale all variables")
    impute(sample.go("missing_values"), 0.4)
    ended_job(sample, tmp_path)
    way(sample, "Undo")
    assert "Rescaling: still running" in sample.text
    before = sample.at.session_state[Key.ANALYSIS].records["rescaling"]
    sample.at.session_state[Key.JOBS]["rescaling"].state = JobState.DONE
    sample.run()
    assert sample.at.session_state[Key.ANALYSIS].records["rescaling"] is before
    assert "was asked of other data" in sample.text
    assert can(sample, "Redo")
    assert sample.sidebar[2] != "out of date"


def test_the_page_lists_the_turns_and_marks_where_one_is(imputed):
    way(imputed, "Undo").go("history")
    assert "undone" in imputed.text
    assert imputed.title == "History"
    labels = [b.label for b in imputed.at.main.button]
    assert labels.count("Back to this") == 3
    assert "Loaded: basics_mobile_synthetic.csv" in imputed.text
    assert MISSING.title in imputed.text


def test_going_back_across_sheets_takes_the_sheet_along(app, tmp_path):
    import pandas as pd

    table = pd.read_csv(sample_file("basics_mobile_synthetic.csv")).head(8 * 28)
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        table.to_excel(book, sheet_name="all", index=False)
        table[table["report"] < 20].to_excel(book, sheet_name="early", index=False)
    app.upload("book.xlsx", path.read_bytes()).press("Use these roles")
    box = next(s for s in app.at.selectbox if s.label == "Sheet")
    box.set_value("early")
    app.run()
    assert headlines(app)[-1] == "Another table: book.xlsx, sheet early"
    way(app, "Undo")
    assert next(s for s in app.at.selectbox if s.label == "Sheet").value == "all"
    assert app.sidebar[0].startswith("8 subjects")
    way(app, "Redo")
    assert next(s for s in app.at.selectbox if s.label == "Sheet").value == "early"
    assert app.at.session_state[Key.ANALYSIS].source.rows < len(table)


def test_a_press_meant_for_something_else_changes_nothing(imputed):
    held = imputed.at.session_state[Key.HISTORY]
    offered = next(key for key in held.offered if key.startswith("history.Undo"))
    held.offered[offered] = 2  # as if a job had ended since
    way(imputed, "Undo")
    assert span(imputed) == 0.4
    assert not can(imputed, "Redo")
    assert "Nothing was changed" in imputed.at.toast[0].value


def test_what_a_page_makes_unasked_is_no_turn_and_can_be_undone_past(sample):
    sample.press("Use these roles").go("missing_values").press("impute").go("rescaling")
    before = headlines(sample.press("Rescale all variables"))
    way(way(sample, "Undo"), "Redo")
    way(sample.go("missing_values"), "Undo")
    assert can(way(sample, "Redo").go("effects"), "Undo")
    assert sample.sidebar[3] != "can be skipped"
    assert headlines(sample) == before
    way(sample, "Undo")
    assert headlines(sample) == before
    way(sample, "Redo")
    assert sample.sidebar[3] != "can be skipped"
    box = sample.at.multiselect(
        key=next(m.key for m in sample.at.multiselect if "controls" in m.key)
    )
    box.set_value(["stress"])
    sample.run()
    assert len(headlines(sample)) == len(before) + 1
    assert "stress" in headlines(sample)[-1]
    way(sample, "Undo")
    assert sample.at.session_state[Key.ANALYSIS].plan.trial.controls == ()
    assert can(sample, "Redo")


def test_two_sessions_have_two_histories(imputed):
    other = Driver().press("Smoking in students")
    assert len(headlines(other)) == 1
    assert len(headlines(imputed)) == 4


def test_what_was_prepared_on_data_is_still_there_when_its_use_is_undone(app):
    app.press("Smoking in students").set_role("stress", role="ignore")
    app.press("Use these roles")
    way(app, "Undo")
    assert role(app, "stress") == "ignore"
    assert not next(b for b in app.at.button if b.label == "Use these roles").disabled
    app.press("Use these roles")
    assert "14 state variables" in app.text

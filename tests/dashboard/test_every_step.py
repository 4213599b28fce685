"""Every step by clicks: the plan repeats it to the last digit, and the file brings it back."""

import subprocess
import sys

import pytest
from quick_steps import InThisProcess, tiny
from waiting import finish

from dashboard import jobs
from smdp.analysis.analysis import load_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.analysis.tables import result_tables
from smdp.plain_data import fingerprint
from smdp.steps import steps
from tests.dashboard.conftest import Driver, open_file, saved
from tests.small_trial import study_frame

#: Those that take a tab of their own, or another table.
ELSEWHERE = ("trade_off", "new_data")
STEPS = tuple(step for step in steps() if step.name not in ELSEWHERE)
TABLE = study_frame().to_csv(index=False).encode()
PAGES = (
    "data",
    "missing_values",
    "rescaling",
    "screening",
    "feature_dimension",
    "weights",
    "markov_check",
    "q_functions",
    "effects",
    "policy",
    "twin",
    "passport",
    "patient",
    "report",
)


def finished(app):
    """The page after what runs in the background, which went well."""
    assert not finish(app).at.error, app.text
    return app


def click_through(app):
    """All steps, with choices that are not the defaults wherever a page offers one."""
    app.upload("trial.csv", TABLE)
    app.set_role("stress", **{"missing codes": "-9", "lowest": -5.0, "highest": 15.0})
    utility = next(box for box in app.at.selectbox if box.label == "Outcome (utility, U)")
    utility.set_value("craving (next value)")
    app.run()
    next(box for box in app.at.selectbox if box.label == "Direction").set_value("Less is better")
    app.run().press("Use these roles").go("missing_values").press("mpute")
    app.go("rescaling").at.radio(key="rescaling.way").set_value("Ordinal: common levels")
    app.run().press("Rescale all variables").go("effects")
    app.at.multiselect(key="trial.controls").set_value(["stress"])
    app.at.multiselect(key="trial.moderators").set_value(["stress"])
    app.run().go("screening")
    app.at.number_input(key="screening.permutations").set_value(299)
    app.at.number_input(key="screening.seed").set_value(3)
    app.at.multiselect(key="screening.force_in").set_value(["craving", "stress"])
    finished(app.run().press("Screen 2 variables")).go("feature_dimension")
    app.at.number_input(key="features.seed").set_value(2)
    finished(app.run().press("Fit the feature map")).go("weights")
    app.at.number_input(key="stability.bootstraps").set_value(5)
    app.run().press("Check stability").go("markov_check")
    app.at.number_input(key="markov.most").set_value(1)
    app.at.number_input(key="markov.draws").set_value(199)
    app.at.number_input(key="markov.seed").set_value(7)
    app.run().press("Test look-backs 0 to 1").go("q_functions")
    app.at.slider(key="policy.discount").set_value(0.5)
    app.at.number_input(key="policy.bootstraps").set_value(3)
    app.at.number_input(key="policy.seed").set_value(4)
    finished(app.run().press("Learn the Q-functions")).go("policy")
    app.at.selectbox(key="the policy").set_value("neural")
    app.at.number_input(key="evaluation.folds").set_value(2)
    app.at.number_input(key="evaluation.bootstraps").set_value(20)
    app.at.number_input(key="evaluation.seed").set_value(6)
    app.at.number_input(key="placebo.repeats").set_value(5)
    app.at.number_input(key="rule.resamples").set_value(3)
    finished(app.run().press("Estimate what it would earn")).press("Make the rule card")
    finished(app.press("Check with shuffled treatments")).go("twin")
    app.at.number_input(key="twin.repetitions").set_value(5)
    app.at.number_input(key="twin.seed").set_value(8)
    app.at.number_input(key="imputations.draws").set_value(5)
    app.at.number_input(key="imputations.seed").set_value(9)
    finished(app.run().press("Analyse drawn studies")).press("Draw the missing values")
    finished(app).go("passport").at.number_input(key="passport.level").set_value(0.1)
    app.at.number_input(key="passport.studies").set_value(1)
    app.at.number_input(key="passport.seed").set_value(11)
    return finished(app.run().press("Look at what it rests on"))


@pytest.fixture(scope="module")
def clicked(tmp_path_factory):
    """The analysis as the dashboard kept it, and what its sidebar said."""
    main, folder = sys.modules["__main__"], tmp_path_factory.mktemp("autosave")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMDP_AUTOSAVE", str(folder))
        patch.setattr(jobs, "_worker", InThisProcess)
        tiny(patch)
        app = click_through(Driver())
    sys.modules["__main__"] = main
    return saved(app, folder), app.sidebar


@pytest.fixture(scope="module")
def repeated(clicked, tmp_path_factory):
    """The file that `smdp run` writes from the exported plan, in a fresh process."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "plan.toml").write_text(clicked[0].plan.to_toml(), encoding="utf-8")
    (folder / "trial.csv").write_bytes(TABLE)
    command = [sys.executable, "-m", "smdp.cli", "run", "plan.toml", "--data", "trial.csv"]
    subprocess.run([*command, "--out", "out", "--quiet"], cwd=folder, check=True, timeout=240)
    return (folder / "out" / "analysis.smdp").read_bytes()


def test_every_step_was_done_and_planned(clicked):
    analysis, _ = clicked
    assert set(analysis.results) == {step.name for step in STEPS}
    assert [policy.kind for policy in analysis.policies] == ["linear", "neural"]
    assert analysis.feature_map.kind == "adnn"
    assert analysis.plan.steps == STEPS
    assert (analysis.plan.placebo.policy, analysis.plan.placebo.seed) == (2, 6)
    assert analysis.plan.trial.moderators == ("stress",)
    assert not analysis.out_of_date


def test_the_exported_plan_in_a_fresh_process_gives_every_table(clicked, repeated):
    analysis, run = clicked[0], load_analysis(repeated)
    assert run.plan == AnalysisPlan.from_toml(analysis.plan.to_toml()) == analysis.plan
    ours, theirs = result_tables(analysis), result_tables(run)
    assert {table.step for table in ours} == set(STEPS)
    assert [table.name for table in ours] == [table.name for table in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert fingerprint(one.frame) == fingerprint(other.frame), one.name
    for step, record in analysis.records.items():
        assert record.output == run.records[step].output, step
        assert record.warnings == run.records[step].warnings, step


def look_at_every_page(app, sidebar):
    for page in PAGES:
        said = app.go(page).text
        assert app.sidebar[:10] == sidebar[:10]
        assert "not those that the result" not in said, page
        assert "out of date" not in said, page
        assert not app.at.error, page


def same_as(analysis, again):
    assert again.plan == analysis.plan
    assert again.records == analysis.records
    assert {s: fingerprint(r) for s, r in again.results.items()} == {
        s: fingerprint(r) for s, r in analysis.results.items()
    }


def test_opened_again_every_page_shows_the_same(clicked, autosaves, monkeypatch):
    tiny(monkeypatch)
    analysis, sidebar = clicked
    app = open_file(analysis_to_bytes(analysis))
    assert app.title == "Can this be trusted?"
    assert "controls show what its plan says" not in app.text
    look_at_every_page(app, sidebar)
    same_as(analysis, saved(app, autosaves))


def test_what_a_plan_made_is_opened_with_the_plans_choices(
    clicked, repeated, autosaves, monkeypatch
):
    """`smdp run` knows nothing of the pages' controls."""
    tiny(monkeypatch)
    app = open_file(repeated)
    assert "controls show what its plan says" in app.text
    assert app.go("policy").at.selectbox(key="the policy").value == "neural"
    look_at_every_page(app, clicked[1])
    assert app.go("effects").at.multiselect(key="trial.moderators").value == ["stress"]
    assert "controls show what its plan says" not in app.text
    same_as(load_analysis(repeated), saved(app, autosaves))


def test_without_its_data_it_goes_on_once_it_has_the_table(clicked, autosaves, monkeypatch):
    tiny(monkeypatch)
    analysis, sidebar = clicked
    app = open_file(analysis_to_bytes(analysis, with_data=False))
    assert "(168 rows, 7 columns)" in app.text
    assert f"Screening: {sidebar[4]}" in app.text
    app.at.file_uploader[1].upload("trial.csv", TABLE)
    assert "every cell is the same" in app.run().text
    look_at_every_page(app, sidebar)


def test_another_table_is_told(clicked):
    app = open_file(analysis_to_bytes(clicked[0], with_data=False))
    frame = study_frame()
    frame.loc[3, "noise"] += 1
    app.at.file_uploader[1].upload("trial.csv", frame.to_csv(index=False).encode())
    assert "This is not the table that the analysis was made with" in app.run().text
    assert set(app.sidebar[3:10]) == {"out of date"}

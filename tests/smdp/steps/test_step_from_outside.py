"""A step of another package is a step like any other, as long as it is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from outside_step import MOOD, Mood, MoodSettings

import smdp
from smdp import saved_types
from smdp.analysis.analysis import Analysis, StepState, load_analysis, run_analysis
from smdp.analysis.plan import AnalysisPlan, read_plan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.analysis.step_request import StepRequest
from smdp.analysis.summary import summary_text
from smdp.analysis.tables import result_tables
from smdp.errors import ReadError, SettingError
from smdp.plain_data import fingerprint, read_plain, write_plain
from smdp.progress import Cancelled, silent
from smdp.report.appendix import record_table, settings_table
from smdp.report.collect import available_sections, build_report, section_titles
from smdp.report.html import to_html
from smdp.report.methods import methods_text
from smdp.steps import PlanSection, ReportSection, add_step, remove_step, step_named, steps


@pytest.fixture
def mood(monkeypatch) -> Iterator[None]:
    """The step is there for one test."""
    monkeypatch.setattr(saved_types, "_registered", {})
    saved_types.register("mood of the day", Mood)
    saved_types.register("mood settings", MoodSettings)
    add_step(MOOD, after="screening")
    yield
    if MOOD in steps():
        remove_step("mood")


@pytest.fixture
def asked(mood, plan) -> AnalysisPlan:
    return plan.replace(mood=MoodSettings(0.25, 3), notes={"mood": "As expected."})


@pytest.fixture
def done(asked, study_file) -> Analysis:
    return run_analysis(study_file, asked.replace(stop_after="mood"))


def test_it_has_its_place(mood):
    names = [step.name for step in steps()]
    assert names[names.index("screening") + 1] == "mood"
    assert step_named("mood") is MOOD
    remove_step("mood")
    assert "mood" not in [step.name for step in steps()]


def test_it_is_in_the_plan(asked, plan):
    assert plan.replace(mood=None).mood is None
    assert asked.mood == MoodSettings(0.25, 3)
    assert asked.does("mood")
    text = asked.to_toml()
    assert "[mood]\nshare = 0.25\nseed = 3" in text
    assert AnalysisPlan.from_toml(text) == asked == AnalysisPlan.from_json(asked.to_json())
    with pytest.raises(SettingError, match=r"section \[mood\].*'share' must be a share.*Got 2.0"):
        AnalysisPlan.from_toml(text.replace("share = 0.25", "share = 2"))
    with pytest.raises(SettingError, match=r"unknown key 'shar' in section \[mood\].*'share'"):
        AnalysisPlan.from_toml(text.replace("share = 0.25", "shar = 0.2"))


def test_a_plan_without_it_does_not_do_it(mood, plan, study_file):
    found = run_analysis(study_file, plan.replace(stop_after="screening"))
    assert "mood" not in found.results
    assert found.state("mood") == StepState.READY
    with pytest.raises(SettingError, match="does not say how the step 'mood'"):
        found.run_one("mood")


def test_it_is_run_with_the_others(done, asked):
    assert list(done.results)[-1] == "mood"
    assert done.state("mood") == StepState.DONE
    record = done.records["mood"]
    assert record.asked == asked.mood
    assert record.summary == f"a mean of {done.results['mood'].mean:.2f}"
    assert record.inputs == {"trajectories": done.records["rescaling"].output}
    other = done.with_plan(preparation=replace(asked.preparation, exclude_above=0.9))
    assert other.state("mood") == StepState.OUT_OF_DATE


def test_it_is_run_by_its_name_with_its_settings(mood, plan, study_file):
    study = Analysis.from_file(study_file, roles=plan.roles, reading=plan.reading)
    study = study.run("mood", share=1.0, seed=4)
    assert list(study.results) == ["data", "missing", "rescaling", "mood"]
    assert study.plan.mood == MoodSettings(1.0, 4)
    assert study.with_settings("mood", share=0.5).state("mood") == StepState.OUT_OF_DATE
    with pytest.raises(SettingError, match=r"'mood' has no setting 'shade'. It has: share, seed"):
        study.run("mood", shade=1)


def test_a_worker_does_it_and_it_can_be_stopped(done, tmp_path):
    write_plain(StepRequest.of(done, "mood"), tmp_path)
    assert fingerprint(read_plain(tmp_path).do(silent)) == done.records["mood"].output

    def stop(share: float, what: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        done.run_one("mood", progress=stop)


def test_it_is_in_all_that_leaves_the_analysis(done):
    mean = f"{done.results['mood'].mean:.2f}"
    said = f"The mood was {mean} on average."
    text = summary_text(done)
    assert f"== Mood: a mean of {mean}" in text
    assert said in text
    assert "As expected." in text
    assert [t.file_name for t in result_tables(done) if t.step is MOOD] == ["mood.csv"]
    script = done.plan.to_script("x.csv")
    assert "# As expected.\nmood = 0.25\n" in script
    assert "print(mood)" in script
    assert "The mood was the mean of 0.25 of the values." in methods_text(done)
    assert ("Mood", "share", "0.25") in list(settings_table(done).itertuples(False, None))
    assert "3" in record_table(done).set_index("step").loc["Mood", "seed"]
    assert section_titles()["mood"] == "The mood"
    assert "mood" in available_sections(done)
    page = to_html(build_report(done))
    for words in ("The mood of all", said, "Moods change.", "As expected.", "[mood]"):
        assert words in page, words


def test_it_is_saved_and_opened(done, tmp_path):
    opened = load_analysis(done.save(tmp_path / "study.smdp"))
    assert isinstance(opened.results["mood"], Mood)
    assert fingerprint(opened.results["mood"]) == fingerprint(done.results["mood"])
    assert opened.plan == done.plan
    assert opened.state("mood") == StepState.DONE
    bare = load_analysis(done.save(tmp_path / "bare.smdp", with_data=False))
    assert bare.with_table(done.table).out_of_date == ()


def test_without_it_its_file_is_refused(done, tmp_path):
    file = done.save(tmp_path / "study.smdp")
    remove_step("mood")
    with pytest.raises(ReadError) as caught:
        load_analysis(file)
    assert "'study.smdp'" in caught.value.problem
    assert "step" in caught.value.problem
    assert "mood" in caught.value.problem
    assert "the package that added this step" in caught.value.remedy


def test_without_it_a_plan_that_asks_for_it_is_refused(asked, analysis, tmp_path):
    (tmp_path / "plan.toml").write_text(asked.to_toml(), encoding="utf-8")
    file = Analysis.begin(asked, analysis.table).save(tmp_path / "study.smdp")
    remove_step("mood")
    for opened in (lambda: read_plan(tmp_path / "plan.toml"), lambda: load_analysis(file)):
        with pytest.raises(smdp.SmdpError) as caught:
            opened()
        assert "unknown key 'mood'" in caught.value.problem
        assert "package" in caught.value.remedy


def test_a_tag_that_nobody_registered_is_refused(done, monkeypatch):
    data = analysis_to_bytes(done)
    monkeypatch.setattr(saved_types, "_registered", {})
    with pytest.raises(ReadError) as caught:
        load_analysis(data)
    assert "holds a 'mood" in caught.value.problem
    assert "import that package first" in caught.value.remedy


def test_a_class_without_a_tag_is_not_written(done, monkeypatch):
    monkeypatch.setattr(saved_types, "_registered", {})
    with pytest.raises(TypeError, match=r"no tag in smdp\.saved_types"):
        analysis_to_bytes(done)


def test_a_tag_is_given_once(mood):
    with pytest.raises(ValueError, match="'mood of the day' is taken"):
        saved_types.register("mood of the day", MoodSettings)
    with pytest.raises(ValueError, match="'study' is taken"):
        saved_types.register("study", Mood)
    assert saved_types.register("mood of the day", Mood) is Mood


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "screening"}, "a step called 'screening' already"),
        ({"sections": (PlanSection("roles", MoodSettings),)}, "section of the plan called 'roles'"),
        ({"sections": (PlanSection("notes", MoodSettings),)}, "section of the plan called 'notes'"),
        (
            {"report": (ReportSection("methods", "Ways", ("mood",), lambda a, d: []),)},
            "section of the report called 'methods'",
        ),
        ({"needs": ("policy",)}, "'mood' works on 'policy', which is not a step before it"),
        ({"takes": {"x": "nothing"}}, "'mood' works on 'nothing', which is not a step before it"),
    ],
)
def test_a_step_that_does_not_fit_is_not_added(change, message):
    before = steps()
    with pytest.raises(ValueError, match=message):
        add_step(replace(MOOD, **change), after="screening")
    assert steps() == before


def test_the_place_must_be_there():
    with pytest.raises(SettingError, match=r"no step called 'lunch'.*data, missing"):
        add_step(MOOD, after="lunch")


def test_many_plans_leave_nothing_behind(plan):
    """What is known of a plan's shape is kept once, not once for each plan that was written."""
    from smdp.typed_text import _hints

    plan.to_json()
    before = _hints.cache_info().currsize
    for _ in range(5):
        AnalysisPlan.from_json(plan.to_json())
    assert _hints.cache_info().currsize == before

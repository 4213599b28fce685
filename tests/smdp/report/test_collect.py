from __future__ import annotations

from dataclasses import replace

import pytest

from smdp.analysis.saved_file import without_data
from smdp.blocks import AuthorNote, Bullets, Notice, Paragraph, Table
from smdp.errors import SettingError
from smdp.report.collect import available_sections, build_report, report_figures, section_titles
from smdp.screening_settings import ScreeningSettings
from smdp.steps.data import flow_table
from smdp.steps.missing import imputed_table


def section(report, key):
    return next(each for each in report.sections if each.key == key)


def texts(blocks):
    found = []
    for block in blocks:
        if isinstance(block, Paragraph | Notice | AuthorNote):
            found.append(block.text)
        elif isinstance(block, Bullets):
            found += block.items
    return "\n".join(found)


def synthetic(analysis):
    return replace(analysis, source=replace(analysis.source, synthetic=True))


@pytest.fixture
def stale(analysis):
    """Screening was asked for otherwise since it was done."""
    screening = replace(analysis.plan.screening, settings=ScreeningSettings(level=0.2))
    features = replace(analysis.plan.features, use_all=False)
    return replace(analysis, plan=analysis.plan.replace(screening=screening, features=features))


def test_a_finished_analysis_has_every_section(analysis):
    report = build_report(analysis, date="today")
    not_asked = ("deviations", "trade_off", "new_data")
    titles = {k: title for k, title in section_titles().items() if k not in not_asked}
    assert [each.key for each in report.sections] == list(titles)
    assert [each.title for each in report.sections] == list(titles.values())
    assert report.title == f"Analysis of {analysis.source.name}"
    assert report.date == "today"
    assert all(each.blocks for each in report.sections)


def test_sections_can_be_chosen(analysis):
    report = build_report(analysis, sections=["methods", "summary"])
    assert [each.key for each in report.sections] == ["summary", "methods"]
    left_out = texts(section(report, "summary").blocks)
    assert "Left out by the author's choice" in left_out
    assert section_titles()["screening"] in left_out


@pytest.mark.parametrize(("wrong", "problem"), [(["weather"], "weather"), ([], "at least one")])
def test_sections_that_are_none(analysis, wrong, problem):
    with pytest.raises(SettingError, match=problem) as caught:
        build_report(analysis, sections=wrong)
    assert "q_functions" in caught.value.remedy


def test_what_was_not_done_is_left_out_and_said(analysis):
    done = ("data", "missing")
    early = replace(
        analysis,
        results={step: analysis.results[step] for step in done},
        records={step: analysis.records[step] for step in done},
    )
    report = build_report(early)
    keys = [each.key for each in report.sections]
    assert keys == ["summary", "study", "missing", "warnings", "methods", "appendix"]
    assert tuple(keys) == available_sections(early)
    said = texts(section(report, "summary").blocks)
    assert "Not done, so not in this report" in said
    for key in ("screening", "weights", "policy"):
        assert section_titles()[key] in said
    assert report.banners == ()


def test_out_of_date_results_say_so_wherever_they_are(stale):
    report = build_report(stale, sections=["methods"])
    assert any("'screening' is out of date" in banner.text for banner in report.banners)
    shown = build_report(stale, sections=["screening"])
    first = section(shown, "screening").blocks[0]
    assert isinstance(first, Notice)
    assert "out of date" in first.text
    names = [each.file_name for each in report_figures(stale)]
    assert "out-of-date-screening-strength" in names
    assert "study-decisions" in names
    assert "out-of-date" in " ".join(names[-3:]), "what comes after is out of date too"


def test_synthetic_data_are_marked_everywhere(analysis):
    report = build_report(synthetic(analysis), sections=["appendix"])
    assert "Synthetic data" in report.banners[0].text
    assert report.synthetic
    for each in report_figures(synthetic(analysis), sections=["study", "screening"]):
        assert each.marks == ("synthetic data",)
        assert each.file_name.startswith("synthetic-")


def test_unknown_probabilities_make_a_standing_banner(analysis):
    assert not build_report(analysis, sections=["summary"]).banners
    trajectories = analysis.prepared.trajectories
    unknown = replace(trajectories, probabilities=trajectories.probabilities * float("nan"))
    prepared = replace(analysis.prepared, trajectories=unknown)
    observed = replace(analysis, results={**analysis.results, "rescaling": prepared})
    banners = build_report(observed, sections=["summary"]).banners
    assert any("observational" in banner.text for banner in banners)


def test_notes_stand_with_their_steps(analysis):
    report = build_report(analysis, sections=["summary", "screening"])
    notes = [b.text for b in section(report, "screening").blocks if isinstance(b, AuthorNote)]
    assert notes == ["Stress <u>note7</u> <was> expected.\nSo was craving."]
    assert "A last word." in texts(section(report, "summary").blocks)
    chosen = ["screening", "weights"]
    other = build_report(analysis, sections=chosen, notes={"weights": "Look again."})
    assert [b for b in section(other, "screening").blocks if isinstance(b, AuthorNote)] == []
    assert section(other, "weights").blocks[-1] == AuthorNote("Look again.")


def everything_said(report):
    words = "\n".join(texts(each.blocks) for each in report.sections)
    tables = [b for each in report.sections for b in each.blocks if isinstance(b, Table)]
    return words + " ".join(t.frame.to_string() for t in tables)


def test_without_the_data_nothing_personal_is_in_it(analysis):
    report = build_report(without_data(analysis))
    keys = [each.key for each in report.sections]
    assert "study" not in keys
    assert "missing" not in keys
    assert "policy" in keys
    assert "@subject02" in everything_said(build_report(analysis))
    assert "@subject02" not in everything_said(report)
    assert "not here" in everything_said(report)


def test_policies_of_other_data_are_not_explained_with_these(analysis):
    record = replace(analysis.records["rescaling"], output="another")
    changed = replace(analysis, records={**analysis.records, "rescaling": record})
    report = build_report(changed, sections=["q_functions"])
    names = [each.name for each in report.figures]
    assert "q-functions-linear-parameters" in names
    assert not any("effects" in name or "differences" in name for name in names)
    assert "not here" in texts(report.sections[0].blocks)


def test_the_flow_adds_up(analysis):
    flow = flow_table(analysis).set_index("stage")["subjects"]
    assert flow["In the table"] == 14
    assert flow["Left out"] == len(analysis.completed.exclusions) == 2
    assert flow["Analysed"] == 12 == len(analysis.completed.study.subjects)
    details = flow_table(analysis).set_index("stage")["details"]
    assert "1: left out by hand" in details["Left out"]
    assert "too many missing values" in details["Left out"]
    filled = imputed_table(analysis.completed)
    assert (filled["values"] == filled[["observed", "imputed", "extrapolated"]].sum(axis=1)).all()


def test_figures_have_different_names(analysis):
    names = [each.file_name for each in report_figures(analysis)]
    assert len(set(names)) == len(names) >= 15
    only = report_figures(analysis, sections=["screening"])
    assert {each.name.split("-")[0] for each in only} == {"screening"}

"""A second table in an analysis: judged, saved, refitted, and on the command line."""

from __future__ import annotations

import pandas as pd
import pytest
from small_trial import NEW_FILE, study_frame

from smdp.analysis.analysis import Analysis, StepState, load_analysis
from smdp.analysis.new_table import with_new_table
from smdp.analysis.refit import refit_on_both
from smdp.cli import main
from smdp.errors import DataError, SettingError
from smdp.steps.versions import version_of, versions_table


def test_another_table_makes_the_verdict_out_of_date(analysis):
    assert analysis.state("new_data") == StepState.DONE
    other = with_new_table(analysis, study_frame(9, "Carl"), "other.csv")
    assert other.state("new_data") == StepState.OUT_OF_DATE
    assert other.state("placebo") == StepState.DONE
    assert with_new_table(other, study_frame(6, "Bert"), NEW_FILE).plan.new_data is not None


def test_the_table_and_the_versions_come_back_from_a_file(analysis, tmp_path):
    begun = refit_on_both(analysis)
    opened = load_analysis(begun.save(tmp_path / "version.smdp"))
    assert opened.versions == begun.versions == (version_of(analysis),)
    assert "Versions of this analysis" in opened.report(tmp_path / "r.html").read_text("utf-8")
    assert opened.table is not None
    assert len(opened.table) == 2 * len(analysis.table)
    again = load_analysis(analysis.save(tmp_path / "analysis.smdp"))
    assert list(again.frames) == ["new data"]
    assert again.versions == ()


def test_a_version_remembers_what_was_found(analysis):
    begun = refit_on_both(analysis).run("features")
    assert begun.plan.new_data is None
    assert len(begun.study.subjects) == 28
    table = versions_table(begun)
    assert table["version"].tolist() == [1, 2]
    assert table["people"].tolist() == [13, 27], "Anna03 is left out by hand in both"
    assert "linear" in table["why refitted"].iloc[0]
    policy = analysis.run("policy")
    assert versions_table(policy)["same advice"].iloc[-1] == "100 %"


def test_two_tables_with_the_same_rows_are_no_study(analysis):
    same = with_new_table(analysis, study_frame(), "same.csv")
    with pytest.raises(DataError, match="Both tables have 168 rows of the same person and time"):
        refit_on_both(same)
    bare = Analysis.begin(analysis.plan.replace(new_data=None), analysis.table)
    with pytest.raises(SettingError, match="no second table"):
        refit_on_both(bare)


def test_an_export_of_everybody_so_far_adds_only_what_is_new(analysis):
    everybody = pd.concat([analysis.table, analysis.frames["new data"]], ignore_index=True)
    begun = refit_on_both(with_new_table(analysis, everybody, "everybody.csv"))
    assert len(begun.table) == len(everybody)


def test_on_the_command_line(analysis, tmp_path, capsys):
    saved = analysis.save(tmp_path / "study.smdp")
    study_frame(7, "Dora").to_csv(tmp_path / "later.csv", index=False)
    asked = ["validate", str(saved), "--data", str(tmp_path / "later.csv")]
    code = main([*asked, "--out", str(tmp_path / "out"), "--seed", "3"])
    told = capsys.readouterr().out
    assert code in (0, 3, 4, 5)
    assert "14 people (new people)" in told
    assert "Whether people moved" in told
    written = load_analysis(tmp_path / "out" / "analysis.smdp")
    assert written.plan.new_data.seed == 3
    assert written.new_data is not None
    assert "New data" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    verdicts = pd.read_csv(tmp_path / "out" / "tables" / "new-data-verdicts.csv")
    assert len(verdicts) == 2


def test_a_refit_needs_a_place(analysis, tmp_path, capsys):
    saved = analysis.save(tmp_path / "study.smdp")
    assert main(["validate", str(saved), "--data", "x.csv", "--refit"]) == 2
    assert "--refit has nowhere to go" in capsys.readouterr().err

"""`smdp run` in a fresh process gives the numbers of this one, in every table."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pandas as pd
import pytest

from smdp import cli
from smdp.analysis.analysis import load_analysis
from smdp.analysis.result_files import write_results
from smdp.analysis.saved_file import save_analysis
from smdp.analysis.tables import result_tables
from smdp.commands.run import EPILOG
from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import CompletionSettings
from smdp.data.read_table import read_table
from smdp.simulation.samples import sample_file
from smdp.steps.step_plans import ReadingSettings

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data"


@pytest.fixture(scope="module")
def plan_file(plan, tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(plan.to_toml(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def short_plan_file(plan, tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    path.write_text(plan.replace(stop_after="rescaling").to_json(), encoding="utf-8")
    return path


def test_the_plan_in_a_fresh_process_gives_every_table(analysis, plan_file, study_file, tmp_path):
    out = tmp_path / "results"
    arguments = ["run", str(plan_file), "--data", str(study_file), "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "smdp.cli", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "screening    2 of 4 variables kept" in done.stdout
    write_results(analysis, tmp_path / "here")
    tables = result_tables(analysis)
    assert len(tables) == 71
    found = sorted(p.name for p in (out / "tables").iterdir())
    assert found == sorted(t.file_name for t in tables)
    for table in tables:
        own = (tmp_path / "here" / "tables" / table.file_name).read_bytes()
        assert (out / "tables" / table.file_name).read_bytes() == own, table.name
    again = load_analysis(out / "analysis.smdp")
    assert {s: r.output for s, r in again.records.items()} == {
        s: r.output for s, r in analysis.records.items()
    }
    for name in ("plan.toml", "script.py"):
        assert (out / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_no_cell_becomes_a_formula_and_numbers_stay_numbers(analysis, tmp_path):
    write_results(analysis, tmp_path)
    table = pd.read_csv(tmp_path / "tables" / "policy-1-linear-parameters.csv")
    assert set(table["action"]) == {"nothing", "'=a message"}
    policy = analysis.policies[0].parameter_intervals
    assert table["estimate"].tolist() == policy["estimate"].tolist()
    assert (policy["estimate"] < 0).any()


def test_a_saved_analysis_runs_again_with_its_own_data(partial, tmp_path, capsys):
    path = save_analysis(partial, tmp_path / "a.smdp")
    assert cli.main(["run", str(path), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    again = load_analysis(tmp_path / "out" / "analysis.smdp")
    assert {s: r.output for s, r in again.records.items()} == {
        s: r.output for s, r in partial.records.items()
    }
    bare = save_analysis(partial, tmp_path / "b.smdp", with_data=False)
    assert cli.main(["run", str(bare), "--out", str(tmp_path / "out2")]) == 2
    assert "'b.smdp' was saved without its data. Name the table" in capsys.readouterr().err


def test_without_data_nobody_is_in_the_folder(short_plan_file, study_file, tmp_path):
    arguments = ["run", str(short_plan_file), "--data", str(study_file), "--without-data"]
    assert cli.main([*arguments, "--out", str(tmp_path)]) == 0
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["analysis.smdp", "plan.toml", "script.py", "summary.txt", "tables"]
    assert list((tmp_path / "tables").iterdir()) == []
    assert "Anna" not in (tmp_path / "summary.txt").read_text()


def test_results_are_not_overwritten_unasked(short_plan_file, study_file, tmp_path, capsys):
    arguments = ["run", str(short_plan_file), "--data", str(study_file), "--out", str(tmp_path)]
    (tmp_path / "mine.txt").write_text("x")
    assert cli.main(arguments) == 2
    assert "is not empty. Name another with --out, or add --overwrite" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    assert cli.main([*arguments, "--overwrite", "--stop-after", "data"]) == 0
    assert (tmp_path / "tables" / "variables.csv").is_file()
    assert not (tmp_path / "tables" / "ranges.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{plan}"], "The option --data is missing"),
        (["no.toml", "--data", "{data}"], "The plan 'no.toml' cannot be opened"),
        (["{plan}", "--data", "no.csv"], "There is no file 'no.csv'"),
        (["{plan}", "--data", "{data}", "--stop-after", "tea"], "'stop_after' must be one of"),
        (["{data}", "--data", "{data}"], "not valid TOML"),
    ],
)
def test_an_error_is_one_line_and_exit_code_2(
    arguments, message, short_plan_file, study_file, tmp_path, capsys
):
    given = [a.format(plan=short_plan_file, data=study_file) for a in arguments]
    assert cli.main(["run", *given, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("smdp: ")
    assert message in error
    assert error.count("\n") == 1


def test_what_could_not_be_finished_has_exit_code_1(plan, study_file, tmp_path, capsys):
    asked = plan.replace(roles=replace(plan.roles, states=["noise", "smoker"], utility="stress"),
        screening=replace(plan.screening, settings=replace(
            plan.screening.settings, level=0.001, permutations=None, force_in=(), pooling="ruger"
        )),
        trial=None,
    )  # fmt: skip
    (tmp_path / "plan.toml").write_text(asked.to_toml(), encoding="utf-8")
    arguments = ["run", str(tmp_path / "plan.toml"), "--data", str(study_file)]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 1
    assert "warning: Screening kept no variable" in capsys.readouterr().err
    assert "Screening kept no variable" in (tmp_path / "out" / "summary.txt").read_text()


def test_interrupted_it_writes_what_was_done(
    short_plan_file, study_file, tmp_path, monkeypatch, capsys
):
    def stop(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("smdp.steps.rescaling.finish", stop)
    arguments = ["run", str(short_plan_file), "--data", str(study_file), "--out", str(tmp_path)]
    assert cli.main(arguments) == 130
    assert list(load_analysis(tmp_path / "analysis.smdp").results) == ["data", "missing"]
    assert "Interrupted. The steps that were done by then were written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "name", "synthetic"),
    [("sample", "my_trial.csv", True), ("own", "non-synthetic_trial.csv", False)],
)
def test_the_samples_are_marked_whatever_they_are_called(
    file, name, synthetic, study_file, plan, tmp_path
):
    path = tmp_path / name
    if file == "sample":
        path.write_bytes(sample_file("three_action_synthetic.csv").read_bytes())
        plan = plan.replace(roles=guess_roles(read_table(path)), reading=ReadingSettings())
    else:
        path.write_bytes(study_file.read_bytes())
    (tmp_path / "p.toml").write_text(plan.replace(stop_after="data").to_toml())
    arguments = ["run", str(tmp_path / "p.toml"), "--data", str(path), "--quiet"]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    out = tmp_path / "out"
    assert (out / "tables" / "synthetic-variables.csv").is_file() == synthetic
    assert ("SYNTHETIC DATA" in (out / "summary.txt").read_text()) == synthetic
    assert load_analysis(out / "analysis.smdp").table.attrs["synthetic"] is synthetic


def test_the_plan_in_the_help_runs(tmp_path):
    """Handwritten, with defaults for all that it leaves out."""
    written = EPILOG.partition("what is left out has its default:\n")[2].partition("exit code")[0]
    (tmp_path / "plan.toml").write_text(dedent(written), encoding="utf-8")
    table = str(SAMPLES / "basics_mobile_synthetic.csv")
    arguments = ["run", str(tmp_path / "plan.toml"), "--data", table, "--quiet"]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    found = load_analysis(tmp_path / "out" / "analysis.smdp")
    assert list(found.results) == ["data", "missing", "rescaling", "screening"]
    assert found.plan.screening.settings.level == 0.1
    assert found.plan.screening.seed == 1
    assert found.plan.preparation == CompletionSettings()

"""Lists of operations: in order, with a record of each, in plans and scripts too."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tomli_w

import smdp
from smdp.analysis.further_tables import further_tables
from smdp.analysis.plan import plan_from_json, plan_from_toml
from smdp.analysis.step_request import StepRequest
from smdp.cli import main
from smdp.data.shaping.operations import OPERATIONS
from smdp.errors import DataError, ReadError, SettingError
from smdp.plain_data import from_plain, to_plain
from smdp.steps.code import code
from smdp.typed_text import PlanError, from_table, to_table

HEARTSTEPS = Path(__file__).parents[5] / "shared" / "data" / "heartsteps"

EVERY: tuple[smdp.Operation, ...] = (
    smdp.ComputeColumn("a b", "log(x + 0.5)", unit="log steps"),
    smdp.CombineColumns("arm", (("send = 0", "none"), smdp.Rule("x > 1", "<b>")), otherwise="rest"),
    smdp.RecodeColumn("place", {"home": "0", "ärger \"'": ""}, others="missing", name="z"),
    smdp.GroupRare("place", fewest_share=0.1),
    smdp.DateAndTime("when", "day", ("hour", "minute")),
    smdp.DateAndTime("when", "day", beep="beep", hours=(9, 12.5)),
    smdp.SplitDate("when", date="d", hour="h"),
    smdp.KeepRows("place = 'home'"),
    smdp.DropColumns(("x", "y")),
    smdp.RenameColumn("z", "zz"),
    smdp.Pseudonymise("who", seed=3),
    smdp.JoinTable("people", ("who",), ("name",), ("age",), "drop"),
)


def table() -> pd.DataFrame:
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "id": np.repeat(["ann", "bea", "cy", "dee"], 25),
            "t": np.tile(np.arange(25), 4),
            "send": random.integers(0, 2, 100),
            "steps": random.integers(0, 3_000, 100).astype(float),
            "stress": random.integers(0, 5, 100),
        }
    )
    frame.attrs["variable_labels"] = {"steps": "Steps in 30 minutes"}
    return frame


SHAPE: tuple[smdp.Operation, ...] = (
    smdp.RenameColumn("id", "person"),
    smdp.ComputeColumn("reward", "log(steps + 0.5)"),
    smdp.ComputeColumn("before", "coalesce(lag(reward), 0)"),
    smdp.KeepRows("t > 0"),
)


@pytest.mark.parametrize("module", ["smdp.analysis.step_request", "smdp.analysis.plan"])
def test_a_new_process_knows_every_kind(module: str) -> None:
    code = (
        f"import {module}; from smdp.data.shaping.operation import Operation as O; print(*O.kinds)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {word for each in OPERATIONS for word in each.do.split()}


def test_operations_are_done_in_order_and_recorded() -> None:
    frame = table()
    done = smdp.shape(frame, SHAPE, person="person", time="t")
    assert list(done.frame.columns) == ["person", *frame.columns[1:], "reward", "before"]
    expected = np.log(frame["steps"] + 0.5).groupby(frame["id"]).shift(1)[frame["t"] > 0]
    np.testing.assert_allclose(done.frame["before"], expected)
    last = done.records[-1]
    assert (last.rows_before, last.rows_after) == (100, 96)
    assert (last.columns_before, last.columns_after) == (7, 7)
    assert [record.cells_changed for record in done.records] == [0, 100, 100, 0]
    assert done.summary().splitlines()[-1] == "   - 4 rows of 100 left out"
    assert done.frame.attrs["variable_labels"] == {"steps": "Steps in 30 minutes"}
    assert smdp.shape(frame, []).frame.equals(frame)


def test_person_and_time_may_be_made_on_the_way() -> None:
    frame = table().assign(day="2024-01-31", hour=lambda f: f["t"] % 24)
    made = [
        smdp.DateAndTime("when", "day", ("hour",)),
        smdp.Pseudonymise("id"),
        smdp.ComputeColumn("gap", "time_since_last() * 24"),
    ]
    done = smdp.shape(frame[frame["t"] < 24], made, person="id", time="when")
    np.testing.assert_allclose(done.frame["gap"].dropna(), 1)
    assert done.frame["gap"].isna().sum() == 4


@pytest.mark.parametrize(
    ("operations", "said"),
    [
        (
            [smdp.ComputeColumn("b", "a + 1"), smdp.ComputeColumn("a", "steps")],
            "Step 1 of shaping the table (compute): It uses 'a', which is made only by step 2. "
            "Move step 2 before it.",
        ),
        ([smdp.ComputeColumn("a", "a + 1")], "'a' is made of itself"),
        (
            [smdp.ComputeColumn("a", "1"), smdp.ComputeColumn("a", "2")],
            "Step 2 of shaping the table (compute): The table already has a column 'a'.",
        ),
        (
            [smdp.KeepRows("t > 99")],
            "Step 1 of shaping the table (keep rows): No row is left: the condition t > 99 is true",
        ),
        (
            [smdp.ComputeColumn("a", "log(step)")],
            "Step 1 of shaping the table (compute): At character 5 of “log(step)”: there is no "
            "column 'step'. Did you mean steps?",
        ),
        ([smdp.ComputeColumn("a", "lag(steps)")], "It is not known which column is the person."),
        ([smdp.JoinTable("people", ("id",))], "There is no table 'people' to join."),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_step(operations: list, said: str) -> None:
    with pytest.raises(DataError) as error:
        smdp.shape(table(), operations)
    assert said in str(error.value)


def test_what_is_no_operation_and_no_table() -> None:
    with pytest.raises(SettingError, match="'drop' is not an operation"):
        smdp.shape(table(), ["drop"])  # type: ignore[list-item]
    with pytest.raises(SettingError, match="the limit is 200"):
        smdp.shape(table(), [smdp.KeepRows("1")] * 201)
    with pytest.raises(DataError, match="no rows"):
        smdp.shape(table().iloc[:0], [])
    with pytest.raises(DataError, match="columns with the same name: a"):
        smdp.shape(pd.DataFrame([[1, 2]], columns=["a", "a"]), [])


@pytest.mark.parametrize("operation", EVERY, ids=lambda each: each.do)
def test_an_operation_is_the_same_after_writing_and_reading(operation: smdp.Operation) -> None:
    plain = tomllib.loads(tomli_w.dumps(to_table(operation, nulls=False)))
    assert plain["do"] == operation.do
    assert from_table(smdp.Operation, plain) == operation
    assert from_table(smdp.Operation, json.loads(json.dumps(to_table(operation, nulls=True)))) == (
        operation
    )
    assert from_plain(json.loads(json.dumps(to_plain(operation, {}))), {}) == operation
    assert eval(code(operation, 0), {"smdp": smdp}) == operation


def test_every_kind_is_written_under_a_name_that_never_changes() -> None:
    assert {type(each) for each in EVERY} == set(OPERATIONS)
    assert {kind.__name__: kind.do for kind in OPERATIONS} == {
        "ComputeColumn": "compute",
        "CombineColumns": "combine",
        "RecodeColumn": "recode",
        "GroupRare": "group rare",
        "DateAndTime": "date and time",
        "SplitDate": "split date",
        "KeepRows": "keep rows",
        "DropColumns": "drop columns",
        "RenameColumn": "rename",
        "Pseudonymise": "pseudonymise",
        "JoinTable": "join",
    }


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({"name": "a", "formula": "1"}, "The plan lacks 'do'."),
        ({"do": "erase"}, "There are: compute, "),
        ({"do": ["compute"]}, "There are: compute, "),
        ({"do": "compute", "name": "a"}, "The plan lacks 'formula'."),
        ({"do": "compute", "name": "a", "formula": "1 +"}, "At character 4 of “1 +”"),
        ({"do": "compute", "name": "a", "formla": "1"}, "Did you mean 'formula'?"),
        ({"do": "drop columns", "columns": "x"}, "'columns' of the plan must be a list"),
    ],
)
def test_what_is_no_operation_in_a_plan(plain: dict, said: str) -> None:
    with pytest.raises(PlanError) as error:
        from_table(smdp.Operation, plain)
    assert said in str(error.value)


def plan() -> smdp.AnalysisPlan:
    roles = smdp.ColumnRoles("person", "t", "send", ["stress", "before"], "reward")
    reading = smdp.ReadingSettings(shape=SHAPE)
    return smdp.AnalysisPlan(roles=roles, reading=reading, stop_after="data")


def test_a_plan_with_a_shape_is_the_same_after_writing_and_reading() -> None:
    first = plan()
    assert plan_from_toml(first.to_toml()) == first
    assert plan_from_json(first.to_json()) == first
    assert 'do = "keep rows"' in first.to_toml()
    whole = first.replace(reading=smdp.ReadingSettings(shape=EVERY))
    assert plan_from_toml(whole.to_toml()) == whole
    older = tomllib.loads(first.to_toml())
    del older["reading"]["shape"]
    assert plan_from_toml(tomli_w.dumps(older)).reading.shape == ()


def joining(tmp_path: Path) -> smdp.AnalysisPlan:
    """A plan that joins a second file, and both files."""
    table().to_csv(tmp_path / "steps.csv", index=False)
    people = pd.DataFrame({"who": sorted(set(table()["id"])), "age": 0})
    people["age"] = range(30, 30 + len(people))
    people.to_csv(tmp_path / "people.csv", index=False)
    reading = smdp.ReadingSettings(
        shape=(*SHAPE, smdp.JoinTable("people", ("person",), ("who",), unmatched="refuse")),
        tables=(smdp.TableFile("people", "people.csv", "0" * 64),),
    )
    roles = smdp.ColumnRoles("person", "t", "send", ["stress", "age"], "reward")
    return smdp.AnalysisPlan(roles=roles, reading=reading, stop_after="data")


def test_a_plan_joins_a_second_file(tmp_path: Path) -> None:
    plan = joining(tmp_path)
    assert plan_from_toml(plan.to_toml()) == plan
    assert plan_from_json(plan.to_json()) == plan
    analysis = smdp.run_analysis(tmp_path / "steps.csv", plan)
    assert "age" in [variable.name for variable in analysis.study.variables]
    assert any("made with another file ('people.csv')" in str(p) for p in analysis.warnings)
    (tmp_path / "plan.toml").write_text(plan.to_toml())
    command = ["run", str(tmp_path / "plan.toml"), "--data", str(tmp_path / "steps.csv")]
    assert main([*command, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert smdp.load_analysis(tmp_path / "out" / "analysis.smdp").study == analysis.study
    again = ["run", str(tmp_path / "out" / "analysis.smdp"), "--quiet"]
    assert main([*again, "--out", str(tmp_path / "again")]) == 0
    names: dict = {}
    exec(plan.to_script(str(tmp_path / "steps.csv")), names)
    assert names["study"] == analysis.study
    (tmp_path / "people.csv").unlink()
    with pytest.raises(ReadError, match=r"'people\.csv' is not beside 'steps\.csv'"):
        smdp.run_analysis(tmp_path / "steps.csv", plan)
    with pytest.raises(SettingError, match="without a folder"):
        smdp.TableFile("people", "../people.csv")


def test_an_analysis_keeps_the_table_that_it_joins(tmp_path: Path) -> None:
    analysis = smdp.run_analysis(tmp_path / "steps.csv", joining(tmp_path))
    analysis.save(tmp_path / "a.smdp")
    again = smdp.load_analysis(tmp_path / "a.smdp")
    assert again.out_of_date == ()
    pd.testing.assert_frame_equal(again.frames["people"], analysis.frames["people"])
    assert again.run("data").study == analysis.study
    request = StepRequest.of(again, "data")
    assert request.do(lambda share, message: None) == analysis.study
    other = analysis.frames["people"].assign(age=1)
    changed = replace(again, tables=further_tables({"people": other}))
    assert changed.state("data") == "out of date"


def test_an_analysis_without_data_holds_no_table_that_it_joins(tmp_path: Path) -> None:
    analysis = smdp.run_analysis(tmp_path / "steps.csv", joining(tmp_path))
    analysis.save(tmp_path / "a.smdp", with_data=False)
    bare = smdp.load_analysis(tmp_path / "a.smdp")
    assert bare.frames == {}
    table_again, frames = analysis.table, analysis.frames
    assert bare.with_table(table_again, frames).out_of_date == ()
    assert bare.with_table(table_again, frames).study == analysis.study


def test_the_study_is_that_of_the_shaped_table(tmp_path: Path) -> None:
    analysis = smdp.run_analysis(table(), plan())
    shaped = smdp.shape(table(), SHAPE, person="person", time="t").frame
    assert analysis.study == smdp.arrange(shaped, plan().roles)
    assert analysis.state("data") == "done"
    smdp.save_analysis(analysis, tmp_path / "shaped.smdp")
    again = smdp.load_analysis(tmp_path / "shaped.smdp")
    assert again.plan == analysis.plan
    assert again.out_of_date == ()


def test_the_script_gives_the_same_study(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "steps.csv", index=False)
    text = plan().to_script(str(tmp_path / "steps.csv"))
    assert "frame = smdp.shape(" in text
    names: dict = {}
    exec(text, names)
    assert names["study"] == smdp.run_analysis(tmp_path / "steps.csv", plan()).study


def test_the_methods_say_how_the_table_was_shaped() -> None:
    from smdp.steps import step_named

    analysis = smdp.run_analysis(table(), plan())
    step = step_named("data")
    text = step.methods(analysis, step.asked_by(analysis.plan))
    assert "the table was shaped in 4 steps. 'id' is called 'person'." in text
    assert "Rows where t > 0 are kept." in text


def test_roles_are_guessed_from_the_shaped_table() -> None:
    reading = smdp.ReadingSettings(shape=SHAPE)
    analysis = smdp.Analysis.from_file(table(), reading=reading)
    assert analysis.plan.roles.subject == "person"
    assert analysis.plan.roles.utility == "reward"


@pytest.mark.skipif(not HEARTSTEPS.exists(), reason="the data of HeartSteps are not here")
def test_the_raw_export_of_heartsteps_has_the_utility_of_the_mapped_table() -> None:
    raw = smdp.read_table(HEARTSTEPS / "raw_export.csv")
    people = smdp.read_table(HEARTSTEPS / "raw_people.csv")
    mapped = smdp.read_table(HEARTSTEPS / "heartsteps_v1.csv")
    travels = "date(local) >= date(travel.start) and date(local) <= date(travel.end)"
    done = smdp.shape(
        raw,
        [
            smdp.JoinTable("people", ("user.index",), unmatched="refuse"),
            smdp.ComputeColumn("local", "date_time(sugg.select.utime) + sugg.gmtoff / 86400"),
            smdp.KeepRows(f"is_missing(travel.start) or is_missing(local) or not ({travels})"),
            smdp.ComputeColumn("time", "row_number() - 1"),
            smdp.ComputeColumn("day", "day_number(local) - 1", unit="days"),
            smdp.ComputeColumn("utility", "log(jbsteps30 + 0.5)"),
            smdp.ComputeColumn("log_steps_pre30", "log(jbsteps30pre + 0.5)"),
            smdp.CombineColumns(
                "suggestion",
                (
                    ("send = 0", "none"),
                    ("send.active = 1", "active"),
                    ("send.sedentary = 1", "sedentary"),
                ),
            ),
            smdp.CombineColumns(
                "place",
                (
                    ("one_of(dec.location.category, 'home', 'work')", "known"),
                    ("not is_missing(dec.location.category)", "other"),
                ),
            ),
            smdp.GroupRare("dec.location.category", fewest_share=0.1),
        ],
        person="user.index",
        time="decision.index",
        tables={"people": people},
    )
    frame = done.frame
    assert [record.rows_after for record in done.records][2:] == [len(mapped)] * 8
    assert set(frame["dec.location.category"].dropna()) == {"home", "work", "other"}
    both = mapped.merge(
        frame, left_on=["subject", "time"], right_on=["user.index", "time"], suffixes=("", " made")
    )
    assert len(both) == len(mapped) == 7_884
    for name in ("utility", "log_steps_pre30", "age"):
        np.testing.assert_allclose(both[f"{name} made"], both[name], rtol=1e-12, equal_nan=True)
    stayed = both["travel.start"].isna() & both["day made"].notna()
    assert (both.loc[stayed, "day made"] == both.loc[stayed, "day"]).mean() > 0.95
    told = both["suggestion"].notna() & (both["available"] == 1)
    assert ((both["suggestion"] != "none") == (both["action"] == 1))[told].all()

"""Shaping the table by clicks: the same table as by the plan and by the script."""

import numpy as np
import pandas as pd
import pytest

import smdp
from dashboard.session import Key
from smdp.analysis.plan import read_plan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.cli import main
from smdp.data.shaping.operations import OPERATIONS
from smdp.steps.data import long_table
from tests.dashboard.conftest import Driver, open_file, saved

PEOPLE, TIMES = 6, 12
TOLD = {"send.active": "ignore", "send.sedentary": "ignore", "steps": "utility"}


def raw() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = PEOPLE * TIMES
    send = rng.integers(0, 2, rows)
    active = send * rng.integers(0, 2, rows)
    return pd.DataFrame(
        {
            "user": np.repeat([f"Ann{k}" for k in range(PEOPLE)], TIMES),
            "decision": np.tile(np.arange(1, TIMES + 1), PEOPLE),
            "send": send,
            "send.active": active,
            "send.sedentary": send - active,
            "steps": rng.poisson(60, rows) * rng.integers(0, 2, rows),
            "place": rng.choice(["home", "work", "gym", "?"], rows),
            "mood": rng.normal(size=rows).round(2),
            "travel": np.tile([0] * (TIMES - 2) + [1, 1], PEOPLE),
        }
    )


@pytest.fixture
def data() -> bytes:
    return raw().to_csv(index=False).encode()


@pytest.fixture
def at_data(app: Driver, data: bytes) -> Driver:
    app.upload("raw.csv", data).go("data")
    # What is told by the action is not used without an answer to when it is known.
    return app.set_roles(TOLD)


def key_of(app: Driver, ending: str) -> str:
    keys = [w.key for w in controls(app) if w.key and "shape.draft" in w.key and ending in w.key]
    return next((key for key in keys if key.endswith(ending)), keys[0])


def controls(app: Driver) -> list:
    at = app.at
    return [*at.text_input, *at.selectbox, *at.multiselect, *at.checkbox, *at.number_input]


def choose(app: Driver, ending: str, value: object) -> Driver:
    """Fill in one control of the open form."""
    key = key_of(app, ending)
    next(w for w in controls(app) if w.key == key).set_value(value)
    return app.run()


def press(app: Driver, key: str) -> Driver:
    app.at.button(key=key).click()
    return app.run()


def add(app: Driver, do: str, **settings: object) -> Driver:
    press(app, "shape-add")
    choose(app, ".do", do)
    for name, value in settings.items():
        choose(app, f".{name}", value)
    return app


def apply(app: Driver) -> Driver:
    assert not app.at.button(key="shape-apply").disabled, app.text
    return press(app, "shape-apply")


def compute(app: Driver, name: str, formula: str) -> Driver:
    return add(app, "compute", name=name, **{"formula": formula})


def combine(app: Driver) -> Driver:
    add(app, "combine", name="suggestion")
    rules = [("send = 0", "none"), ("send.active = 1", "active"), ("send.sedentary = 1", "sitting")]
    for place, (where, level) in enumerate(rules):
        choose(app, f".rules.{place}.where", where)
        choose(app, f".rules.{place}.level", level)
    return app


def recode(app: Driver) -> Driver:
    add(app, "recode", column="place")
    editor = next(e for e in app.at.data_editor if "shape.draft" in e.key)
    values = list(editor.value["value"])
    edits = {
        values.index("gym"): {"new value": "away"},
        values.index("work"): {"new value": "away"},
        values.index("?"): {"missing": True},
    }
    app.at.session_state[editor.key] = {
        "edited_rows": edits, "added_rows": [], "deleted_rows": [],
    }  # fmt: skip
    return app.run()


def shape_now(app: Driver) -> tuple[smdp.Operation, ...]:
    kept = app.at.session_state[Key.KEPT]
    return next((tuple(v) for k, v in kept.items() if k.startswith("shape:")), ())


SHAPE = (
    smdp.ComputeColumn("reward", "log(steps + 0.5)"),
    smdp.CombineColumns(
        "suggestion",
        (("send = 0", "none"), ("send.active = 1", "active"), ("send.sedentary = 1", "sitting")),
    ),
    smdp.RecodeColumn("place", {"gym": "away", "work": "away", "?": ""}),
    smdp.KeepRows("travel = 0"),
    smdp.ComputeColumn("mood before", "lag(mood)"),
    smdp.Pseudonymise("user"),
)


def shaped_by_clicks(app: Driver) -> Driver:
    apply(compute(app, "reward", "log(steps + 0.5)"))
    apply(combine(app))
    apply(recode(app))
    apply(add(app, "keep rows", formula="travel = 0"))
    apply(compute(app, "mood before", "lag(mood)"))
    return apply(add(app, "pseudonymise", column="user"))


def test_the_same_table_by_clicks_plan_and_script(at_data, data, autosaves, tmp_path):
    app = shaped_by_clicks(at_data)
    kept = {repr(sorted(each.values.items())) for each in shape_now(app) if each.do == "recode"}
    assert kept == {repr(sorted(SHAPE[2].values.items()))}
    assert [each.describe().split(":")[0] for each in shape_now(app)] == [
        each.describe().split(":")[0] for each in SHAPE
    ]
    app.set_role("suggestion", role="action").set_role("send", role="ignore")
    app.set_role("reward", role="utility")
    app.set_role("mood before", role="state")
    for ignored in ("steps", "send.active", "send.sedentary", "travel", "mood"):
        app.set_role(ignored, role="ignore")
    app.press("Use these roles")
    assert not app.at.error, app.text
    analysis = saved(app, autosaves)
    plan = analysis.plan
    assert plan.reading.shape == shape_now(app)

    (tmp_path / "raw.csv").write_bytes(data)
    (tmp_path / "plan.toml").write_text(plan.replace(stop_after="data").to_toml())
    by_plan = read_plan(tmp_path / "plan.toml")
    table = smdp.read_table(tmp_path / "raw.csv")
    expected = smdp.shape(table, SHAPE, person="user", time="decision").frame
    for found in (
        long_table(analysis.table, plan.reading, plan.roles),
        long_table(table, by_plan.reading, by_plan.roles),
    ):
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    command = ["run", str(tmp_path / "plan.toml"), "--data", str(tmp_path / "raw.csv"), "--quiet"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    again = smdp.load_analysis(tmp_path / "out" / "analysis.smdp")
    assert again.study == analysis.study
    names: dict = {}
    exec(by_plan.to_script(str(tmp_path / "raw.csv")), names)
    pd.testing.assert_frame_equal(names["frame"], expected, check_exact=True)
    assert names["study"] == analysis.study


def diary() -> pd.DataFrame:
    """The same with dates and times of the day."""
    frame = raw()
    days = pd.Timestamp("2024-03-29") + pd.to_timedelta(frame["decision"], "D")
    clock = [f"{8 + k % 12}:{k % 60:02d}" for k in frame.index]
    return frame.assign(date=days.dt.strftime("%d.%m.%Y"), clock=clock)


OTHERS = (
    smdp.GroupRare("place", fewest_rows=18),
    smdp.DateAndTime("at", "date", clock=("clock",)),
    smdp.SplitDate("at", "day", "hour"),
    smdp.JoinTable("people", ("user",), ("name",)),
    smdp.RenameColumn("mood", "feeling"),
    smdp.DropColumns(("travel", "date")),
)


def test_the_other_operations_are_the_same_too(app, autosaves, tmp_path):
    assert {type(each) for each in (*SHAPE, *OTHERS)} == set(OPERATIONS)
    data = diary().to_csv(index=False).encode()
    app.upload("raw.csv", data).go("data").set_roles(TOLD)
    apply(add(app, "group rare", column="place", fewest_rows=18))
    apply(add(app, "date and time", name="at", date="date", clock=["clock"]))
    apply(add(app, "split date", column="at", date="day", hour="hour"))
    apply(join(app, people()))
    apply(add(app, "rename", column="mood", name="feeling"))
    apply(add(app, "drop columns", columns=["travel", "date"]))
    app.press("Use these roles")
    assert not app.at.error, app.text
    analysis = saved(app, autosaves)
    plan = analysis.plan
    assert plan.reading.shape == shape_now(app) == OTHERS

    (tmp_path / "raw.csv").write_bytes(data)
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "plan.toml").write_text(plan.replace(stop_after="data").to_toml())
    by_plan = read_plan(tmp_path / "plan.toml")
    table = smdp.read_table(tmp_path / "raw.csv")
    tables = {"people": smdp.read_table(tmp_path / "people.csv")}
    who = {"person": plan.roles.subject, "time": plan.roles.time}
    expected = smdp.shape(table, OTHERS, **who, tables=tables).frame
    for given in (analysis.table, table):
        found = long_table(given, by_plan.reading, by_plan.roles, tables)
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    names: dict = {}
    exec(by_plan.to_script(str(tmp_path / "raw.csv")), names)
    pd.testing.assert_frame_equal(names["frame"], expected, check_exact=True)
    assert names["study"] == analysis.study


def test_a_preview_before_anything_is_done(at_data):
    app = compute(at_data, "reward", "log(steps)")
    assert "1 column more" in app.text
    assert "logarithm of a number that is not positive" in app.text
    assert shape_now(app) == ()
    press(app, "shape-cancel")
    assert shape_now(app) == ()
    assert "reward" not in list(app.at.data_editor[0].value["column"])
    add(app, "keep rows", formula="travel = 0 and user != 'Ann1'")
    assert "1 of 6 people left out" in app.text
    assert "22 rows of 72 left out" in app.text


def test_a_bad_formula_is_one_message_and_nothing_is_lost(at_data):
    app = apply(compute(at_data, "reward", "log(steps + 0.5)"))
    compute(app, "new", "log(step)")
    assert app.at.code[0].value == "log(step)\n    ^"
    for formula, said in {
        "log(step)": "At character 5: there is no column 'step'",
        "log(steps": "bracket that opens here is never closed",
        "place * 2": "place",
        "__import__('os').system('ls')": "'.' has no meaning here",
        "<img src=x onerror=alert(1)>": "< stands where a number",
        "new + 1": "made of itself",
    }.items():
        choose(app, ".formula", formula)
        assert len(app.at.error) == 1, formula
        assert said in app.at.error[0].value.replace("\\", ""), app.at.error[0].value
        assert app.at.button(key="shape-apply").disabled
        assert [each.name for each in shape_now(app)] == ["reward"]
        assert "reward" in list(app.at.data_editor[0].value["column"])


def test_a_filter_that_leaves_nobody(at_data):
    app = add(at_data, "keep rows", formula="steps < 0")
    assert "No row is left" in app.text
    assert app.at.button(key="shape-apply").disabled


def test_removing_moving_changing_and_undoing(at_data):
    app = apply(compute(at_data, "reward", "log(steps + 0.5)"))
    apply(compute(app, "before", "lag(reward)"))
    press(app, "Remove step 1")
    assert (
        "Nothing was changed: this step could not be done then: 'before' is lag(reward)."
        in app.text
    )
    press(app, "Move step 2 up")
    assert "Move step 2 before it" in app.text
    assert len(shape_now(app)) == 2
    press(app, "Change step 1")
    choose(app, ".formula", "log(steps + 1)")
    apply(app)
    assert shape_now(app)[0].formula == "log(steps + 1)"
    assert len(shape_now(app)) == 2
    press(app, "shape-undo")
    assert shape_now(app)[0].formula == "log(steps + 0.5)"
    press(app, "Remove step 2")
    press(app, "Remove step 1")
    assert shape_now(app) == ()
    for count in (1, 2, 1, 0):
        press(app, "shape-undo")
        assert len(shape_now(app)) == count


def test_roles_stay_with_their_columns(at_data):
    app = at_data.set_role("mood", role="ignore").set_role("send", role="action")
    roles = app.at.data_editor[0].value.set_index("column")["role"].to_dict()
    before = roles | {"mood": "ignore", "send": "action"} | TOLD
    apply(add(app, "rename", column="user", name="who"))
    now = app.at.data_editor[0].value.set_index("column")["role"]
    assert now["who"] == before["user"] == "subject"
    assert now["mood"] == "ignore"
    apply(compute(app, "last", "lag(mood)"))
    assert not app.at.error
    apply(add(app, "drop columns", columns=["send"]))
    assert "send" not in set(app.at.data_editor[0].value["column"])
    press(app, "shape-undo")
    assert app.at.data_editor[0].value.set_index("column")["role"]["send"] == "action"
    press(app, "Remove step 2")
    press(app, "Remove step 1")
    assert app.at.data_editor[0].value.set_index("column")["role"].to_dict() == before


def test_without_a_person_a_lag_says_what_to_do(at_data):
    app = at_data.set_role("user", role="ignore")
    compute(app, "last", "lag(mood)")
    assert "Give one column the role 'subject'" in app.text
    app.set_role("user", role="subject")
    assert "1 column more" in app.text


def test_a_role_that_a_step_needs_is_taken_away(at_data):
    app = apply(compute(at_data, "last", "lag(mood)"))
    app.set_role("user", role="ignore")
    assert "Step 1 of shaping the table cannot be done" in app.text
    app.set_role("user", role="subject")
    assert not app.at.error
    assert "last" in set(app.at.data_editor[0].value["column"])


def test_codes_are_marked_before_the_table_is_shaped(at_data, autosaves):
    app = apply(compute(at_data, "known", "not is_missing(place)"))
    app.set_role("place", **{"missing codes": "?"})
    assert "72 cells" in app.text
    frame = next(d.value for d in app.at.dataframe if "known" in d.value.columns)
    assert (frame["known"] == (raw()["place"] != "?")).all()
    apply(add(app, "drop columns", columns=["place"]))
    frame = next(d.value for d in app.at.dataframe if "known" in d.value.columns)
    assert (frame["known"] == (raw()["place"] != "?")).all()
    app.set_role("known", **{"missing codes": "1"})
    assert "has by being shaped" in app.text


def test_results_are_out_of_date_by_another_shape(sample):
    app = sample.press("Use these roles")
    assert "not those that the result" not in app.text
    apply(compute(app, "noise2", "1"))
    assert "not those that the result" in app.text
    app.press("Use these roles")
    assert "not those that the result" not in app.text
    press(app, "shape-undo")
    assert "not those that the result" in app.text


def test_a_shape_is_there_again_in_a_saved_file(at_data, autosaves):
    app = apply(compute(at_data, "reward", "log(steps + 0.5)"))
    app.press("Use these roles")
    content = analysis_to_bytes(saved(app, autosaves))
    again = open_file(content).go("data")
    assert shape_now(again) == shape_now(app)
    assert "reward" in set(again.at.data_editor[0].value["column"])
    assert "not those that the result" not in again.text


def people() -> pd.DataFrame:
    names = [f"Ann{k}" for k in range(PEOPLE)]
    return pd.DataFrame({"name": names, "age": np.arange(20, 20 + PEOPLE)})


def load_people(app: Driver, frame: pd.DataFrame) -> Driver:
    """A second file, in the open form of a join."""
    box = next(each for each in app.at.file_uploader if "to be joined" in each.label)
    box.upload("people.csv", frame.to_csv(index=False).encode())
    return app.run()


def join(app: Driver, frame: pd.DataFrame) -> Driver:
    load_people(add(app, "join"), frame)
    choose(app, ".keys", ["user"])
    return choose(app, ".their_keys", ["name"])


def test_a_second_file_is_joined_saved_and_found_again(at_data, data, autosaves, tmp_path):
    app = apply(join(at_data, people()))
    app.set_role("age", role="state")
    app.press("Use these roles")
    analysis = saved(app, autosaves)
    (file,) = analysis.plan.reading.tables
    assert (file.name, file.file) == ("people", "people.csv")
    assert "age" in [variable.name for variable in analysis.study.variables]
    again = open_file(analysis_to_bytes(analysis)).go("data")
    assert not again.at.error
    assert "not those that the result" not in again.text
    (tmp_path / "raw.csv").write_bytes(data)
    people().to_csv(tmp_path / "people.csv", index=False)
    plan = analysis.plan.replace(stop_after="data")
    found = smdp.run_analysis(tmp_path / "raw.csv", plan)
    assert found.study == analysis.study
    assert not [p for p in found.warnings if "another file" in str(p)]


def test_an_analysis_without_data_asks_for_both_tables(at_data, data, autosaves):
    app = apply(join(at_data, people()))
    app.press("Use these roles")
    bare = open_file(analysis_to_bytes(saved(app, autosaves), with_data=False))
    labels = [each.label.replace("\\", "") for each in bare.at.file_uploader]
    main = next(k for k, label in enumerate(labels) if label == "The table (raw.csv)")
    bare.at.file_uploader[main].upload("raw.csv", data)
    bare.run()
    assert "every cell is the same" not in bare.text
    second = next(k for k, label in enumerate(labels) if "people.csv" in label)
    bare.at.file_uploader[second].upload("people.csv", people().to_csv(index=False).encode())
    bare.run()
    assert "every cell is the same" in bare.text


def test_joins_that_cannot_be_done(at_data):
    app = join(at_data, pd.concat([people(), people()]))
    assert len(app.at.error) == 1
    assert "several rows for name = Ann0" in app.text
    press(app, "shape-cancel")
    assert not app.at.session_state[Key.ANALYSIS].tables
    join(app, people().assign(name="nobody").head(1))
    assert len(app.at.error) == 1
    assert "No match in 'people'" in app.text
    assert app.at.button(key="shape-apply").disabled
    assert shape_now(app) == ()

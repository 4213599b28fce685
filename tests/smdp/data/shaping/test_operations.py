"""Each operation: what it makes of a table, what it says of that, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from smdp.data.shaping.compute import CombineColumns, ComputeColumn, Rule
from smdp.data.shaping.formula import FormulaError
from smdp.data.shaping.join import JoinTable
from smdp.data.shaping.levels import GroupRare, RecodeColumn
from smdp.data.shaping.moments import DateAndTime, SplitDate
from smdp.data.shaping.operation import Operation
from smdp.data.shaping.operations import OPERATIONS
from smdp.data.shaping.person_rows import Surroundings
from smdp.data.shaping.pseudonyms import Pseudonymise
from smdp.data.shaping.rows_and_names import DropColumns, KeepRows, RenameColumn
from smdp.errors import DataError, SettingError


@pytest.fixture
def frame() -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "who": pd.array(["Ann", "Bea", "Ann", "Bea", "Cy"], dtype="str"),
            "beep": [1, 1, 2, 2, 1],
            "send": [1.0, 0.0, 1.0, np.nan, 1.0],
            "active": [1.0, 0.0, 0.0, np.nan, 0.0],
            "place": pd.array(["home", "work", "bar", None, "home"], dtype="str"),
            "mood": [1, 2, 1, 3, 2],
            "day": pd.array(["31.1.2024", "1.2.2024", "31.1.2024", "1.2.2024", None], dtype="str"),
            "at": pd.array(["9:30", "2:15 pm", "23:59:30", "soon", "12:00"], dtype="str"),
        }
    )
    table.attrs = {
        "source": "diary.csv",
        "variable_labels": {"mood": "Mood now", "place": "Where"},
        "value_labels": {"mood": {1: "bad", 2: "fair", 3: "good"}, "who": {"Ann": "Ann B."}},
    }
    return table


def values(column: pd.Series) -> list[Any]:
    return [None if pd.isna(value) else value for value in column]


def test_compute(frame: pd.DataFrame) -> None:
    done = ComputeColumn("ratio", "mood / (mood - 1)", unit="points").apply(frame)
    assert values(done.frame["ratio"]) == [None, 2, None, 1.5, 2]
    assert done.made == ("ratio",)
    assert done.cells_changed == 3
    assert done.found == {"division by zero": 2}
    assert done.sentences() == ["2 rows: division by zero"]
    assert done.frame.attrs["units"] == {"ratio": "points"}
    assert done.frame.attrs["variable_labels"] == frame.attrs["variable_labels"]


def test_a_name_that_is_taken_is_replaced_only_if_that_is_said(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="already has a column 'mood'"):
        ComputeColumn("mood", "mood * 2").apply(frame)
    done = ComputeColumn("mood", "max(mood, 2)", replace=True).apply(frame)
    assert done.frame["mood"].tolist() == [2, 2, 2, 3, 2]
    assert done.cells_changed == 2
    assert "mood" not in done.frame.attrs["value_labels"]
    assert list(done.frame.columns) == list(frame.columns)


def test_what_is_no_formula_is_refused_before_there_is_a_table() -> None:
    with pytest.raises(FormulaError, match="At character 4"):
        ComputeColumn("x", "1 +")
    with pytest.raises(FormulaError, match="no function 'eval'"):
        KeepRows("eval('1')")
    with pytest.raises(FormulaError):
        CombineColumns("x", (("(", "a"),))
    with pytest.raises(SettingError, match="has no name"):
        ComputeColumn(" ", "1")


def test_combine_takes_the_first_rule_that_holds(frame: pd.DataFrame) -> None:
    rules = (("send = 0", "none"), Rule("active = 1", "active"), ("send = 1", "sedentary"))
    done = CombineColumns("arm", rules).apply(frame)
    assert values(done.frame["arm"]) == ["active", "none", "sedentary", None, "sedentary"]
    assert done.levels == {"none": 1, "active": 1, "sedentary": 2}
    assert done.notes == ("1 row where no rule holds: missing.",)
    other = CombineColumns("arm", (*rules, ("mood > 9", "never")), otherwise="unknown").apply(frame)
    assert other.frame["arm"].tolist()[3] == "unknown"
    assert other.notes[0] == "No row has the level 'never'."
    with pytest.raises(SettingError, match="has no rules"):
        CombineColumns("arm", ())


def test_recode_in_place(frame: pd.DataFrame) -> None:
    done = RecodeColumn("place", {"bar": "out", "work": "", "moon": "far"}).apply(frame)
    assert values(done.frame["place"]) == ["home", None, "out", None, "home"]
    assert done.cells_changed == 2
    assert done.levels == {"home": 2, "out": 1}
    assert done.notes == ("Not in the column: moon.",)
    assert done.frame.attrs["variable_labels"]["place"] == "Where"


def test_recode_numbers_and_what_is_not_listed(frame: pd.DataFrame) -> None:
    done = RecodeColumn("mood", {"1": "0", "2": "1"}, others="missing", name="fair").apply(frame)
    assert values(done.frame["fair"]) == [0, 1, 0, None, 1]
    assert done.frame["fair"].dtype == float
    assert done.frame["mood"].equals(frame["mood"])
    named = RecodeColumn("mood", {"1": "low"}, others="one level", others_level="high")
    assert named.apply(frame).frame["mood"].tolist() == ["low", "high", "low", "high", "high"]
    kept = RecodeColumn("mood", {"3": "9"}).apply(frame)
    assert kept.frame["mood"].tolist() == [1, 2, 1, 9, 2]
    assert kept.frame.attrs["value_labels"]["mood"] == {1: "bad", 2: "fair"}


def test_recode_refusals(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"has none of the values .*: Home, Work. It has bar, home"):
        RecodeColumn("place", {"Home": "h", "Work": "w"}).apply(frame)
    with pytest.raises(DataError, match=r"no column 'Place'. Did you mean 'place'"):
        RecodeColumn("Place", {"a": "b"}).apply(frame)
    with pytest.raises(DataError, match="already has a column 'mood'"):
        RecodeColumn("place", {"home": "h"}, name="mood").apply(frame)
    with pytest.raises(SettingError, match="others_level"):
        RecodeColumn("place", {}, others="one level")
    with pytest.raises(SettingError, match="'values' must be a table of texts"):
        RecodeColumn("place", {"a": 1})  # type: ignore[dict-item]


def test_thousands_of_values_are_recoded() -> None:
    many = pd.DataFrame({"x": [f"v{i % 5_000}" for i in range(20_000)]})
    done = RecodeColumn("x", {f"v{i}": f"w{i % 7}" for i in range(5_000)}).apply(many)
    assert sorted(done.levels) == [f"w{i}" for i in range(7)]
    assert sum(done.levels.values()) == 20_000
    assert len(RecodeColumn("x", {f"v{i}": "w" for i in range(5_000)}).describe()) < 400


def test_group_rare(frame: pd.DataFrame) -> None:
    done = GroupRare("place", fewest_rows=2).apply(frame)
    assert values(done.frame["place"]) == ["home", "other", "other", None, "home"]
    assert done.levels == {"home": 2, "other": 2}
    assert done.notes == ("2 values of 2 rows grouped.",)
    by_share = GroupRare("mood", fewest_share=0.25, into="rest", name="m").apply(frame)
    assert by_share.frame["m"].tolist() == ["1", "2", "1", "rest", "2"]
    assert by_share.frame.attrs["value_labels"]["m"] == {1: "bad", 2: "fair"}
    again = GroupRare("place", fewest_rows=2, into="home").apply(frame)
    assert "was there before" in again.notes[1]
    nothing = GroupRare("mood", fewest_rows=1).apply(frame)
    assert nothing.frame["mood"].equals(frame["mood"])
    for wrong in ({}, {"fewest_rows": 2, "fewest_share": 0.1}):
        with pytest.raises(SettingError, match="must be said in one way"):
            GroupRare("place", **wrong)


def test_keep_rows(frame: pd.DataFrame) -> None:
    done = KeepRows("send = 1").apply(frame)
    assert done.frame["who"].tolist() == ["Ann", "Ann", "Cy"]
    assert done.frame.index.tolist() == [0, 1, 2]
    assert done.found == {"left out because the condition is neither true nor false": 1}
    with pytest.raises(DataError, match="No row is left: the condition mood > 3 is true in no row"):
        KeepRows("mood > 3").apply(frame)


def test_drop_and_rename(frame: pd.DataFrame) -> None:
    assert list(DropColumns(("who", "at")).apply(frame).frame.columns) == [
        "beep", "send", "active", "place", "mood", "day",
    ]  # fmt: skip
    assert DropColumns(("mood",)).apply(frame).frame.attrs["variable_labels"] == {"place": "Where"}
    with pytest.raises(DataError, match=r"no column 'plaec'. Did you mean 'place'"):
        DropColumns(("plaec",)).apply(frame)
    with pytest.raises(DataError, match="the table has none"):
        DropColumns(tuple(frame.columns)).apply(frame)
    done = RenameColumn("mood", "feeling").apply(frame)
    assert list(done.frame.columns)[5] == "feeling"
    assert done.frame.attrs["variable_labels"] == {"feeling": "Mood now", "place": "Where"}
    assert done.frame.attrs["value_labels"]["feeling"] == {1: "bad", 2: "fair", 3: "good"}
    with pytest.raises(DataError, match="already has a column 'who'"):
        RenameColumn("mood", "who").apply(frame)


@pytest.fixture
def people() -> pd.DataFrame:
    table = pd.DataFrame({"name": ["Bea", "Ann", "Dan"], "age": [40, 30, 20], "sex": list("fxm")})
    table.attrs = {"variable_labels": {"age": "Age in years"}}
    return table


def test_join(frame: pd.DataFrame, people: pd.DataFrame) -> None:
    known = Surroundings(tables={"people": people})
    done = JoinTable("people", ("who",), ("name",)).apply(frame, known)
    assert values(done.frame["age"]) == [30, 40, 30, 40, None]
    assert values(done.frame["sex"]) == ["x", "f", "x", "f", None]
    assert done.found == {"no row of 'people' has their key": 1}
    assert done.notes == ("1 row of 'people' match no row.",)
    assert done.frame.attrs["variable_labels"]["age"] == "Age in years"
    assert done.made == ("age", "sex")
    dropped = JoinTable("people", ("who",), ("name",), ("age",), "drop").apply(frame, known)
    assert dropped.frame["age"].tolist() == [30, 40, 30, 40]
    assert "sex" not in dropped.frame.columns
    assert dropped.found == done.found
    with pytest.raises(DataError, match="No match in 'people' for 1 row of 5"):
        JoinTable("people", ("who",), ("name",), unmatched="refuse").apply(frame, known)


def test_join_by_several_keys_of_other_types(frame: pd.DataFrame) -> None:
    other = pd.DataFrame({"who": ["Ann", "Ann", "Bea"], "beep": ["1", "2", "2"], "x": [1, 2, 3]})
    done = JoinTable("o", ("who", "beep")).apply(frame, Surroundings(tables={"o": other}))
    assert values(done.frame["x"]) == [1, None, 2, 3, None]


def test_join_refusals(frame: pd.DataFrame, people: pd.DataFrame) -> None:
    twice = pd.concat([people, people.iloc[[1]]])
    with pytest.raises(DataError, match="'people' has several rows for name = Ann"):
        JoinTable("people", ("who",), ("name",)).apply(
            frame, Surroundings(tables={"people": twice})
        )
    known = Surroundings(tables={"people": people})
    with pytest.raises(DataError, match="No match in 'people' for 5 rows of 5"):
        JoinTable("people", ("mood",), ("name",)).apply(frame, known)
    with pytest.raises(DataError, match="already has a column 'mood'"):
        JoinTable("p", ("who",), ("name",)).apply(
            frame, Surroundings(tables={"p": people.rename(columns={"age": "mood"})})
        )
    with pytest.raises(SettingError, match=r"no table 'persons' to join. There are: people"):
        JoinTable("persons", ("who",)).apply(frame, known)
    with pytest.raises(DataError, match=r"no column 'nam'. Did you mean 'name'"):
        JoinTable("people", ("who",), ("nam",)).apply(frame, known)
    with pytest.raises(SettingError, match="Name as many in both"):
        JoinTable("people", ("who",), ("name", "age"))


def test_of_several_rows_with_a_key_the_first_or_the_last(frame: pd.DataFrame) -> None:
    other = pd.DataFrame({"who": ["Ann", "Bea", "Ann", None, "Zoe", "Ann"], "x": range(6)})
    known = Surroundings(tables={"o": other})
    expected = {"first": [0, 0, 1], "last": [5, 5, 1]}
    for several, found in expected.items():
        done = JoinTable("o", ("who",), several=several).apply(frame, known)
        by_name = dict(zip(frame["who"], values(done.frame["x"]), strict=True))
        assert [by_name[name] for name in ("Ann", "Ann", "Bea")] == found
        assert done.notes == (
            "2 rows of 'o' match no row.",
            "2 rows of 'o' not taken: another has the same key.",
        )
        assert f"the {several} row of each" in JoinTable("o", ("who",), several=several).describe()


def test_a_missing_key_matches_nothing(frame: pd.DataFrame) -> None:
    other = pd.DataFrame({"place": ["home", None, None], "x": [1, 2, 3]})
    done = JoinTable("o", ("place",)).apply(frame, Surroundings(tables={"o": other}))
    assert values(done.frame["x"]) == [1, None, None, None, 1]


def test_date_and_clock(frame: pd.DataFrame) -> None:
    done = DateAndTime("when", "day", ("at",)).apply(frame)
    assert [None if pd.isna(v) else f"{v:%Y-%m-%d %H:%M:%S}" for v in done.frame["when"]] == [
        "2024-01-31 09:30:00", "2024-02-01 14:15:00", "2024-01-31 23:59:30", None, None,
    ]  # fmt: skip
    assert done.found == {"text that is no time of the day": 1}
    assert done.notes == ("'31.1.2024', '9:30' is read as 31 January 2024, 09:30.",)
    assert str(done.frame["when"].dtype) == "datetime64[us]"


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ({"h": [9.5, 14.25]}, ["09:30", "14:15"]),
        ({"h": [930, 1415]}, ["09:30", "14:15"]),
        ({"h": [9, 14], "m": [30, 15]}, ["09:30", "14:15"]),
        ({"h": [9, 14], "m": [30, 15], "s": [59, 0]}, ["09:30", "14:15"]),
        ({"h": ["09:30", "14.15"]}, ["09:30", "14:15"]),
        ({"h": pd.to_datetime(["2000-01-01 9:30", "2000-01-01 14:15"])}, ["09:30", "14:15"]),
        ({"h": [9, 25]}, ["09:00", None]),
    ],
)
def test_clock_times_in_many_ways(clock: dict, expected: list) -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-31", "2024-02-01"]), **clock})
    done = DateAndTime("when", "day", tuple(clock)).apply(frame)
    found = [None if pd.isna(v) else f"{v:%H:%M}" for v in done.frame["when"]]
    assert found == expected


def test_date_and_beep(frame: pd.DataFrame) -> None:
    done = DateAndTime("when", "day", beep="beep", hours=(9, 21.5)).apply(frame)
    assert f"{done.frame['when'][2]:%d %H:%M}" == "31 21:30"
    plain = DateAndTime("when", "day", beep="beep").apply(frame)
    assert f"{plain.frame['when'][2]:%d %H:%M}" == "31 00:02"
    assert "their order is known, not their time" in plain.notes[1]
    late = DateAndTime("when", "day", beep="mood", hours=(9, 10)).apply(frame)
    assert late.found == {"a beep without an hour": 1}
    with pytest.raises(DataError, match="'place' is to be the number of the prompt"):
        DateAndTime("when", "day", beep="place").apply(frame)
    with pytest.raises(DataError, match="'mood' is to be a date"):
        DateAndTime("when", "mood", beep="beep").apply(frame)
    for wrong in ({}, {"clock": ("at",), "beep": "beep"}, {"clock": ("a", "b", "c", "d")}):
        with pytest.raises(SettingError, match="either the time"):
            DateAndTime("when", "day", **wrong)


def test_split_date(frame: pd.DataFrame) -> None:
    whole = DateAndTime("at]when", "day", ("at",)).apply(frame).frame
    done = SplitDate("at]when", date="on", hour="hour").apply(whole)
    assert values(done.frame["hour"]) == [9, 14, 23, None, None]
    assert done.frame["on"][0] == pd.Timestamp("2024-01-31")
    assert done.made == ("on", "hour")
    with pytest.raises(SettingError, match="Neither the day nor the hour"):
        SplitDate("day")


@pytest.mark.parametrize("seed", [None, 5])
def test_pseudonyms_hold_nothing_of_the_names(frame: pd.DataFrame, seed: int | None) -> None:
    named = frame.set_index(frame["who"])
    named["again"] = named["who"].astype("category")
    named.attrs = frame.attrs
    done = Pseudonymise("who", "S", seed).apply(named)
    codes = done.frame["who"].tolist()
    assert codes[0] == codes[2] != codes[1] == codes[3]
    assert sorted(set(codes)) == ["S001", "S002", "S003"]
    assert done.notes == ("The same values stand in again, which are not replaced.",)
    rest = DropColumns(("again",)).apply(done.frame).frame
    everything = f"{rest.to_csv()} {rest.index} {rest.attrs} {rest.dtypes} {done.sentences()}"
    assert not any(name in everything for name in ("Ann", "Bea", "Cy"))
    if seed is None:
        assert codes == ["S001", "S002", "S001", "S002", "S003"]


def test_pseudonyms_leave_what_is_missing() -> None:
    done = Pseudonymise("x").apply(pd.DataFrame({"x": [7, None, 8]}))
    assert values(done.frame["x"]) == ["P001", None, "P002"]


def every_operation() -> list[Operation]:
    return [
        ComputeColumn("a", "mood + 1"),
        CombineColumns("b", (("mood = 1", "one"),)),
        RecodeColumn("place", {"home": "h"}),
        GroupRare("place", fewest_rows=2),
        DateAndTime("c", "day", ("at",)),
        SplitDate("day", date="d"),
        KeepRows("mood > 1"),
        DropColumns(("at",)),
        RenameColumn("mood", "m"),
        Pseudonymise("who"),
        JoinTable("people", ("who",), ("name",)),
    ]


def test_every_kind_is_tested() -> None:
    assert [type(each) for each in every_operation()] == list(OPERATIONS)
    assert list(Operation.kinds.values()) == sorted(
        OPERATIONS, key=list(Operation.kinds.values()).index
    )


@pytest.mark.parametrize("operation", every_operation(), ids=lambda each: each.do)
def test_the_table_that_is_given_stays_as_it_is(
    operation: Operation, frame: pd.DataFrame, people: pd.DataFrame
) -> None:
    before, attrs = frame.copy(deep=True), repr(frame.attrs)
    done = operation.apply(frame, Surroundings("who", "beep", {"people": people}))
    done.frame.iloc[0, 0] = "changed"
    done.frame.attrs["variable_labels"]["place"] = "changed"
    assert_frame_equal(frame, before)
    assert repr(frame.attrs) == attrs
    assert done.frame.attrs["source"] == "diary.csv"
    line = operation.describe()
    assert line.endswith(".")
    assert "\n" not in line

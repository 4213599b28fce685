"""Trying steps out: the same as doing them, and nothing done twice."""

from __future__ import annotations

import pandas as pd
import pytest

import smdp
from smdp.data.shaping import shape as shaping
from smdp.data.shaping.formula import FormulaError, written
from smdp.data.shaping.gradual import GradualShape
from smdp.errors import DataError


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {"id": ["a", "a", "b", "b", "c"], "t": [1, 2, 1, 2, 1], "x y": [1.0, 2.0, 3.0, 4.0, -1.0]}
    )


STEPS = (
    smdp.RenameColumn("id", "who"),
    smdp.ComputeColumn("last", "lag([x y])"),
    smdp.KeepRows("[x y] ≥ 0"),
)


def test_the_same_table_as_at_once(table: pd.DataFrame) -> None:
    gradual = GradualShape(table)
    for count in range(len(STEPS) + 1):
        person = "who" if count else "id"
        found = gradual.after(STEPS[:count], person=person, time="t")
        at_once = smdp.shape(table, STEPS[:count], person=person, time="t")
        assert found.error is None
        assert found.records == at_once.records
        pd.testing.assert_frame_equal(found.frame, at_once.frame)


def test_what_was_done_is_not_done_again(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for kind in {type(step) for step in STEPS}:
        work = kind._work

        def counted(self, frame, known, work=work):  # type: ignore[no-untyped-def]
            done.append(self.do)
            return work(self, frame, known)

        monkeypatch.setattr(kind, "_work", counted)
    gradual = GradualShape(table)
    gradual.after(STEPS, person="who", time="t")
    assert done == ["rename", "compute", "keep rows"]
    gradual.after(STEPS, person="who", time="t")
    gradual.try_out(smdp.ComputeColumn("z", "1"), 3)
    assert done[3:] == ["compute"]
    gradual.after((*STEPS[:2], smdp.KeepRows("t = 1")), person="who", time="t")
    assert done[4:] == ["keep rows"]
    gradual.after(STEPS[:2], person=None, time="t")  # another person: all of it
    assert done[5:] == ["rename", "compute"]


def test_as_far_as_it_can_be_done(table: pd.DataFrame) -> None:
    gradual = GradualShape(table)
    found = gradual.after((*STEPS[:1], smdp.KeepRows("t > 9"), *STEPS[1:]), person="who", time="t")
    assert found.failed == 1
    assert isinstance(found.error, DataError)
    assert "No row is left" in str(found.error)
    assert list(found.frame.columns) == ["who", "t", "x y"]
    assert len(found.records) == 1


def test_what_a_step_would_do(table: pd.DataFrame) -> None:
    gradual = GradualShape(table)
    gradual.after(STEPS[:2], person="who", time="t")
    tried = gradual.try_out(STEPS[2], 2)
    assert tried.people == (3, 2)
    assert tried.record.effect() == "1 row of 5 left out"
    replaced = gradual.try_out(smdp.ComputeColumn("last", "t * 2", replace=True), 2)
    assert list(replaced.rows.columns) == ["t", "last before", "last"]
    assert list(gradual.before(1).columns) == ["who", "t", "x y"]
    with pytest.raises(FormulaError) as error:
        gradual.try_out(smdp.ComputeColumn("z", "1 + lst"), 2)
    assert error.value.pointer() == "1 + lst\n    ^"
    joined = GradualShape(table, {"p": pd.DataFrame({"id": ["a"], "age": [7]})})
    assert joined.try_out(smdp.JoinTable("p", ("id",)), 0).record.made == ("age",)


def test_names_before_and_after() -> None:
    steps = (smdp.RenameColumn("a", "b"), smdp.RenameColumn("b", "c"))
    assert shaping.name_after("a", steps) == "c"
    assert shaping.name_before("c", ["a"], steps) == "a"
    assert shaping.name_before("x", ["x"], steps) == "x"


@pytest.mark.parametrize("name", ["x", "a.b", "two words", "or", "a]b", "ä", "1st", "log"])
def test_a_name_as_it_is_written_in_a_formula(name: str) -> None:
    frame = pd.DataFrame({name: [1.5]})
    done = smdp.shape(frame, [smdp.ComputeColumn("new", f"{written(name)} + 1")])
    assert list(done.frame["new"]) == [2.5]

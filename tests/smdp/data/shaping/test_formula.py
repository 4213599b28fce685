"""Formulas: what they are worth, what they report, and what is said of those that are wrong."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smdp.data.shaping.cells import to_column
from smdp.data.shaping.evaluate import Evaluated, evaluate, holds, read_formula
from smdp.data.shaping.formula import DEEPEST, LONGEST, FormulaError
from smdp.data.shaping.functions import FUNCTIONS
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import SettingError, SmdpError

NONE = None
FRAME = pd.DataFrame(
    {
        "id": ["a", "b", "a", "b", "a"],
        "t": [2, 1, 1, 2, 3],
        "x": [1.0, 0.0, -1.0, np.nan, 4.0],
        "y": [2.0, 2.0, np.nan, np.nan, 0.5],
        "s": pd.array(["Home", "work", None, "Home", "walking home"], dtype="str"),
        "day": pd.array(
            ["2024/3/3 10:00", "2024/3/1 9:30", "2024/3/1 11:00", "2024/3/2 8:00", None],
            dtype="str",
        ),
        "two words": [1, 2, 3, 4, 5],
        "n.1": pd.array(["3", "2,5", "unknown", None, "-1e2"], dtype="str"),
    }
)
WHO = Surroundings("id", "t")


def worth(formula: str, frame: pd.DataFrame = FRAME, who: Surroundings = WHO) -> list[Any]:
    """The value in each row, None where it is missing."""
    column = to_column(evaluate(formula, frame, who).cells, frame.index)
    return [None if pd.isna(value) else value for value in column]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("2 ^ 3 ^ 2", 512),
        ("10 - 4 - 3", 3),
        ("16 / 4 / 2", 2),
        ("- - 3", 3),
        (".5 + 1e1", 10.5),
        ("1 + 1 = 2", 1),
        ("1 == 1 and 1 <> 2", 1),
        ("not 1 = 2", 1),
        ("1 = 2 or 2 = 2 and 1 = 1", 1),
        ("NOT (1 = 1 OR 1 = 2)", 0),
        ("'it''s' = \"it's\"", 1),
        ("missing + 1", NONE),
        ("0 * missing", NONE),
        ("missing ^ 0", NONE),
        ("1 ^ missing", NONE),
        ("missing and 1 = 2", 0),
        ("missing and 1 = 1", NONE),
        ("missing or 1 = 1", 1),
        ("missing or 1 = 2", NONE),
        ("not missing", NONE),
        ("log(exp(2))", 2),
        ("log10(1000)", 3),
        ("sqrt(9)", 3),
        ("abs(-3.5)", 3.5),
        ("floor(-1.5)", -2),
        ("round(2.5)", 2),
        ("round(3.14159, 2)", 3.14),
        ("round(1234, -2)", 1200),
        ("min(3, 1, 2)", 1),
        ("max(3, missing, 2)", 3),
        ("mean(1, 2, missing)", 1.5),
        ("sum(1, 2, missing)", 3),
        ("sum(missing, missing)", NONE),
        ("IF(1 < 2, 'yes', 'no')", "yes"),
        ("if(missing, 1, 2)", NONE),
        ("is_missing(missing)", 1),
        ("coalesce(missing, missing, 4)", 4),
        ("one_of('a', 'b', 'a')", 1),
        ("one_of(3, 1, 2)", 0),
        ("one_of(missing, 1)", NONE),
        ("number('1,5') + number(' -2 ')", -0.5),
        ("number('007')", 7),
        ("text(1.0)", "1"),
        ("text(0.1)", "0.1"),
        ("lower('ABC')", "abc"),
        ("contains('a.c', '.')", 1),
        ("contains('abc', '.')", 0),
        ("starts_with('abc', 'ab')", 1),
        ("weekday('2024-03-31')", 7),
        ("weekday('1969-12-29')", 1),
        ("hour('2024-03-31 14:59')", 14),
        ("hour('2:30 pm')", 14),
        ("date('2024-03-31 14:59') - date('2024-03-01')", 30),
        ("date_time('2024-03-31 12:00') - date('2024-03-31')", 0.5),
        ("text(date('31.3.2024') + 1)", "2024-04-01"),
        ("date('2024-03-31') > '2024-03-01'", 1),
    ],
)
def test_values_that_are_the_same_in_every_row(formula: str, expected: object) -> None:
    found = worth(formula)
    assert len(found) == len(FRAME)
    if isinstance(expected, float):
        assert found == [pytest.approx(expected)] * 5
    else:
        assert found == [expected] * 5


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("x", [1, 0, -1, NONE, 4]),
        ("x + y", [3, 2, NONE, NONE, 4.5]),
        ("[two words] * 2", [2, 4, 6, 8, 10]),
        ("x > 0", [1, 0, 0, NONE, 1]),
        ("x > 0 and y > 1", [1, 0, 0, NONE, 0]),
        ("x > 0 or y > 1", [1, 1, NONE, NONE, 1]),
        ("x and y", [1, 0, NONE, NONE, 1]),
        ("s = 'Home'", [1, 0, NONE, 1, 0]),
        ("s != 'Home'", [0, 1, NONE, 0, 1]),
        ("lower(s) = 'home'", [1, 0, NONE, 1, 0]),
        ("contains(lower(s), 'home')", [1, 0, NONE, 1, 1]),
        ("starts_with(s, 'w')", [0, 1, NONE, 0, 1]),
        ("one_of(s, 'work', 'Home')", [1, 1, NONE, 1, 0]),
        ("one_of(t, 1, 3)", [0, 1, 1, 0, 1]),
        ("is_missing(s)", [0, 0, 1, 0, 0]),
        ("coalesce(x, y, 9)", [1, 0, -1, 9, 4]),
        ("coalesce(s, 'none')", ["Home", "work", "none", "Home", "walking home"]),
        ("if(s = 'Home', s, 'away')", ["Home", "away", NONE, "Home", "away"]),
        ("if(x > 0, 'up', missing)", ["up", NONE, NONE, NONE, "up"]),
        ("min(x, y)", [1, 0, -1, NONE, 0.5]),
        ("max(x, y)", [2, 2, -1, NONE, 4]),
        ("mean(x, y)", [1.5, 1, -1, NONE, 2.25]),
        ("sum(x, y)", [3, 2, -1, NONE, 4.5]),
        ("number([n.1])", [3, 2.5, NONE, NONE, -100]),
        ("number(n.1)", [3, 2.5, NONE, NONE, -100]),
        ("text(x)", ["1", "0", "-1", NONE, "4"]),
        ("lag(x)", [-1, NONE, NONE, 0, 1]),
        ("lag(x, 2)", [NONE, NONE, NONE, NONE, -1]),
        ("lag(s)", [NONE, NONE, NONE, "work", "Home"]),
        ("lag(day)", ["2024/3/1 11:00", NONE, NONE, "2024/3/1 9:30", "2024/3/3 10:00"]),
        ("difference(x)", [2, NONE, NONE, NONE, 3]),
        ("difference(date(day))", [2, NONE, NONE, 1, NONE]),
        ("time_since_last()", [1, NONE, NONE, 1, 1]),
        ("row_number()", [2, 1, 1, 2, 3]),
        ("lag(row_number())", [1, NONE, NONE, 1, 2]),
        ("day_number(day)", [3, 1, 1, 2, NONE]),
        ("weekday(day)", [7, 5, 5, 6, NONE]),
        ("hour(day)", [10, 9, 11, 8, NONE]),
        ("date(day) >= '2024-03-02'", [1, 0, 0, 1, NONE]),
    ],
)
def test_values_by_row(formula: str, expected: list) -> None:
    assert worth(formula) == expected


def test_text_of_dates() -> None:
    expected = ["2024-03-03", "2024-03-01", "2024-03-01", "2024-03-02", None]
    assert worth("text(date(day))") == expected
    assert worth("text(date_time(day))")[0] == "2024-03-03 10:00"


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("1 / x", {"division by zero": 1}),
        ("x ^ -1", {"division by zero": 1}),
        ("log(x)", {"logarithm of a number that is not positive": 2}),
        ("sqrt(x)", {"root of a negative number": 1}),
        ("x ^ 0.5", {"root of a negative number": 1}),
        ("exp(x * 1000)", {"a number that is too large": 2}),
        ("10 ^ 300 * 10 ^ 300", {"a number that is too large": 5}),
        ("9 ^ 9 ^ 9 ^ 9", {"a number that is too large": 5}),
        ("sum(1e308, 1e308)", {"a number that is too large": 5}),
        ("date(day) + 1e300", {"a number that is too large": 4}),
        ("number(n.1)", {"text that is no number": 1}),
        ("date(s)", {"text that is no date": 4}),
        ("hour(coalesce(s, '12:30'))", {"text that is no time of the day": 4}),
        ("mean(x, y)", {"missing values left out": 1}),
        ("1 / x + 1 / x", {"division by zero": 1}),
    ],
)
def test_what_cannot_be_worked_out_is_missing_and_counted(formula: str, found: dict) -> None:
    done = evaluate(formula, FRAME, WHO)
    assert done.found == found
    if done.cells.kind == "number":
        assert not np.isinf(done.cells.values).any()


@pytest.mark.parametrize(
    "formula",
    [
        "if(x > 0, log(x), 0)",
        "if(x = 0, 0, 1 / x)",
        "x > 0 and log(x) > 1",
        "x <= 0 or log(x) > 1",
        "coalesce(1, 1 / x)",
    ],
)
def test_only_what_is_used_is_counted(formula: str) -> None:
    assert evaluate(formula, FRAME, WHO).found == {}


def test_what_is_used_by_a_later_row_is_counted() -> None:
    assert evaluate("if(row_number() = 1, 0, lag(1 / x))", FRAME, WHO).found == {
        "division by zero": 1
    }


@pytest.mark.parametrize(
    ("formula", "place", "said"),
    [
        ("1 + twowords", 5, "there is no column 'twowords'. Did you mean [two words]?"),
        ("1 + X", 5, "there is no column 'X'. Did you mean x?"),
        ("zzz", 1, "there is no column 'zzz'. The table has id, t, x, y, s and 3 more."),
        ("1 + lagg(x)", 5, "there is no function 'lagg'. Did you mean lag?"),
        ("__import__('os')", 1, "there is no function '__import__'."),
        ("log(x, 2)", 1, "log takes 1 argument, not 2."),
        ("lag()", 1, "lag takes 1 or 2 arguments, not 0."),
        ("time_since_last(x)", 1, "time_since_last takes no arguments, not 1."),
        ("one_of(x)", 1, "one_of takes at least 2 arguments, not 1."),
        ("2 * s", 5, "'*' needs a number, and s is text. Write number(s) if it holds numbers."),
        ("x + 'a'", 5, "'+' needs a number, and 'a' is text."),
        ("x = 'a'", 1, "the comparison by '=' has a number and text."),
        ("s < 'a'", 1, "text has no order, so '<' cannot compare it."),
        ("if(x, 1, 'a')", 10, "if(..), in its two cases, has a number and text."),
        ("x and s", 7, "s is text, and neither true nor false."),
        ("hour(x)", 6, "hour needs a date, and x is a number."),
        ("lower(x)", 7, "lower needs text, and x is a number. Write text(x)."),
        ("date(day) > 'soon'", 13, "'soon' is no date. Write dates as '2024-03-31'."),
        ("date(day) + date(day)", 13, "two dates cannot be added."),
        ("lag(x, 0)", 8, "lag needs a whole number from 1 to 1000 here."),
        ("lag(x, t)", 8, "lag needs a whole number from 1 to 1000 here."),
        ("contains(s, s)", 13, "contains needs a text in quotes here."),
        ("x & y", 3, "'&' has no meaning here. Write 'and'."),
        ("x ! y", 3, "'!' has no meaning here."),
        ("x = “a”", 5, "Put text in straight quotes"),
        ("Schlaf + größe", 12, "Put a column's name in [square brackets]"),
        ("x y", 3, "y stands where an operator, such as + or =, should be."),
        ("1,5", 2, "Numbers have a decimal point"),
        (
            "x +",
            4,
            "the formula ends where a number, a text, a column or a function should follow.",
        ),
        ("(x + 1", 1, "the bracket that opens here is never closed."),
        ("x + 1)", 6, ") stands where an operator"),
        ("'abc", 1, "text begins here and does not end."),
        ("[abc", 1, "a column's name begins here and does not end."),
        ("1 < x < 5", 7, "Join two of them by 'and'"),
        ("x = missing", 3, "Use is_missing(x), or not is_missing(x)."),
        ("if(missing != s, 1, 0)", 12, "nothing can be compared with 'missing'"),
        ("1e999", 1, "this number is too large."),
        ("1 + not x", 5, "not stands where a number"),
        ("x\x00", 2, "'\N{REPLACEMENT CHARACTER}' has no meaning here."),
    ],
)
def test_a_mistake_is_named_with_its_place(formula: str, place: int, said: str) -> None:
    with pytest.raises(FormulaError) as error:
        evaluate(formula, FRAME, WHO)
    assert error.value.place == place
    assert str(error.value).startswith(f"At character {place} of “")
    assert said in str(error.value)
    assert isinstance(error.value, SettingError)


def test_a_caret_points_at_the_mistake() -> None:
    with pytest.raises(FormulaError) as error:
        evaluate("log(stepz + 1)", FRAME)
    assert error.value.pointer() == "log(stepz + 1)\n    ^"
    long = "x + " * 100 + "stepz" + " + x" * 100
    with pytest.raises(FormulaError) as error:
        evaluate(long, FRAME)
    line, caret = error.value.pointer().splitlines()
    assert line[caret.index("^") :].startswith("stepz")
    assert len(line) < 70


def test_an_empty_formula_and_one_that_is_too_long() -> None:
    with pytest.raises(SettingError, match="The formula is empty"):
        read_formula("  ")
    assert worth(("1" + " + 1" * 600)[:LONGEST].rstrip(" +"))[0] > 400
    with pytest.raises(SettingError, match="2,001 characters is too long"):
        read_formula("1" * (LONGEST + 1))


def test_nesting_is_bounded() -> None:
    assert worth("(" * DEEPEST + "7" + ")" * DEEPEST)[0] == 7
    for deep in (
        "(" * 51 + "7" + ")" * 51,
        "-" * 1_000 + "7",
        "not " * 400 + "1",
        "2" + "^2" * 900,
        "abs(" * 60 + "7" + ")" * 60,
        "1 or 1 and 1 = 1 + 1 * (" * 60 + "1" + ")" * 60,
    ):
        with pytest.raises(FormulaError, match="nested more than 50 deep"):
            read_formula(deep)


@pytest.mark.parametrize(
    "formula", ["lag(x)", "difference(x)", "time_since_last()", "row_number()"]
)
def test_what_came_before_needs_person_and_time(formula: str) -> None:
    with pytest.raises(FormulaError, match="It is not known which column is the person"):
        evaluate(formula, FRAME)
    with pytest.raises(FormulaError, match="It is not known which column is the time"):
        evaluate(formula, FRAME, Surroundings("id"))
    with pytest.raises(FormulaError, match="'when', is not in the table at this point"):
        evaluate(formula, FRAME, Surroundings("id", "when"))
    with pytest.raises(FormulaError, match="'s' holds neither numbers nor dates"):
        evaluate(formula, FRAME, Surroundings("id", "s"))


def test_rows_without_person_or_time_have_nothing_before_them() -> None:
    frame = pd.DataFrame({"id": [1, None, 1, 1], "t": [1, 2, None, 2], "x": [5, 6, 7, 8]})
    done = evaluate("lag(x)", frame, Surroundings("id", "t"))
    np.testing.assert_array_equal(done.cells.values, [np.nan, np.nan, np.nan, 5])
    assert done.found == {"no person or no time": 2}
    assert worth("row_number()", frame, Surroundings("id", "t")) == [1, None, None, 2]


def test_two_rows_at_one_time_are_reported() -> None:
    frame = pd.DataFrame({"id": [1, 1, 1, 2], "t": [1, 1, 2, 1], "x": [5, 6, 7, 8]})
    assert evaluate("lag(x)", frame, Surroundings("id", "t")).found == {
        "the same person and time as another row": 2
    }


def test_time_since_the_row_before_is_in_days_for_dates() -> None:
    assert worth("time_since_last()", FRAME, Surroundings("id", "day")) == [
        pytest.approx(47 / 24), None, None, pytest.approx(22.5 / 24), None,
    ]  # fmt: skip


@given(st.permutations(range(30)))
def test_the_order_of_the_rows_does_not_matter(order: list[int]) -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "id": np.repeat([1, 2, 3], 10),
            "t": np.tile(np.arange(10), 3),
            "x": random.normal(size=30),
        }
    )
    grouped = frame.groupby("id")["x"]
    expected = pd.DataFrame({"lag(x, 2)": grouped.shift(2), "difference(x)": grouped.diff()})
    shuffled = frame.iloc[order]
    for formula, values in expected.items():
        found = evaluate(str(formula), shuffled, Surroundings("id", "t")).cells.values
        np.testing.assert_allclose(found, values.iloc[order], equal_nan=True)


COLUMNS = {
    "whole": pd.Series([1, 2, 3]),
    "real": pd.Series([1.0, 2.0, 3.0]),
    "unsigned": pd.Series([1, 2, 3], dtype="uint64"),
    "nullable whole": pd.Series([1, 2, 3], dtype="Int64"),
    "nullable real": pd.Series([1, 2, 3], dtype="Float64"),
    "arrow": pd.Series([1, 2, 3], dtype="int64[pyarrow]"),
    "objects": pd.Series([1, 2.0, np.int64(3)], dtype=object),
    "categories": pd.Series([1, 2, 3], dtype="category"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_of_every_type(name: str) -> None:
    assert worth("x * 2", pd.DataFrame({"x": COLUMNS[name]})) == [2, 4, 6]
    gaps = pd.DataFrame({"x": COLUMNS[name].reindex([0, 1, 9])})
    assert worth("x * 2", gaps) == [2, 4, None]


@pytest.mark.parametrize("kind", ["str", "object", "category", "string", "string[pyarrow]"])
def test_text_of_every_type(kind: str) -> None:
    frame = pd.DataFrame({"x": pd.Series(["a ", None, "b"]).astype(kind)})
    assert worth("x", frame) == ["a", None, "b"]
    assert worth("x = 'a'", frame) == [1, None, 0]


@pytest.mark.parametrize("kind", ["bool", "boolean", "object"])
def test_truth_of_every_type(kind: str) -> None:
    frame = pd.DataFrame({"x": pd.Series([True, False, True], dtype=kind)})
    assert worth("not x", frame) == [0, 1, 0]


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_dates_of_every_type(unit: str) -> None:
    moments = pd.Series(pd.to_datetime(["2024-03-31 14:30", None])).astype(f"datetime64[{unit}]")
    for column in (moments, moments.dt.tz_localize("Europe/Oslo"), moments.astype(object)):
        frame = pd.DataFrame({"x": column})
        assert worth("hour(x)", frame) == [14, None]
        assert worth("text(date(x))", frame) == ["2024-03-31", None]


def test_empty_columns_and_tables() -> None:
    nothing = pd.DataFrame({"x": [None, None], "c": pd.Categorical([None, None])})
    assert worth("is_missing(x) and is_missing(c)", nothing) == [1, 1]
    empty = FRAME.iloc[:0]
    for formula in ("log(x) + 1", "lag(s)", "day_number(day)", "if(x > 0, s, 'a')", "text(x)"):
        assert worth(formula, empty) == []


def test_whole_numbers_too_long_to_be_numbers_are_names() -> None:
    frame = pd.DataFrame({"id": [2**60, 2**60 + 1]})
    assert worth(f"id = '{2**60 + 1}'", frame) == [0, 1]


def test_infinite_cells_are_missing() -> None:
    done = evaluate("x + 1", pd.DataFrame({"x": [np.inf, 1.0]}))
    np.testing.assert_array_equal(done.cells.values, [np.nan, 2])
    assert done.found == {"an infinite number": 1}


def test_a_decimal_comma_is_known_from_the_file() -> None:
    frame = pd.DataFrame({"x": ["12,345", "unknown"]})
    assert worth("number(x)", frame) == [None, None]
    frame.attrs["decimal_comma"] = True
    assert worth("number(x)", frame) == [12.345, None]


def test_days_and_months_are_told_apart() -> None:
    forward = pd.DataFrame({"x": ["1/2/2024", "2/2/2024", "3/2/2024"]})
    assert worth("text(date(x))", forward)[2] == "2024-02-03"
    mostly = pd.DataFrame({"x": ["31/1/2024", "unknown", "1/2/2024"]})
    assert worth("text(date(x))", mostly) == ["2024-01-31", None, "2024-02-01"]


def test_a_name_with_brackets_and_one_like_a_word() -> None:
    frame = pd.DataFrame({"a]b": [1], "missing": [2], "log": [3], "<b>x</b>": [4]})
    assert worth("[a]]b] + [missing] + log + [<b>x</b>]", frame) == [10]


def test_a_condition_is_true_false_or_unknown() -> None:
    np.testing.assert_array_equal(holds("x", FRAME).cells.values, [1, 0, 1, np.nan, 1])


def test_every_function_is_tested_here() -> None:
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    assert [name for name in FUNCTIONS if f"{name}(" not in text] == []


# Formulas of all kinds, good and broken.

EXAMPLES = int(os.environ.get("SMDP_FORMULAS", 300))
WORDS = st.sampled_from(
    ["x", "y", "s", "id", "t", "day", "[two words]", "n.1", "nothing", "[", "]", "missing", "and",
     "or", "not", "(", ")", ",", "'", '"', "'home'", "''", "1", "0", "2.5", ".5", "1e308", "1e-300",
     "1e999", "+", "-", "*", "/", "^", "=", "==", "!=", "<>", "<", ">=", "&", "%", " ", "\n", "\t",
     "é", "\x00", "\u202e", "<script>", "__import__('os')", "{", "}", "\\", "'2024-03-31'",
     *(f"{name}(" for name in FUNCTIONS)]
)  # fmt: skip
LEAVES = st.sampled_from(
    ["x", "y", "t", "s", "day", "[two words]", "n.1", "1", "0", "2.5", "-3", "1e308", "missing",
     "'home'", "'2024-03-31'", "'12:30'", "'7'"]
)  # fmt: skip


def _larger(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["+", "-", "*", "/", "^", "=", "!=", "<", ">=", " and ", " or "])
    joined = st.builds(lambda a, sign, b: f"({a}{sign}{b})", part, signs, part)
    called = st.builds(
        lambda name, given: f"{name}({', '.join(given)})",
        st.sampled_from(list(FUNCTIONS)),
        st.lists(part, max_size=4),
    )
    return joined | called | part.map(lambda a: f"not {a}") | part.map(lambda a: f"-{a}")


#: A value that is missing, but not the word: that cannot be compared with anything.
GOOD_LEAVES = st.sampled_from(
    ["x", "y", "t", "[two words]", "1", "0", "2.5", "1e308", "sqrt(missing)", "number(n.1)",
     "hour(day)", "day_number(day)", "weekday(day)", "(date(day) - date('2024-03-01'))",
     "time_since_last()", "row_number()", "(s = 'Home')", "one_of(s, 'Home', 'work')",
     "contains(lower(s), 'home')",
     "starts_with(s, 'w')", "(date_time(day) > '2024-03-02')"]
)  # fmt: skip
GOOD_FORMS = st.sampled_from(
    ["({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} ^ {})", "({} = {})",
     "({} != {})", "({} < {})", "({} and {})", "({} or {})", "(not {})", "(-{})", "log({})",
     "log10({})", "exp({})", "sqrt({})", "abs({})", "floor({})", "round({}, 2)", "min({}, {})",
     "max({}, {}, {})", "mean({}, {})", "sum({}, {}, {})", "if({}, {}, {})", "is_missing({})",
     "coalesce({}, {})", "one_of({}, {}, {})", "lag({})", "lag({}, 2)", "difference({})",
     "number(text({}))"]
)  # fmt: skip
GOOD = st.recursive(
    GOOD_LEAVES,
    lambda part: st.builds(
        lambda form, parts: form.format(*parts),
        GOOD_FORMS,
        st.lists(part, min_size=3, max_size=3),
    ),
    max_leaves=12,
)
FORMULAS = (
    GOOD
    | st.recursive(LEAVES, _larger, max_leaves=12)
    | st.lists(WORDS, min_size=1, max_size=30).map("".join)
    | st.text(max_size=60)
)


@settings(max_examples=EXAMPLES)
@given(FORMULAS)
def test_a_formula_works_or_says_what_is_wrong(formula: str) -> None:
    began = time.perf_counter()
    done, said = outcome(formula)
    assert time.perf_counter() - began < 5
    assert (done is None) == bool(said)
    assert len(said) < 3_100
    if done is not None:
        assert len(to_column(done.cells, FRAME.index)) == len(FRAME)
        assert done.cells.kind != "number" or not np.isinf(done.cells.values).any()
        assert all(0 < rows <= len(FRAME) for rows in done.found.values())


@settings(max_examples=EXAMPLES)
@given(GOOD)
def test_a_formula_without_mistakes_works(formula: str) -> None:
    done = evaluate(formula, FRAME, WHO)
    assert done.cells.kind in ("number", "missing")
    assert not np.isinf(done.cells.values).any()


def outcome(formula: str) -> tuple[Evaluated | None, str]:
    try:
        return evaluate(formula, FRAME, WHO), ""
    except SmdpError as error:
        return None, str(error)

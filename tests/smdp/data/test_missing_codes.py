"""Codes for "missing": which cells they match, and which values are suspected to be such codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from smdp.data.missing_codes import Code, mark_missing, suspected_codes
from smdp.errors import SettingError


@pytest.mark.parametrize("code", [-9, -9.0, "-9", " -9 ", "-9.0"])
def test_a_number_matches_however_it_is_written(code: Code) -> None:
    frame = DataFrame({"whole": [1, -9], "real": [-9.0, 0.5], "text": ["x", " -9 "]})
    marked = mark_missing(frame, [code])
    expected = DataFrame({"whole": [1, np.nan], "real": [np.nan, 0.5]})
    assert_frame_equal(marked, expected.assign(text=pd.Series(["x", None], dtype="str")))


def test_text_matches_as_it_is_written() -> None:
    frame = DataFrame({"x": ["refused", " refused", "Refused", "007", "7"]})
    assert mark_missing(frame, ["refused"])["x"].isna().tolist() == [True, True] + [False] * 3
    assert mark_missing(frame, [7])["x"].isna().tolist() == [False] * 4 + [True]
    assert mark_missing(frame, ["007"])["x"].isna().tolist() == [False] * 3 + [True, False]


def test_text_becomes_numbers_once_the_codes_are_gone() -> None:
    frame = DataFrame(
        {"x": ["1", "refused", "2.5"], "y": ["1,5", "refused", "2"], "z": ["01", "refused", "2"]}
    )
    marked = mark_missing(frame, "refused")
    np.testing.assert_array_equal(marked["x"], [1, np.nan, 2.5])
    np.testing.assert_array_equal(marked["y"], [1.5, np.nan, 2])
    assert marked["z"].dropna().tolist() == ["01", "2"]
    assert mark_missing(frame[["x"]], ["1", "refused", "2.5"])["x"].dtype == np.float64


def test_a_decimal_comma_is_known_from_the_file() -> None:
    frame = DataFrame({"x": ["12,345", "refused"]})
    assert mark_missing(frame, "refused")["x"].tolist()[0] == "12,345"
    frame.attrs["decimal_comma"] = True
    assert mark_missing(frame, "refused")["x"].tolist()[0] == 12.345


def test_codes_by_column() -> None:
    frame = DataFrame({"a": [1, 99, -9], "b": [1, 99, -9]}, index=[5, 6, 7])
    frame.attrs["source"] = "diary.csv"
    before = frame.copy(deep=True)
    marked = mark_missing(frame, {"*": [-9], "a": 99})
    expected = DataFrame({"a": [1, np.nan, np.nan], "b": [1, 99, np.nan]}, index=[5, 6, 7])
    assert_frame_equal(marked, expected)
    assert marked.attrs == {"source": "diary.csv"}
    assert_frame_equal(frame, before)


def test_any_name_of_a_column_will_do() -> None:
    assert mark_missing(DataFrame({"self": [1, -9]}), -9)["self"].isna().tolist() == [False, True]


def test_dates_are_left_alone() -> None:
    frame = DataFrame({"day": pd.to_datetime(["2020-01-01", None])})
    assert_frame_equal(mark_missing(frame, [-9, "2020"]), frame)


def test_a_column_that_does_not_exist() -> None:
    with pytest.raises(SettingError, match=r"columns that the table does not have: mod\..*mood"):
        mark_missing(DataFrame({"mood": [1]}), {"mod": [-9]})
    codes = {"mod": [-9], "mood": [1]}
    assert mark_missing(DataFrame({"mood": [1, 2]}), codes, lacking="ignore")["mood"].count() == 1


@given(st.lists(st.integers(-20, 20) | st.floats(-5, 5), min_size=1), st.integers(-20, 20))
def test_exactly_the_code_is_marked(values: list[float], code: int) -> None:
    marked = mark_missing(DataFrame({"x": values}, dtype=float), [code])["x"]
    assert marked.isna().tolist() == [value == code for value in values]


FINE = np.round(np.linspace(-17, 36, 300), 1)


@pytest.mark.parametrize(
    ("values", "suspects"),
    [
        ([*FINE, -1024], [-1024]),
        ([*FINE, -9999, 9999], [-9999, 9999]),
        ([1, 2, 3, 4, 5, 99], [99]),
        ([1, 2, 3, 4, 5, -9, -8, -7], [-9, -8, -7]),
        ([0, 1, 0, 1, -9], [-9]),
        ([*range(101), -9], [-9]),
        ([*range(101), -1], [-1]),
        ([0, 5, 15, -1], [-1]),
        ([40, 72, 81, 120, 999, np.nan], [999]),
        (list(range(101)), []),
        ([*range(0, 100, 3), 99], []),
        ([18, 25, 40, 64, 99], []),
        ([-1, 0, 1], []),
        ([-1, 1], []),
        ([*range(-10, 11)], []),
        ([-1, -2, 0, 5, 9], []),
        ([0.5, 1.5, 2.5, -0.693], []),
        ([*range(0, 2000, 7), 999], []),
        ([99, 99, 98], []),
        ([5.0, 5.0, np.inf], []),
        ([], []),
    ],
)
def test_suspected_codes(values: list[float], suspects: list[float]) -> None:
    assert suspected_codes(DataFrame({"x": np.array(values, float)})).get("x", []) == suspects


def test_only_numbers_are_suspected() -> None:
    frame = DataFrame({"text": ["-9", "1"], "yes": [True, False]})
    assert suspected_codes(frame.assign(day=pd.to_datetime(["2020-01-01"] * 2))) == {}

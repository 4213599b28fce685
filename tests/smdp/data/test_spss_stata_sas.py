"""Files of SPSS, Stata and SAS, with their labels; and a damaged file that crashes its reader."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal
from sas_file import SAS_FILE

from smdp.data.files import limits
from smdp.data.read_table import read_table
from smdp.errors import ReadError


@pytest.fixture
def visits() -> DataFrame:
    return DataFrame(
        {
            "subject": ["007", "008", "009"],
            "mood": [1.5, np.nan, -9.0],
            "visit": [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None],
            "moment": pd.to_datetime(["2020-01-01 03:04:05", None, "2020-01-02 00:00:00"]),
            "größe": [1.0, 2.0, 3.0],
        }
    )


def expected(frame: DataFrame) -> DataFrame:
    return frame.assign(
        visit=pd.to_datetime(frame["visit"]).astype("datetime64[us]"),
        moment=frame["moment"].astype("datetime64[us]"),
        **{"größe": [1, 2, 3]},
    )


LABELS: dict[str, Any] = {
    "column_labels": ["Subject", "Mood now", "Day", None, "Height"],
    "variable_value_labels": {"mood": {1: "low", 5: "high"}},
}


@pytest.mark.parametrize(("suffix", "compress"), [(".sav", False), (".zsav", True)])
def test_spss(tmp_path: Path, visits: DataFrame, suffix: str, compress: bool) -> None:
    path = tmp_path / f"visits{suffix}"
    pyreadstat.write_sav(
        visits, path, compress=compress, missing_ranges={"mood": [-9], "subject": ["009"]}, **LABELS
    )
    frame = read_table(path)
    visits.loc[2, ["subject", "mood"]] = [None, np.nan]
    assert_frame_equal(frame, expected(visits))
    assert frame.attrs["format"] == "SPSS"
    assert frame.attrs["source"] == path.name
    labels = {"subject": "Subject", "mood": "Mood now", "visit": "Day", "größe": "Height"}
    assert frame.attrs["variable_labels"] == labels
    assert frame.attrs["value_labels"] == {"mood": {1.0: "low", 5.0: "high"}}


def test_stata(tmp_path: Path, visits: DataFrame) -> None:
    path = tmp_path / "visits.dta"
    pyreadstat.write_dta(visits, path, **LABELS)
    frame = read_table(path.read_bytes(), name="wrongly_named.csv")
    assert_frame_equal(frame, expected(visits))
    assert frame.attrs["format"] == "Stata"
    assert frame.attrs["variable_labels"]["mood"] == "Mood now"
    assert frame.attrs["value_labels"] == {"mood": {1: "low", 5: "high"}}


def test_old_stata(tmp_path: Path) -> None:
    path = tmp_path / "old.dta"
    pyreadstat.write_dta(DataFrame({"mood": [1.5, 2.5]}), path, version=10)
    assert read_table(path)["mood"].tolist() == [1.5, 2.5]


def test_sas_transport(tmp_path: Path, visits: DataFrame) -> None:
    path = tmp_path / "visits.xpt"
    table = visits[["subject", "mood"]]
    pyreadstat.write_xport(table, path, column_labels=["Subject", "Mood now"])
    frame = read_table(path)
    assert_frame_equal(frame, table)
    assert frame.attrs["format"] == "SAS transport"
    assert frame.attrs["variable_labels"] == {"subject": "Subject", "mood": "Mood now"}


def test_sas() -> None:
    frame = read_table(SAS_FILE, name="visits.sas7bdat")
    assert frame["SUBJECT"].tolist() == ["007", "008", "009"]
    np.testing.assert_array_equal(frame["MOOD"], [1.5, np.nan, 3.0])
    assert frame["VISIT"].tolist() == [pd.Timestamp(2020, 1, 1), pd.Timestamp(2020, 1, 2), pd.NaT]
    assert frame.attrs["format"] == "SAS"
    assert frame.attrs["variable_labels"] == {"SUBJECT": "Subject", "MOOD": "Mood today"}


def test_durations_beyond_a_day_keep_their_hours(tmp_path: Path) -> None:
    path = tmp_path / "sleep.sav"
    table = DataFrame({"bed": [90_000.0, np.nan, 11_040.0]})
    pyreadstat.write_sav(table, path, variable_format={"bed": "TIME8"})
    assert read_table(path)["bed"].fillna("").tolist() == ["25:00:00", "", "03:04:00"]


def test_a_date_that_no_calendar_has(tmp_path: Path) -> None:
    path = tmp_path / "far.sav"
    table = DataFrame({"when": [1e15, 1.0]})
    pyreadstat.write_sav(table, path, variable_format={"when": "DATETIME20"})
    with pytest.raises(ReadError, match=r"'far\.sav'.*after the year 9999.*Correct"):
        read_table(path)


def test_limits(tmp_path: Path, visits: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "visits.sav"
    pyreadstat.write_sav(visits, path)
    monkeypatch.setattr(limits, "MAX_ROWS", 2)
    with pytest.raises(ReadError, match="3 rows, and the limit is 2"):
        read_table(path)
    monkeypatch.setattr(limits, "MAX_COLUMNS", 4)
    with pytest.raises(ReadError, match="5 columns, and the limit is 4"):
        read_table(path)


def test_a_file_that_crashes_its_reader_is_only_damaged(tmp_path: Path) -> None:
    path = tmp_path / "visits.sav"
    pyreadstat.write_sav(DataFrame({"id": ["a", "b"], "mood": [1.0, 2.0]}), path)
    data = bytearray(path.read_bytes())
    data[180] = 255  # the kind of the first variable
    with pytest.raises(ReadError, match=r"'v\.sav' is an SPSS file that is damaged.*again"):
        read_table(bytes(data), name="v.sav")


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read_table(SAS_FILE)
    with pytest.raises(ReadError, match="damaged"):
        read_table(SAS_FILE[:1500])
    assert list(tmp_path.iterdir()) == []


def test_a_packed_file_with_too_many_cells(
    tmp_path: Path, visits: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "visits.zsav"
    pyreadstat.write_sav(visits, path, compress=True)
    monkeypatch.setattr(limits, "MAX_CELLS", 14)
    with pytest.raises(ReadError, match="15 cells; the limit is 14"):
        read_table(path)

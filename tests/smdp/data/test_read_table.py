"""The public face: sources, attributes, Parquet, files that are no tables, and damaged files."""

from __future__ import annotations

import hashlib
import io
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal
from table_files import TABLE, examples

import smdp
from smdp.data.files import limits
from smdp.data.read_table import read_table
from smdp.errors import ReadError, SettingError

CSV = "subject,mood,when\n007,1.5,a\n008,NA,ü\n009,3,c\n".encode()


def parquet(table: pa.Table | DataFrame) -> bytes:
    stream = io.BytesIO()
    if isinstance(table, DataFrame):
        table.to_parquet(stream)
    else:
        pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The same small table in every format."""
    found = examples(tmp_path_factory.mktemp("samples"))
    return {ending: example.content for ending, example in found.items()}


def test_sources(tmp_path: Path) -> None:
    path = tmp_path / "diary.csv"
    path.write_bytes(CSV)
    upload = io.BytesIO(CSV)
    upload.name = r"C:\study\diary.csv"
    upload.read()
    with path.open("rb") as opened:
        sources: list[Any] = [path, str(path), opened, upload]
        frames = [read_table(source) for source in sources]
    frames += [read_table(CSV, name="folder/diary.csv"), read_table(bytearray(CSV))]
    for frame in frames:
        assert_frame_equal(frame, TABLE)
        assert frame.attrs["source"] in ("diary.csv", "the table")
        assert frame.attrs["fingerprint"] == hashlib.sha256(CSV).hexdigest()
        assert frame.attrs["variable_labels"] == frame.attrs["value_labels"] == {}
    assert [frame.attrs["source"] for frame in frames].count("the table") == 1


def test_sources_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"There is no file 'none\.csv'"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ReadError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(ReadError, match="binary mode"):
        read_table(io.StringIO("a,b\n1,2\n"))  # type: ignore[arg-type]
    with pytest.raises(ReadError, match="cannot be opened"):
        read_table("a\0b.csv")


def test_too_large_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "diary.csv").write_bytes(CSV)
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 10)
    for source in (tmp_path / "diary.csv", io.BytesIO(CSV), CSV):
        with pytest.raises(ReadError, match=r"too large.*limit.*split the file"):
            read_table(source, name="diary.csv")


def test_missing_codes_are_applied() -> None:
    frame = smdp.read_table(b"id,x,y\n1,-9,refused\n2,3,4\n", missing_codes=[-9, "refused"])
    np.testing.assert_array_equal(frame[["x", "y"]], [[np.nan, np.nan], [3, 4]])
    assert frame.attrs["format"] == "CSV, comma, UTF-8"
    with pytest.raises(SettingError, match=r"does not have: z\."):
        read_table(CSV, missing_codes={"z": [-9]})


def test_parquet_types() -> None:
    zone = pa.timestamp("ms", tz="Europe/Berlin")
    table = pa.table(
        {
            " flag ": [True, None, False],
            "whole": pa.array([1, 2, 3], pa.int8()),
            "level": pa.array(["low", "high", "low"]).dictionary_encode(),
            "price": pa.array([1, 2, 3], pa.decimal128(5, 2)),
            "day": pa.array([0, 1, None], pa.date32()),
            "moment": pa.array([0, None, 86_400_000], zone),
            "clock": pa.array([0, 60, 3661], pa.time32("s")),
            "sleep": pa.array([0, None, 90_000], pa.duration("s")),
            "blank": ["", " ", None],
            "long": [2**53 + 1, None, 1],
        }
    )
    expected = DataFrame(
        {
            "flag": [1.0, np.nan, 0.0],
            "whole": [1, 2, 3],
            "level": ["low", "high", "low"],
            "price": [1, 2, 3],
            "day": pd.to_datetime(["1970-01-01", "1970-01-02", None]).astype("datetime64[us]"),
            "moment": pd.to_datetime(["1970-01-01 01:00", None, "1970-01-02 01:00"]).astype(
                "datetime64[us]"
            ),
            "clock": ["00:00:00", "00:01:00", "01:01:01"],
            "sleep": pd.Series(["00:00:00", None, "25:00:00"], dtype="str"),
            "blank": [np.nan] * 3,
            "long": pd.Series(["9007199254740993", None, "1"], dtype="str"),
        }
    )
    frame = read_table(parquet(table))
    assert_frame_equal(frame, expected)
    assert frame.attrs["format"] == "Parquet"


def test_parquet_leaves_the_row_numbers_of_pandas_out() -> None:
    kept = TABLE.set_index("subject")
    assert read_table(parquet(kept)).columns.tolist() == ["mood", "when", "subject"]
    assert read_table(parquet(TABLE.iloc[::-1])).columns.tolist() == TABLE.columns.tolist()


def test_parquet_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReadError, match=r"column 'x' of 't\.parquet' holds list<.*Leave"):
        read_table(parquet(pa.table({"x": [[1], [2]]})), name="t.parquet")
    nowhere = pa.table({"x": pa.array([0], pa.timestamp("ms", tz="Nowhere/Land"))})
    with pytest.raises(ReadError, match=r"column 'x' .* timestamp.*Nowhere/Land"):
        read_table(parquet(nowhere))
    with pytest.raises(ReadError, match=r"Parquet file that is damaged"):
        read_table(parquet(TABLE)[:-10], name="t.parquet")
    with pytest.raises(ReadError, match=r"'a' \(columns 1, 2\)"):
        read_table(parquet(pa.table([[1], [2]], names=["a", "a "])))
    monkeypatch.setattr(limits, "MAX_ROWS", 2)
    with pytest.raises(ReadError, match="3 rows, and the limit is 2"):
        read_table(parquet(TABLE))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "is a PNG image, not a table.*CSV, Excel"),
        (b"%PDF-1.7\n", "is a PDF document"),
        (b"\x1f\x8b\x08", "gzip archive or an R data file"),
        (b"\x80\x04\x95", "is a Python pickle"),
        (b"<!DOCTYPE html><html><table></table></html>", "web page"),
        (b'\xef\xbb\xbf <?xml version="1.0"?>', "XML document"),
        (b'[{"a": 1}]', "JSON"),
        (b"a,b\n1,\0\n", "neither text nor a known table format"),
        (bytes(range(1, 256)) * 4, "neither text nor a known table format"),
        (random.Random(1).randbytes(500), "neither text nor a known table format"),
    ],
)
def test_files_that_are_no_tables(data: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=f"'scan' .*{message}"):
        read_table(data, name="scan")


def test_the_message_says_what_the_name_promised() -> None:
    with pytest.raises(ReadError, match="named like an SPSS file, but its content is not one"):
        read_table(bytes(100), name="diary.sav")


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The data with a few bytes changed, cut off, doubled or overwritten."""
    changed = bytearray(data)
    for _ in range(dice.choice([1, 2, 6])):
        place = dice.randrange(len(changed) + 1)
        match dice.randrange(5):
            case 0:
                changed = changed[: max(place, 1)]
            case 1:
                changed[place:place] = changed[place : place + dice.randrange(1, 60)]
            case 2:
                changed[place : place + 4] = dice.choice([bytes(4), b"\xff" * 4])
            case _:
                changed[place : place + 1] = bytes([dice.randrange(256)])
    return bytes(changed)


def outcome(data: bytes) -> str:
    try:
        return type(read_table(data, name="damaged")).__name__
    except ReadError as error:
        return "ReadError" if "'damaged'" in str(error) else f"unnamed: {error}"


def test_damaged_files_give_a_table_or_a_read_error(samples: dict[str, bytes]) -> None:
    """Formats read by another process cost half a second each: these have fewer cases."""
    dice = random.Random(2026)
    costly = (".sav", ".dta", ".xpt", ".sas7bdat")
    cases = [
        mutated(data, dice)
        for ending, data in samples.items()
        for _ in range(2 if ending in costly else 80)
    ]
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(outcome, cases)) == {"DataFrame", "ReadError"}


def test_a_small_parquet_file_cannot_hold_text_without_end() -> None:
    """One text of a megabyte in each of 5,000 rows: five gigabytes once unpacked."""
    rows = pa.array(np.zeros(5_000, np.int32))
    texts = pa.DictionaryArray.from_arrays(rows, pa.array(["x" * 1_000_000]))
    data = parquet(pa.table({"id": np.arange(5_000), "said": texts}))
    assert len(data) < 2_000_000
    with pytest.raises(ReadError, match=r"hold 5 GB of text.*limit is 1 GB"):
        read_table(data)


def test_a_parquet_file_that_shrank_too_well_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_COUNTS_FROM_BYTES", 1_000)
    stream = io.BytesIO()
    table = pa.table({"x": np.zeros(1_000_000)})
    pyarrow.parquet.write_table(table, stream, compression="zstd", use_dictionary=False)
    with pytest.raises(ReadError, match="too large once unpacked"):
        read_table(stream.getvalue())


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.duration("s"), -(10**14)),
        (pa.timestamp("s"), 10**15),
        (pa.timestamp("ms", tz="Asia/Tokyo"), 2**62),
    ],
)
def test_moments_beyond_every_calendar_are_refused(kind: pa.DataType, value: int) -> None:
    data = parquet(pa.table({"when": pa.array([value], pa.int64()).cast(kind, safe=False)}))
    with pytest.raises(ReadError, match=r"column 'when' .* cannot be made numbers"):
        read_table(data)

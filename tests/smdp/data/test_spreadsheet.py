"""Excel workbooks: kinds of cells, choice of the sheet, and packages that are none."""

from __future__ import annotations

import datetime as dt
import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from smdp.data.files import limits
from smdp.data.files.registry import sheet_names
from smdp.data.read_table import read_table
from smdp.errors import ReadError

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(sheets: dict[str, list[list[object]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def workbook_of_xml(rows: str) -> bytes:
    """A workbook with one sheet, of which every cell is given as it is stored."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(
            "_rels/.rels",
            f'<Relationships {RELATIONS}><Relationship Id="rId1" '
            f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        package.writestr(
            "xl/workbook.xml",
            f'<workbook {MAIN} xmlns:r="{OFFICE}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        package.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships {RELATIONS}><Relationship Id="rId1" '
            f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        package.writestr(
            "xl/worksheets/sheet1.xml",
            f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>",
        )
    return stream.getvalue()


def archive(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name.replace("__", "/"), content)
    return stream.getvalue()


def read(data: bytes, **options: object) -> DataFrame:
    return read_table(data, name="diary.xlsx", **options)  # type: ignore[arg-type]


def test_kinds_of_cells() -> None:
    day, long = dt.date(2020, 1, 1), dt.timedelta(hours=30)
    rows: list[list[object]] = [
        ["id", " number ", "whole", "yes", "day", "moment", "clock", "long", None, "text"],
        ["007", 1.5, 3, True, day, dt.datetime(2020, 1, 1, 3, 4), dt.time(3, 4), long, 1, " <b> "],
        ["008", None, 4.0, False, day, None, None, None, 2, "NA"],
        [None] * 10,
    ]
    frame = read(workbook({"Data": rows}))
    expected = DataFrame(
        {
            "id": ["007", "008"],
            "number": [1.5, np.nan],
            "whole": [3, 4],
            "yes": [1, 0],
            "day": pd.to_datetime(["2020-01-01", "2020-01-01"]).astype("datetime64[us]"),
            "moment": pd.to_datetime(["2020-01-01 03:04", None]).astype("datetime64[us]"),
            "clock": pd.Series(["03:04:00", None], dtype="str"),
            "long": pd.Series(["30:00:00", None], dtype="str"),
            "column_9": [1, 2],
            "text": pd.Series(["<b>", None], dtype="str"),
        }
    )
    assert_frame_equal(frame, expected)
    assert frame.attrs["format"] == "Excel workbook, sheet 'Data'"


def test_mixed_columns() -> None:
    rows: list[list[object]] = [
        ["numbers with a word", "numbers as text", "NA among numbers", "dates with a word"],
        [1.0, "1.5", 2, dt.datetime(2020, 1, 1)],
        ["refused", 2, "NA", "unknown"],
        [True, "3", ".", dt.datetime(2020, 1, 2, 3)],
    ]
    frame = read(workbook({"Data": rows}))
    assert frame.iloc[:, 0].tolist() == ["1", "refused", "TRUE"]
    assert frame.iloc[:, 1].tolist() == [1.5, 2.0, 3.0]
    np.testing.assert_array_equal(frame.iloc[:, 2], [2.0, np.nan, np.nan])
    assert frame.iloc[:, 3].tolist() == ["2020-01-01", "unknown", "2020-01-02 03:00:00"]


def test_formulas_give_their_last_value_and_errors_are_missing() -> None:
    frame = read(
        workbook_of_xml(
            '<row r="3"><c r="B3" t="inlineStr"><is><t>x</t></is></c>'
            '<c r="C3" t="inlineStr"><is><t>y</t></is></c></row>'
            '<row r="4"><c r="B4"><f>1+1</f><v>2</v></c>'
            '<c r="C4" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'
            '<row r="5"><c r="B5" t="e"><v>#N/A</v></c><c r="C5"><v>7.5</v></c></row>'
        )
    )
    assert_frame_equal(frame, DataFrame({"x": [2.0, np.nan], "y": [np.nan, 7.5]}))


def test_choice_of_the_sheet() -> None:
    data = workbook({"One": [["a"], [1]], "Two & more": [["b"], [2]], "Empty": []})
    assert sheet_names(data) == ["One", "Two & more", "Empty"]
    assert sheet_names(b"a,b\n1,2\n") == []
    assert read(data).columns.tolist() == ["a"]
    assert read(data, sheet="Two & more").columns.tolist() == ["b"]
    assert read(data, sheet=1).columns.tolist() == ["b"]
    for sheet in ("Three", 3, -1):
        with pytest.raises(ReadError, match=r"no sheet.*One, Two & more, Empty"):
            read(data, sheet=sheet)
    with pytest.raises(ReadError, match=r"'Empty' of 'diary\.xlsx' is empty.*One, Two & more"):
        read(data, sheet="Empty")
    with pytest.raises(ReadError, match=r"is a text table.*has no sheets"):
        read_table(b"a,b\n1,2\n", sheet="One")


def test_the_name_does_not_matter() -> None:
    assert read_table(workbook({"S": [["a"], [1]]}), name="x.csv")["a"].tolist() == [1]
    assert read(b"a,b\n1,2\n")["b"].tolist() == [2]


def test_only_a_header() -> None:
    with pytest.raises(ReadError, match="column names but no rows"):
        read(workbook({"S": [["a", "b"]]}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (archive(notes=b"hello"), "zip archive without an Excel workbook.*Unpack"),
        (archive(word__document=b"x"), "is a Word document"),
        (
            archive(**{f"{part}.json": b"{}" for part in ("manifest", "plan", "analysis")}),
            r"a saved analysis of this program.*smdp\.load_analysis",
        ),
        (archive(mimetype=b"x"), "is an OpenDocument file"),
        (archive(**{"xl__workbook.bin": b"x"}), r"binary Excel workbook \(\.xlsb\)"),
        (archive(**{"xl__workbook.xml": b"x"}), "an Excel workbook that is damaged"),
        (archive(**{"xl__workbook.xml": bytes(60_000_000)}), "too large once unpacked.*as CSV"),
        (workbook({"S": [["a"], [1]]})[:-40], "packed file .* that is damaged or incomplete"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), r"old Excel format \(\.xls\).*\.xlsx"),
        (
            bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"),
            "protected with a password.*remove the password",
        ),
    ],
)
def test_packages_that_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(data)


def test_a_stray_cell_in_the_last_corner_does_not_fill_the_memory() -> None:
    data = workbook_of_xml(
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    )
    with pytest.raises(ReadError, match=r"1,048,576 rows and 16,384 columns.*stray cells"):
        read(data)


def test_unpacked_size_is_checked_before_anything_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(ReadError, match="too large once unpacked"):
        read(workbook({"S": [["a"], [1]]}))


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ROWS", 2)
    assert len(read(workbook({"S": [["a"], [1], [2]]}))) == 2
    with pytest.raises(ReadError, match="3 rows, and the limit is 2"):
        read(workbook({"S": [["a"], [1], [2], [3]]}))


def shared(text: str, cells: int) -> bytes:
    """A sheet with one column, each cell of which points at the same text."""
    rows = "".join(f'<row r="{i}"><c r="A{i}" t=\'s\'><v>0</v></c></row>' for i in range(1, cells))
    stream = io.BytesIO(workbook_of_xml(rows))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/sharedStrings.xml", f"<sst {MAIN}><si><t>{text}</t></si></sst>")
    return stream.getvalue()


def test_a_small_workbook_cannot_hold_text_without_end() -> None:
    data = shared("x" * 1_000_000, 2_000)
    assert len(data) < 50_000
    with pytest.raises(ReadError, match=r"hold 2 GB of text.*limit is 1 GB"):
        read(data)


def test_a_long_text_that_is_used_once_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smdp.data.files.shared_text._SURELY_SMALL", 1_000)
    monkeypatch.setattr(limits, "MAX_UNPACKED_BYTES", 90_000)
    rows: list[list[object]] = [["id", "said"], *([i, "ja"] for i in range(50)), [50, "x" * 9_000]]
    assert len(read(workbook({"S": rows}))) == 51

"""Sheets of Excel workbooks: values only, as they were last calculated."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smdp.data.files import limits
from smdp.data.files.pyreadstat_process import clock_text
from smdp.data.files.reader import Reader, Sheet, damaged
from smdp.data.files.shared_text import text_size
from smdp.errors import ReadError
from smdp.text import listing

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

    from smdp.data.files.raw_table import RawTable
    from smdp.data.files.text_values import Column

_PACKAGE = (b"PK\x03\x04", b"PK\x05\x06")
_DESCRIPTION = "an Excel workbook"
_SAVE_AS = "Save the table as an Excel workbook (.xlsx) or as CSV."
_OTHER_PACKAGES = (
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)"),
    ("word/", "a Word document"),
    ("ppt/", "a PowerPoint presentation"),
    ("mimetype", "an OpenDocument file"),
)
_WORKBOOK_PART = re.compile(r"(^|/)workbook\d*\.xml$", re.IGNORECASE)
# Patterns that begin with a literal are found several times faster: other blanks and quotation
# marks are made like these first.
_ONE_STYLE = bytes.maketrans(b"\t\r\n'", b'   "')
_COLUMN_LETTERS = re.compile(rb' r="([A-Za-z]{1,3})[0-9]')
_ROW_NUMBER = re.compile(rb' r="[A-Za-z]{0,3}([0-9]{1,7})"')
_LONGEST_ADDRESS = 32
_CHUNK = 1_000_000


def _read(data: bytes, name: str, sheet: Sheet) -> RawTable:
    """The table on a sheet: by its name, or by its number counted from 0; else the first."""
    from smdp.data.files.raw_table import RawTable
    from smdp.data.files.text_values import MISSING_TEXT, columns_from_text

    workbook = _open(data, name)
    names = _sheets(workbook)
    chosen = _choose(names, sheet, name)
    try:
        rows = _rows(workbook.get_sheet_by_name(chosen), name)
    except ReadError:
        raise
    except BaseException as error:
        raise _reader_failure(error, name) from None
    if not rows:
        others = [other for other in names if other != chosen]
        raise ReadError(
            f"The sheet '{chosen}' of '{name}' is empty.",
            f"Choose another sheet: {listing(others)}." if others else "Export the table again.",
        )
    header = [_as_text(cell) for cell in rows[0]]
    cells = list(zip(*rows[1:], strict=True)) or [()] * len(header)
    columns, _ = columns_from_text([_column(values) for values in cells], MISSING_TEXT)
    return RawTable(header, columns, f"Excel workbook, sheet '{chosen}'")


def _open(data: bytes, name: str) -> CalamineWorkbook:
    from python_calamine import CalamineWorkbook

    _check_package(data, name)
    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except BaseException as error:
        raise _reader_failure(error, name) from None


def _reader_failure(error: BaseException, name: str) -> BaseException:
    """The reader's failures, including its panics, which are no ordinary exceptions."""
    ours = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    return damaged(name, _DESCRIPTION) if ours else error


def _sheets(workbook: CalamineWorkbook) -> list[str]:
    from python_calamine import SheetTypeEnum

    return [s.name for s in workbook.sheets_metadata if s.typ == SheetTypeEnum.WorkSheet]


def _choose(names: list[str], sheet: Sheet, name: str) -> str:
    if not names:
        raise ReadError(f"'{name}' has no sheet with cells.", "Put the table on a sheet.")
    if sheet is None:
        return names[0]
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return names[sheet]
    if sheet in names:
        return str(sheet)
    asked = f"'{sheet}'" if isinstance(sheet, str) else f"number {sheet} (counted from 0)"
    raise ReadError(
        f"'{name}' has no sheet {asked}.", f"Its sheets are: {listing(names, limit=20)}."
    )


def _check_package(data: bytes, name: str) -> None:
    """Size, content and checksums of the package, before anything is parsed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = package.infolist()
            unpacked = sum(part.file_size for part in parts)
            limits.check_unpacked_size(len(data), unpacked, name)
            _check_is_workbook([part.filename for part in parts], name)
            for part in parts:
                with package.open(part) as content:
                    rows, columns = _used_area(content)
                limits.check_sheet_area(rows, columns, name)
            limits.check_text_size(text_size(package), name)
    except ReadError:
        raise
    except Exception:  # a damaged package fails in many ways, none of them the caller's doing
        raise damaged(name, "a packed file (.zip, .xlsx)") from None


def _check_is_workbook(parts: list[str], name: str) -> None:
    if any(_WORKBOOK_PART.search(part) for part in parts):
        return
    if {"manifest.json", "plan.json", "analysis.json"} <= set(parts):
        raise ReadError(
            f"'{name}' is a saved analysis of this program, not a table.",
            "Open it with smdp.load_analysis.",
            concerns="saved analysis",
        )
    for start, description in _OTHER_PACKAGES:
        if any(part.startswith(start) for part in parts):
            raise ReadError(f"'{name}' is {description}.", _SAVE_AS)
    raise ReadError(
        f"'{name}' is a zip archive without an Excel workbook in it.",
        "Unpack it and give the table itself.",
    )


def _used_area(content: Any) -> tuple[int, int]:
    """Rows and columns up to the last cell; reading to the end also verifies the checksum.

    The reader reserves memory for the whole rectangle: one stray cell in the last corner of a
    sheet would end the process.
    """
    rows = columns = 0
    rest = b""
    while chunk := content.read(_CHUNK):
        text = (rest + chunk).translate(_ONE_STYLE)
        rows = max([rows, *map(int, set(_ROW_NUMBER.findall(text)))])
        columns = max([columns, *map(_column_number, set(_COLUMN_LETTERS.findall(text)))])
        rest = chunk[-_LONGEST_ADDRESS:]
    return rows, columns


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _rows(sheet: CalamineSheet, name: str) -> list[list[Any]]:
    limits.check_shape(sheet.height - 1, sheet.width, name)
    return sheet.to_python()


def _column(cells: tuple[Any, ...]) -> Column:
    """Numbers, moments in time or text, whatever all cells of the column have in common."""
    import pyarrow as pa

    from smdp.data.files.text_values import MISSING_TEXT

    values: Sequence[Any] = cells
    if str in set(map(type, cells)):
        values = [
            None if isinstance(cell, str) and cell.strip() in MISSING_TEXT else cell
            for cell in cells
        ]
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {int, float, bool}:
        if kinds != {float}:
            values = [None if value is None else float(value) for value in values]
        return pa.chunked_array([pa.array(values, pa.float64())])
    if kinds <= {dt.date, dt.datetime}:
        moments = [dt.datetime.combine(v, dt.time()) if type(v) is dt.date else v for v in values]
        return pa.chunked_array([pa.array(moments, pa.timestamp("us"))])
    text = pa.array([None if v is None else _as_text(v) for v in values], pa.large_string())
    return pa.chunked_array([text])


def _as_text(cell: Any) -> str:
    """A cell of a column of mixed kinds, written as Excel would show it."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, dt.timedelta):
        return clock_text(cell.total_seconds()) or ""
    if isinstance(cell, dt.date):
        return cell.isoformat().replace("T", " ")
    return str(cell)


EXCEL = Reader(
    name="Excel",
    description=_DESCRIPTION,
    endings=(".xlsx", ".xlsm"),
    recognise=lambda data: data.startswith(_PACKAGE),
    read=_read,
    sheets=lambda data, name: _sheets(_open(data, name)),
)

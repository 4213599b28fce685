"""A table from a file: the format is found, not asked for."""

from __future__ import annotations

import hashlib

from pandas import DataFrame

from smdp.data.files.file_kind import identify
from smdp.data.files.file_source import Source, load
from smdp.data.files.parquet_file import read_parquet
from smdp.data.files.raw_table import RawTable, to_frame
from smdp.data.files.spreadsheet import read_sheet
from smdp.data.files.statistical_file import read_statistical_file
from smdp.data.files.text_table import read_text_table
from smdp.data.missing_codes import MissingCodes, mark_missing
from smdp.errors import ReadError


def read_table(
    source: Source,
    *,
    sheet: str | int | None = None,
    missing_codes: MissingCodes = (),
    name: str | None = None,
) -> DataFrame:
    """The table in a CSV, Excel, SPSS, Stata, SAS or Parquet file.

    `source`: a path, the bytes, or an open binary file; `name` is the file's name where the source
    has none. `sheet`: the name or the number (from 0) of a workbook's sheet, else the first.
    `missing_codes`: values that stand for "missing", for every column or as a mapping from column
    to values, with "*" for all columns.

    Numbers are int or float, text is str, dates are datetime64; true and false are 1 and 0. Names
    with leading zeros (007) stay text. `frame.attrs` has the file's name ("source"), its "format",
    the SHA-256 of its bytes ("fingerprint"), "variable_labels" and "value_labels".

    Raises `ReadError` for a file that is not a table, is damaged or is too large.
    """
    data, name = load(source, name)
    try:
        frame = to_frame(_read(data, name, sheet), name)
    except MemoryError:
        raise ReadError(
            f"'{name}' does not fit into the memory of this computer.",
            "Leave out columns or rows that the analysis does not need.",
        ) from None
    frame.attrs["source"] = name
    frame.attrs["fingerprint"] = hashlib.sha256(data).hexdigest()
    return mark_missing(frame, missing_codes)


def _read(data: bytes, name: str, sheet: str | int | None) -> RawTable:
    kind = identify(data, name)
    if kind == "workbook":
        return read_sheet(data, name, sheet)
    if sheet is not None:
        raise ReadError(
            f"'{name}' is not an Excel workbook and has no sheet '{sheet}'.",
            "Leave the sheet open.",
        )
    if kind == "text":
        return read_text_table(data, name)
    if kind == "parquet":
        return read_parquet(data, name)
    return read_statistical_file(data, kind, name)

"""A table from a file: the format is found, not asked for."""

from __future__ import annotations

import hashlib

from pandas import DataFrame

from smdp.data.files.file_source import Source, load
from smdp.data.files.raw_table import RawTable, to_frame
from smdp.data.files.reader import Sheet
from smdp.data.files.registry import reader_of
from smdp.data.missing_codes import MissingCodes, mark_missing
from smdp.data.synthetic_files import SYNTHETIC_FILES
from smdp.errors import ReadError


def read_table(
    source: Source,
    *,
    sheet: Sheet = None,
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
    the SHA-256 of its bytes ("fingerprint"), whether it is one of smdp's samples of made-up people
    ("synthetic"), "variable_labels" and "value_labels".

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
    frame.attrs["synthetic"] = frame.attrs["fingerprint"] in SYNTHETIC_FILES
    return mark_missing(frame, missing_codes)


def _read(data: bytes, name: str, sheet: Sheet) -> RawTable:
    reader = reader_of(data, name)
    if sheet is not None and reader.sheets is None:
        raise ReadError(
            f"'{name}' is {reader.description}: it has no sheets, and so no sheet '{sheet}'.",
            "Leave the sheet open.",
        )
    return reader.read(data, name, sheet)

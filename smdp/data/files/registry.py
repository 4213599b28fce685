"""The file formats that the program reads: the one list that everybody asks."""

from __future__ import annotations

from pathlib import PurePath

from smdp.data.files.file_source import Source, load
from smdp.data.files.other_files import file_in_words, old_office_file
from smdp.data.files.parquet_file import PARQUET
from smdp.data.files.reader import Reader
from smdp.data.files.sas import SAS
from smdp.data.files.sas_transport import SAS_TRANSPORT
from smdp.data.files.spreadsheet import EXCEL
from smdp.data.files.spss import SPSS
from smdp.data.files.stata import STATA
from smdp.data.files.text_table import CSV
from smdp.errors import ReadError

# In the order in which people read them. A file is shown to the last one first, so that text,
# which takes whatever is text, comes after all others.
_READERS = [CSV, EXCEL, SPSS, STATA, SAS, SAS_TRANSPORT, PARQUET]


def readers() -> tuple[Reader, ...]:
    """Every format, in the order in which people read them."""
    return tuple(_READERS)


def register(reader: Reader) -> None:
    """Add a format; it is asked before those that are there."""
    _READERS.append(reader)


def unregister(reader: Reader) -> None:
    """Take a format out again."""
    _READERS.remove(reader)


def formats_in_words() -> str:
    """'CSV, Excel or Parquet'."""
    *others, last = dict.fromkeys(reader.name for reader in _READERS)
    return f"{', '.join(others)} or {last}" if others else last


def reader_of(data: bytes, name: str) -> Reader:
    """The reader for the file, told from its content and not from its name."""
    for reader in reversed(_READERS):
        if reader.recognise(data):
            return reader
    raise old_office_file(data, name) or _not_a_table(data, name)


def sheet_names(source: Source, name: str | None = None) -> list[str]:
    """The sheets of a workbook in their order; empty for a table of a format without sheets."""
    data, name = load(source, name)
    sheets = reader_of(data, name).sheets
    return sheets(data, name) if sheets else []


def _not_a_table(data: bytes, name: str) -> ReadError:
    ending = PurePath(name).suffix.lower()
    promised = next((r.description for r in _READERS if ending in r.endings), None)
    found = file_in_words(data)
    if found:
        problem = f"is {found}, not a table"
    elif promised:
        problem = f"is named like {promised}, but its content is not one"
    else:
        problem = "is not a table: its content is neither text nor a known table format"
    return ReadError(f"'{name}' {problem}.", f"Give a {formats_in_words()} file.")

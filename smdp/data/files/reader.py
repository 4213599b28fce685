"""What the program knows of a file format: one `Reader` each, in a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smdp.errors import ReadError

if TYPE_CHECKING:
    from smdp.data.files.raw_table import RawTable

Sheet = str | int | None  # by name or by number, counted from 0; None for the first


@dataclass(frozen=True)
class Reader:
    """A file format. Its module imports its libraries when it reads, so that listing is quick."""

    #: In a list of formats: "Excel".
    name: str
    #: In a sentence: "an Excel workbook".
    description: str
    #: Of the names of its files, in small letters: (".xlsx", ".xlsm").
    endings: tuple[str, ...]
    #: Whether these bytes are such a file, perhaps a damaged one.
    recognise: Callable[[bytes], bool]
    #: The table in the bytes of the file of this name; the sheet is None where there are none.
    read: Callable[[bytes, str, Sheet], RawTable]
    #: The names of the sheets, for a format whose files can hold several tables.
    sheets: Callable[[bytes, str], list[str]] | None = None


def damaged(name: str, description: str, detail: str = "") -> ReadError:
    """The error for a file of a known format that its reader cannot make sense of."""
    reason = f" ({detail})" if detail else ""
    return ReadError(
        f"'{name}' is {description} that is damaged or incomplete{reason}.",
        "Export it again, or copy it anew from where it came from.",
    )

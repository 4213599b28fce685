"""How large a table may be, and the messages for one that is larger."""

from __future__ import annotations

from smdp.errors import ReadError

MAX_FILE_BYTES = 1_000_000_000
MAX_ROWS = 1_000_000
MAX_COLUMNS = 5_000
MAX_CELLS = 250_000_000  # 2 GB once every cell is a number of 8 bytes

MAX_UNPACKED_BYTES = 1_000_000_000
MAX_UNPACK_RATIO = 200  # an honest workbook shrinks to a fifth or a fiftieth when packed
RATIO_COUNTS_FROM_BYTES = 50_000_000  # below this a bad ratio does no harm
MAX_SHEET_CELLS = 50_000_000  # the used area; a workbook within the limits above holds fewer

_FEWER_ROWS = "Keep only the rows of the trial (one row for each decision), or split the file."


def check_file_size(size: int, name: str) -> None:
    """Refuse a file that is too large to be read into memory."""
    if size > MAX_FILE_BYTES:
        raise ReadError(
            f"'{name}' is too large: {_in_words(size)}, and the limit is "
            f"{_in_words(MAX_FILE_BYTES)}.",
            "Leave out columns or rows that the analysis does not need, or split the file.",
        )


def check_shape(rows: int, columns: int, name: str) -> None:
    """Refuse a table with too many rows, columns or cells."""
    if columns > MAX_COLUMNS:
        raise ReadError(
            f"'{name}' has {columns:,} columns, and the limit is {MAX_COLUMNS:,}.",
            "Leave out the columns that the analysis does not need; if the table lies on its "
            "side, turn rows into columns first.",
        )
    if rows > MAX_ROWS:
        raise too_many_rows(name, f"{rows:,}")
    if rows * columns > MAX_CELLS:
        raise ReadError(
            f"'{name}' has {rows:,} rows and {columns:,} columns, {rows * columns:,} cells; the "
            f"limit is {MAX_CELLS:,}.",
            "Leave out the columns that the analysis does not need.",
        )


def too_many_rows(name: str, rows: str) -> ReadError:
    """The error for a table with too many rows; `rows` in words, for it may not be known."""
    return ReadError(f"'{name}' has {rows} rows, and the limit is {MAX_ROWS:,}.", _FEWER_ROWS)


def check_unpacked_size(packed: int, unpacked: int, name: str) -> None:
    """Refuse a packed file that would fill the memory once it is unpacked."""
    suspicious = unpacked > RATIO_COUNTS_FROM_BYTES and unpacked > MAX_UNPACK_RATIO * packed
    if unpacked > MAX_UNPACKED_BYTES or suspicious:
        raise ReadError(
            f"'{name}' is too large once unpacked: {_in_words(packed)} would become "
            f"{_in_words(unpacked)} (the limit is {_in_words(MAX_UNPACKED_BYTES)}, and "
            f"{MAX_UNPACK_RATIO} times the packed size).",
            "Save the table as CSV and read that.",
        )


def check_text_size(size: int, name: str) -> None:
    """Refuse a table whose cells point at so much text, again and again, as to fill the memory."""
    if size > MAX_UNPACKED_BYTES:
        raise ReadError(
            f"The cells of '{name}' hold {_in_words(size)} of text, and the limit is "
            f"{_in_words(MAX_UNPACKED_BYTES)}.",
            "Leave out columns with long texts.",
        )


def check_sheet_area(rows: int, columns: int, name: str) -> None:
    """Refuse a sheet whose used area reaches far beyond its content."""
    if rows * columns > MAX_SHEET_CELLS:
        raise ReadError(
            f"A sheet of '{name}' uses an area of {rows:,} rows and {columns:,} columns; the "
            f"limit is {MAX_SHEET_CELLS:,} cells.",
            "Delete stray cells far below or far to the right of the table, or save the sheet as "
            "CSV.",
        )


def _in_words(size: int) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= unit / 10:
            return f"{size / unit:.3g} {name}"
    return f"{size / 1e3:.3g} kB"

"""Tables in text files: encoding, delimiter and decimal mark are found, not asked for."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smdp.data.files import limits
from smdp.data.files.other_files import BYTE_ORDER_MARKS_16, BYTE_ORDER_MARKS_32, is_plain_text
from smdp.data.files.reader import Reader, Sheet, damaged
from smdp.errors import ReadError

if TYPE_CHECKING:
    import pyarrow as pa

    from smdp.data.files.raw_table import RawTable

# Where two delimiters explain a file equally well the earlier wins: a comma in a file with
# semicolons is a decimal mark or part of a sentence.
DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma"}
_NO_DELIMITER = "\x1f"
_HINT = re.compile(r'\s*"?sep=([,;\t|])"?[ \t]*\r?\n')  # Excel's note to itself
_SNIFFED_CHARACTERS = 1_000_000
_SNIFFED_ROWS = 100
_CHUNK = 16_000_000
_BLOCK = 8_000_000
_LINES_IN_MESSAGE = 5
_QUOTE, _NEWLINE = ord('"'), ord("\n")


@dataclass(frozen=True)
class Layout:
    """How the file is divided, and where its rows begin."""

    delimiter: str
    header: list[str]
    rows_start: int  # in bytes
    rows_line: int  # the number of the line on which the rows begin, from 1


def _read(data: bytes, name: str, _: Sheet) -> RawTable:
    """The table in a text file."""
    from smdp.data.files.raw_table import RawTable
    from smdp.data.files.text_values import MISSING_TEXT, columns_from_text

    text, encoding = to_utf8(data, name)
    layout = find_layout(text, name)
    _check_size(text, layout, name)
    table = _parse(text, layout, name)
    if b'"' in text and text.count(b"\n", layout.rows_start) > table.num_rows:
        _check_quotes(text, layout, name)
    columns, decimal_comma = columns_from_text(
        table.columns, MISSING_TEXT, comma_is_likely=layout.delimiter == ";"
    )
    parts = ["CSV", DELIMITERS.get(layout.delimiter, "one column")]
    parts += ["decimal comma"] * decimal_comma
    found = ", ".join([*parts, encoding])
    return RawTable(layout.header, columns, found, decimal_comma=decimal_comma)


def to_utf8(data: bytes, name: str) -> tuple[bytes, str]:
    """The text as UTF-8 with \\n at the end of its lines, and the encoding it had."""
    if data.startswith(BYTE_ORDER_MARKS_32):  # first, for one begins like a mark of UTF-16
        text, encoding = _recoded(data, "utf-32", name), "UTF-32"
    elif data.startswith(BYTE_ORDER_MARKS_16):
        text, encoding = _recoded(data, "utf-16", name), "UTF-16"
    elif _is_utf8(data):
        text, encoding = data.removeprefix(codecs.BOM_UTF8), "UTF-8"
    else:
        text, encoding = _recoded(data, "cp1252", name), "cp1252"
    if b"\0" in text:
        raise damaged(name, f"a text in {encoding}")
    if b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    return text.rstrip(b"\x1a"), encoding


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _recoded(data: bytes, encoding: str, name: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeError:
        raise ReadError(
            f"The letters of '{name}' are in an encoding that is neither UTF-8, UTF-16 nor "
            "Windows (cp1252).",
            "Export it again as 'CSV UTF-8'.",
        ) from None


def find_layout(text: bytes, name: str) -> Layout:
    """Delimiter and header, from the beginning of the text."""
    sample = text[:_SNIFFED_CHARACTERS].decode(errors="ignore")
    if len(text) > _SNIFFED_CHARACTERS and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    hint = _HINT.match(sample)
    begin = hint.end() if hint else 0
    delimiter = hint[1] if hint else _sniff(sample)
    lines = io.StringIO(sample, newline="")
    lines.seek(begin)
    for record, _ in _records(lines, delimiter):
        if any(cell.strip() for cell in record):
            used = sample[: lines.tell()]
            if len(used) == len(sample) and "\n" in "".join(record):
                break  # an open quotation mark makes one cell of everything
            return Layout(delimiter, record, len(used.encode()), used.count("\n") + 1)
    if sample.strip():
        raise _undivided(name, 1)
    raise ReadError(f"'{name}' is empty: it holds blanks only.", "Export the table again.")


def _sniff(sample: str) -> str:
    """The delimiter that divides the first rows most evenly, and into the most cells."""
    best, best_score = _NO_DELIMITER, (0.0, 0)
    for delimiter in DELIMITERS:
        counts = _cell_counts(sample, delimiter)
        if not counts:
            continue
        usual = max(set(counts), key=counts.count)
        # A title above the table has fewer cells than its rows: then the rows tell, unless two
        # cells are one number with a decimal comma.
        width = counts[0] if counts[0] > 1 else usual
        if width < 2 or (counts[0] == 1 and width == 2):
            continue
        score = (counts.count(width) / len(counts), width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _cell_counts(sample: str, delimiter: str) -> list[int]:
    counts: list[int] = []
    for record, _ in _records(io.StringIO(sample, newline=""), delimiter):
        if any(cell.strip() for cell in record):
            counts.append(len(record))
        if len(counts) == _SNIFFED_ROWS:
            break
    return counts


def _records(lines: io.TextIOBase, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Each record and the number of its first line, up to a record that cannot be divided."""
    reader = csv.reader(lines, delimiter=delimiter)
    line = 1
    while True:
        try:
            record = next(reader)
        except (StopIteration, csv.Error):
            return
        yield record, line
        line = reader.line_num + 1


def _check_size(text: bytes, layout: Layout, name: str) -> None:
    """Refuse a table that is too large before it takes memory."""
    limits.check_shape(0, len(layout.header), name)
    most = text.count(b"\n", layout.rows_start) + 1
    if most <= limits.MAX_ROWS:
        limits.check_shape(most, len(layout.header), name)
    elif _has_more_rows(text, layout.rows_start):
        raise limits.too_many_rows(name, f"more than {limits.MAX_ROWS:,}")


def _has_more_rows(text: bytes, start: int) -> bool:
    """Whether the rows are more than the limit, not counting line breaks within quotes."""
    import numpy as np

    rows, within = 0, False
    while start < len(text) and rows <= limits.MAX_ROWS:
        chunk = np.frombuffer(text, np.uint8, min(_CHUNK, len(text) - start), start)
        quoted = np.logical_xor.accumulate(chunk == _QUOTE) ^ within
        rows += int(np.count_nonzero((chunk == _NEWLINE) & ~quoted))
        within = bool(quoted[-1])
        start += len(chunk)
    return rows > limits.MAX_ROWS


def _parse(text: bytes, layout: Layout, name: str) -> pa.Table:
    """All cells as text."""
    import pyarrow as pa
    import pyarrow.csv

    rows = pa.py_buffer(text).slice(layout.rows_start)
    keys = [str(place) for place in range(len(layout.header))]
    if not re.compile(rb"\S").search(text, layout.rows_start):
        return pa.table({key: pa.array([], pa.string()) for key in keys})
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(rows),
            read_options=pyarrow.csv.ReadOptions(column_names=keys, block_size=_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=b'"' in text,
                invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError):
        raise _ragged(text, layout, name) from None


def _ragged(text: bytes, layout: Layout, name: str) -> ReadError:
    """Which lines have another number of cells than the header."""
    width, found, last = len(layout.header), [], layout.rows_line
    for record, line in _records(_row_lines(text, layout), layout.delimiter):
        last = layout.rows_line - 1 + line
        if len(record) != width and any(cell.strip() for cell in record):
            found.append(f"line {last} has {len(record)}")
        if len(found) > _LINES_IN_MESSAGE:
            found[-1] = "and so on"
            break
    if not found:
        return _undivided(name, last)
    mark = DELIMITERS.get(layout.delimiter, "delimiter")
    return ReadError(
        f"'{name}' has rows whose number of cells differs from the header, which has {width}: "
        f"{', '.join(found)}.",
        f"Check these lines for a {mark} too many or too few (text that contains one must stand "
        "in quotation marks), and that the column names are in the first line.",
    )


def _check_quotes(text: bytes, layout: Layout, name: str) -> None:
    """Refuse a table in which a stray quotation mark makes one cell of several rows."""
    reader = csv.reader(_row_lines(text, layout), delimiter=layout.delimiter, strict=True)
    line = 0
    try:
        for _ in reader:
            line = reader.line_num
    except csv.Error:
        raise _undivided(name, layout.rows_line + line) from None


def _row_lines(text: bytes, layout: Layout) -> io.TextIOWrapper:
    rows = io.BytesIO(text)
    rows.seek(layout.rows_start)
    return io.TextIOWrapper(rows, encoding="utf-8", newline="")


def _undivided(name: str, line: int) -> ReadError:
    return ReadError(
        f"'{name}' cannot be divided into rows and cells near line {line}.",
        "Check the quotation marks there: one may have been opened and not closed.",
    )


CSV = Reader(
    name="CSV",
    description="a text table (CSV)",
    endings=(".csv", ".tsv", ".txt"),
    recognise=is_plain_text,
    read=_read,
)

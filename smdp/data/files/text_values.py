"""Columns of text: which of their cells are missing, and which columns are numbers.

Everything works on Arrow columns of strings, where null is a missing cell.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MISSING_TEXT = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A", ".")
LARGEST_EXACT = 2**53  # the whole numbers up to here are exact as floating point numbers

_TRUE = ("TRUE", "True", "true")
_FALSE = ("FALSE", "False", "false")
_LEADING_ZEROS = tuple("0" + second for second in "0123456789xX")
_FIRST_LOOK = 100

Column = Any  # pyarrow.ChunkedArray, which has no type stubs


def without_blanks(column: Column, missing: tuple[str, ...] = ("",)) -> Column:
    """The column with its cells stripped, and null where a cell is one of the `missing` texts."""
    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(column, value_set=pa.array(missing, column.type)), None, column)


def columns_from_text(
    columns: list[Column], missing: tuple[str, ...], *, comma_is_likely: bool = False
) -> tuple[list[Column], bool]:
    """Numbers for the columns that hold numbers only, and whether decimals have a comma.

    `comma_is_likely`: the cells are separated by semicolons, as programs do where the decimal
    mark is a comma; then "12,345" is a decimal number. Elsewhere it may be a number of thousands,
    and stays text unless another cell of the file settles it.
    """
    with ThreadPoolExecutor() as pool:
        texts = list(pool.map(lambda c: without_blanks(c, missing) if is_text(c) else c, columns))
        parsed, commas = zip(*pool.map(_parse, texts), strict=True)
        decimal_comma = any(commas)
        if comma_is_likely and not decimal_comma:
            decimal_comma = any(_comma_numbers(c) is not None for c in parsed if is_text(c))
        if decimal_comma:
            parsed, _ = zip(*pool.map(lambda c: _parse(c, decimal_comma=True), texts), strict=True)
    return list(parsed), decimal_comma


def column_from_text(column: Column, *, decimal_comma: bool = False) -> Column:
    """Numbers if every cell is a number (or every cell is true or false), else the same text."""
    return _parse(column, decimal_comma=decimal_comma)[0]


def is_text(column: Column) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def _parse(column: Column, *, decimal_comma: bool = False) -> tuple[Column, bool]:
    """The column, as numbers if it can be, and whether these have a decimal comma."""
    if not is_text(column) or column.null_count == len(column):
        return column, False
    numbers = _numbers(column)
    if numbers is not None:
        doubtful = decimal_comma and _only_thousands(column, r"\.")
        return (column if doubtful else numbers), False
    numbers = _comma_numbers(column)
    if numbers is not None and (decimal_comma or not _only_thousands(column, ",")):
        return numbers, True
    return _truth_values(column), False


def _numbers(column: Column) -> Column | None:
    """Numbers with a decimal point; None if a cell is none, or would lose digits as one."""
    if not _looks(column, _cast):
        return None
    numbers = _cast(column)
    if numbers is None or _has_leading_zeros(column):
        return None
    exact = pa.types.is_integer(numbers.type) and numbers.null_count == 0
    return numbers if exact or not _has_long_integers(column, numbers) else None


def _has_leading_zeros(column: Column) -> bool:
    """Whether a cell is like 007, which is a name, or like 0x7."""
    starts = pc.utf8_slice_codeunits(pc.utf8_ltrim(column, "+-"), 0, 2)
    found = pc.is_in(starts, value_set=pa.array(_LEADING_ZEROS, starts.type))
    return bool(pc.any(found, min_count=0).as_py())


def _has_long_integers(column: Column, numbers: Column) -> bool:
    """Whether a cell is an integer with more digits than a floating point number keeps."""
    low, high = pc.min_max(numbers).as_py().values()
    if low is None or max(-low, high) < LARGEST_EXACT:
        return False
    return bool(pc.any(pc.match_substring_regex(column, "^[+-]?[0-9]{16,}$")).as_py())


def _comma_numbers(column: Column) -> Column | None:
    """Numbers with a decimal comma; None if a cell is none."""

    def with_point(cells: Column) -> Column:
        return pc.replace_substring(cells, ",", ".")

    if not _looks(column, lambda cells: _cast(with_point(cells))) or _contains(column, "."):
        return None
    return _numbers(with_point(column))


def _looks(column: Column, parse: Any) -> bool:
    """Whether the first cells can be parsed: spares whole columns of plain text the attempt."""
    return parse(column.slice(0, 50 * _FIRST_LOOK).drop_null().slice(0, _FIRST_LOOK)) is not None


def _cast(column: Column) -> Column | None:
    for kind in (pa.int64(), pa.float64()):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _truth_values(column: Column) -> Column:
    def parse(cells: Column) -> Column | None:
        known = pc.is_in(cells, value_set=pa.array(_TRUE + _FALSE, cells.type))
        if not pc.all(pc.or_(known, pc.is_null(cells)), min_count=0).as_py():
            return None
        truth = pc.is_in(cells, value_set=pa.array(_TRUE, cells.type))
        return pc.if_else(pc.is_null(cells), None, truth.cast(pa.int64()))

    truth = parse(column) if _looks(column, parse) else None
    return column if truth is None else truth


def _only_thousands(column: Column, mark: str) -> bool:
    """Whether the mark occurs, and only where it could separate thousands: 12,345 or 1,234,567."""
    with_mark = pc.match_substring_regex(column, mark)
    grouped = pc.match_substring_regex(column, f"^[+-]?[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+$")
    some = pc.any(with_mark, min_count=0).as_py()
    return bool(some and pc.all(pc.or_(grouped, pc.invert(with_mark)), min_count=0).as_py())


def _contains(column: Column, text: str) -> bool:
    return bool(pc.any(pc.match_substring(column, text), min_count=0).as_py())

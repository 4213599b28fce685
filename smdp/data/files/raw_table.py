"""A table as its file has it, and the frame that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas import DataFrame

from smdp.data.files.limits import check_shape
from smdp.data.files.pyreadstat_process import clock_text
from smdp.data.files.text_values import LARGEST_EXACT, Column, without_blanks
from smdp.errors import ReadError
from smdp.text import listing, shorten

_FIRST_LOOK = 1_000


@dataclass(frozen=True)
class RawTable:
    """Names and columns by position, as every format can give them."""

    names: list[str]
    columns: list[Column]
    format: str
    variable_labels: Mapping[str, str] = field(default_factory=dict)
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    decimal_comma: bool = False  # 1,5 is a number


def to_frame(raw: RawTable, source: str) -> DataFrame:
    """The frame: clean names, no empty rows or columns at the end, plain types."""
    columns = [
        _plain_or_refused(*column, source) for column in zip(raw.names, raw.columns, strict=True)
    ]
    named = [name.strip() for name in raw.names]
    while columns and not named[-1] and columns[-1].null_count == len(columns[-1]):
        columns.pop()
        named.pop()
    rows = _rows_with_content(columns)
    if rows == 0:
        raise _no_content(columns, source)
    check_shape(rows, len(columns), source)
    names = _unique_names(named, source)
    arrays = [_exact(column.slice(0, rows)) for column in columns]
    frame: DataFrame = pa.table(arrays, names=names).to_pandas(ignore_metadata=True)
    frame.attrs["format"] = raw.format
    frame.attrs["decimal_comma"] = raw.decimal_comma
    renamed = dict(zip(raw.names, names, strict=False))
    frame.attrs["variable_labels"] = _by_name(raw.variable_labels, renamed)
    frame.attrs["value_labels"] = {
        name: dict(labels) for name, labels in _by_name(raw.value_labels, renamed).items()
    }
    return frame


def _by_name(labels: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    return {renamed[name]: label for name, label in labels.items() if name in renamed}


def _unique_names(names: list[str], source: str) -> list[str]:
    """Names for columns without one, and an error for names that occur twice."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names, start=1):
        if name:
            places.setdefault(name, []).append(place)
    twice = {name: at for name, at in places.items() if len(at) > 1}
    if twice:
        found = [f"'{shorten(n)}' (columns {', '.join(map(str, at))})" for n, at in twice.items()]
        raise ReadError(
            f"'{source}' has column names that occur more than once: {listing(found)}.",
            "Give each column a name of its own, in the first row of the table.",
        )
    unique: list[str] = []
    for place, name in enumerate(names, start=1):
        chosen = name or f"column_{place}"
        while not name and chosen in places:
            chosen += "_"
        unique.append(chosen)
    return unique


def _rows_with_content(columns: list[Column]) -> int:
    """How many rows there are up to the last one that has a value."""
    if not columns:
        return 0
    rows = len(columns[0])
    if any(rows and column[rows - 1].is_valid for column in columns):
        return rows
    filled = np.zeros(rows, dtype=bool)
    for column in columns:
        filled |= np.asarray(column.is_valid())
    return int(filled.nonzero()[0].max(initial=-1)) + 1


def _no_content(columns: list[Column], source: str) -> ReadError:
    if not columns:
        return ReadError(f"'{source}' holds no table.", "Export the table again.")
    return ReadError(
        f"'{source}' has column names but no rows with values below them.",
        "Check that the export holds the data.",
    )


def _plain_or_refused(name: str, column: Column, source: str) -> Column:
    try:
        plain = _plain(column)
    except (ValueError, KeyError, OverflowError, NotImplementedError):
        # An unknown time zone, a date too far.
        plain = None
    if plain is None:
        raise not_plain(name, column.type, source)
    return plain


def not_plain(name: str, kind: pa.DataType, source: str) -> ReadError:
    return ReadError(
        f"The column '{shorten(name)}' of '{source}' holds {shorten(kind)} values, which cannot "
        "be made numbers, text or dates.",
        "Leave the column out, or save it as numbers or text.",
    )


def _plain(column: Column) -> Column | None:
    """The column as numbers, text or moments in time, null where missing; None for other kinds."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_null(kind):
        return column.cast(pa.float64())
    if pa.types.is_boolean(kind):
        return column.cast(pa.int64())
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_floating(kind):
        numbers = column.cast(pa.float64())
        return pc.if_else(pc.is_nan(numbers), None, numbers)
    if pa.types.is_integer(kind):
        return column if pa.types.is_uint64(kind) else column.cast(pa.int64())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _wall_clock(column)
    if pa.types.is_time(kind):
        return pc.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")
    if pa.types.is_duration(kind):
        texts = [
            clock_text(v.total_seconds()) if v is not None else None for v in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(texts, pa.large_string())])
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return _text(column.cast(pa.large_string()))
    return None


def _text(column: Column) -> Column:
    stripped = without_blanks(column)
    return stripped if stripped.null_count < len(stripped) else stripped.cast(pa.float64())


def _wall_clock(column: Column) -> Column:
    """Local time without its zone: what the clock of the participant showed."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        # By way of pandas, which brings its own list of zones; Arrow relies on the system's.
        moments = column.to_pandas().dt.tz_localize(None)
        column = pa.chunked_array([pa.array(moments, from_pandas=True)])
    finer = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    return column.cast(pa.timestamp("us"), safe=not finer)


def _exact(column: Column) -> Column:
    """Whole numbers as integers, so that a subject is 7 in every format and never 7.0.

    Integers that are too large to stay exact beside missing values become text.
    """
    if pa.types.is_floating(column.type) and column.null_count == 0:
        values = np.asarray(column)
        if _are_whole(values[:_FIRST_LOOK]) and _are_whole(values):
            return pa.chunked_array([pa.array(values.astype(np.int64))])
    elif pa.types.is_integer(column.type) and column.null_count:
        low, high = pc.min_max(column).as_py().values()
        if low is not None and max(-low, high) > LARGEST_EXACT:
            return column.cast(pa.large_string())
    return column


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool((np.abs(values) < LARGEST_EXACT).all() and (values == np.floor(values)).all())

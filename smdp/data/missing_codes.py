"""Values that stand for "missing": marking them, and suspecting them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas import DataFrame, Series
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from smdp.data.columns import unique_finite
from smdp.data.files.text_values import column_from_text, without_blanks
from smdp.errors import SettingError
from smdp.text import listing

Code = str | float
MissingCodes = Code | Sequence[Code] | Mapping[str, Code | Sequence[Code]]
EVERY_COLUMN = "*"

_NUMBER = re.compile(r"[+-]?(?!0[0-9])([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

# Values by which programs, devices and questionnaires say "missing".
_NEGATIVE_CODES = (
    *(-6, -7, -8, -9, -66, -77, -88, -96, -97, -98, -99),
    *(-666, -777, -888, -996, -997, -998, -999, -1024, -7777, -8888, -9998, -9999),
    *(-32768, -99999, -999999),
)
_POSITIVE_CODES = (
    *(66, 77, 88, 96, 97, 98, 99, 666, 777, 888, 996, 997, 998, 999),
    *(7777, 8888, 9998, 9999, 99999, 999999),
)
_FAR = 3  # times the widest gap between neighbouring values of the rest


def mark_missing(
    frame: DataFrame, codes: MissingCodes, *, lacking: Literal["refuse", "ignore"] = "refuse"
) -> DataFrame:
    """A new frame with missing values in place of the codes.

    `codes`: for every column, or a mapping from column to codes, with "*" for all columns. Numbers
    match by value and text as it is written, without blanks around it: -9 and "-9" both match -9,
    -9.0 and "-9". Text columns that hold only numbers once the codes are gone become numbers.
    `lacking`: what to do with codes of columns that the table does not have.
    """
    if lacking == "ignore" and isinstance(codes, Mapping):
        codes = {k: v for k, v in codes.items() if k == EVERY_COLUMN or k in frame.columns}
    by_column = _by_column(frame, codes)
    decimal_comma = bool(frame.attrs.get("decimal_comma", False))
    marked = frame.copy()
    for name, wanted in by_column.items():
        if wanted:
            marked[name] = _marked(frame[name], wanted, decimal_comma)
    return marked


def suspected_codes(frame: DataFrame) -> dict[str, list[float]]:
    """Numbers that look like codes for "missing", by column, in ascending order.

    A usual code is suspected where it lies farther from the other values than these lie apart, or
    where all negative values of a column are usual codes. -1 is suspected as the only negative
    value among at least three others. Where other values reach as far as the code, it is a value.
    """
    found = {}
    for name in frame.columns:
        if is_numeric_dtype(frame[name]) and not is_bool_dtype(frame[name]):
            values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            suspects = _suspects(unique_finite(values))
            if suspects:
                found[str(name)] = suspects
    return found


def _by_column(frame: DataFrame, codes: MissingCodes) -> dict[str, list[Code]]:
    if not isinstance(codes, Mapping):
        codes = {EVERY_COLUMN: codes}
    unknown = [name for name in codes if name != EVERY_COLUMN and name not in frame.columns]
    if unknown:
        raise SettingError(
            f"There are missing-value codes for columns that the table does not have: "
            f"{listing(unknown)}.",
            f"Check the names; the table has {listing(frame.columns)}.",
        )
    everywhere = _as_list(codes.get(EVERY_COLUMN, ()))
    return {name: everywhere + _as_list(codes.get(name, ())) for name in frame.columns}


def _as_list(codes: Code | Sequence[Code]) -> list[Code]:
    """A single code may stand without its list."""
    return [codes] if isinstance(codes, str | int | float) else list(codes)


def _marked(column: Series, codes: Iterable[Code], decimal_comma: bool) -> Series:
    texts = {str(code).strip() for code in codes}
    numbers = {number for text in texts if (number := _number(text)) is not None}
    if is_numeric_dtype(column):
        return column.mask(column.isin(numbers))
    if not pd.api.types.is_string_dtype(column):
        return column
    hits = [
        value
        for value in column.dropna().unique()
        if str(value).strip() in texts or _number(str(value).strip()) in numbers
    ]
    if not hits:
        return column
    return _numbers_if_all_are(column.mask(column.isin(hits)), decimal_comma)


def _numbers_if_all_are(column: Series, decimal_comma: bool) -> Series:
    text = without_blanks(pa.chunked_array([pa.array(column, pa.large_string(), from_pandas=True)]))
    if text.null_count == len(text):
        return Series(np.nan, index=column.index, name=column.name)
    parsed = column_from_text(text, decimal_comma=decimal_comma)
    if parsed.type == text.type:
        return column
    return Series(parsed.to_pandas().to_numpy(), index=column.index, name=column.name)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _suspects(values: NDArray[np.float64]) -> list[float]:
    """`values`: distinct, finite and sorted."""
    usual = np.isin(values, [-1, *_NEGATIVE_CODES, *_POSITIVE_CODES])
    rest = values[~usual]
    if rest.size == 0:
        return []
    candidates = [float(v) for v in values[usual] if v != -1 and _lies_apart(float(v), rest)]
    negative = values[values < 0]
    if rest[0] >= 0 and np.isin(negative, _NEGATIVE_CODES).all():
        candidates += negative.tolist()
    if rest.size >= 3 and rest[0] >= 0 and negative.tolist() == [-1.0]:
        candidates.append(-1.0)
    return sorted(set(candidates))


def _lies_apart(value: float, rest: NDArray[np.float64]) -> bool:
    """Whether the value is farther from the rest than its spread, and than any gap within it."""
    distance = max(rest[0] - value, value - rest[-1])
    widest = np.diff(rest).max(initial=0.0)
    return bool(distance > max(rest[-1] - rest[0], _FAR * widest, math.ulp(1.0)))

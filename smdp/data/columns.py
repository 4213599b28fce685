"""Reading single columns as numbers, flags or levels, and saying which rows will not go."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

TRUE_WORDS = ("1", "true", "yes", "y", "ja", "oui", "si", "available", "on")
FALSE_WORDS = ("0", "false", "no", "n", "nein", "non", "unavailable", "off")
NONE_WORDS = ("0", "none", "no", "control", "nothing", "placebo", "off", "usual")


def is_text(column: pd.Series) -> bool:
    return not (
        is_numeric_dtype(column) or is_bool_dtype(column) or is_datetime64_any_dtype(column)
    )


def level_text(value: object) -> str:
    """A level as people write it: 1.0 is '1', True is '1', text is itself."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def levels_as_text(column: pd.Series) -> NDArray[np.object_]:
    """Each cell's level as text, None where missing."""
    missing = column.isna().to_numpy()
    return np.array(
        [None if gone else level_text(v) for v, gone in zip(column, missing, strict=True)], object
    )


def sorted_levels(levels: set[str]) -> list[str]:
    """Levels in their natural order: by number if all are numbers, else 'none' first, then a-z."""
    try:
        return sorted(levels, key=float)
    except ValueError:
        return sorted(levels, key=lambda level: (level.lower() not in NONE_WORDS, level.lower()))


def two_words(column: pd.Series) -> tuple[str, str] | None:
    """The words for 0 and 1 of a text column that has exactly two of them, else None."""
    if not is_text(column):
        return None
    words = {level_text(v) for v in column.dropna().unique()}
    if len(words) != 2:
        return None
    first, second = sorted(words, key=lambda w: (w.lower() in TRUE_WORDS, w.lower()))
    return first, second


def numbers(column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The column as floats (NaN where missing), and the positions of text that is no number.

    A text column with exactly two words (no/yes, female/male) is read as 0 and 1.
    """
    words = two_words(column)
    if words is not None and pd.to_numeric(column, errors="coerce").isna().all():
        column = column.map(lambda v: v if pd.isna(v) else float(level_text(v) == words[1]))
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
    return values, bad


def flags(column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A yes/no column as 1, 0 or NaN, and the positions of values that are neither."""
    words = levels_as_text(column)
    values = np.full(len(column), np.nan)
    for i, word in enumerate(words):
        if word is None:
            continue
        if word.lower() in TRUE_WORDS:
            values[i] = 1.0
        elif word.lower() in FALSE_WORDS:
            values[i] = 0.0
    bad = np.flatnonzero(np.isnan(values) & np.array([w is not None for w in words]))
    return values, bad


def unique_finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.unique(values[np.isfinite(values)])

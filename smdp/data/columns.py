"""Reading single columns as numbers, flags or levels, and saying which rows will not go."""

from __future__ import annotations

from collections.abc import Iterable

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
    codes, distinct = pd.factorize(column)  # -1 where missing, which takes the last
    return np.array([*map(level_text, distinct), None], object)[codes]


def with_labels(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column whose values are called as the file calls them, where it does."""
    in_file = frame.attrs.get("value_labels", {}).get(name, {})
    called = {level_text(value): str(label) for value, label in in_file.items()}
    if not called:
        return frame[name]
    texts = [
        None if text is None else called.get(text, text) for text in levels_as_text(frame[name])
    ]
    return pd.Series(texts, index=frame.index, name=name, dtype=object)


def sorted_levels(levels: set[str]) -> list[str]:
    """Levels in their natural order: by number if all are numbers, else 'none' first, then a-z."""
    try:
        return sorted(levels, key=float)
    except ValueError:
        return sorted(levels, key=lambda level: (level.lower() not in NONE_WORDS, level.lower()))


def two_words(column: pd.Series) -> tuple[str, str] | None:
    """The words for 0 and 1 of a text column that has exactly two of them, else None."""
    return _two_words(column.dropna().unique()) if is_text(column) else None


def _two_words(distinct: Iterable[object]) -> tuple[str, str] | None:
    words: set[str] = set()
    for value in distinct:
        words.add(level_text(value))
        if len(words) > 2:
            return None
    if len(words) != 2:
        return None
    first, second = sorted(words, key=lambda w: (w.lower() in TRUE_WORDS, w.lower()))
    return first, second


def numbers(column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The column as floats (NaN where missing), and the positions of text that is no number.

    A text column with exactly two words (no/yes, female/male) is read as 0 and 1.
    """
    if not is_text(column):
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        return values, np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
    codes, distinct = pd.factorize(column)
    found = pd.to_numeric(pd.Series(distinct), errors="coerce")
    found = found.to_numpy(dtype=float, na_value=np.nan)
    words = _two_words(distinct)
    if words is not None and np.isnan(found).all():
        found = np.array([float(level_text(value) == words[1]) for value in distinct])
    values = np.append(found, np.nan)[codes]
    return values, np.flatnonzero(np.isnan(values) & (codes >= 0))


def flags(column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A yes/no column as 1, 0 or NaN, and the positions of values that are neither."""
    codes, distinct = pd.factorize(column)
    found = np.full(len(distinct) + 1, np.nan)
    for place, value in enumerate(distinct):
        word = level_text(value).lower()
        if word in TRUE_WORDS:
            found[place] = 1.0
        elif word in FALSE_WORDS:
            found[place] = 0.0
    values = found[codes]
    return values, np.flatnonzero(np.isnan(values) & (codes >= 0))


def unique_finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sort(pd.unique(values[np.isfinite(values)]))

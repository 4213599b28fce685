"""The cells of a column as formulas see them: numbers, text or dates, each of them perhaps missing.

Text is kept as the distinct texts and each cell's place among them, so that work on text is done
once for each text and not once for each row. A value that is the same in every row has no rows:
it is an array without dimensions, and is spread where it meets a column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import (
    infer_dtype,
    is_bool_dtype,
    is_datetime64_any_dtype,
    is_integer_dtype,
    is_numeric_dtype,
)

from smdp.data.columns import level_text
from smdp.data.files.text_values import LARGEST_EXACT

CellKind = Literal["number", "text", "date", "missing"]
MOMENT = np.dtype("datetime64[us]")
DAY = np.timedelta64(1, "D")
NO_LEVELS = np.empty(0, object)
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal", "boolean"}
_DATES = {"datetime", "datetime64", "date"}


@dataclass(frozen=True, eq=False)
class CellValues:
    """`values`: numbers (NaN: missing), moments (NaT) or places among `levels` (-1).

    What is true is 1 and what is false is 0, as in a table that was read.
    """

    kind: CellKind
    values: NDArray[Any]
    levels: NDArray[np.object_] = field(default_factory=lambda: NO_LEVELS)  # distinct

    @property
    def missing(self) -> NDArray[np.bool_]:
        if self.kind == "text":
            return self.values < 0
        return np.isnat(self.values) if self.kind == "date" else np.isnan(self.values)

    def spread(self, rows: int) -> CellValues:
        """The same with a value for each row."""
        if self.values.ndim:
            return self
        return CellValues(self.kind, np.broadcast_to(self.values, (rows,)), self.levels)

    def take(self, rows: NDArray[np.int64]) -> CellValues:
        """The cells of these rows; missing for a row below 0."""
        if len(self.values) == 0:
            return CellValues(self.kind, self.values, self.levels)
        values = self.values[np.maximum(rows, 0)]
        return CellValues(self.kind, np.where(rows < 0, _none(self.kind), values), self.levels)

    def by_level(self, work: Callable[[str], str]) -> CellValues:
        """Another text in place of each."""
        places, levels = pd.factorize(_objects([work(text) for text in self.levels]))
        return CellValues("text", _placed(places, self.values, -1), np.asarray(levels, object))

    def numbers_by_level(self, numbers: NDArray[np.float64]) -> CellValues:
        """A number in place of each text."""
        return CellValues("number", _placed(numbers, self.values, np.nan))


def constant(value: float | str | None) -> CellValues:
    if value is None:
        return CellValues("missing", np.array(np.nan))
    if isinstance(value, str):
        return CellValues("text", np.array(0), _objects([value]))
    return CellValues("number", np.array(float(value)))


def number_cells(values: Any) -> CellValues:
    return CellValues("number", np.asarray(values, np.float64))


def date_cells(values: Any) -> CellValues:
    return CellValues("date", np.asarray(values).astype(MOMENT))


def column_cells(column: pd.Series) -> CellValues:
    """The cells of a column of a table, whatever type it has. Infinite numbers stay for now."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _of_categories(column)
    if is_datetime64_any_dtype(column):
        return date_cells(_wall_clock(column).to_numpy(MOMENT))
    if is_numeric_dtype(column) or is_bool_dtype(column):
        too_long = is_integer_dtype(column) and _exceeds(column)
        return _texts(column) if too_long else number_cells(_floats(column))
    if column.dtype == object:
        kind = infer_dtype(column, skipna=True)
        if kind in _NUMBERS:
            return number_cells(_floats(column))
        if kind in _DATES:
            return date_cells(_wall_clock(pd.to_datetime(column)).to_numpy(MOMENT))
    return _texts(column)


def in_common(cells: CellValues, other: CellValues) -> tuple[CellValues, CellValues]:
    """Two of text, with their places among the same levels."""
    if cells.levels is other.levels:
        return cells, other
    known = pd.Index(cells.levels)
    found = known.get_indexer(pd.Index(other.levels, dtype=object))
    new = found < 0
    found[new] = len(known) + np.arange(new.sum())
    levels = np.concatenate([cells.levels, other.levels[new]])
    return (
        CellValues("text", cells.values, levels),
        CellValues("text", _placed(found, other.values, -1), levels),
    )


def as_text(cells: CellValues) -> CellValues:
    """Numbers as people write them (1, not 1.0), dates as 2024-03-31 or 2024-03-31 14:30."""
    if cells.kind == "text":
        return cells
    if cells.kind == "missing":
        return CellValues("text", np.full(cells.values.shape, -1))
    places, distinct = pd.factorize(cells.values.ravel())
    if cells.kind == "date":
        days = all(distinct == distinct.astype("datetime64[D]"))
        texts = [_moment_text(moment, days) for moment in pd.DatetimeIndex(distinct)]
    else:
        texts = [level_text(value) for value in distinct.tolist()]
    return CellValues("text", places.reshape(cells.values.shape), _objects(texts))


def to_column(cells: CellValues, index: pd.Index) -> pd.Series:
    """As a column of a table that was read has it: whole numbers as such if none is missing."""
    values = cells.spread(len(index)).values
    if cells.kind == "text":
        texts = np.append(cells.levels, _objects([None]))[values]
        return pd.Series(pd.array(texts, dtype="str"), index=index)
    if cells.kind == "number" and len(values):
        with np.errstate(invalid="ignore"):
            whole = (values == np.floor(values)) & (np.abs(values) < LARGEST_EXACT)
        if whole.all():
            values = values.astype(np.int64)
    return pd.Series(np.array(values), index=index)


def same(cells: CellValues, other: CellValues) -> NDArray[np.bool_]:
    """Where two columns hold the same; missing is the same as missing."""
    both = cells.missing & other.missing
    if cells.kind == other.kind and cells.kind != "text":
        return np.asarray((cells.values == other.values) | both)
    one, two = in_common(as_text(cells), as_text(other))
    return np.asarray(one.values == two.values)


def _none(kind: CellKind) -> Any:
    if kind == "text":
        return -1
    return np.datetime64("NaT", "us") if kind == "date" else np.nan


def _objects(values: list[Any]) -> NDArray[np.object_]:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _placed(values: NDArray[Any], places: NDArray[Any], none: Any) -> NDArray[Any]:
    """`values` at these places, `none` at -1."""
    return np.append(values, none)[places]


def _wall_clock(column: pd.Series) -> pd.Series:
    return column if getattr(column.dtype, "tz", None) is None else column.dt.tz_localize(None)


def _floats(column: pd.Series) -> NDArray[np.float64]:
    return pd.to_numeric(column).to_numpy(np.float64, na_value=np.nan)


def _exceeds(column: pd.Series) -> bool:
    """Whether whole numbers are too long to be told apart as numbers: they are names then."""
    if column.dropna().empty:
        return False
    return bool(max(-int(column.min()), int(column.max())) > LARGEST_EXACT)


def _of_categories(column: pd.Series) -> CellValues:
    places = column.cat.codes.to_numpy().astype(np.int64)
    inner = column_cells(pd.Series(column.cat.categories))
    if inner.kind == "missing" or len(inner.values) == 0:
        return CellValues("text", np.full(len(column), -1))
    return inner.take(places)


def _texts(column: pd.Series) -> CellValues:
    places, distinct = pd.factorize(column)
    found = CellValues("text", places.astype(np.int64), _objects(list(distinct)))
    return found.by_level(level_text)


def _moment_text(moment: pd.Timestamp, days: bool) -> str:
    if days:
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment.second else f"{moment:%Y-%m-%d %H:%M}"

"""What every result has: equality by content, and words, a table and a figure of its own.

A result is asked for these by people in a notebook. What it answers is declared where it is known
what a step says, tabulates and draws: `smdp.analysis.result_faces`, found by its name when it is
first needed, for this is the foundation that all of them stand on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from smdp.text import shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

FACES = "smdp.analysis.result_faces"
LONGEST = 400  # letters of a repr
MOST_ITEMS = 3


class Content:
    """A dataclass that is equal to another with equal content: arrays, tables, NaN and all.

    Declare it with `@dataclass(frozen=True, eq=False, repr=False)`.
    """

    def __eq__(self, other: object) -> bool:
        return same_content(self, other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(_outline(self))

    def __repr__(self) -> str:
        held: Any = self
        parts = (f"{f.name}={_brief(getattr(self, f.name))}" for f in fields(held) if f.repr)
        return shorten(f"{type(self).__name__}({', '.join(parts)})", LONGEST)


class Result(Content):
    """Something found, which can say, tabulate and draw itself."""

    def summary(self) -> str:
        """What was found, in a few sentences."""
        return str(_face(self).words())

    def to_frame(self) -> pd.DataFrame:
        """The main table."""
        return _face(self).table()

    def plot(self) -> go.Figure:
        """The main figure of its page."""
        return _face(self).figure()

    def __repr__(self) -> str:
        try:
            return str(_face(self).short())
        except Exception:
            # Shown in tracebacks and debuggers too, where a result may be half made.
            return super().__repr__()

    def _repr_html_(self) -> str:
        return str(_face(self).html())


def same_content(one: Any, other: Any) -> bool:
    """Whether two values hold the same; NaN is the same as NaN. Never raises."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _same_arrays(one, other)
    if isinstance(one, pd.DataFrame):
        return type(one) is type(other) and bool(one.equals(other))
    if isinstance(one, pd.Series):
        return type(one) is type(other) and one.name == other.name and bool(one.equals(other))
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same_content(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, tuple | list):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(map(same_content, one, other))
        )
    if is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and all(
            same_content(getattr(one, f.name), getattr(other, f.name))
            for f in fields(one)
            if f.compare
        )
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    return bool(one == other)


def _same_arrays(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    if one.shape != other.shape:
        return False
    if one.dtype == object or other.dtype == object:
        return all(map(same_content, one.ravel().tolist(), other.ravel().tolist()))
    numbers = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=numbers))


def _outline(value: Any) -> Hashable:
    """The same for equal values, and quick: of arrays and tables their size alone."""
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series):
        return value.shape
    if isinstance(value, Mapping):
        return frozenset(value)
    if isinstance(value, tuple | list):
        return tuple(map(_outline, value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = (_outline(getattr(value, f.name)) for f in fields(value) if f.compare)
        return (type(value), *parts)
    if isinstance(value, float) and value != value:
        return "NaN"
    return value if isinstance(value, Hashable) else type(value).__name__


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<array {' x '.join(map(str, value.shape)) or 'of one number'}>"
    if isinstance(value, pd.DataFrame):
        return f"<table {len(value)} x {value.shape[1]}>"
    if isinstance(value, pd.Series | Mapping):
        return f"<{len(value)} values>"
    if isinstance(value, tuple | list):
        if len(value) > MOST_ITEMS or any(is_dataclass(each) for each in value):
            return f"<{len(value)} items>"
        return f"({', '.join(map(_brief, value))}{',' * (len(value) == 1)})"
    if is_dataclass(value):
        return f"<{type(value).__name__}>"
    return shorten(repr(value))


def _face(result: Result) -> Any:
    return import_module(FACES).face_of(result)

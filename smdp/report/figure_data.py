"""The numbers behind a figure, as a table."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

COLUMNS = (
    "series", "kind", "x axis", "y axis", "x", "y", "value",
    "x lower", "x upper", "y lower", "y upper", "label",
)  # fmt: skip
ALWAYS_SHOWN = ("series", "x", "y")
TAGS = re.compile(r"<[^<>]*>")


def figure_data(figure: go.Figure) -> pd.DataFrame:
    """One row for each mark that is drawn, from the figure's own traces.

    `value` is what a colour stands for; `lower` and `upper` are the ends of intervals that are
    drawn as error bars. Columns in which there is nothing are left out.
    """
    rows = [row for trace in figure.data for row in _rows(trace, figure)]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    empty = [c for c in COLUMNS if c not in ALWAYS_SHOWN and table[c].isna().all()]
    table = table.drop(columns=empty)
    return table.infer_objects()


def _rows(trace: Any, figure: go.Figure) -> Iterator[dict[str, Any]]:
    head: dict[str, Any] = {
        "series": _text(trace.name or ""),
        "kind": trace.type,
        "x axis": _axis_title(figure, "x", trace),
        "y axis": _axis_title(figure, "y", trace),
    }
    if trace.type in ("heatmap", "contour"):
        yield from _cells(trace, head)
        return
    x, y = _values(trace, "x"), _values(trace, "y")
    count = max(len(x or ()), len(y or ()))
    labels = _values(trace, "text") if not isinstance(trace.text, str) else None
    ends = {**_ends(trace, "x", x), **_ends(trace, "y", y)}
    for place in range(count):
        point = {"x": _at(x, place), "y": _at(y, place)}
        if all(value is None for value in point.values()):
            continue
        bounds = {name: _at(values, place) for name, values in ends.items()}
        yield head | point | bounds | {"label": _at(labels, place)}


def _cells(trace: Any, head: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    z = np.asarray(trace.z, dtype=float)
    rows, columns = z.shape
    x = _values(trace, "x") or list(range(columns))
    y = _values(trace, "y") or list(range(rows))
    for i in range(rows):
        for j in range(columns):
            value = float(z[i, j])
            if np.isfinite(value):
                yield {**head, "x": x[j], "y": y[i], "value": value}


def _ends(trace: Any, which: str, values: list[Any] | None) -> dict[str, list[Any]]:
    """The ends of error bars, and of bars that do not begin at zero."""
    base = _values(trace, "base") if trace.type == "bar" else None
    along = "x" if getattr(trace, "orientation", None) == "h" else "y"
    if base is not None and which == along and values is not None:
        size = [_sum(start, length) for start, length in zip(base, values, strict=False)]
        return {f"{which} lower": base, f"{which} upper": size}
    errors = getattr(trace, f"error_{which}", None)
    if values is None or errors is None or errors.array is None or errors.visible is False:
        return {}
    above = list(errors.array)
    below = above if errors.arrayminus is None else list(errors.arrayminus)
    return {
        f"{which} lower": [_sum(v, b, -1) for v, b in zip(values, below, strict=False)],
        f"{which} upper": [_sum(v, a) for v, a in zip(values, above, strict=False)],
    }


def _sum(value: Any, other: Any, sign: int = 1) -> float | None:
    if value is None or other is None:
        return None
    return float(value) + sign * float(other)


def _values(trace: Any, name: str) -> list[Any] | None:
    """A trace's array as plain values, names as people read them; None if it has none."""
    try:
        found = trace[name]
    except (KeyError, ValueError):
        return None
    if found is None or isinstance(found, str):
        return None
    values = found.tolist() if hasattr(found, "tolist") else found
    values = values if isinstance(values, list | tuple) else [values]
    return [_text(v) if isinstance(v, str) else _number(v) for v in values]


def _number(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _at(values: list[Any] | None, place: int) -> Any:
    return None if values is None or place >= len(values) else values[place]


def _axis_title(figure: go.Figure, which: str, trace: Any) -> str | None:
    """What the axis says of its numbers."""
    own = getattr(trace, f"{which}axis", None) or which
    axis = figure.layout[own.replace(which, f"{which}axis", 1)]
    return _text(axis.title.text) if axis.title.text else None


def _text(text: str) -> str:
    """A label without markup, as it is read."""
    return html.unescape(TAGS.sub(" ", text)).strip()

"""What a figure or a table shows, in a sentence for people who hear the page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

KINDS = {
    "heatmap": "Heatmap",
    "bar": "Bar chart",
    "scatter": "Chart",
    "contour": "Map",
    "box": "Box plot",
}
MOST_NAMED = 8
TAG = re.compile(r"<[^>]*>")


def figure_words(figure: go.Figure) -> str:
    """Its kind, its axes, its colours and its groups, as they are written in it."""
    shown = [trace for trace in figure.data if trace.visible is not False]
    kinds = _each_once(KINDS.get(trace.type, "Chart") for trace in shown)
    bars = [trace.colorbar for trace in shown if getattr(trace, "colorbar", None) is not None]
    parts = {
        "vertical": [axis.title.text for axis in figure.select_yaxes()],
        "horizontal": [axis.title.text for axis in figure.select_xaxes()],
        "colour": [bar.title.text for bar in bars],
        "groups": [trace.name for trace in shown if trace.showlegend is not False],
    }
    told = [
        f"{part}: {_listed(names)}" for part, found in parts.items() if (names := _each_once(found))
    ]
    return ". ".join([" and ".join(kinds) or "Empty chart", *told]) + "."


def table_words(columns: Iterable[object]) -> str:
    """The columns that it has."""
    return f"Table: {_listed([str(column) for column in columns])}."


def _each_once(texts: Iterable[str | None]) -> list[str]:
    """Without HTML, in order of appearance."""
    plain = (html.unescape(TAG.sub(" ", text)).strip() for text in texts if text)
    return [text for text in dict.fromkeys(plain) if text]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more

"""Estimates with their intervals as dots and lines, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from smdp.figures.style import NORMAL, labels, new_figure

#: Letters of a row's name: several policies of one kind differ in the middle of theirs.
LONGEST_NAME = 40
LETTER = 8  # pixels, of the numbers beside
#: Of a vertical axis with names; invisible ticks keep them off the figure.
CATEGORIES: dict[str, Any] = {
    "type": "category",
    "showgrid": False,
    "ticks": "outside",
    "ticklen": 8,
    "tickcolor": "rgba(0,0,0,0)",
}


@dataclass(frozen=True)
class Row:
    """One dot with its interval, and `text` beside it; without an interval (NaN) it is open."""

    name: str
    estimate: float
    lower: float
    upper: float
    text: str
    colour: str
    symbol: str = "circle"
    hover: str = ""

    @property
    def bounded(self) -> bool:
        return bool(np.isfinite(self.lower) and np.isfinite(self.upper))


def dots(
    rows: Sequence[Row],
    least: int,
    beside: tuple[float, ...] = (),
    *,
    right: int = 185,
    log: bool = False,
) -> go.Figure:
    """Dots with horizontal intervals, the first on top, their numbers in a column to the right.

    `beside`: values that must be in sight. `right`: the pixels of the column. `log`: for ratios.
    """
    figure = new_figure(height=max(least, 110 + 46 * len(rows)))
    longest = max(len(line) for row in rows for line in row.text.split("<br>"))
    figure.update_layout(margin={"r": max(right, LETTER * longest)})
    names = labels([row.name for row in rows], LONGEST_NAME)
    for place, row in enumerate(rows):
        name = names[row.name]
        if row.bounded:
            figure.add_scatter(
                x=[row.lower, row.upper],
                y=[name, name],
                mode="lines",
                line={"width": 3, "color": row.colour},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_scatter(
            x=[row.estimate],
            y=[name],
            mode="markers",
            marker={
                "symbol": row.symbol + ("" if row.bounded else "-open"),
                "size": 14,
                "color": row.colour,
                "line": {"width": 2, "color": row.colour},
            },
            hovertemplate=f"{name}: {row.hover or row.text}<extra></extra>",
            showlegend=False,
        )
        figure.add_annotation(
            x=1.02,
            xref="paper",
            xanchor="left",
            y=place,
            text=row.text,
            showarrow=False,
            font=NORMAL,
        )
    figure.update_yaxes(range=[len(rows) - 0.5, -0.5], tickfont=NORMAL, **CATEGORIES)
    ends = [end for row in rows for end in (row.estimate, row.lower, row.upper)]
    shown = np.array([*ends, *beside])
    if log:
        figure.update_xaxes(type="log", range=padded(np.log10(shown)))
    else:
        figure.update_xaxes(range=padded(shown))
    return figure


def padded(values: NDArray[np.float64]) -> list[float]:
    """A range that leaves the outermost marks some room."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.06 * (high - low) or 0.5 * max(abs(high), 1e-6)
    return [low - room, high + room]

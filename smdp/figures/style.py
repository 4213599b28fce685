"""One look for all figures: fonts, colours that colour-blind people can tell apart, safe text."""

from __future__ import annotations

import html

import plotly.graph_objects as go

# Okabe & Ito (2008), ordered so that the first ones also differ in greyscale.
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#F0E442", "#8C8C8C",
)  # fmt: skip
ACTION_COLOURS = (SKY, BLUE, ORANGE, PURPLE, GREEN, VERMILION, YELLOW)
SEQUENTIAL = [[0.0, "#F4F6F8"], [0.25, "#BFD7EA"], [0.6, "#4C97C4"], [1.0, "#0B3C5D"]]
FONT = "Inter, 'Helvetica Neue', Arial, sans-serif"


def new_figure(height: int = 420) -> go.Figure:
    """An empty figure with the house's margins, fonts and quiet axes."""
    figure = go.Figure()
    axis = {"showline": False, "zeroline": False, "gridcolor": "rgba(128,128,128,0.18)",
            "automargin": True, "title": {"standoff": 12}}  # fmt: skip
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 60, "r": 20, "t": 30, "b": 50},
        font={"family": FONT, "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        xaxis=axis,
        yaxis=axis,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "title": {"text": ""}},
        hoverlabel={"font": {"family": FONT, "size": 13}},
    )
    return figure


def plain(text: object, limit: int = 28) -> str:
    """A name as a label: never markup, and cut where it would push the figure aside."""
    name = str(text)
    return html.escape(name if len(name) <= limit else name[: limit - 1] + "…")

"""The figure of the Markov check: p-values by look-back, beside the effect over the study."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.figures.style import (
    ACTION_COLOURS,
    GREEN,
    GREY,
    NORMAL,
    SMALL,
    VERMILION,
    faint,
    new_figure,
    plain,
)
from smdp.markov.markov_check import MarkovCheck
from smdp.markov.stationarity import EFFECT, UTILITY
from smdp.text import interval_text, p_text
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals

SMALLEST_SHOWN = 1e-4
HIGH = 0.3  # above this, what is written at a point stands below it
HEIGHT = 430
#: Where the two panels end and begin.
LEFT_END, RIGHT_START = 0.4, 0.53
BAND = 0.18  # of a curve's colour


def markov_figure(found: MarkovCheck, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """Left the ladder; right the effect of each treatment over the study, if there is one."""
    figure = new_figure(height=HEIGHT)
    both = not found.effect.empty
    axis = figure.layout.xaxis.to_plotly_json()
    if both:
        figure.update_layout(
            xaxis={"domain": [0, LEFT_END]},
            xaxis2={**axis, "domain": [RIGHT_START, 1], "anchor": "y2"},
            yaxis2={**figure.layout.yaxis.to_plotly_json(), "anchor": "x2"},
        )
    figure.update_layout(margin={"t": 76})
    _draw_ladder(figure, found)
    if both:
        _draw_effect(figure, found, outcome)
    return figure


def _draw_ladder(figure: go.Figure, found: MarkovCheck) -> None:
    ladder, level = found.ladder, found.settings.level
    for column, name, colour, symbol in (
        ("p_value", "as it is", GREEN, "circle"),
        ("own_p_value", "own levels allowed for", GREY, "square"),
    ):
        p = ladder[column].to_numpy(dtype=float)
        figure.add_scatter(
            x=ladder["look_back"],
            y=np.clip(p, SMALLEST_SHOWN, 1),
            mode="lines+markers",
            name=name,
            line={
                "color": colour,
                "width": 2,
                "dash": "solid" if column == "p_value" else "dot",
            },
            marker={"size": 11, "symbol": symbol},
            customdata=[p_text(each) for each in p],
            hovertemplate="Look-back %{x}: %{customdata}<extra>" + name + "</extra>",
            cliponaxis=False,
        )
    if found.look_back is not None:
        own = float(ladder["p_value"].iloc[found.look_back])
        figure.add_scatter(
            x=[found.look_back],
            y=[max(own, SMALLEST_SHOWN)],
            mode="markers+text",
            text=["enough"],
            textposition="bottom center" if own > HIGH else "top center",
            textfont=SMALL,
            name="enough",
            showlegend=False,
            marker={"size": 21, "symbol": "circle-open", "color": VERMILION, "line": {"width": 3}},
            cliponaxis=False,
            hoverinfo="skip",
        )
    figure.add_shape(
        type="line",
        xref="x domain",
        x0=0,
        x1=1,
        y0=level,
        y1=level,
        line={"dash": "dash", "width": 1.5, "color": GREY},
    )
    figure.add_annotation(
        text=f"level {level:g}",
        xref="x domain",
        x=1,
        xanchor="right",
        y=float(np.log10(level)),  # as a log axis wants it
        yanchor="top",
        showarrow=False,
        font=SMALL,
    )
    figure.update_layout(
        xaxis={
            "title": {"text": "Look-back (earlier decisions known)"},
            "dtick": 1,
            "range": [-0.35, found.longest + 0.35],
        },
        yaxis={
            "title": {"text": "p-value"},
            "type": "log",
            "range": [np.log10(SMALLEST_SHOWN) - 0.15, 0.08],
            "tickvals": [0.0001, 0.001, 0.01, 0.05, 0.1, 1],
            "ticktext": ["≤ .0001", ".001", ".01", ".05", ".1", "1"],
        },
        legend={"x": 0, "font": SMALL, "tracegroupgap": 4},
    )
    _title(figure, "How far back?", 0.0)


def _draw_effect(figure: go.Figure, found: MarkovCheck, outcome: OutcomeName) -> None:
    rows = found.effect
    digits = decimals([float(((rows["upper"] - rows["lower"]) / 4).max())])
    for place, (action, own) in enumerate(rows.groupby("action", sort=False)):
        colour = ACTION_COLOURS[(1 + place) % len(ACTION_COLOURS)]
        name = plain(action_name(action))
        figure.add_scatter(
            x=[*own["decision"], *own["decision"][::-1]],
            y=[*own["upper"], *own["lower"][::-1]],
            fill="toself",
            fillcolor=faint(colour, BAND),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            xaxis="x2",
            yaxis="y2",
        )
        figure.add_scatter(
            x=own["decision"],
            y=own["estimate"],
            mode="lines",
            line={"width": 3, "color": colour},
            name=name,
            legend="legend2",
            customdata=[
                interval_text(e, low, high, digits)
                for e, low, high in zip(own["estimate"], own["lower"], own["upper"], strict=True)
            ],
            hovertemplate="Decision %{x}: %{customdata}<extra>" + name + "</extra>",
            xaxis="x2",
            yaxis="y2",
        )
    figure.add_shape(
        type="line",
        xref="x2 domain",
        yref="y2",
        x0=0,
        x1=1,
        y0=0,
        y1=0,
        line={"width": 1, "color": GREY},
    )
    against = plain(action_name(rows["against"].iloc[0]))
    figure.update_layout(
        xaxis2={"title": {"text": "Decision"}},
        yaxis2={"title": {"text": f"Effect on {plain(outcome.the_title, 44)}, against {against}"}},
    )
    figure.update_layout(
        legend2={**figure.layout.legend.to_plotly_json(), "x": RIGHT_START, "y": 1.02}
    )
    p = found.p_value(EFFECT, UTILITY)
    told = "" if p is None else f" (change: {p_text(p)})"
    _title(figure, f"Effect over the study{told}", RIGHT_START)


def _title(figure: go.Figure, text: str, x: float) -> None:
    figure.add_annotation(
        text=f"<b>{text}</b>",
        xref="paper",
        yref="paper",
        x=x,
        y=1,
        yshift=52,
        xanchor="left",
        yanchor="top",
        showarrow=False,
        font=NORMAL,
    )

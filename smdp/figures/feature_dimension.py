"""Figures of the Feature dimension page: the exact and the practical question, side by side."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.figures.dimension_by_test import dimension_figure_by_test, loss_figure_by_test
from smdp.figures.style import BLUE, GREY, NORMAL, SMALL, VERMILION, new_figure
from smdp.text import percent
from smdp.words.candidates import (
    at_least_text,
    between_text,
    chosen_by_one_test,
    deciding_p,
    p_or_not_tested,
    tried_in_pass,
    value_is_known,
    value_text,
)

HEIGHT = 420
SMALLEST_SHOWN = 1e-4
#: Where the two panels end and begin.
LEFT_END, RIGHT_START = 0.43, 0.57
#: In percent. Intervals are drawn no further than this, shares as far as they go.
LOWEST_BOUND, HIGHEST_BOUND = -25, 150
#: At least this much of the axis of shares is shown.
LOW_SHOWN, HIGH_SHOWN = 75, 105
MOST_TICKS = 12
#: In both panels what passes is filled.
FAILS, PASSES = "does not pass", "passes"
RIGHT = {"xaxis": "x2", "yaxis": "y2"}
#: The ring around what was chosen.
RING = {"size": 21, "symbol": "circle-open", "color": VERMILION, "line": {"width": 3}}


def dimension_figure(fitted: FittedFeatureMap, number: int) -> go.Figure:
    """Of each dimension of one pass: is it rejected, what does it keep, and the choice."""
    if chosen_by_one_test(fitted):
        return dimension_figure_by_test(fitted, number)
    tried = tried_in_pass(fitted, number)
    figure = new_figure(height=HEIGHT)
    axis = figure.layout.xaxis.to_plotly_json()
    figure.update_layout(
        margin={"t": 92, "r": 62},
        xaxis={"domain": [0, LEFT_END], **_dimensions(tried)},
        xaxis2={**axis, "domain": [RIGHT_START, 1], "anchor": "y2", **_dimensions(tried)},
        yaxis2={**figure.layout.yaxis.to_plotly_json(), "anchor": "x2"},
        legend={"font": SMALL},
    )
    figure.update_xaxes(title_text="Number of features")
    _draw_exact(figure, fitted, tried)
    _draw_practical(figure, fitted, tried)
    return figure


def _draw_exact(figure: go.Figure, fitted: FittedFeatureMap, tried: pd.DataFrame) -> None:
    column, level = deciding_p(fitted), fitted.settings.level
    tested = tried[tried[column].notna()]
    p = tested[column].to_numpy(dtype=float)
    shown = np.clip(p, SMALLEST_SHOWN, 1)
    figure.add_scatter(
        x=tested["dimension"],
        y=shown,
        mode="lines",
        name="p-value",
        line={"color": BLUE, "width": 2},
        showlegend=False,
        hoverinfo="skip",
    )
    rejected = tested["rejected"].to_numpy(dtype=bool)
    for name, own in ((FAILS, rejected), (PASSES, ~rejected)):
        figure.add_scatter(
            x=tested["dimension"][own],
            y=shown[own],
            mode="markers",
            name=name,
            marker=_marker(name),
            customdata=[p_or_not_tested(each) for each in p[own]],
            hovertemplate="%{x} features: %{customdata}<extra></extra>",
            cliponaxis=False,
        )
    chosen = tested["chosen"].to_numpy(dtype=bool)
    figure.add_scatter(
        x=tested["dimension"][chosen],
        y=shown[chosen],
        mode="markers",
        name="chosen",
        marker=RING,
        cliponaxis=False,
        hoverinfo="skip",
    )
    _line(figure, level, "")
    figure.add_annotation(
        text=f"level {level:g}",
        xref="x domain",
        x=0,  # small dimensions are usually far below the level
        y=float(np.log10(level)),  # as a log axis wants it
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font=SMALL,
    )
    figure.update_layout(
        yaxis={
            "title": {"text": "p-value"},
            "type": "log",
            "range": [np.log10(SMALLEST_SHOWN) - 0.15, 0.1],
            "tickvals": [0.0001, 0.001, 0.01, 0.05, 0.1, 1],
            "ticktext": ["≤ .0001", ".001", ".01", ".05", ".1", "1"],
        }
    )
    _title(figure, "<b>Exact:</b> p-value<br>by number of features", 0.0)


def _draw_practical(figure: go.Figure, fitted: FittedFeatureMap, tried: pd.DataFrame) -> None:
    known = tried[np.isfinite(tried["share_kept"].astype(float))]
    x, share = known["dimension"], 100 * known["share_kept"].astype(float)
    lows, highs = 100 * known["share_low"], 100 * known["share_high"]
    _title(
        figure,
        "<b>Practical:</b> share that is kept of what<br>the state says of the outcome",
        RIGHT_START,
    )
    if known.empty:
        figure.add_annotation(
            text="No answer: out of fold, the state<br>explains nothing of the outcome.",
            xref="paper",
            yref="paper",
            x=(RIGHT_START + 1) / 2,
            y=0.5,
            xanchor="center",
            showarrow=False,
            font=NORMAL,
        )
        return
    low, high = _range_of_shares(share, lows, highs)
    figure.update_layout(
        yaxis2={
            "title": {"text": "Share kept (95 % interval)"},
            "range": [low, high],
            "ticksuffix": " %",
            "nticks": 8,
        }
    )
    wanted = 100 * (1 - fitted.settings.negligible)
    _line(figure, wanted, "2")
    figure.add_annotation(
        text=f"enough:<br>{wanted:g} %",
        xref="x2 domain",
        yref="y2",
        x=1,
        xshift=4,
        y=wanted,
        xanchor="left",
        align="left",
        showarrow=False,
        font=SMALL,
    )
    _draw_intervals(figure, x, lows, highs, (low, high))
    enough = known["practical"].to_numpy(dtype=bool)
    told = [
        f"{percent(row.share_kept)} ({between_text(row.share_low, row.share_high)}), at least "
        f"{at_least_text(row.share_at_least)}"
        for row in known.itertuples()
    ]
    for name, own in ((FAILS, ~enough), (PASSES, enough)):
        figure.add_scatter(
            x=x[own],
            y=share[own],
            mode="markers",
            name=name,
            showlegend=False,
            marker=_marker(name),
            customdata=[text for text, one in zip(told, own, strict=True) if one],
            hovertemplate="%{x} features: %{customdata}<extra></extra>",
            cliponaxis=False,
            **RIGHT,
        )
    bound = 100 * known["share_at_least"]
    figure.add_scatter(
        x=x,
        y=bound.where(bound.between(low, high)),
        mode="markers",
        name="at least (one-sided)",
        marker={"size": 14, "symbol": "line-ew-open", "color": BLUE, "line": {"width": 3}},
        hoverinfo="skip",
        **RIGHT,
    )
    chosen = known["chosen"].to_numpy(dtype=bool)
    figure.add_scatter(
        x=x[chosen],
        y=share[chosen],
        mode="markers",
        name="chosen",
        showlegend=False,
        marker=RING,
        cliponaxis=False,
        hoverinfo="skip",
        **RIGHT,
    )


def _draw_intervals(
    figure: go.Figure, x: pd.Series, lows: pd.Series, highs: pd.Series, edges: tuple[float, float]
) -> None:
    """To the edge of the panel, and with an arrow there, where they go on."""
    shown = [value.clip(*edges) for value in (lows, highs)]
    figure.add_scatter(
        x=np.repeat(x, 3),
        y=np.column_stack([*shown, np.full(len(x), np.nan)]).ravel(),
        mode="lines",
        name="95 % interval",
        showlegend=False,
        line={"color": BLUE, "width": 2},
        hoverinfo="skip",
        **RIGHT,
    )
    inside = 0.02 * (edges[1] - edges[0])
    for symbol, cut, at in (
        ("triangle-down", lows < edges[0], edges[0] + inside),
        ("triangle-up", highs > edges[1], edges[1] - inside),
    ):
        if cut.any():
            figure.add_scatter(
                x=x[cut],
                y=np.full(int(cut.sum()), at),
                mode="markers",
                name="goes on",
                showlegend=False,
                marker={"size": 10, "symbol": symbol, "color": BLUE},
                hoverinfo="skip",
                **RIGHT,
            )


def _range_of_shares(share: pd.Series, lows: pd.Series, highs: pd.Series) -> tuple[float, float]:
    """All shares, and their intervals unless they go too far."""
    low = min([LOW_SHOWN, *share, *lows[np.isfinite(lows)].clip(lower=LOWEST_BOUND)])
    high = max([HIGH_SHOWN, *share, *highs[np.isfinite(highs)].clip(upper=HIGHEST_BOUND)])
    room = 0.04 * (high - low)
    return low - room, high + room


def _dimensions(tried: pd.DataFrame) -> dict[str, object]:
    if tried.empty:
        return {"dtick": 1}
    first, last = int(tried["dimension"].min()), int(tried["dimension"].max())
    step = max(1, math.ceil((last - first + 1) / MOST_TICKS))
    aside = 0.4 if last - first < MOST_TICKS else 0.04 * (last - first)
    return {"dtick": step, "tick0": first, "range": [first - aside, last + aside]}


def _marker(name: str) -> dict[str, object]:
    if name == PASSES:
        return {"size": 11, "symbol": "circle", "color": BLUE}
    return {"size": 11, "symbol": "circle-open", "color": BLUE, "line": {"width": 2}}


def _line(figure: go.Figure, at: float, panel: str) -> None:
    """Across a panel."""
    figure.add_shape(
        type="line",
        xref=f"x{panel} domain",
        yref=f"y{panel}",
        x0=0,
        x1=1,
        y0=at,
        y1=at,
        line={"dash": "dash", "width": 1.5, "color": GREY},
    )


def _title(figure: go.Figure, text: str, x: float) -> None:
    figure.add_annotation(
        text=text,
        xref="paper",
        yref="paper",
        x=x,
        y=1,
        yshift=70,
        xanchor="left",
        yanchor="top",
        align="left",
        showarrow=False,
        font=NORMAL,
    )


def loss_figure(fitted: FittedFeatureMap, number: int) -> go.Figure:
    """How much of the outcome of people left out each dimension explains, and the full state."""
    if chosen_by_one_test(fitted):
        return loss_figure_by_test(fitted, number)
    tried = tried_in_pass(fitted, number)
    figure = new_figure(height=340)
    for column, name, colour, dash, symbol in (
        ("explained_by_state", "full state", GREY, "dash", "square"),
        ("explained", "features", BLUE, "solid", "circle"),
    ):
        figure.add_scatter(
            x=tried["dimension"],
            y=100 * tried[column],
            mode="lines+markers",
            name=name,
            line={"color": colour, "dash": dash},
            marker={"size": 8, "symbol": symbol},
            hovertemplate="%{x} features: %{y:.1f} %<extra>" + name + "</extra>",
        )
    figure.update_layout(
        xaxis={"title": {"text": "Number of features"}, **_dimensions(tried)},
        yaxis={
            "title": {"text": "Outcome's variance explained<br>out of fold"},
            "ticksuffix": " %",
            "rangemode": "tozero",
        },
    )
    return figure


def value_figure(fitted: FittedFeatureMap, number: int) -> go.Figure | None:
    """What a decision by the features costs, by their number; None where nothing is known of it."""
    tried = tried_in_pass(fitted, number)
    known = tried[[value_is_known(row) for _, row in tried.iterrows()]]
    if known.empty:
        return None
    figure = new_figure(height=340)
    lost = known["value_lost"]
    figure.add_scatter(
        x=known["dimension"],
        y=lost,
        mode="markers",
        name="cost of a decision (95 % interval)",
        marker=_marker(PASSES),
        error_y={
            "array": known["value_lost_high"] - lost,
            "arrayminus": lost - known["value_lost_low"],
            "color": BLUE,
            "thickness": 2,
            "width": 0,
        },
        customdata=[
            f"{value_text(row)}, same choice at {percent(row['same_choice'])}"
            for _, row in known.iterrows()
        ],
        hovertemplate="%{x} features: %{customdata}<extra></extra>",
        cliponaxis=False,
    )
    chosen = known[known["chosen"].astype(bool)]
    figure.add_scatter(
        x=chosen["dimension"],
        y=chosen["value_lost"],
        mode="markers",
        name="chosen",
        marker=RING,
        cliponaxis=False,
        hoverinfo="skip",
    )
    _line(figure, 0, "")
    figure.update_layout(
        xaxis={"title": {"text": "Number of features"}, **_dimensions(tried)},
        yaxis={"title": {"text": "Outcome lost by one decision<br>(0: as by all variables)"}},
    )
    return figure

"""Figures of differences between two actions' Q-values."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.data.variables import Variable
from smdp.explanation.q_differences import (
    DifferenceCurve,
    DifferencePlane,
    ObservedDifferences,
    PolicyComparison,
)
from smdp.figures.q_functions import action_colour
from smdp.figures.style import BLUE, DIVERGING, GREY, colour_bar, new_figure, plain
from smdp.words.explanation import action_name

BINS = 40
MOST_POINTS = 1500


def difference_title(action: str, reference: str) -> str:
    return f"Q({plain(action, 18)}) − Q({plain(reference, 18)})"


def differences_histogram(found: ObservedDifferences, actions: tuple[str, ...]) -> go.Figure:
    """Where each of two actions is ahead, and where they cannot be told apart."""
    values = found.difference
    width = max(float(np.ptp(values)), 1e-9) / BINS
    start = np.floor(values.min() / width) * width  # so that zero is an edge
    edges = {"start": float(start), "end": float(values.max() + width), "size": float(width)}
    ahead = values > 0
    figure = new_figure(height=360)
    for chosen, name, colour, pattern in (
        (
            ~ahead & found.certain,
            f"{action_name(found.reference)} ahead",
            action_colour(actions.index(found.reference)),
            "",
        ),
        (~found.certain, "not told apart", GREY, "/"),
        (
            ahead & found.certain,
            f"{action_name(found.action)} ahead",
            action_colour(actions.index(found.action)),
            "",
        ),
    ):
        if chosen.any():
            figure.add_histogram(
                x=values[chosen],
                xbins=edges,
                name=f"{plain(name)} ({round(100 * chosen.mean())} %)",
                marker={"color": colour, "pattern": {"shape": pattern}},
                hovertemplate="%{x}: %{y} decisions<extra></extra>",
            )
    figure.update_layout(barmode="stack", bargap=0.04, legend={"traceorder": "normal"})
    figure.add_vline(x=0, line={"width": 1.5, "color": GREY})
    figure.update_xaxes(
        title_text=f"{difference_title(found.action, found.reference)}, discounted utility"
    )
    figure.update_yaxes(title_text="Decisions")
    return figure


def curve_figure(curve: DifferenceCurve) -> go.Figure:
    """The average difference over one variable or feature, with its band and the values seen.

    The axis has the variable's own units.
    """
    variable = curve.variable or Variable(curve.name)
    at, seen = variable.own(curve.at), variable.own(curve.seen)
    title = variable.in_own_units().title
    few = len(at) <= 3
    figure = new_figure(height=400)
    if not np.isnan(curve.lower).any() and not few:
        figure.add_scatter(
            x=np.concatenate([at, at[::-1]]),
            y=np.concatenate([curve.upper, curve.lower[::-1]]),
            fill="toself",
            fillcolor="rgba(0,114,178,0.16)",
            mode="lines",
            line={"width": 0},
            name="95 % band",
            hoverinfo="skip",
        )
    texts = [
        f"{e:.2f}" if np.isnan(lo) else f"{e:.2f} ({lo:.2f} to {hi:.2f})"
        for e, lo, hi in zip(curve.estimate, curve.lower, curve.upper, strict=True)
    ]
    figure.add_scatter(
        x=at,
        y=curve.estimate,
        mode="markers" if few else "lines+markers",
        line={"color": BLUE, "width": 2.5},
        marker={"size": 10 if few else 5, "color": BLUE},
        error_y={
            "type": "data",
            "array": curve.upper - curve.estimate,
            "visible": few and not np.isnan(curve.upper).any(),
            "color": BLUE,
        },
        name="average difference",
        customdata=texts,
        hovertemplate=f"{plain(curve.name)} %{{x:.4g}}: %{{customdata}}<extra></extra>",
    )
    distinct = np.unique(seen)
    bins = {"nbinsx": 30}
    if len(distinct) <= 25:
        step = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
        start, end = float(distinct[0] - step / 2), float(distinct[-1] + step / 2)
        bins = {"xbins": {"start": start, "end": end, "size": step}}  # type: ignore[dict-item]
    figure.add_histogram(
        x=seen,
        yaxis="y2",
        marker={"color": "rgba(140,140,140,0.55)"},
        name="decisions seen",
        hovertemplate="%{x}: %{y} decisions<extra></extra>",
        **bins,
    )
    axis = figure.layout.yaxis.to_plotly_json()
    figure.update_layout(
        yaxis={"domain": [0.24, 1]},
        yaxis2={**axis, "domain": [0, 0.17], "nticks": 3, "rangemode": "tozero"},
        bargap=0.1,
    )
    figure.add_hline(y=0, line={"width": 1.5, "color": GREY})
    figure.update_layout(
        xaxis={"title": {"text": plain(title, 40)}, "anchor": "y2"},
        yaxis={"title": {"text": difference_title(curve.action, curve.reference)}},
        yaxis2={"title": {"text": "Decisions"}},
    )
    if few:
        pad = 0.5 * float(np.ptp(at)) or 1.0
        figure.update_xaxes(tickvals=at, range=[at[0] - pad, at[-1] + pad])
    return figure


def plane_figure(plane: DifferencePlane, actions: tuple[str, ...]) -> go.Figure:
    """The average difference over two features, empty where hardly any decision was seen."""
    largest = float(np.nanmax(np.abs(plane.difference), initial=1e-12))
    figure = new_figure(height=480)
    figure.add_heatmap(
        x=plane.x,
        y=plane.y,
        z=plane.difference,
        zmid=0,
        zmin=-largest,
        zmax=largest,
        colorscale=DIVERGING,
        hoverongaps=False,
        colorbar=colour_bar(difference_title(plane.action, plane.reference)),
        hovertemplate="%{x:.2f}, %{y:.2f}: %{z:.2f}<extra></extra>",
    )
    figure.add_contour(
        x=plane.x,
        y=plane.y,
        z=plane.difference,
        contours={"start": 0, "end": 0, "size": 1, "coloring": "none"},
        line={"color": "#333333", "width": 2, "dash": "dash"},
        showscale=False,
        showlegend=False,
        hoverinfo="skip",
    )
    count = len(plane.seen)
    some = np.linspace(0, count - 1, min(MOST_POINTS, count)).astype(int)
    symbols = ("circle-open", "circle", "diamond", "square", "x", "triangle-up", "star")
    for place, label in enumerate(actions):
        own = some[plane.taken[some] == place]
        figure.add_scatter(
            x=plane.seen[own, 0],
            y=plane.seen[own, 1],
            mode="markers",
            name=f"{plain(action_name(label))} was given",
            marker={
                "size": 5,
                "symbol": symbols[place % len(symbols)],
                "color": "rgba(40,40,40,0.55)",
            },
            hoverinfo="skip",
        )
    figure.update_xaxes(title_text=plain(plane.across, 40), showgrid=False)
    figure.update_yaxes(title_text=plain(plane.up, 40), showgrid=False)
    return figure


def comparison_figure(found: PolicyComparison, first: str, second: str) -> go.Figure:
    """The difference by one policy against that by another, a point a decision."""
    figure = new_figure(height=460)
    count = len(found.first)
    some = np.linspace(0, count - 1, min(MOST_POINTS, count)).astype(int)
    x, y = found.first[some], found.second[some]
    same = (x > 0) == (y > 0)
    for chosen, name, colour, symbol in (
        (same, "same one ahead", BLUE, "circle"),
        (~same, "opposite", "#D55E00", "x"),
    ):
        share = (found.first > 0) == (found.second > 0)
        percent = 100 * float((share if name == "same one ahead" else ~share).mean())
        figure.add_scatter(
            x=x[chosen],
            y=y[chosen],
            mode="markers",
            name=f"{name} ({percent:.0f} %)",
            marker={"size": 6, "color": colour, "opacity": 0.6, "symbol": symbol},
            hovertemplate="%{x:.2f} against %{y:.2f}<extra></extra>",
        )
    for add in (figure.add_vline, figure.add_hline):
        add(**{"x" if add == figure.add_vline else "y": 0}, line={"width": 1.5, "color": GREY})
    title = difference_title(found.action, found.reference)
    figure.update_xaxes(title_text=f"{title}, {plain(first, 56)}")
    figure.update_yaxes(title_text=f"{title},<br>{plain(second, 56)}")
    return figure

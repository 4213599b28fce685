"""Figures of the Weights page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.data.variables import GROUPS
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.figures.style import (
    BLUE,
    DIVERGING,
    GREY,
    SMALL,
    VERMILION,
    colour_bar,
    labels,
    new_figure,
    plain,
)
from smdp.text import percent
from smdp.words.weights import STABLE, SURE, UNSTABLE, marks_legend, sign_shares

if TYPE_CHECKING:
    from smdp.feature_map.stability import FeatureMapStability  # torch would come along

Order = Literal["by size", "by group", "by name", "as in the data"]
ORDERS: tuple[Order, ...] = ("by size", "by group", "by name", "as in the data")
#: Pixels of a colour bar whose numbers do not touch.
LEAST_BAR = 110
# As far as they fit into the columns.
MOST_IN_ONE_LINE, MOST_NUMBERED_COLUMNS, MOST_MARKED_COLUMNS, MOST_NAMED_COLUMNS = 9, 16, 40, 45


def shown_weights(
    feature_map: FittedFeatureMap,
    order: Order = "by size",
    hide_zeros: bool = True,
) -> pd.DataFrame:
    """The weights, feature x variable, in the order asked for; by size within a group."""
    weights = feature_map.weights
    return weights[_arranged(feature_map, weights.abs().max(axis=0), order, hide_zeros)]


def weights_heatmap(
    feature_map: FittedFeatureMap,
    order: Order = "by size",
    hide_zeros: bool = True,
    stability: FeatureMapStability | None = None,
) -> go.Figure:
    """What each feature is made of: a row a feature, a column a variable, white at zero."""
    weights = shown_weights(feature_map, order, hide_zeros)
    largest = float(np.abs(weights.to_numpy()).max(initial=1e-12))
    figure = new_figure(height=max(280, 150 + 46 * len(weights)) + 20 * (stability is not None))
    figure.add_heatmap(
        z=weights.to_numpy(),
        x=list(labels(weights.columns).values()),
        y=list(labels(weights.index).values()),
        zmid=0,
        zmin=-largest,
        zmax=largest,
        colorscale=DIVERGING,
        xgap=1,
        ygap=1,
        text=_cell_texts(weights, stability),
        texttemplate="%{text}",
        textfont={"size": 12},
        customdata=_cell_notes(weights, stability),
        colorbar=colour_bar(
            "weight" if len(feature_map.layers) == 1 else "gradient",
            lenmode="pixels",  # long names leave few rows little height
            len=max(LEAST_BAR, 37 * len(weights)),
        ),
        hovertemplate="%{y}, %{x}: %{z:.3f}%{customdata}<extra></extra>",
    )
    title = _weights_title(feature_map)
    columns = weights.shape[1]
    if stability is not None and columns <= MOST_MARKED_COLUMNS:
        title += f"<br>{marks_legend(stability)}"
    figure.update_xaxes(title_text=title, type="category", showgrid=False)
    crowded = max(map(len, weights.columns), default=0) * columns > 70
    figure.update_xaxes(tickangle=-90 if columns > 20 else -40 if crowded else 0)
    if columns <= MOST_NAMED_COLUMNS:
        figure.update_xaxes(dtick=1)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    if order == "by group":
        for group, first, last in _spans(_groups(feature_map, weights.columns)):
            if first:
                figure.add_vline(x=first - 0.5, line={"width": 2, "color": GREY})
            figure.add_annotation(
                text=plain(group),
                x=(first + last) / 2,
                y=1,
                yref="paper",
                yanchor="bottom",
                showarrow=False,
                font=SMALL,
            )
    return figure


def feature_bars(
    feature_map: FittedFeatureMap,
    feature: str,
    order: Order = "by size",
    hide_zeros: bool = True,
    stability: FeatureMapStability | None = None,
) -> go.Figure:
    """One feature's weights: what raises it to the right, what lowers it to the left.

    With `stability`, a line spans the interval of each weight over the refits.
    """
    row = feature_map.weights.loc[feature]
    weights = row[_arranged(feature_map, row.abs(), order, hide_zeros)]
    groups = _groups(feature_map, weights.index) if order == "by group" else None
    figure = _bars(weights, [VERMILION if w > 0 else BLUE for w in weights], groups)
    if stability is not None:
        figure.update_traces(opacity=0.5)  # so that the lines show on the bars
        _add_intervals(figure, weights.index, feature, stability)
    figure.add_vline(x=0, line={"width": 1, "color": GREY})
    kind = "Weight" if len(feature_map.layers) == 1 else "Average gradient"
    figure.update_xaxes(title_text=f"{kind} in {plain(feature)}")
    return figure


def norms_figure(
    feature_map: FittedFeatureMap,
    order: Order = "by size",
    hide_zeros: bool = True,
) -> go.Figure:
    """How strongly each variable enters the first layer: the norm of its column, never negative."""
    norms = feature_map.column_norms
    norms = norms[_arranged(feature_map, norms, order, hide_zeros)]
    groups = _groups(feature_map, norms.index) if order == "by group" else None
    figure = _bars(norms, [GREY] * len(norms), groups)
    figure.update_xaxes(title_text="Norm of the variable's column in the first layer")
    return figure


def selection_figure(stability: FeatureMapStability) -> go.Figure:
    """How often each variable is used when people are resampled."""
    shares = stability.selection.sort_values(ascending=False, kind="stable")
    figure = _bars(100 * shares, [BLUE] * len(shares))
    figure.update_traces(hovertemplate="%{y}: used in %{x:.0f} % of the refits<extra></extra>")
    figure.update_xaxes(title_text="Used in (% of the refits)", range=[0, 100])
    return figure


def _arranged(
    feature_map: FittedFeatureMap,
    size: pd.Series,
    order: Order,
    hide_zeros: bool,
) -> list[str]:
    """The variables to show, in the order asked for."""
    used = set(feature_map.variables_used)
    names = [name for name in feature_map.variables if name in used or not hide_zeros]
    if order == "by name":
        return sorted(names, key=str.lower)
    if order in ("by size", "by group"):
        names.sort(key=lambda name: -size[name])
    if order == "by group":
        names.sort(key=lambda name: GROUPS.index(feature_map.variable(name).group))
    return names


def _bars(values: pd.Series, colours: list[str], groups: list[str] | None = None) -> go.Figure:
    """Horizontal bars, the first on top; the first of a group has the group's name above it."""
    names = list(labels(values.index).values())
    figure = new_figure(height=max(300, 110 + 26 * len(values)))
    figure.add_bar(
        x=values.to_numpy(dtype=float),
        y=names,
        orientation="h",
        marker={"color": colours},
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        showlegend=False,
    )
    rows = names
    if groups is not None:
        spans = _spans(groups)
        rows = [row for g, a, b in spans for row in (f"<b>{plain(g)}</b>", *names[a : b + 1])]
        figure.update_layout(height=max(300, 110 + 26 * len(rows)))
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=rows,
        tickvals=rows,
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    return figure


def _add_intervals(
    figure: go.Figure, variables: pd.Index, feature: str, stability: FeatureMapStability
) -> None:
    own = stability.weights[stability.weights["feature"] == feature].set_index("variable")
    own = own.reindex(variables).dropna(subset=["lower"])
    names = labels(variables)
    x: list[float | None] = []
    y: list[str | None] = []
    for variable, low, high in zip(own.index, own["lower"], own["upper"], strict=True):
        x += [low, high, None]
        y += [names[variable], names[variable], None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines+markers",
        line={"width": 2, "color": GREY},
        marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": GREY}},
        name=f"interval: {percent(stability.coverage)} of the refits that have this feature",
        hovertemplate="%{y}: interval end %{x:.3f}<extra></extra>",
        showlegend=True,
    )


def _cell_texts(weights: pd.DataFrame, stability: FeatureMapStability | None) -> list[list[str]]:
    """The number where numbers fit, and the mark of its stability."""
    columns = weights.shape[1]
    numbered = columns <= MOST_NUMBERED_COLUMNS
    numbers = weights.map(_number if numbered else lambda w: "")
    if stability is None or columns > MOST_MARKED_COLUMNS:
        return [list(row) for row in numbers.to_numpy()]
    between = "" if not numbered else " " if columns <= MOST_IN_ONE_LINE else "<br>"
    shares = sign_shares(stability).reindex(index=weights.index, columns=weights.columns)
    marks = np.where(shares >= SURE, STABLE, UNSTABLE)
    marks = np.where(weights == 0, "", marks)
    return [
        [f"{number}{between}{mark}" if mark else number for number, mark in zip(*rows, strict=True)]
        for rows in zip(numbers.to_numpy(), marks, strict=True)
    ]


def _number(weight: float) -> str:
    """Two decimals, never "-0.00"; what is exactly zero has none."""
    return f"{round(weight, 2) + 0.0:.2f}" if weight else "0"


def _cell_notes(weights: pd.DataFrame, stability: FeatureMapStability | None) -> list[list[str]]:
    if stability is None:
        return [[""] * weights.shape[1] for _ in range(len(weights))]
    shares = sign_shares(stability).reindex(index=weights.index, columns=weights.columns)
    return [[f", same sign in {percent(s)} of refits" for s in row] for row in shares.to_numpy()]


def _spans(groups: list[str]) -> list[tuple[str, int, int]]:
    """(group, first place, last place) of each run of the same group."""
    found: list[tuple[str, int, int]] = []
    for place, group in enumerate(groups):
        if found and found[-1][0] == group:
            found[-1] = (group, found[-1][1], place)
        else:
            found.append((group, place, place))
    return found


def _groups(feature_map: FittedFeatureMap, names: pd.Index) -> list[str]:
    return [feature_map.variable(name).group for name in names]


def _weights_title(feature_map: FittedFeatureMap) -> str:
    if feature_map.weights_are == "first layer":
        return "State variable (weights of the one layer, standardised variables)"
    return "State variable (average gradient of the feature, standardised variables)"

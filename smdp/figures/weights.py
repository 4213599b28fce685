"""Figures of the Weights page."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.feature_map.result import FittedFeatureMap
from smdp.feature_map.stability import FeatureMapStability
from smdp.figures.style import BLUE, DIVERGING, VERMILION, colour_bar, labels, new_figure, plain

Order = Literal["by size", "by name", "as in the data"]
ORDERS: tuple[Order, ...] = ("by size", "by name", "as in the data")
MOST_NUMBERED_CELLS = 160


def shown_weights(
    feature_map: FittedFeatureMap, order: Order = "by size", hide_zeros: bool = True
) -> pd.DataFrame:
    """The weights, feature x variable, with the variables in the order asked for."""
    weights = feature_map.weights
    if hide_zeros:
        weights = weights[[v for v in weights.columns if v in feature_map.variables_used]]
    if order == "by size":
        size = weights.abs().max(axis=0).sort_values(ascending=False, kind="stable")
        return weights[size.index]
    return weights[sorted(weights.columns, key=str.lower)] if order == "by name" else weights


def weights_heatmap(
    feature_map: FittedFeatureMap, order: Order = "by size", hide_zeros: bool = True
) -> go.Figure:
    """What each feature is made of: a row a feature, a column a variable, white at zero."""
    weights = shown_weights(feature_map, order, hide_zeros)
    largest = float(np.abs(weights.to_numpy()).max(initial=1e-12))
    numbered = weights.size <= MOST_NUMBERED_CELLS
    figure = new_figure(height=max(280, 150 + 46 * len(weights)))
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
        texttemplate="%{z:.2f}" if numbered else None,
        textfont={"size": 12},
        colorbar=colour_bar("weight"),
        hovertemplate="%{y}, %{x}: %{z:.3f}<extra></extra>",
    )
    figure.update_xaxes(title_text=_weights_title(feature_map), type="category", showgrid=False)
    crowded = max(map(len, weights.columns), default=0) * weights.shape[1] > 70
    figure.update_xaxes(tickangle=-40 if crowded else 0)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def feature_bars(
    feature_map: FittedFeatureMap,
    feature: str,
    order: Order = "by size",
    hide_zeros: bool = True,
) -> go.Figure:
    """One feature's weights: what raises it to the right, what lowers it to the left."""
    weights = shown_weights(feature_map, order, hide_zeros).loc[feature]
    if order == "by size":
        weights = weights[weights.abs().sort_values(ascending=False, kind="stable").index]
    figure = new_figure(height=max(300, 110 + 26 * len(weights)))
    figure.add_bar(
        x=weights.to_numpy(),
        y=list(labels(weights.index).values()),
        orientation="h",
        marker={"color": [VERMILION if w > 0 else BLUE for w in weights]},
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
    figure.add_vline(x=0, line={"width": 1, "color": "#8C8C8C"})
    figure.update_xaxes(title_text=f"Weight in {plain(feature)}")
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def selection_figure(stability: FeatureMapStability) -> go.Figure:
    """How often each variable is used when people are resampled."""
    shares = stability.selection.sort_values(ascending=False, kind="stable")
    figure = new_figure(height=max(300, 110 + 26 * len(shares)))
    figure.add_bar(
        x=100 * shares.to_numpy(dtype=float),
        y=list(labels(shares.index).values()),
        orientation="h",
        marker={"color": BLUE},
        hovertemplate="%{y}: used in %{x:.0f} % of the refits<extra></extra>",
    )
    figure.update_xaxes(title_text="Used in (% of the refits)", range=[0, 100])
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def _weights_title(feature_map: FittedFeatureMap) -> str:
    if feature_map.weights_are == "first layer":
        return "State variable (weights of the one layer, standardised variables)"
    return "State variable (average gradient of the feature, standardised variables)"

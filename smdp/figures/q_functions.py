"""Figures of the Q-functions page: parameters beside weights, and how learning went."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.explanation.policy_explanation import Explanation
from smdp.figures.style import (
    ACTION_COLOURS,
    BLUE,
    DIVERGING,
    GREY,
    ORANGE,
    SMALL,
    labels,
    new_figure,
    plain,
)
from smdp.figures.weights import shown_weights
from smdp.policy.learned_policy import LearnedPolicy
from smdp.text import interval_text
from smdp.words.explanation import action_name

MOST_FEATURES, MOST_VARIABLES = 24, 24
MOST_NUMBERED_VARIABLES = 9
ERROR_LINE = "#5A5A5A"
BAR_OPACITY = 0.7  # so that the line of an interval is seen on its bar


def action_colour(place: int) -> str:
    """The same action has the same colour everywhere."""
    return ACTION_COLOURS[place % len(ACTION_COLOURS)]


def parameters_figure(policy: LearnedPolicy) -> go.Figure:
    """Each action's linear parameters, a row a feature, beside what the features are made of."""
    rows = policy.parameter_intervals
    features = _features_shown(policy, policy.parameters)
    figure = _beside_weights(policy, features, len(policy.action_labels))
    names = labels(features)
    for place, label in enumerate(policy.action_labels):
        own = rows[rows["action"] == label].set_index("parameter").loc[features]
        figure.add_bar(
            x=own["estimate"],
            y=[names[f] for f in features],
            orientation="h",
            name=plain(action_name(label)),
            marker={"color": action_colour(place), "opacity": BAR_OPACITY},
            error_x=_errors(own),
            customdata=_interval_texts(own),
            hovertemplate=f"%{{y}}, {plain(action_name(label))}: %{{customdata}}<extra></extra>",
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title_text="Parameter of each treatment", selector=0)
    return figure


def feature_effects_figure(policy: LearnedPolicy, explanation: Explanation) -> go.Figure:
    """How the difference from the reference changes with each feature, beside the weights."""
    wide = explanation.features.pivot(index="action", columns="feature", values="estimate")
    features = _features_shown(policy, wide)
    figure = _beside_weights(policy, features, len(explanation.actions))
    names = labels(features)
    reference = action_name(explanation.reference)
    for label in explanation.actions:
        own = explanation.features[explanation.features["action"] == label]
        own = own.set_index("feature").loc[features]
        name = f"{action_name(label)} rather than {reference}"
        figure.add_bar(
            x=own["estimate"],
            y=[names[f] for f in features],
            orientation="h",
            name=plain(name, 60),
            marker={
                "color": action_colour(policy.action_labels.index(label)),
                "opacity": BAR_OPACITY,
            },
            error_x=_errors(own),
            customdata=_interval_texts(own),
            showlegend=True,
            hovertemplate="%{y}: %{customdata}<extra></extra>",
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title_text="Change of the difference", selector=0)
    return figure


def convergence_figure(policy: LearnedPolicy) -> go.Figure:
    """How much the Q-values and the best actions still changed in each iteration."""
    path = policy.convergence
    figure = new_figure(height=340)
    figure.add_scatter(
        x=path["iteration"],
        y=path["change"],
        mode="lines+markers",
        name="change of Q",
        line={"color": BLUE, "width": 2},
        hovertemplate="Iteration %{x}: Q changed by %{y:.3g}<extra></extra>",
    )
    figure.add_scatter(
        x=path["iteration"],
        y=100 * path["switched"],
        mode="lines+markers",
        name="states whose best treatment changed (%)",
        line={"color": ORANGE, "width": 2, "dash": "dot"},
        marker={"symbol": "diamond"},
        yaxis="y2",
        hovertemplate="Iteration %{x}: %{y:.1f} % of the states<extra></extra>",
    )
    positive = path["change"][path["change"] > 0]
    log = len(positive) == len(path) and positive.max() > 50 * positive.min()
    axis = figure.layout.yaxis.to_plotly_json()
    figure.update_layout(yaxis2={**axis, "overlaying": "y", "side": "right", "showgrid": False})
    figure.update_layout(
        yaxis={"title": {"text": "Change of Q (utility)"}, "type": "log" if log else "linear"},
        yaxis2={
            "title": {"text": "Changed (% of states)"},
            "range": [-4, 104],
            "tickmode": "linear",
            "dtick": 25,
        },
        margin={"r": 70},
    )
    if log:
        figure.update_yaxes(dtick=1, selector=0)
    whole = {"dtick": 1} if len(path) <= 12 else {}
    figure.update_xaxes(title_text="Iteration", **whole)
    return figure


def _features_shown(policy: LearnedPolicy, by_action: pd.DataFrame) -> list[str]:
    """All features; of many, those in which the actions differ most, in the map's order."""
    features = list(policy.feature_map.features)
    if len(features) <= MOST_FEATURES:
        return features
    values = by_action[features].to_numpy()
    spread = np.ptp(values, axis=0) if len(values) > 1 else np.abs(values[0])
    kept = set(np.argsort(-spread, kind="stable")[:MOST_FEATURES].tolist())
    return [name for place, name in enumerate(features) if place in kept]


def _beside_weights(policy: LearnedPolicy, features: list[str], bars: int) -> go.Figure:
    """An empty panel for bars on the left; on the right the features' weights, row by row."""
    weights = shown_weights(policy.feature_map).loc[features]
    left_out = max(0, weights.shape[1] - MOST_VARIABLES)
    weights = weights.iloc[:, :MOST_VARIABLES]
    names, variables = labels(features, 18), labels(weights.columns, 20)
    tall = max(34, 15 * bars + 14)
    figure = new_figure(height=max(300, 190 + tall * len(features)))
    largest = float(np.abs(weights.to_numpy()).max(initial=1e-12))
    numbered = weights.shape[1] <= MOST_NUMBERED_VARIABLES
    figure.add_heatmap(
        z=weights.to_numpy(),
        x=list(variables.values()),
        y=[names[f] for f in features],
        xaxis="x2",
        yaxis="y2",
        zmid=0,
        zmin=-largest,
        zmax=largest,
        colorscale=DIVERGING,
        xgap=1,
        ygap=1,
        texttemplate="%{z:.2f}" if numbered else None,
        textfont={"size": 12},
        showscale=False,
        hovertemplate="%{y}, %{x}: weight %{z:.3f}<extra></extra>",
    )
    rows = {"type": "category", "range": [len(features) - 0.5, -0.5], "showgrid": False}
    base = figure.layout.xaxis.to_plotly_json()
    what = (
        "Weights of the features"
        if policy.feature_map.weights_are == "first layer"
        else "Average gradients of the features"
    )
    if left_out:
        what += f" (the {MOST_VARIABLES} largest of {MOST_VARIABLES + left_out} variables)"
    figure.update_layout(
        xaxis={"domain": [0, 0.44], "zeroline": True, "zerolinecolor": GREY},
        yaxis={**rows, "categoryorder": "array", "categoryarray": [names[f] for f in features]},
        xaxis2={**base, "domain": [0.5, 1], "type": "category", "anchor": "y2", "showgrid": False},
        yaxis2={**base, **rows, "anchor": "x2", "showticklabels": False, "matches": "y"},
        legend={"y": 1.04},
    )
    crowded = max(map(len, variables.values()), default=0) * weights.shape[1] > 40
    figure.layout.xaxis2.title = {"text": what, "standoff": 12, "font": {"size": 13}}
    figure.layout.xaxis2.tickangle = -40 if crowded else 0
    figure.layout.xaxis2.tickfont = SMALL
    return figure


def _errors(own: pd.DataFrame) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": own["upper"] - own["estimate"],
        "arrayminus": own["estimate"] - own["lower"],
        "color": ERROR_LINE,
        "thickness": 1.5,
        "width": 4,
        "visible": bool(own["lower"].notna().all()),
    }


def _interval_texts(own: pd.DataFrame) -> list[str]:
    return [
        interval_text(*each)
        for each in zip(own["estimate"], own["lower"], own["upper"], strict=True)
    ]

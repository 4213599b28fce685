"""Figures of what speaks for a treatment, of advice for many states, and of a single test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from smdp.explanation.policy_explanation import Explanation
from smdp.figures.style import ACTION_COLOURS, BLUE, GREY, labels, new_figure, plain
from smdp.independence.single_test import TestResult
from smdp.text import p_text
from smdp.words.explanation import action_name

MOST_VARIABLES = 20


def variable_effects_figure(explanation: Explanation) -> go.Figure:
    """How much each variable that is used favours each action, with intervals where known."""
    used = explanation.variables[explanation.variables["used"]]
    size = used["estimate"].abs().groupby(used["variable"]).max()
    order = size.sort_values(ascending=False).index[:MOST_VARIABLES]
    names = labels([str(name) for name in order])
    bars = len(order) * len(explanation.actions)
    figure = new_figure(height=max(240, 120 + 22 * bars))
    for place, action in enumerate(explanation.actions, start=1):
        own = used[used["action"] == action].set_index("variable").reindex(order)
        figure.add_bar(
            orientation="h",
            y=[names[str(name)] for name in order],
            x=own["estimate"],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(own["upper"] - own["estimate"]),
                "arrayminus": np.nan_to_num(own["estimate"] - own["lower"]),
            },
            marker={"color": ACTION_COLOURS[place % len(ACTION_COLOURS)]},
            name=plain(action_name(action)),
            hovertemplate="%{y}: %{x:.3g}<extra></extra>",
        )
    figure.add_vline(x=0, line={"width": 1, "color": GREY})
    reference = plain(action_name(explanation.reference))
    figure.update_xaxes(title_text=f"Effect of the variable on the lead over {reference}")
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def counts_figure(counts: Mapping[str, int], axis: str) -> go.Figure:
    """A bar for each, the first on top."""
    names = labels(counts, 48)
    figure = new_figure(height=max(200, 110 + 34 * len(counts)))
    figure.add_bar(
        orientation="h",
        y=[names[name] for name in counts],
        x=list(counts.values()),
        marker={"color": BLUE},
        hovertemplate="%{y}: %{x}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title_text=axis)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def p_value_figure(test: TestResult) -> go.Figure:
    """Where the p-value lies between the smallest that was possible and 1."""
    figure = new_figure(height=170)
    figure.add_scatter(
        x=[test.p_value],
        y=[0],
        mode="markers+text",
        text=[p_text(test.p_value)],
        textposition="top center",
        marker={"size": 14, "color": BLUE},
        hovertemplate=f"{p_text(test.p_value)}<extra></extra>",
        showlegend=False,
    )
    smallest = min(1 / (test.permutations + 1), test.p_value)
    figure.update_xaxes(
        title_text="p-value", type="log", range=[np.log10(smallest) - 0.1, 0.1], dtick=1
    )
    figure.update_yaxes(visible=False, range=[-1, 1])
    return figure

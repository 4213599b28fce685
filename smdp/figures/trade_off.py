"""The cost of treating as a figure: treatments given against what they earn."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.trade_off import TradeOff
from smdp.figures.intervals import padded
from smdp.figures.style import BLUE, GREY, NORMAL, SMALL, VERMILION, faint, new_figure, plain
from smdp.words.explanation import action_name


def trade_off_figure(
    found: TradeOff, cost: float | None = None, outcome: OutcomeName = UTILITY_NAME
) -> go.Figure:
    """Each cost a dot, with its intervals across and up; the chosen one is filled."""
    curve = found.curve
    figure = new_figure(height=430)
    share = 100 * curve["treated"]
    figure.add_scatter(
        x=share,
        y=curve["outcome"],
        mode="lines+markers+text",
        line={"width": 2, "color": BLUE},
        marker={"size": 9, "color": "white", "line": {"width": 2, "color": BLUE}},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(curve["outcome_upper"] - curve["outcome"]),
            "arrayminus": np.nan_to_num(curve["outcome"] - curve["outcome_lower"]),
            "thickness": 1.5,
            "width": 0,
            "color": faint(BLUE, 0.35),
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(100 * curve["treated_upper"] - share),
            "arrayminus": np.nan_to_num(share - 100 * curve["treated_lower"]),
            "thickness": 1.5,
            "width": 0,
            "color": faint(BLUE, 0.35),
        },
        text=[f"{c:.3g}" for c in curve["cost"]],
        textposition="top right",
        textfont=SMALL,
        name="policy, at the cost beside the dot",
        customdata=curve["cost"],
        hovertemplate="cost %{customdata:.4g}: %{x:.0f} % treated, %{y:.4g}<extra></extra>",
    )
    if cost is not None:
        row = found.at(cost)
        figure.add_scatter(
            x=[100 * row["treated"]],
            y=[row["outcome"]],
            mode="markers",
            marker={"size": 15, "color": VERMILION},
            name=f"cost {row['cost']:.4g}",
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=[100 * found.as_done["treated"]],
        y=[found.as_done["outcome"]],
        mode="markers",
        marker={"size": 12, "symbol": "x", "color": GREY},
        name="as in the study",
        hovertemplate="as in the study: %{x:.0f} % treated, %{y:.4g}<extra></extra>",
    )
    free = plain(action_name(found.reference), 24)
    figure.update_xaxes(title_text=f"Decisions with another treatment than {free} (%)")
    ends = [*curve["outcome_lower"], *curve["outcome_upper"], *curve["outcome"]]
    figure.update_yaxes(
        title_text=f"{plain(outcome.title, 50)}, without the cost",
        range=padded(np.array([*ends, found.as_done["outcome"]])),
    )
    figure.update_layout(legend={"font": NORMAL})
    return figure

"""What the policy recommends over time and to whom, as figures of the Policy page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.explanation.recommendations import ABSTAINED
from smdp.figures.style import ACTION_COLOURS, GREY, SMALL, new_figure, plain
from smdp.words.explanation import action_name

LIGHT_GREY = "rgba(140,140,140,0.3)"


def time_figure(shares: pd.DataFrame) -> go.Figure:
    """What is recommended at each time: shares of the decisions with a choice."""
    figure = new_figure(height=400)
    first, last = shares["first"], shares["last"]
    together = bool((last > first).any())
    for name, own, look in _outcomes(shares):
        middle = (own["first"] + own["last"]) / 2
        figure.add_bar(
            x=middle,
            y=100 * own["share"],
            width=own["last"] - own["first"] + 1,
            name=name,
            marker=look,
            customdata=np.stack([own["first"], own["last"], own["decisions"], own["no_choice"]], 1),
            hovertemplate=(
                "decision %{customdata[0]}"
                + (" to %{customdata[1]}" if together else "")
                + f": {name} %{{y:.0f}} %<br>%{{customdata[2]}} with a choice, "
                "%{customdata[3]} without<extra></extra>"
            ),
        )
    width = int(last.iloc[0] - first.iloc[0] + 1)
    title = f"Decision ({width} at a time)" if together else "Decision"
    figure.update_layout(barmode="stack", bargap=0, legend_traceorder="normal")
    figure.update_xaxes(title_text=title, range=[0.5, float(last.max()) + 0.5], showgrid=False)
    figure.update_yaxes(title_text="Share of the decisions with a choice (%)", range=[0, 100])
    return figure


def group_figure(shares: pd.DataFrame, variable: str) -> go.Figure:
    """What is recommended to whom: shares of the decisions with a choice in each group."""
    groups = list(dict.fromkeys(shares["group"]))
    figure = new_figure(height=170 + 52 * len(groups))
    for name, own, look in _outcomes(shares):
        share = 100 * own["share"]
        figure.add_bar(
            x=share,
            y=[plain(group, 40) for group in own["group"]],
            orientation="h",
            name=name,
            marker=look,
            text=[f"{s:.0f} %" if s >= 6 else "" for s in share],
            textposition="inside",
            insidetextanchor="middle",
            textfont=SMALL,
            customdata=np.stack([own["decisions"], own["no_choice"]], axis=1),
            hovertemplate=f"{name}: %{{x:.0f}} %<br>%{{customdata[0]}} decisions with a choice, "
            "%{customdata[1]} without<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_xaxes(title_text="Share of the decisions with a choice (%)", range=[0, 100])
    figure.update_yaxes(
        title_text=plain(variable), type="category", autorange="reversed", showgrid=False
    )
    return figure


def _outcomes(shares: pd.DataFrame) -> list[tuple[str, pd.DataFrame, dict[str, object]]]:
    """(name, rows, look) of each action and of abstaining, in this order."""
    found = []
    for k, action in enumerate(dict.fromkeys(shares["action"])):
        own = shares[shares["action"] == action]
        look: dict[str, object] = {"color": ACTION_COLOURS[k % len(ACTION_COLOURS)]}
        if action == ABSTAINED:
            look = {
                "color": LIGHT_GREY,
                "pattern": {"shape": "/", "size": 7, "solidity": 0.12, "fgcolor": GREY},
            }
        found.append((plain(action_name(str(action))), own, look))
    return found

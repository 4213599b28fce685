"""Figures of drawn values: which variables stay, how effects move, and what is missing when."""

from __future__ import annotations

import plotly.graph_objects as go

from smdp.figures.intervals import Row, dots
from smdp.figures.style import BLUE, GREY, ORANGE, labels, new_figure
from smdp.validation.imputation_draws import ImputationDraws
from smdp.validation.missingness import MissingPatterns
from smdp.words.policy_value import decimals

MOST_VARIABLES = 20
NORMAL_975 = 1.96


def kept_figure(result: ImputationDraws) -> go.Figure:
    """A bar for each variable: the share of draws in which it was kept."""
    table = result.kept.head(MOST_VARIABLES)
    names = labels([str(name) for name in table["variable"]], 34)
    figure = new_figure(height=max(260, 120 + 24 * len(table)))
    for as_fitted, name, colour in (
        (True, "kept with fitted values too", BLUE),
        (False, "not kept with fitted values", ORANGE),
    ):
        own = table[table["as_fitted"] == as_fitted]
        if len(own):
            figure.add_bar(
                orientation="h",
                y=[names[str(each)] for each in own["variable"]],
                x=100 * own["share"].fillna(0.0),
                marker={"color": colour},
                name=name,
                hovertemplate="%{y}: %{x:.0f} %<extra></extra>",
            )
    figure.update_xaxes(title="kept, % of draws", range=[0, 104])
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def effects_figure(result: ImputationDraws) -> go.Figure | None:
    """Fitted and combined average effects with their intervals; None where none is known."""
    rows = []
    for row in result.effects.dropna().to_dict("records"):
        digits = decimals([row["standard_error"]])
        for what, value, error, colour, symbol in (
            ("fitted", row["estimate"], row["standard_error"], BLUE, "circle"),
            ("drawn, combined", row["combined"], row["combined_error"], ORANGE, "diamond"),
        ):
            half = NORMAL_975 * error
            text = f"{value:.{digits}f} ± {half:.{digits}f}"
            name = f"{row['action']}: {what}"
            rows.append(Row(name, value, value - half, value + half, text, colour, symbol))
    if not rows:
        return None
    figure = dots(rows, 220, (0.0,), right=130)
    figure.add_vline(x=0, line={"dash": "dot", "width": 1, "color": GREY})
    figure.update_xaxes(title="average effect of treatment, ± 1.96 standard errors")
    return figure


def missing_over_time_figure(patterns: MissingPatterns) -> go.Figure:
    """The share of values that are missing, over the study."""
    table = patterns.by_time
    figure = new_figure(height=280)
    figure.add_scatter(
        x=(table["first decision"] + table["last decision"]) / 2,
        y=100 * table["share"],
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        hovertemplate="decision %{x:.0f}: %{y:.1f} %<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title="decision")
    figure.update_yaxes(title="% of values missing", rangemode="tozero")
    return figure

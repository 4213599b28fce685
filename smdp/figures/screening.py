"""Figures of the Screening page."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SEQUENTIAL,
    SKY,
    VERMILION,
    colour_bar,
    labels,
    new_figure,
    plain,
)
from smdp.screening import ScreeningResult
from smdp.text import p_text

ROUND_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
SMALLEST_SHOWN = 1e-3
P_TICKS = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001)


def pooled_figure(result: ScreeningResult) -> go.Figure:
    """How clearly each variable depends on what comes next, and in which round it entered."""
    table = result.table[result.table["p_value"].notna()]
    figure = new_figure(height=max(360, 120 + 24 * len(table)))
    label = labels(table.index)
    rounds = table["round"].astype(object).where(table["round"].notna(), None)
    for number in [*sorted({r for r in rounds if r is not None}), None]:
        rows = table[[r == number for r in rounds]]
        name = f"entered in round {number}" if number is not None else "not kept"
        colour = GREY if number is None else ROUND_COLOURS[(int(number) - 1) % len(ROUND_COLOURS)]
        figure.add_bar(
            x=-np.log10(rows["p_value"].to_numpy(dtype=float)),
            y=[label[n] for n in rows.index],
            orientation="h",
            name=f"{name} ({len(rows)})",
            marker={"color": colour, "pattern": {"shape": "" if number is not None else "/"}},
            customdata=[p_text(p) for p in rows["p_value"]],
            hovertemplate="%{y}: pooled %{customdata}<extra></extra>",
        )
    level = -np.log10(result.settings.level)
    figure.add_vline(
        x=level,
        line={"dash": "dash", "width": 1.5, "color": GREY},
        annotation={
            "text": f"level {result.settings.level:g}",
            "font": {"size": 12},
            "y": 0,
            "yanchor": "bottom",
            "xshift": 4,
        },
    )
    figure.update_layout(barmode="overlay", bargap=0.3)
    shown = [p for p in P_TICKS if p >= table["p_value"].min() / 2]
    figure.update_xaxes(
        title_text="pooled p-value, on a log scale (longer: clearer)",
        tickvals=[-np.log10(p) for p in shown],
        ticktext=[f"{p:g}".lstrip("0") for p in shown],
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=list(label.values())[::-1],
        showgrid=False,
    )
    return figure


def time_heatmap(result: ScreeningResult, number: int) -> go.Figure:
    """The p-value of each variable at each decision, in one round."""
    chosen = result.rounds[number - 1]
    ranked = chosen.pooled.sort_values(kind="stable").index
    p_values = chosen.p_values.loc[ranked]
    figure = new_figure(height=max(340, 110 + 20 * len(ranked)))
    figure.add_heatmap(
        z=-np.log10(np.clip(p_values.to_numpy(dtype=float), SMALLEST_SHOWN, 1)),
        x=list(p_values.columns),
        y=list(labels(ranked).values()),
        zmin=0,
        zmax=3,
        colorscale=SEQUENTIAL,
        xgap=1 if p_values.shape[1] <= 120 else 0,
        ygap=1,
        customdata=np.vectorize(lambda p: p_text(p) if np.isfinite(p) else "not tested")(p_values),
        colorbar=colour_bar(
            "p-value", tickvals=[0, 1, 2, 3], ticktext=["1", ".1", ".01", "≤ .001"]
        ),
        hovertemplate="%{y}, decision %{x}: %{customdata}<extra></extra>",
    )
    figure.update_xaxes(title_text="Decision number", showgrid=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def growth_figure(result: ScreeningResult) -> go.Figure:
    """How many variables were in the set after each round, and which joined."""
    forced = len(result.settings.force_in)
    sizes = np.cumsum([forced, *(len(r.joined) for r in result.rounds)])
    steps = ["start", *(f"round {r.number}" for r in result.rounds)]
    joined = [list(result.settings.force_in), *(list(r.joined) for r in result.rounds)]
    figure = new_figure(height=340)
    figure.add_bar(
        x=steps,
        y=sizes,
        marker={"color": BLUE},
        text=sizes,
        textposition="outside",
        cliponaxis=False,
        customdata=[", ".join(plain(n) for n in names) or "none" for names in joined],
        hovertemplate="%{x}: %{y} in the set<br>joined: %{customdata}<extra></extra>",
    )
    figure.update_xaxes(title_text="", type="category", showgrid=False)
    figure.update_yaxes(title_text="Variables in the set", rangemode="tozero")
    return figure

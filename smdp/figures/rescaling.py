"""Figures of the Rescaling page."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.data.study import Study
from smdp.figures.style import BLUE, GREY, ORANGE, colour_bar, labels, new_figure, plain

MOST_DRAWN_LEVELS = 60


def levels_figure(study: Study) -> go.Figure:
    """How often each variable of a rescaled study takes each level: dots by frequency."""
    assert study.levels is not None
    assert study.reference is not None
    inside = study.on_grid
    figure = new_figure(height=max(340, 120 + 28 * len(study.variables)))
    total = int(inside.sum())
    label = labels(v.name for v in study.variables)
    if len(study.levels) <= MOST_DRAWN_LEVELS:
        figure.add_scatter(
            x=[x for level in study.levels for x in (level, level, None)],
            y=[y for _ in study.levels for y in (*_ends(label), None)],
            mode="lines",
            line={"width": 0.7, "color": GREY, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
    for j, variable in enumerate(study.variables):
        level, count = np.unique(study.values[inside, j], return_counts=True)
        share = count / total
        figure.add_scatter(
            x=level,
            y=[label[variable.name]] * len(level),
            mode="markers",
            marker={
                "size": 5 + 20 * np.sqrt(share),
                "color": BLUE if variable.name != study.reference else ORANGE,
                "opacity": 0.85,
                "line": {"width": 0},
            },
            customdata=np.stack([count, 100 * share], axis=1),
            hovertemplate="%{y} at %{x:.3g}: %{customdata[0]:,} values (%{customdata[1]:.1f} %)"
            "<extra></extra>",
            showlegend=False,
        )
    for name, colour in ((f"reference: {plain(study.reference)}", ORANGE), ("others", BLUE)):
        figure.add_scatter(
            x=[None], y=[None], mode="markers", name=name, marker={"color": colour, "size": 11}
        )
    figure.update_xaxes(
        title_text=f"Level after rescaling ({len(study.levels)} levels; large dot: many values)",
        range=[-0.04, 1.04],
        showgrid=False,
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=list(label.values())[::-1],
        showgrid=False,
    )
    return figure


def before_after_figure(before: Study, after: Study, variable: str) -> go.Figure:
    """Which value becomes which level: own units across, levels up, colour by frequency."""
    assert after.levels is not None
    j = [v.name for v in before.variables].index(variable)
    inside = before.on_grid
    pairs = np.stack([before.values[inside, j], after.values[inside, j]], axis=1)
    distinct, count = np.unique(pairs, axis=0, return_counts=True)
    figure = new_figure(height=400)
    figure.add_scatter(
        x=distinct[:, 0],
        y=distinct[:, 1],
        mode="markers",
        marker={
            "size": 11,
            "color": count,
            "colorscale": [[0, "#7FB8DB"], [1, "#0067A3"]],
            "line": {"width": 0},
            "colorbar": colour_bar("values"),
        },
        customdata=count,
        hovertemplate="%{x:.4g} becomes %{y:.3g} (%{customdata:,} values)<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title_text=f"{plain(variable, 40)}, own units")
    figure.update_yaxes(
        title_text="Level after rescaling",
        range=[-0.05, 1.05],
        tickvals=after.levels if len(after.levels) <= 25 else None,
        tickformat=".2f",
    )
    return figure


def _ends(label: dict[str, str]) -> tuple[str, str]:
    """The first and the last row of the figure."""
    rows = list(label.values())
    return rows[0], rows[-1]

"""Figures of the Missing values page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from smdp.data.exclude import missing_shares
from smdp.data.impute import fitted_curve, imputed_series
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.study import Cell, Study
from smdp.figures.data import name_subjects, subject_labels
from smdp.figures.style import (
    BLUE,
    GREY,
    ORANGE,
    SEQUENTIAL,
    VERMILION,
    colour_bar,
    labels,
    new_figure,
    plain,
)


def missing_heatmap(study: Study) -> go.Figure:
    """The share of missing state values for each subject and decision."""
    figure = new_figure(height=max(340, min(760, 110 + 17 * len(study.subjects))))
    share = np.where(study.on_grid, study.missing.mean(axis=2), np.nan)
    decisions = np.arange(1, share.shape[1] + 1)
    figure.add_heatmap(
        z=100 * share,
        x=decisions,
        y=subject_labels(study),
        zmin=0,
        zmax=100,
        colorscale=SEQUENTIAL,
        xgap=1 if len(decisions) <= 120 else 0,
        ygap=1,
        colorbar=colour_bar("missing (%)"),
        hovertemplate="Subject %{y}<br>Decision %{x}<br>%{z:.0f} % missing<extra></extra>",
    )
    figure.update_xaxes(title_text="Decision number", showgrid=False)
    name_subjects(figure, study)
    return figure


def exclusion_figure(study: Study, exclude_above: float, left_out: Sequence[str]) -> go.Figure:
    """Each subject's share of missing values, the limit, and who is left out for any reason."""
    shares = 100 * missing_shares(study)
    order = np.argsort(-shares, kind="stable")
    out = np.isin(study.subjects, list(left_out))
    label = subject_labels(study)
    figure = new_figure(height=360)
    for is_out, colour, name in ((True, VERMILION, "left out"), (False, BLUE, "kept")):
        chosen = [i for i in order if out[i] == is_out]
        figure.add_bar(
            x=[label[i] for i in chosen],
            y=shares[chosen],
            name=f"{name} ({len(chosen)})",
            marker={"color": colour, "pattern": {"shape": "/" if is_out else ""}},
            hovertemplate="Subject %{x}<br>%{y:.1f} % missing<extra></extra>",
        )
    figure.add_hline(
        y=100 * exclude_above,
        line={"dash": "dash", "width": 1.5, "color": GREY},
        annotation={"text": f"limit {100 * exclude_above:.0f} %", "font": {"size": 12}},
    )
    figure.update_xaxes(
        title_text="Subject",
        type="category",
        categoryorder="array",
        categoryarray=[label[i] for i in order],
        showticklabels=len(order) <= 60,
        showgrid=False,
    )
    figure.update_yaxes(title_text="Missing (% of values that change)", range=[0, 100])
    return figure


def missing_by_variable(study: Study) -> go.Figure:
    """How much of each state variable is missing."""
    inside = study.on_grid.sum()
    share = 100 * study.missing.sum(axis=(0, 1)) / inside
    figure = new_figure(height=max(300, 80 + 24 * len(study.variables)))
    figure.add_bar(
        x=share,
        y=list(labels(v.name for v in study.variables).values()),
        orientation="h",
        marker={"color": BLUE},
        text=[f"{s:.1f}" for s in share],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.1f} % missing<extra></extra>",
    )
    figure.update_xaxes(title_text="Missing (% of all decisions)", rangemode="tozero")
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def series_figure(
    study: Study, subject: int, variable: int, settings: ImputationSettings
) -> go.Figure:
    """One subject's variable over time: observed, imputed, extrapolated and the fitted curve."""
    values, origin = imputed_series(study, subject, variable, settings)
    decisions = np.arange(1, len(values) + 1)
    position, fitted = fitted_curve(study, subject, variable, settings)
    figure = new_figure(height=400)
    figure.add_scatter(
        x=position + 1,
        y=fitted,
        mode="lines",
        name="fitted curve",
        line={"color": GREY, "width": 1.5},
        hoverinfo="skip",
    )
    kinds = (
        (Cell.OBSERVED, "observed", BLUE, "circle"),
        (Cell.IMPUTED, "imputed", ORANGE, "diamond"),
        (Cell.EXTRAPOLATED, "extrapolated", VERMILION, "x"),
    )
    for cell, name, colour, symbol in kinds:
        chosen = origin == cell
        figure.add_scatter(
            x=decisions[chosen],
            y=values[chosen],
            mode="markers",
            name=f"{name} ({int(chosen.sum())})",
            marker={"color": colour, "symbol": symbol, "size": 9},
            hovertemplate=f"Decision %{{x}}: %{{y:.4g}} ({name})<extra></extra>",
        )
    figure.update_xaxes(title_text="Decision number", range=[0.4, len(values) + 0.6])
    figure.update_yaxes(title_text=plain(study.variables[variable].title, 40))
    return figure

"""Figures of the Simulation page."""

from __future__ import annotations

from typing import Literal

import numpy as np
import plotly.graph_objects as go

from smdp.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    new_figure,
)
from smdp.simulation.compare import Comparison
from smdp.simulation.names import MAP_NAMES, MAPS
from smdp.simulation.paper_tables import optimal_outcome
from smdp.simulation.planning import StudyPlan
from smdp.simulation.study_settings import SimulationSetting
from smdp.simulation.study_store import StudyRows
from smdp.simulation.study_tables import KINDS, kept_by_kind, rows_of
from smdp.simulation.trial_size import TrialSize

Outcome = Literal["linear", "neural", "neural_further"]

MAP_COLOURS = {
    "identity": GREY,
    "oracle": GREEN,
    "adnn": BLUE,
    "tnn": ORANGE,
    "pca": PURPLE,
    "screened": SKY,
}
OUTCOME_TITLES = {
    "linear": "Mean utility a step, linear Q-learning",
    "neural": "Mean utility a step, neural Q-learning",
    "variables_count": "Variables used (nVar)",
    "dimension": "Features (nDim)",
}
SIZE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY)


def outcome_figure(
    study: StudyRows,
    setting: SimulationSetting,
    outcome: Outcome = "neural",
    comparison: Comparison | None = None,
) -> go.Figure:
    """Every replication's outcome by feature map, and the paper's mean where there is one."""
    rows = rows_of(study.done, setting)
    shown = [name for name in MAPS if (rows["feature_map"] == name).any()]
    figure = new_figure(height=130 + 62 * max(2, len(shown)))
    for name in shown:
        own = rows[rows["feature_map"] == name]
        figure.add_box(
            x=own[outcome],
            y=[MAP_NAMES[name]] * len(own),
            orientation="h",
            name=MAP_NAMES[name],
            showlegend=False,
            boxpoints="all",
            jitter=0.6,
            pointpos=0,
            width=0.6,
            fillcolor="rgba(128,128,128,0.10)",
            line={"color": MAP_COLOURS[name], "width": 1.5},
            marker={"color": MAP_COLOURS[name], "size": 6, "opacity": 0.7},
            customdata=own["replication"],
            hovertemplate="%{y}, replication %{customdata}: %{x:.2f}<extra></extra>",
        )
    if comparison is not None and outcome != "neural_further":
        table = rows_of(comparison.table, setting)
        table = table[table["feature_map"].isin(shown) & table[f"paper_{outcome}"].notna()]
        figure.add_scatter(
            x=table[f"paper_{outcome}"],
            y=[MAP_NAMES[name] for name in table["feature_map"]],
            mode="markers",
            name="mean in the paper",
            marker={"symbol": "diamond-open", "size": 12, "color": VERMILION, "line": {"width": 2}},
            hovertemplate="%{y}, paper: %{x:.2f}<extra></extra>",
        )
    discount = study.how.further_discount if outcome == "neural_further" else None
    best = optimal_outcome(setting.model, setting.times, discount)
    if best is not None:
        figure.add_vline(
            x=best,
            line={"dash": "dash", "width": 1.5, "color": GREY},
            annotation={"text": "optimum", "font": {"size": 12}, "y": 0, "yanchor": "bottom"},
        )
    further = "" if discount is None else f", discount {discount:g}"
    title = OUTCOME_TITLES["linear" if outcome == "linear" else "neural"]
    figure.update_xaxes(title_text=title + further)
    _categories(figure, [MAP_NAMES[name] for name in shown])
    return figure


def comparison_figure(comparison: Comparison, measure: str = "neural") -> go.Figure:
    """Our mean with two standard errors, and the paper's, for each setting and feature map."""
    table = comparison.table[comparison.table[measure].notna()]
    labels = [_setting_label(row) for row in table.to_dict("records")]
    order = list(dict.fromkeys(labels))
    maps = [name for name in MAPS if (table["feature_map"] == name).any()]
    figure = new_figure(height=150 + (20 + 17 * len(maps)) * max(2, len(order)))
    step = 0.8 / max(1, len(maps))
    for k, name in enumerate(maps):
        own = (table["feature_map"] == name).to_numpy()
        # Numbers and not categories on the axis, so that the maps of a setting do not overlap.
        at = np.array([order.index(label) for label in np.array(labels)[own]])
        y = at + (k - (len(maps) - 1) / 2) * step
        rows = table[own]
        figure.add_scatter(
            x=rows[measure],
            y=y,
            mode="markers",
            name=MAP_NAMES[name],
            marker={"color": MAP_COLOURS[name], "size": 9},
            error_x={"array": 2 * rows[f"{measure}_se"].fillna(0), "thickness": 1.5, "width": 3},
            customdata=np.column_stack([np.array(labels)[own], rows["replications"]]),
            hovertemplate=f"%{{customdata[0]}}, {MAP_NAMES[name]}: %{{x:.2f}} "
            "(%{customdata[1]} replications)<extra></extra>",
        )
        paper = rows[f"paper_{measure}"]
        figure.add_scatter(
            x=paper,
            y=y,
            mode="markers",
            name="paper",
            showlegend=k == 0,
            legendrank=2000,
            marker={"symbol": "diamond-open", "size": 10, "color": MAP_COLOURS[name]},
            hovertemplate=f"paper, {MAP_NAMES[name]}: %{{x:.2f}}<extra></extra>",
        )
    figure.update_xaxes(title_text=OUTCOME_TITLES[measure] + " (bar: two standard errors)")
    figure.update_yaxes(
        tickvals=list(range(len(order))),
        ticktext=order,
        range=[len(order) - 0.5, -0.5],
        showgrid=False,
    )
    return figure


def kept_figure(study: StudyRows, setting: SimulationSetting) -> go.Figure:
    """How many of each kind of variable the feature maps use, in per cent of those there are."""
    table = rows_of(kept_by_kind(study), setting)
    table = table[table["feature_map"].isin(("adnn", "tnn", "screened"))]
    maps = [name for name in MAPS if (table["feature_map"] == name).any()]
    kinds = [kind for kind in KINDS if (table["kind"] == kind).any()]
    figure = new_figure(height=150 + (16 + 22 * len(maps)) * max(2, len(kinds)))
    for name in maps:
        own = table[table["feature_map"] == name]
        figure.add_bar(
            x=100 * own["share"],
            y=[_kind_label(row) for row in own.to_dict("records")],
            orientation="h",
            name=MAP_NAMES[name],
            marker={"color": MAP_COLOURS[name]},
            customdata=np.column_stack([own["kept"], 100 * own["ever"], own["replications"]]),
            hovertemplate="%{y}: %{customdata[0]:.1f} kept on average; any in "
            "%{customdata[1]:.0f} % of %{customdata[2]} replications<extra></extra>",
        )
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(title_text="Kept (% of the variables of the kind)", range=[0, 101])
    labels = [_kind_label(row) for row in table.drop_duplicates("kind").to_dict("records")]
    _categories(figure, labels)
    return figure


def power_figure(plan: StudyPlan) -> go.Figure:
    """How often all true variables are found, by the number of subjects."""
    figure = new_figure(height=400)
    for k, (times, rows) in enumerate(plan.table.groupby("times")):
        figure.add_scatter(
            x=rows["subjects"],
            y=100 * rows["share"],
            mode="lines+markers",
            name=f"{times} decisions",
            marker={"size": 9, "color": _colour(k)},
            line={"width": 2, "color": _colour(k)},
            error_y={
                "array": 100 * (rows["upper"] - rows["share"]),
                "arrayminus": 100 * (rows["share"] - rows["lower"]),
                "thickness": 1.5,
                "width": 4,
            },
            customdata=rows[["found", "replications"]],
            hovertemplate="%{x} subjects: %{customdata[0]} of %{customdata[1]}<extra></extra>",
        )
    _subjects_axis(figure, plan)
    figure.update_yaxes(title_text="All true variables found (%)", range=[-3, 103])
    return figure


def value_figure(plan: StudyPlan, outcome: Literal["linear", "neural"] = "linear") -> go.Figure:
    """The value reached by the learned policy, by the number of subjects."""
    figure = new_figure(height=400)
    for k, (times, rows) in enumerate(plan.table.groupby("times")):
        figure.add_scatter(
            x=rows["subjects"],
            y=rows[outcome],
            mode="lines+markers",
            name=f"{times} decisions",
            marker={"size": 9, "color": _colour(k)},
            line={"width": 2, "color": _colour(k)},
            error_y={"array": 2 * rows[f"{outcome}_se"].fillna(0), "thickness": 1.5, "width": 4},
            customdata=rows[["policies", "replications"]],
            hovertemplate="%{x} subjects: %{y:.2f} (%{customdata[0]} of %{customdata[1]} "
            "replications had a policy)<extra></extra>",
        )
    _subjects_axis(figure, plan)
    figure.update_yaxes(title_text=f"{OUTCOME_TITLES[outcome]}<br>(bar: two standard errors)")
    return figure


def _setting_label(row: dict) -> str:
    return f"{row['model']}, {row['noise']} noise"


def _kind_label(row: dict) -> str:
    return f"{row['kind']} ({row['variables']})"


def _colour(k: int) -> str:
    return SIZE_COLOURS[k % len(SIZE_COLOURS)]


def _categories(figure: go.Figure, names: list[str]) -> None:
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=names[::-1], showgrid=False
    )


def _subjects_axis(figure: go.Figure, plan: StudyPlan) -> None:
    sizes = sorted(set(plan.table["subjects"]))
    figure.update_xaxes(title_text="Subjects", tickvals=sizes)


def trial_size_figure(size: TrialSize) -> go.Figure:
    """Power by number of people, with the power asked for and the number it takes."""
    figure = new_figure(height=330)
    figure.add_scatter(
        x=size.curve["people"],
        y=100 * size.curve["power"],
        mode="lines",
        line={"color": BLUE, "width": 2.5},
        showlegend=False,
        hovertemplate="%{x:,} people: %{y:.1f} %<extra></extra>",
    )
    figure.add_hline(y=100 * size.settings.power, line={"dash": "dash", "color": GREY, "width": 1})
    figure.add_scatter(
        x=[size.people],
        y=[100 * size.power],
        mode="markers+text",
        text=[f"  {size.people:,} people: {100 * size.power:.1f} %"],
        textposition="bottom right",
        marker={"color": VERMILION, "size": 10},
        showlegend=False,
        hoverinfo="skip",
    )
    figure.update_xaxes(title_text="People", rangemode="tozero")
    figure.update_yaxes(title_text="Power (%)", range=[0, 103])
    return figure

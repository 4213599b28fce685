"""Figures of the Data page."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.data.compliance import (
    ANSWERED,
    DAY,
    DECISION,
    IN_STUDY,
    OUTCOME,
    ROW,
    Days,
    compliance_by_day,
    compliance_table,
)
from smdp.data.describe import action_names
from smdp.data.over_time import Spans, spans
from smdp.data.study import Study
from smdp.data.trajectories import Trajectories
from smdp.figures.style import (
    ACTION_COLOURS,
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    labels,
    new_figure,
    plain,
)

MOST_NAMED_SUBJECTS = 45
NO_CHOICE = "no action possible"


def decisions_figure(study: Study | Trajectories) -> go.Figure:
    """Which action each subject received at each decision: a row a subject."""
    if isinstance(study, Study):
        present, actions = study.present, action_names(study)
    else:
        present, actions = study.valid, list(study.action_labels)
    k = len(study.action_labels)
    code = np.where(study.available & (study.actions >= 0), study.actions, k).astype(float)
    code[present & study.available & (study.actions < 0)] = k + 1
    code[~present] = np.nan
    colours = [ACTION_COLOURS[i % len(ACTION_COLOURS)] for i in range(k)] + ["#C9CED6", "#5B5B5B"]
    names = [*map(plain, actions), NO_CHOICE, "action missing"]
    shown = [i for i in range(k + 2) if i < k or np.any(code == i)]
    figure = new_figure(height=max(320, min(720, 90 + 17 * len(study.subjects))))
    decisions = np.arange(1, code.shape[1] + 1)
    hover = np.array([*names, "no row"], object)[np.where(np.isnan(code), k + 2, code).astype(int)]
    figure.add_heatmap(
        z=code,
        x=decisions,
        y=subject_labels(study),
        zmin=-0.5,
        zmax=k + 1.5,
        colorscale=_steps(colours),
        showscale=False,
        xgap=1 if len(decisions) <= 120 else 0,
        ygap=1,
        customdata=hover,
        hovertemplate="Subject %{y}<br>Decision %{x}<br>%{customdata}<extra></extra>",
    )
    for i in shown:
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=names[i],
            marker={"symbol": "square", "size": 12, "color": colours[i]},
        )
    figure.update_xaxes(title_text="Decision number", showgrid=False)
    name_subjects(figure, study)
    return figure


def compliance_figure(study: Study, days: Days | None = None) -> go.Figure:
    """Which share of all people has a row, and an outcome, at each decision or on each day."""
    looks = {IN_STUDY: (GREY, "dot"), ROW: (BLUE, "solid"), OUTCOME: (ORANGE, "dash")}
    names = {name: name for name in looks}
    if days is None:
        table, together, unit = compliance_table(study), spans(study.present.shape[1]), "Decision"
    else:
        table, together, unit = compliance_by_day(study, days), days.spans, days.called
        unit = "Day" if unit == DAY else plain(unit, 30)
        looks[ANSWERED] = (VERMILION, "solid")
        names |= {
            ROW: "people with a row",
            OUTCOME: "people with an outcome",
            ANSWERED: f"rows, of {days.usual} each",
        }
    if (table[IN_STUDY] == 1).all():
        del looks[IN_STUDY]  # all of them, always
    figure = new_figure(height=380)
    for name, (colour, dash) in looks.items():
        if name not in table:
            continue
        figure.add_scatter(
            x=together.middle,
            y=100 * table[name],
            mode="lines+markers",
            name=names[name],
            line={"color": colour, "width": 2.2, "dash": dash},
            marker={"size": 5, "color": colour},
            hovertemplate=f"{unit} %{{x}}: %{{y:.0f}} % {names[name]}<extra></extra>",
        )
    over_decisions(figure, together, DECISION if days is None else plain(days.called, 44))
    figure.update_yaxes(
        title_text=f"Share of the {len(study.subjects):,} people (%)"
        if days is None
        else "Share (%)",
        range=[0, 104],
    )
    return figure


def over_decisions(figure: go.Figure, together: Spans, called: str = DECISION) -> None:
    """The decisions, or days, along the x axis, from the first to the last."""
    wide = f" ({together.width} at a time)" if together.width > 1 else ""
    first, last = float(together.first[0]), float(together.last[-1])
    margin = max(0.5, 0.015 * (last - first + 1))
    figure.update_xaxes(
        title_text=f"{called}{wide}", range=[first - margin, last + margin], showgrid=False
    )


def subject_labels(study: Study | Trajectories) -> list[str]:
    return list(labels(study.subjects, 16).values())


def name_subjects(figure: go.Figure, study: Study | Trajectories) -> None:
    """Subjects on the y axis, top to bottom; too many to read get a title only."""
    few = len(study.subjects) <= MOST_NAMED_SUBJECTS
    figure.update_yaxes(
        title_text="Subject" if few else f"{len(study.subjects)} subjects",
        type="category",
        autorange="reversed",
        showgrid=False,
        showticklabels=few,
        dtick=1,
    )


def _steps(colours: list[str]) -> list[list[object]]:
    """A colour scale of flat steps, one for each colour."""
    n = len(colours)
    return [[edge / n, c] for i, c in enumerate(colours) for edge in (i, i + 1)]

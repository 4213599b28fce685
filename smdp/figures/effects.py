"""Figures of the Effects page: on average, for whom, when, and how long after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.evaluation.trial_effects import AVERAGE, INTERCEPT, TrialSummary
from smdp.figures.intervals import Row, dots
from smdp.figures.style import ACTION_COLOURS, GREY, faint, new_figure, plain
from smdp.text import interval_text, p_text
from smdp.words.effects import Telling, interval_name
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals

#: Rows of the forest that can still be read.
MOST_ROWS = 16
BAND = 0.18
TITLES = {
    "average": ("Average effects", ""),
    "by-variable": (
        "The effect by one variable at a time",
        "The variables with the smallest p-values first, the table has all; low and high are a "
        "standard deviation below and above the mean. p: of a change of the effect with the "
        "variable, looked at alone.",
    ),
    "over-time": ("The effect over time", "With pointwise intervals over people."),
    "later": ("Effects on later outcomes", "Treatments in between as the study gave them."),
}


def effect_figures(
    summary: TrialSummary, telling: Telling | None = None
) -> Mapping[str, go.Figure]:
    """By name, those that there is something to draw for."""
    told = telling or Telling()
    found = {"average": average_figure(summary, told)}
    if summary.by_variable is not None:
        found["by-variable"] = forest_figure(summary, told)
    if summary.over_time is not None:
        found["over-time"] = over_time_figure(summary, told)
    if summary.delayed is not None:
        found["later"] = later_figure(summary, told)
    return found


def figure_words(name: str, telling: Telling) -> tuple[str, str]:
    """The caption of one of them, and what is to be known of it."""
    title, note = TITLES[name]
    return (title.replace("effect", "difference") if telling.observed else title), note


def average_figure(summary: TrialSummary, told: Telling) -> go.Figure:
    """The average effect of each action; moderators below it."""
    rows = []
    digits = decimals(summary.effects["standard_error"])
    for _, row in summary.effects.iterrows():
        name = action_name(row["action"])
        if row["term"] == INTERCEPT:
            name = f"{name}, all moderators 0"
        elif row["term"] != AVERAGE:
            name = f"{name}, change with {row['term']}"
        rows.append(_row(name, row, summary, digits))
    return _drawn(rows, summary, told, least=190)


def forest_figure(summary: TrialSummary, told: Telling) -> go.Figure:
    """The effect at values of one variable after the other, the clearest changes first."""
    found = summary.by_variable
    assert found is not None
    several = found["action"].nunique() > 1
    digits = decimals(found["standard_error"])
    smallest = found.groupby("variable")["p_value"].min().sort_values(kind="stable")
    rows: list[Row] = []
    for variable in smallest.index:
        own = found[found["variable"] == variable]
        if rows and len(rows) + len(own) > MOST_ROWS:
            break
        first = ~own["action"].duplicated()
        for is_first, (_, row) in zip(first, own.iterrows(), strict=True):
            name = f"{variable}: {row['value']}"
            name += f", {action_name(row['action'])}" if several else ""
            shown = _row(name, row, summary, digits)
            told_p = f"{shown.text}  {p_text(row['p_value'])}" if is_first else shown.text
            rows.append(replace(shown, text=told_p))
    return _drawn(rows, summary, told, least=240, right=250)


def later_figure(summary: TrialSummary, told: Telling) -> go.Figure:
    found = summary.delayed
    assert found is not None
    several = found["action"].nunique() > 1
    digits = decimals(found["standard_error"])
    words = {0: "the next outcome", 1: "one decision later"}
    rows = []
    for _, row in found.iterrows():
        name = words.get(row["later"], f"{row['later']} decisions later")
        name += f", {action_name(row['action'])}" if several else ""
        rows.append(_row(name, row, summary, digits))
    return _drawn(rows, summary, told, least=240)


def over_time_figure(summary: TrialSummary, told: Telling) -> go.Figure:
    """A curve with its band for each action."""
    found = summary.over_time
    assert found is not None
    figure = new_figure(height=400)
    for place, (action, own) in enumerate(found.groupby("action", sort=False)):
        colour = ACTION_COLOURS[(1 + place) % len(ACTION_COLOURS)]
        lower, middle, upper = (_shown(own[c], summary) for c in ("lower", "estimate", "upper"))
        figure.add_scatter(
            x=[*own["at"], *own["at"][::-1]],
            y=[*upper, *lower[::-1]],
            fill="toself",
            fillcolor=faint(colour, BAND),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=own["at"],
            y=middle,
            mode="lines",
            line={"width": 3, "color": colour},
            name=plain(action_name(action)),
            showlegend=found["action"].nunique() > 1,
            customdata=np.column_stack([lower, upper]),
            hovertemplate="%{x:.4g}: %{y:.3g} (%{customdata[0]:.3g} to %{customdata[1]:.3g})"
            "<extra></extra>",
        )
    figure.add_hline(y=_nothing(summary), line={"width": 1, "color": GREY})
    axis = plain(summary.time, 60) if summary.time else "Decision"
    figure.update_xaxes(title_text=axis)
    figure.update_yaxes(title_text=_axis(summary, told), type=_axis_type(summary))
    return figure


def _row(name: str, row: pd.Series, summary: TrialSummary, digits: int) -> Row:
    actions = list(dict.fromkeys(summary.effects["action"]))
    colour = ACTION_COLOURS[(1 + actions.index(row["action"])) % len(ACTION_COLOURS)]
    estimate, lower, upper = (
        float(_shown(row[c], summary)) for c in ("estimate", "lower", "upper")
    )
    digits = 2 if summary.scale == "ratio" else digits
    text = interval_text(estimate, lower, upper, digits)
    return Row(name, estimate, lower, upper, text, colour)


def _drawn(
    rows: list[Row], summary: TrialSummary, told: Telling, least: int, right: int = 185
) -> go.Figure:
    nothing = _nothing(summary)
    figure = dots(rows, least=least, beside=(nothing,), right=right, log=summary.scale == "ratio")
    figure.add_vline(x=nothing, line={"width": 1, "color": GREY})
    figure.update_xaxes(title_text=_axis(summary, told))
    return figure


def _shown(values: pd.Series | float, summary: TrialSummary) -> np.ndarray:
    return np.exp(np.asarray(values, float)) if summary.scale == "ratio" else np.asarray(values)


def _nothing(summary: TrialSummary) -> float:
    """Where treatment does nothing."""
    return 1.0 if summary.scale == "ratio" else 0.0


def _axis_type(summary: TrialSummary) -> str:
    return "log" if summary.scale == "ratio" else "linear"


def _axis(summary: TrialSummary, told: Telling) -> str:
    against = plain(action_name(summary.effects["against"].iloc[0]))
    of = plain(told.outcome.the_title, 60)
    if summary.scale == "ratio":
        what = "Risk ratio of" if summary.kind == "yes/no" else "Ratio of means of"
    else:
        what = "Difference of" if told.observed else "Effect on"
    return f"{what} {of}, against {against} ({interval_name(summary, told)})"

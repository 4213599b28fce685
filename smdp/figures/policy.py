"""Figures of the Policy page: what the policy would earn, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.placebo import PlaceboCheck
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED
from smdp.figures.intervals import CATEGORIES, Row, dots, padded
from smdp.figures.style import (
    ACTION_COLOURS,
    BLUE,
    GREY,
    SMALL,
    VERMILION,
    labels,
    new_figure,
    plain,
)
from smdp.text import capital, interval_text, listing, shorten
from smdp.words.explanation import action_name
from smdp.words.policy_value import ALWAYS, digits_of, learned_label, policy_label, units

SYMBOLS = ("circle", "square", "triangle-up")
LIGHT_GREY = "rgba(140,140,140,0.35)"
AXIS_LINE = 80  # letters below an axis


def value_figure(
    values: Mapping[str, PolicyValue], chosen: str, outcome: OutcomeName = UTILITY_NAME
) -> go.Figure:
    """The policies (by kind), what was done, and each action always; the chosen policy first.

    Values with another discount cannot be compared: those policies are only named.
    """
    value = values[chosen]
    others = [kind for kind in values if kind != chosen and _like(values[kind], value)]
    absent = [kind for kind in values if not _like(values[kind], value)]
    rows = []
    for kind in (chosen, *others):
        first = _main(values[kind]).iloc[[0]]
        rows += _value_rows(first, values[kind], kind, VERMILION if kind == chosen else GREY)
    rows += _value_rows(_main(value).iloc[1:], value, chosen, GREY)
    figure = dots(rows, least=320)
    observed = float(_main(value).set_index("policy").loc[OBSERVED, "estimate"])
    figure.add_vline(x=observed, line={"width": 1, "dash": "dot", "color": GREY})
    title = _axis_title(value, outcome)
    if absent:
        title += f"<br>Not here, for another discount: {plain(listing(absent), AXIS_LINE)}"
    figure.update_xaxes(title_text=title)
    return figure


def _like(one: PolicyValue, other: PolicyValue) -> bool:
    return one.discount == other.discount


def methods_figure(value: PolicyValue, kind: str, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """Each policy's value by the three methods; open symbols have no interval."""
    digits = digits_of(value)
    figure = new_figure(height=110 + 34 * len(value.table))
    for place, (method, own) in enumerate(value.table.groupby("method", sort=False)):
        names = list(labels([policy_label(name, kind) for name in own["policy"]], 34).values())
        bounded = np.isfinite(own["lower"].to_numpy(dtype=float))
        colour = (BLUE, VERMILION, GREY)[place % 3]
        suffix = "" if method == DOUBLY_ROBUST else " (diagnostic)"
        figure.add_scatter(
            y=names,
            x=own["estimate"],
            mode="markers",
            offsetgroup=str(place),
            orientation="h",
            error_x={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(own["upper"] - own["estimate"]),
                "arrayminus": np.nan_to_num(own["estimate"] - own["lower"]),
                "thickness": 2,
                "width": 0,
            },
            marker={
                "symbol": [SYMBOLS[place % 3] + ("" if b else "-open") for b in bounded],
                "size": 11,
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            name=f"{method}{suffix}",
            customdata=[
                f"{interval_text(e, low, high, digits)}, {s:.1f} effective subjects"
                for e, low, high, s in zip(
                    own["estimate"], own["lower"], own["upper"], own["effective"], strict=True
                )
            ],
            hovertemplate="%{y}: %{customdata}<extra>" + str(method) + "</extra>",
        )
    figure.update_layout(scattermode="group", scattergap=0.3)
    figure.update_yaxes(autorange="reversed", **CATEGORIES)
    figure.update_xaxes(
        title_text=_axis_title(value, outcome),
        range=padded(value.table[["estimate", "lower", "upper"]].to_numpy(dtype=float)),
    )
    return figure


def positivity_figure(value: PolicyValue, rare: float) -> go.Figure:
    """How often each action was taken, and how small its probability became."""
    table = value.positivity
    figure = new_figure(height=190 + 44 * len(table))
    names = list(labels([action_name(a) for a in table["action"]]).values())
    colours = [ACTION_COLOURS[k % len(ACTION_COLOURS)] for k in range(len(table))]
    for name, taken, smallest, colour in zip(
        names, table["taken"], table["smallest"], colours, strict=True
    ):
        figure.add_scatter(
            x=[smallest, taken],
            y=[name, name],
            mode="lines+markers",
            line={"width": 3, "color": colour},
            marker={"size": 12, "symbol": ["line-ns", "circle"], "opacity": 1, "color": colour},
            marker_line={"width": 3, "color": colour},
            hovertemplate=f"{name}: taken at {taken:.0%}, smallest probability {smallest:.3f}"
            "<extra></extra>",
            showlegend=False,
        )
    figure.add_vrect(x0=0, x1=rare, fillcolor=LIGHT_GREY, line_width=0, layer="below")
    figure.add_annotation(
        x=rare,
        y=1,
        yref="paper",
        yanchor="bottom",
        xanchor="left",
        text=f"grey: below {rare:g}, hardly tried",
        showarrow=False,
        font=SMALL,
    )
    figure.update_xaxes(
        title_text="From the smallest probability of the action (bar) to how often it was taken "
        "(dot)",
        range=[0, 1],
    )
    figure.update_yaxes(range=[len(table) - 0.5, -0.5], **CATEGORIES)
    return figure


def placebo_figure(check: PlaceboCheck) -> go.Figure:
    """Gains with shuffled treatments as a heap of dots, and the true one."""
    figure = new_figure(height=300)
    gains = np.sort(check.placebo)
    span = max(float(np.ptp([*gains, check.gain, 0.0])), 1e-9)
    bins = np.round(gains / (span / 40)).astype(int)
    height = [1 + int((bins[:k] == bins[k]).sum()) for k in range(len(gains))]
    figure.add_scatter(
        x=gains,
        y=height,
        mode="markers",
        marker={"size": 12, "color": GREY},
        name="treatments shuffled",
        hovertemplate="shuffled: %{x:.3g}<extra></extra>",
    )
    figure.add_scatter(
        x=[check.gain, check.gain],
        y=[0, max(height) + 1],
        mode="lines",
        line={"width": 3, "color": VERMILION},
        name="true treatments",
        hovertemplate="true treatments: %{x:.3g}<extra></extra>",
    )
    figure.add_vline(x=0, line={"width": 1, "dash": "dot", "color": GREY})
    figure.update_xaxes(
        title_text="Gain over what was done, a decision",
        range=padded(np.array([*gains, check.gain, 0.0])),
    )
    figure.update_yaxes(visible=False, range=[0, max(height) + 1])
    return figure


def _axis_title(value: PolicyValue, outcome: OutcomeName) -> str:
    title = f"{capital(shorten(units(outcome), 110))} (discount {value.discount:g})"
    return "<br>".join(plain(line, AXIS_LINE) for line in wrap(title, AXIS_LINE))


def _main(value: PolicyValue) -> pd.DataFrame:
    return value.table[value.table["method"] == DOUBLY_ROBUST]


def _value_rows(table: pd.DataFrame, value: PolicyValue, kind: str, colour: str) -> list[Row]:
    digits = digits_of(value)
    always = [f"{ALWAYS}{action}" for action in value.positivity["action"]]
    rows = []
    for _, row in table.iterrows():
        name, own = str(row["policy"]), colour
        if name in always:
            own = ACTION_COLOURS[always.index(name) % len(ACTION_COLOURS)]
        ends = (float(row["estimate"]), float(row["lower"]), float(row["upper"]))
        text = interval_text(*ends, digits)
        text += "" if row["trusted"] else ", no interval"
        learned = name != OBSERVED and name not in always
        rows.append(
            Row(
                learned_label(value, kind) if learned else policy_label(name, kind),
                *ends,
                text,
                own,
                "diamond" if learned else "circle",
                f"{text}<br>{row['effective']:.1f} effective subjects",
            )
        )
    return rows

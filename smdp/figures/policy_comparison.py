"""Candidate policies beside each other; outcomes under one policy; who gains: as figures."""

from __future__ import annotations

from html import unescape
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.candidates import CandidateComparison
from smdp.evaluation.outcome_risk import Loses, OutcomeRisk, SubgroupGains
from smdp.evaluation.value_tables import OBSERVED
from smdp.figures.intervals import Row, dots
from smdp.figures.style import BLUE, GREY, NORMAL, SMALL, VERMILION, labels, new_figure, plain
from smdp.text import capital, interval_text
from smdp.words.policy_comparison import candidate_label, comparison_digits
from smdp.words.policy_value import decimals

#: What a cell says by its colour: clearly below, cannot be told, clearly above.
CLEARLY = [
    [0.0, "rgba(213,94,0,0.35)"],
    [0.5, "rgba(140,140,140,0.10)"],
    [1.0, "rgba(0,114,178,0.30)"],
]

#: With more candidates the cells are narrow. And letters of a line above a column.
FEW_CANDIDATES, WIDE = 5, 13


def comparison_figure(found: CandidateComparison) -> go.Figure:
    """Row minus column: coloured where the interval excludes zero."""
    names = list(found.values["candidate"])
    shown = labels([candidate_label(name) for name in names], 24)
    digits = comparison_digits(found)
    size = len(names)
    clear = np.full((size, size), np.nan)
    text = [[""] * size for _ in names]
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            if i == j:
                continue
            row = found.difference(one, other)
            clear[i, j] = float(row["lower"] > 0) - float(row["upper"] < 0)
            both = interval_text(row["estimate"], row["lower"], row["upper"], digits)
            text[i][j] = both.replace(" (", "<br>(", 1)
            if size > FEW_CANDIDATES:  # narrow cells
                text[i][j] = text[i][j].replace(" to ", "<br>to ")
    axis = [shown[candidate_label(name)] for name in names]
    across = [
        "<br>".join(plain(line, WIDE) for line in wrap(unescape(each), WIDE)) for each in axis
    ]
    figure = new_figure(height=190 + 58 * size)
    figure.add_heatmap(
        z=clear,
        x=across,
        y=axis,
        zmin=-1,
        zmax=1,
        colorscale=CLEARLY,
        showscale=False,
        text=text,
        texttemplate="%{text}",
        textfont=SMALL,
        xgap=3,
        ygap=3,
        hovertemplate="%{y} minus %{x}: %{text}<extra></extra>",
    )
    figure.update_layout(margin={"t": 96})
    figure.update_xaxes(
        side="top", showgrid=False, tickfont=SMALL, tickangle=0, title_text="minus", automargin=True
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont=NORMAL)
    return figure


def distribution_figure(
    risk: OutcomeRisk, name: str, outcome: OutcomeName = UTILITY_NAME
) -> go.Figure:
    """The share of decisions with an outcome of at most so much, under the policy and as done."""
    first = str(risk.figures["policy"].iloc[0])
    figure = new_figure(height=400)
    for policy, label, colour, dash in (
        (first, candidate_label(name), VERMILION, "solid"),
        (OBSERVED, "as in the study", GREY, "dash"),
    ):
        own = risk.distribution[risk.distribution["policy"] == policy]
        figure.add_scatter(
            x=own["outcome"],
            y=100 * own["share"],
            mode="lines",
            line={"width": 3, "color": colour, "dash": dash, "shape": "hv"},
            name=plain(label, 40),
            hovertemplate="%{y:.0f} % of the decisions: at most %{x:.4g}<extra></extra>",
        )
    for share, text in ((25, "lower quartile"), (50, "median")):
        figure.add_hline(
            y=share,
            line={"width": 1, "dash": "dot", "color": GREY},
            annotation={"text": text, "font": SMALL},
            annotation_position="top left",
        )
    figure.update_xaxes(title_text=capital(plain(outcome.title, 70)))
    figure.update_yaxes(title_text="Decisions with at most that (%)", range=[0, 101])
    return figure


def subgroup_figure(gains: SubgroupGains, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """Policy minus as done in each group; what lies left of zero loses."""
    table = gains.groups
    digits = decimals((table["upper"] - table["lower"]) / 4)
    rows = []
    for row in table.to_dict("records"):
        ends = (row["estimate"], row["lower"], row["upper"])
        colour = VERMILION if row["loses"] in (Loses.YES, Loses.MAYBE) else BLUE
        text = interval_text(*ends, digits)
        name = f"{row['variable']}: {row['group']} ({row['people']})"
        rows.append(Row(name, *ends, text, colour))
    figure = dots(rows, least=300, beside=(0.0,))
    figure.add_vline(x=0, line={"width": 1, "dash": "dot", "color": GREY})
    title = f"Policy minus as in the study, {plain(outcome.title, 60)} a decision (people)"
    figure.update_xaxes(title_text=title)
    return figure

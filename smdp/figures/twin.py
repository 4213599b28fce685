"""Figures of repetitions on a twin: how often what is there is found, and what is not there."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.figures.intervals import Row, dots
from smdp.figures.style import BLUE, GREY, ORANGE, new_figure, plain
from smdp.text import percent
from smdp.validation.twin_study import TwinStudy

MOST_OTHERS = 12


def found_figure(result: TwinStudy) -> go.Figure:
    """Shares of drawn studies in which each variable was kept, with Wilson intervals."""
    table = result.table
    others = table[~table["planted"]].sort_values(
        ["kept", "nothing"], ascending=False, kind="stable"
    )
    rows = []
    for row in [
        *table[table["planted"]].to_dict("records"),
        *others.head(MOST_OTHERS).to_dict("records"),
    ]:
        if not row["kept_of"]:
            continue
        rows.append(
            Row(
                name=str(row["variable"]),
                estimate=100 * row["kept_share"],
                lower=100 * row["kept_lower"],
                upper=100 * row["kept_upper"],
                text=f"{int(row['kept'])} of {int(row['kept_of'])}",
                colour=BLUE if row["planted"] else ORANGE,
                symbol="circle" if row["planted"] else "diamond",
                hover=f"{'planted' if row['planted'] else 'not planted'}, kept in "
                f"{percent(row['kept_share'])}",
            )
        )
    if not rows:
        return new_figure(height=240)
    figure = dots(rows, 260, (0.0, 100.0), right=95)
    figure.update_xaxes(title="kept by screening, % of drawn studies (blue: planted, orange: not)")
    return figure


def gains_figure(result: TwinStudy, outcome: OutcomeName = UTILITY_NAME) -> go.Figure | None:
    """What the policies learned anew are worth in the twin; None where there are none."""
    gains = np.array([r.gain for r in result.of("as learned")])
    gains = np.sort(gains[np.isfinite(gains)])
    if not len(gains):
        return None
    figure = new_figure(height=300)
    figure.add_scatter(
        x=gains,
        y=100 * (np.arange(len(gains)) + 1) / len(gains),
        mode="markers",
        marker={"size": 11, "color": BLUE},
        name="learned anew from a drawn study",
        hovertemplate="%{x:.3g}<extra></extra>",
    )
    for value, name, dash in ((result.gain, "the policy learned here", "solid"),):
        if np.isfinite(value):
            figure.add_scatter(
                x=[value, value], y=[0, 100], mode="lines", name=name,
                line={"color": ORANGE, "width": 3, "dash": dash}, hoverinfo="skip",
            )  # fmt: skip
    figure.add_vline(x=0, line={"dash": "dot", "width": 1, "color": GREY})
    figure.update_xaxes(title=f"true gain in the twin, {plain(outcome.title, 60)} a decision")
    figure.update_yaxes(title="% of drawn studies with less", range=[-4, 104])
    return figure

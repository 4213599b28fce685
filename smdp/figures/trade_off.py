"""The cost of treating as a figure: treatments given against what they earn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.trade_off import TradeOff
from smdp.figures.intervals import padded
from smdp.figures.style import BLUE, GREY, NORMAL, SMALL, VERMILION, faint, new_figure, plain
from smdp.text import capital
from smdp.words.explanation import action_name
from smdp.words.trade_off import counted, part_name


def trade_off_figure(
    found: TradeOff, cost: float | None = None, outcome: OutcomeName = UTILITY_NAME
) -> go.Figure:
    """Each cost a dot, with its intervals across and up; the chosen one is filled.

    Where several outcomes count, their sum on the left, and then each alone.
    """
    names = [] if found.parts is None else list(dict.fromkeys(found.parts["outcome"]))
    shown = [counted(found, outcome), *(OutcomeName(part_name(n, outcome)) for n in names)]
    figure = new_figure(height=430)
    if names:
        figure.set_subplots(1, len(shown), horizontal_spacing=0.09)
    done = found.as_done
    _draw(figure, found, cost, found.curve, (done["treated"], done["outcome"]), 1)
    titles = [f"{plain(shown[0].title, 50)}, without the cost", *(s.title for s in shown[1:])]
    for place, name in enumerate(names, start=2):
        own = found.parts[found.parts["outcome"] == name]  # type: ignore[index]
        alone = own[own["cost"].notna()].reset_index(drop=True)
        curve = found.curve.assign(
            outcome=alone["estimate"], outcome_lower=alone["lower"], outcome_upper=alone["upper"]
        )
        before = float(own.loc[own["cost"].isna(), "estimate"].iloc[0])
        _draw(figure, found, cost, curve, (done["treated"], before), place)
    free = plain(action_name(found.reference), 24)
    across = f"Decisions with another treatment than {free} (%)"
    for place, title in enumerate(titles, start=1):
        column = {"row": 1, "col": place} if names else {}
        figure.update_xaxes(title_text="Treated (% of decisions)" if names else across, **column)
        figure.update_yaxes(title_text=capital(plain(title, 60)), **column)
    figure.update_layout(legend={"font": NORMAL})
    return figure


def _draw(
    figure: go.Figure,
    found: TradeOff,
    cost: float | None,
    curve: pd.DataFrame,
    before: tuple[float, float],
    place: int,
) -> None:
    """One outcome; `before`: share treated and outcome as people were treated."""
    own = {"row": 1, "col": place} if found.parts is not None else {}
    share = 100 * curve["treated"]

    def lines(values: pd.Series, lower: pd.Series, upper: pd.Series) -> dict[str, object]:
        return {
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(upper - values),
            "arrayminus": np.nan_to_num(values - lower),
            "thickness": 1.5,
            "width": 0,
            "color": faint(BLUE, 0.35),
        }

    figure.add_scatter(
        x=share,
        y=curve["outcome"],
        mode="lines+markers+text",
        line={"width": 2, "color": BLUE},
        marker={"size": 9, "color": "white", "line": {"width": 2, "color": BLUE}},
        error_y=lines(curve["outcome"], curve["outcome_lower"], curve["outcome_upper"]),
        error_x=lines(share, 100 * curve["treated_lower"], 100 * curve["treated_upper"]),
        text=[f"{c:.3g}" for c in curve["cost"]],
        textposition="top right",
        textfont=SMALL,
        name="policy, at the cost beside the dot",
        customdata=curve["cost"],
        hovertemplate="cost %{customdata:.4g}: %{x:.0f} % treated, %{y:.4g}<extra></extra>",
        showlegend=place == 1,
        **own,
    )
    if cost is not None:
        row = curve.iloc[int((curve["cost"] - cost).abs().to_numpy().argmin())]
        figure.add_scatter(
            x=[100 * row["treated"]],
            y=[row["outcome"]],
            mode="markers",
            marker={"size": 15, "color": VERMILION},
            name=f"cost {row['cost']:.4g}",
            hoverinfo="skip",
            showlegend=place == 1,
            **own,
        )
    figure.add_scatter(
        x=[100 * before[0]],
        y=[before[1]],
        mode="markers",
        marker={"size": 12, "symbol": "x", "color": GREY},
        name="as in the study",
        hovertemplate="as in the study: %{x:.0f} % treated, %{y:.4g}<extra></extra>",
        showlegend=place == 1,
        **own,
    )
    ends = [*curve["outcome_lower"], *curve["outcome_upper"], *curve["outcome"], before[1]]
    figure.update_yaxes(range=padded(np.array(ends)), **own)

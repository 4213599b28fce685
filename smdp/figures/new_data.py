"""New data beside the first study: what moved, predicted beside observed, calibration."""

from __future__ import annotations

import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.figures.intervals import Row, dots
from smdp.figures.style import BLUE, ORANGE, new_figure, plain
from smdp.text import interval_text, p_text
from smdp.validation.calibration import Calibration
from smdp.validation.likeness import Likeness
from smdp.validation.new_data import OnNewData
from smdp.validation.worth import GAIN
from smdp.words.policy_value import digits_of, units

MOST_VARIABLES = 25


def moved_figure(found: Likeness, level: float = 0.05) -> go.Figure:
    """Difference of people's means, new less first; filled colour where a variable moved."""
    table = found.table.assign(size=found.table["effect"].abs()).sort_values(
        ["adjusted", "size"], ascending=[True, False], kind="stable"
    )
    rows = [
        Row(
            name=f"{row['variable']}: {row['part']}" if row["part"] else row["variable"],
            estimate=row["effect"],
            lower=row["lower"],
            upper=row["upper"],
            text=f"{interval_text(row['effect'], row['lower'], row['upper'])}",
            colour=ORANGE if row["adjusted"] <= level else BLUE,
            symbol="diamond" if row["adjusted"] <= level else "circle",
            hover=f"{row['effect']:+.2f} sd, {p_text(row['adjusted'])} with all variables together",
        )
        for row in table.head(MOST_VARIABLES).to_dict("records")
        if row["effect"] == row["effect"]
    ]
    figure = dots(rows, 240, (0.0,))
    figure.add_vline(x=0, line={"dash": "dot", "width": 1})
    figure.update_xaxes(title="new people less first study, in standard deviations")
    return figure


def beside_figure(
    policies: tuple[OnNewData, ...], outcome: OutcomeName = UTILITY_NAME
) -> go.Figure | None:
    """Predicted and observed gain and value of each policy."""
    rows = []
    for own in policies:
        if own.beside is None or own.value is None:
            continue
        digits = digits_of(own.value)
        for each in own.beside.to_dict("records"):
            what = "gain" if each["what"] == GAIN else "value"
            for place, told in enumerate(("predicted", "observed")):
                ends = each[told], each[f"{told}_lower"], each[f"{told}_upper"]
                name = f"{own.policy}: {what}, {told}" if len(policies) > 1 else f"{what}, {told}"
                text = interval_text(*ends, digits)
                symbol = "diamond" if place else "circle"
                rows.append(Row(name, *ends, text, (BLUE, ORANGE)[place], symbol))
    if not rows:
        return None
    figure = dots(rows, 260, (0.0,))
    figure.add_vline(x=0, line={"dash": "dot", "width": 1})
    figure.update_xaxes(title=units(outcome))
    return figure


def calibration_figure(found: Calibration, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """Groups of decisions by predicted advantage: what was observed in each."""
    own = found.table
    figure = new_figure(height=420)
    ends = [own["predicted"].min(), own["predicted"].max()]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", name="as predicted",
        line={"dash": "dot", "width": 2, "color": "grey"}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=own["predicted"],
        y=own["observed"],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": own["upper"] - own["observed"],
            "arrayminus": own["observed"] - own["lower"],
        },
        mode="markers",
        marker={"size": 11, "color": BLUE},
        name="observed, with interval over people",
        customdata=own[["decisions", "people"]],
        hovertemplate="predicted %{x:.3g}, observed %{y:.3g}<br>%{customdata[0]} decisions of "
        "%{customdata[1]} people<extra></extra>",
    )
    figure.update_xaxes(
        title=f"predicted advantage of the recommendation ({plain(outcome.title, 60)})"
    )
    figure.update_yaxes(title="observed advantage")
    figure.update_layout(legend={"orientation": "h", "y": 1.08, "x": 0})
    return figure

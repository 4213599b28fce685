"""What the conclusions rest on, at a glance."""

from __future__ import annotations

import plotly.graph_objects as go

from smdp.figures.style import labels, new_figure
from smdp.validation.passport import Passport
from smdp.validation.passport_rows import Verdict
from smdp.words.passport import CLAIMS, VERDICTS

#: Blue and orange of Okabe & Ito, and greys: never red and green.
COLOURS: dict[Verdict, str] = {
    "holds": "#0072B2",
    "doubt": "#D55E00",
    "not checked": "#999999",
    "untestable": "#666666",
}
SYMBOLS: dict[Verdict, str] = {
    "holds": "circle",
    "doubt": "triangle-up",
    "not checked": "circle-open",
    "untestable": "diamond-open",
}
ROW = 40  # pixels: names take two lines


def passport_figure(found: Passport) -> go.Figure:
    """A row for each thing, with its mark under the verdict."""
    names = labels([CLAIMS[row.thing] for row in found.rows], 60)
    figure = new_figure(height=90 + ROW * len(found.rows))
    for verdict, words in VERDICTS.items():
        own = [names[CLAIMS[row.thing]] for row in found.rows if row.verdict == verdict]
        figure.add_scatter(
            x=[words] * len(own),
            y=own,
            mode="markers",
            marker={"symbol": SYMBOLS[verdict], "color": COLOURS[verdict], "size": 13,
                    "line": {"width": 2}},
            hovertemplate="%{y}: %{x}<extra></extra>",
            showlegend=False,
        )  # fmt: skip
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=list(VERDICTS.values()),
        range=[-0.5, len(VERDICTS) - 0.5],
        side="top",
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=[names[CLAIMS[row.thing]] for row in found.rows],
        autorange="reversed",
    )
    return figure

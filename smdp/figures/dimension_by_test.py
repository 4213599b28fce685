"""Figures of maps whose dimension one test has chosen: the paper's, or that of earlier versions."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.figures.style import BLUE, GREY, ORANGE, VERMILION, new_figure
from smdp.text import p_text
from smdp.words.candidates import deciding_p

SMALLEST_SHOWN = 1e-4


def dimension_figure_by_test(fitted: FittedFeatureMap, number: int) -> go.Figure:
    """The p-values of both tests by dimension in one pass, the level, and the choice."""
    tried = fitted.candidates[fitted.candidates["pass"] == number]
    figure = new_figure(height=400)
    for test, colour, symbol in (("relative", BLUE, "circle"), ("absolute", ORANGE, "square")):
        p = tried[f"p_{test}"].to_numpy(dtype=float)
        decides = deciding_p(fitted) == f"p_{test}"
        figure.add_scatter(
            x=tried["dimension"],
            y=np.clip(p, SMALLEST_SHOWN, 1),
            mode="lines+markers",
            name=f"{test} test" + (" (decides)" if decides else ""),
            line={
                "color": colour,
                "width": 2 if decides else 1,
                "dash": "solid" if decides else "dot",
            },
            marker={"size": 10 if decides else 8, "symbol": symbol},
            customdata=[p_text(v) if np.isfinite(v) else "not tested" for v in p],
            hovertemplate="Dimension %{x}: %{customdata}<extra>" + test + "</extra>",
        )
    chosen = tried[tried["chosen"]]
    if len(chosen):
        column = deciding_p(fitted)
        figure.add_scatter(
            x=chosen["dimension"],
            y=np.clip(chosen[column].to_numpy(dtype=float), SMALLEST_SHOWN, 1),
            mode="markers",
            name="chosen",
            marker={"size": 20, "symbol": "circle-open", "color": VERMILION, "line": {"width": 3}},
            cliponaxis=False,
            hoverinfo="skip",
        )
    figure.add_hline(
        y=fitted.settings.level,
        line={"dash": "dash", "width": 1.5, "color": GREY},
        annotation={
            "text": f"level {fitted.settings.level:g}",
            "font": {"size": 12},
            "y": float(np.log10(fitted.settings.level)),  # as a log axis wants it
            "x": 0,  # small dimensions are usually far below the level
            "xanchor": "left",
            "yanchor": "bottom",
        },
    )
    figure.update_xaxes(title_text="Dimension (number of features)", dtick=1)
    figure.update_yaxes(
        title_text="p-value",
        type="log",
        range=[np.log10(SMALLEST_SHOWN) - 0.15, 0.1],
        tickvals=[0.0001, 0.001, 0.01, 0.05, 0.1, 1],
        ticktext=["≤ .0001", ".001", ".01", ".05", ".1", "1"],
    )
    return figure


def loss_figure_by_test(fitted: FittedFeatureMap, number: int) -> go.Figure:
    """How well each dimension predicts the next state and utility of people left out."""
    tried = fitted.candidates[fitted.candidates["pass"] == number]
    figure = new_figure(height=340)
    kinds = (("cv_loss", "while selecting (penalised)", GREY), ("refit_loss", "as used", BLUE))
    for column, name, colour in kinds:
        figure.add_scatter(
            x=tried["dimension"],
            y=tried[column],
            mode="lines+markers",
            name=name,
            line={"color": colour},
            marker={"size": 8},
            hovertemplate="Dimension %{x}: %{y:.3f}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title_text="Dimension (number of features)", dtick=1)
    figure.update_yaxes(title_text="Squared error out of fold", rangemode="tozero")
    return figure

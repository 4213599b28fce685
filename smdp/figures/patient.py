"""Figures of the Patient page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.variables import Variable, variable_of
from smdp.explanation.patient_explanation import PatientExplanation
from smdp.explanation.person import PersonOverTime
from smdp.figures.q_functions import ERROR_LINE, action_colour
from smdp.figures.style import BLUE, GREY, ORANGE, SMALL, VERMILION, labels, new_figure, plain
from smdp.policy.decision_rule import REASONS, Reason
from smdp.policy.learned_policy import LearnedPolicy
from smdp.text import signed
from smdp.words.explanation import action_name

MOST_BARS = 14
MOST_SERIES = 6
MOST_AT_ONCE = 44  # decisions; of more, those around the one looked at


def q_values_figure(
    q: pd.DataFrame, possible: tuple[str, ...], outcome: OutcomeName = UTILITY_NAME
) -> go.Figure:
    """Each action's Q-value with its interval; open where it cannot be chosen now."""
    figure = new_figure(height=150 + 44 * len(q))
    names = [plain(action_name(label), 20) for label in q["action"]]
    with_errors = bool(q["lower"].notna().all())
    for place, label in enumerate(q["action"]):
        own = q.iloc[place]
        interval = f" ({own['lower']:.2f} to {own['upper']:.2f})" if with_errors else ""
        now = "" if label in possible else ", cannot be chosen now"
        figure.add_scatter(
            x=[own["q"]],
            y=[names[place]],
            mode="markers",
            marker={
                "size": 13,
                "color": action_colour(place),
                "symbol": "circle" if label in possible else "circle-open",
                "line": {"width": 2, "color": action_colour(place)},
            },
            error_x={
                "type": "data",
                "array": [own["upper"] - own["q"]],
                "visible": with_errors,
                "color": ERROR_LINE,
                "thickness": 1.5,
                "width": 5,
            },
            showlegend=False,
            hovertemplate=f"{names[place]}: {own['q']:.2f}{interval}{now}<extra></extra>",
        )
    figure.update_xaxes(title_text=f"Expected discounted<br>{plain(outcome.title, 40)} (Q)")
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=names,
        range=[len(q) - 0.4, -0.6],
        showgrid=False,
    )
    figure.update_layout(margin={"t": 10})
    return figure


def contributions_figure(patient: PatientExplanation) -> go.Figure:
    """From the average person's difference to hers: what each of her values adds or takes."""
    rows = patient.variables
    rows = rows.reindex(rows["contribution"].abs().sort_values(ascending=False).index)
    shown, rest = rows.iloc[:MOST_BARS], rows.iloc[MOST_BARS:]
    texts = [
        f"{name} = {patient.variable(name).text(value)}"
        for name, value in zip(shown["variable"], shown["value"], strict=True)
    ]
    parts = shown["contribution"].tolist()
    if len(rest):
        texts.append(f"{len(rest)} others")
        parts.append(float(rest["contribution"].sum()))
    steps = list(labels(texts, 30).values())
    start, end = "average person", "this person"
    figure = new_figure(height=max(300, 130 + 30 * (len(steps) + 2)))
    figure.add_waterfall(
        orientation="h",
        measure=["absolute", *["relative"] * len(parts), "total"],
        y=[start, *steps, end],
        x=[patient.average_margin, *parts, 0.0],
        text=[
            f"{patient.average_margin:.2f}",
            *[signed(p) for p in parts],
            f"{patient.margin:.2f}",
        ],
        textposition="outside",
        cliponaxis=False,
        increasing={"marker": {"color": VERMILION}},
        decreasing={"marker": {"color": BLUE}},
        totals={"marker": {"color": GREY}},
        connector={"line": {"color": "rgba(128,128,128,0.5)", "width": 1}},
        hovertemplate="%{y}: %{text}<extra></extra>",
        showlegend=False,
    )
    figure.add_vline(x=0, line={"width": 1.5, "color": GREY}, layer="below")
    edges = patient.average_margin + np.cumsum([0.0, *parts])
    low, high = min(0.0, float(edges.min())), max(0.0, float(edges.max()))
    room = 0.3 * ((high - low) or 1.0)
    second = plain(action_name(patient.second), 18)
    figure.update_xaxes(title_text=f"Lead over {second}", range=[low - room, high + room])
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_layout(margin={"t": 10})
    return figure


def features_figure(patient: PatientExplanation, policy: LearnedPolicy) -> go.Figure:
    """Her features against the study's, in standard deviations from its mean."""
    value = (patient.features["value"].to_numpy() - policy.q.centre) / policy.q.scale
    names = list(labels(patient.features["feature"]).values())
    figure = new_figure(height=max(220, 120 + 34 * len(names)))
    if policy.support is not None:
        low, high = (np.quantile(policy.support.points, share, axis=0) for share in (0.05, 0.95))
        figure.add_bar(
            x=high - low,
            base=low,
            y=names,
            orientation="h",
            width=0.5,
            marker={"color": "rgba(140,140,140,0.3)"},
            name="90 % of the study's decisions",
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=value,
        y=names,
        mode="markers",
        marker={"size": 12, "color": BLUE},
        name="this person now",
        customdata=patient.features["value"],
        hovertemplate="%{y}: %{x:.2f} SD from the mean (%{customdata:.2f})<extra></extra>",
    )
    figure.add_vline(x=0, line={"width": 1, "color": GREY})
    figure.update_xaxes(title_text="Standard deviations from the study's mean")
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def _height_of_series(variable: Variable) -> float:
    """1 for numbers; more where many levels are to be named, one below the other."""
    levels = len(variable.levels) if variable.kind == "nominal" else 0
    return max(1.0, 0.34 + 0.18 * levels)


def over_time_figure(
    person: PersonOverTime, actions: tuple[str, ...], variables: list[str], now: int
) -> go.Figure:
    """What was done and what would have been recommended, over her values decision by decision."""
    shown = variables[:MOST_SERIES]
    decision = person.decision + 1
    heights = [_height_of_series(variable_of(person.about, name)) for name in shown]
    figure = new_figure(height=round(190 + 92 * sum(heights)))
    strip = 0.8 / (sum(heights) + 0.8)
    base = figure.layout.yaxis.to_plotly_json()
    _strips(figure, person, actions)
    figure.update_layout(
        yaxis={
            "domain": [1 - strip, 1],
            "type": "category",
            "categoryorder": "array",
            "categoryarray": ["recommended", "done"],
            "range": [-0.7, 1.7],
            "showgrid": False,
        }
    )
    filled = pd.DataFrame(person.filled, columns=person.values.columns)
    one = (1 - strip) / max(1.0, sum(heights))
    for place, name in enumerate(shown):
        axis, top = f"y{place + 2}", 1 - strip - one * sum(heights[:place])
        values, holes = person.values[name].to_numpy(), filled[name].to_numpy()
        about = variable_of(person.about, name)
        value = "%{y}" if about.kind == "nominal" else "%{y:.4g}"
        figure.add_scatter(
            x=decision,
            y=values,
            yaxis=axis,
            mode="lines",
            line={"color": BLUE, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
        for chosen, word, colour, symbol in (
            (~holes, "reported", BLUE, "circle"),
            (holes, "filled in", ORANGE, "diamond"),
        ):
            figure.add_scatter(
                x=decision[chosen],
                y=values[chosen],
                yaxis=axis,
                mode="markers",
                marker={"size": 6, "color": colour, "symbol": symbol},
                name=word,
                legendgroup=word,
                showlegend=bool(chosen.any()) and not _named(figure, word),
                hovertemplate=f"Decision %{{x}}: {plain(name)} {value} ({word})<extra></extra>",
            )
        flat = {"range": [values[0] - 1, values[0] + 1]} if np.ptp(values) == 0 else {}
        whole: dict[str, object] = {"dtick": 1} if about.kind == "binary" else {}
        if about.kind == "nominal":
            codes, called = zip(*about.levels, strict=True)
            whole = {"tickvals": codes, "ticktext": [plain(text, 12) for text in called]}
            whole["range"] = [codes[0] - 0.5, codes[-1] + 0.5]
        figure.update_layout(
            {
                f"yaxis{place + 2}": {
                    **base,
                    "domain": [max(0.0, top - one * (heights[place] - 0.08)), top - one * 0.26],
                    "nticks": 4,
                    **flat,
                    **whole,
                }
            }
        )
        figure.add_annotation(
            text=plain(about.title, 40),
            x=0,
            xref="paper",
            xanchor="left",
            y=top - one * 0.25,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            font=SMALL,
        )
    figure.update_layout(
        shapes=[
            {
                "type": "rect",
                "xref": "x",
                "yref": "paper",
                "x0": now + 0.5,
                "x1": now + 1.5,
                "y0": 0,
                "y1": 1,
                "fillcolor": "rgba(230,159,0,0.18)",
                "line": {"width": 0},
                "layer": "below",
            }
        ],
        legend={"y": 1.02},
    )
    last = f"y{len(shown) + 1}" if shown else "y"
    title = "Decision number"
    if len(decision) > MOST_AT_ONCE:
        half = MOST_AT_ONCE // 2
        first = min(max(now + 1 - half, int(decision[0])), int(decision[-1]) - 2 * half)
        figure.update_xaxes(range=[first - 0.7, first + 2 * half + 0.7])
        title += " (double-click to see all)"
    figure.update_layout(xaxis={"anchor": last, "title": {"text": title}})
    return figure


def _strips(figure: go.Figure, person: PersonOverTime, actions: tuple[str, ...]) -> None:
    decision = person.decision + 1
    for row, taken in (("done", person.done), ("recommended", person.recommended)):
        for place, label in enumerate(actions):
            own = taken == place
            name = plain(action_name(label), 20)
            figure.add_scatter(
                x=decision[own],
                y=[row] * int(own.sum()),
                mode="markers",
                marker={"size": 11, "color": action_colour(place), "symbol": "square"},
                name=name,
                legendgroup=f"action {place}",
                showlegend=bool(own.any()) and not _named(figure, name),
                hovertemplate=f"Decision %{{x}}: {row} {name}<extra></extra>",
            )
    unavailable = person.reason == Reason.UNAVAILABLE
    for own, name, symbol in (
        (unavailable, "nothing could be chosen", "line-ew-open"),
        ((person.recommended < 0) & ~unavailable, "no recommendation", "circle-open"),
    ):
        if own.any():
            figure.add_scatter(
                x=decision[own],
                y=["recommended"] * int(own.sum()),
                mode="markers",
                marker={"size": 9, "color": GREY, "symbol": symbol},
                name=name,
                customdata=[REASONS[int(r)] for r in person.reason[own]],
                hovertemplate="Decision %{x}: %{customdata}<extra></extra>",
            )


def _named(figure: go.Figure, name: str) -> bool:
    """Whether the legend has this entry already."""
    return any(trace.name == name and trace.showlegend is not False for trace in figure.data)

"""How the variables kept lead to the utility, as a graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.figures.style import BLUE, GREY, ORANGE, PURPLE, labels, new_figure, plain
from smdp.screening import ScreeningResult
from smdp.screening_paths import UTILITY, ClosedSet, Path, closed_set
from smdp.text import p_text

#: Arrows that lead no nearer to the utility; of more, nobody could follow any.
MOST_ASIDE = 8
ROW = 62  # pixels from one variable to the next
DOT, RING = 15, 24

Place = tuple[float, float]


def paths_figure(result: ScreeningResult, outcome: OutcomeName = UTILITY_NAME) -> go.Figure | None:
    """The utility on the right, left of it what leads to it, further left what acts through others.

    None where no arrows were tested.
    """
    found = closed_set(result)
    if found is None:
        return None
    places = _places(found)
    furthest = max(found.steps.values())
    label = labels(found.steps, 28 if furthest < 3 else 20) | {UTILITY: plain(outcome.name, 28)}
    tallest = max(list(found.steps.values()).count(step) for step in set(found.steps.values()))
    figure = new_figure(height=150 + ROW * max(tallest, 2))
    shown = found.aside if len(found.aside) <= MOST_ASIDE else ()
    kinds = (
        ("also leads to", shown, {"color": GREY, "width": 1}),
        (
            "clearest way, but not clear",
            [path for path in found.onward if not path.clear],
            {"color": GREY, "width": 1.5, "dash": "dash"},
        ),
        (
            f"leads to (at level {result.settings.level:g})",
            [path for path in found.onward if path.clear],
            {"color": BLUE, "width": 2.5},
        ),
    )
    for name, paths, line in reversed(kinds):
        if paths:  # an arrow in the legend would have a gap in it, like a dashed line
            figure.add_scatter(x=[None], y=[None], mode="lines", name=name, line=line)
    for name, paths, line in kinds:
        for path in paths:
            _arrow(figure, name, path, places, label, line)
    _dots(figure, result, found, places, label)
    hidden = len(found.aside) - len(shown)
    figure.update_xaxes(
        range=[-furthest - 0.5, 0.4],
        tickvals=list(range(-furthest, 1)),
        ticktext=[_column(step) for step in range(furthest, -1, -1)],
        title_text=f"{hidden} further arrows between these variables are not drawn"
        if hidden
        else "",
        showgrid=False,
    )
    half = max(tallest, 2) / 2
    figure.update_yaxes(visible=False, range=[-half - 0.2, half + 0.2])
    return figure


def _column(step: int) -> str:
    if step < 2:
        return ("the outcome", "directly")[step]
    return f"through {('one other', 'two others', 'three others')[step - 2]}" if step < 5 else "…"


def _places(found: ClosedSet) -> dict[str, Place]:
    """Columns by the steps to the utility; in each, variables are level with what they lead to."""
    places: dict[str, Place] = {UTILITY: (0.0, 0.0)}
    for step in range(1, max(found.steps.values()) + 1):
        names = [name for name, own in found.steps.items() if own == step]
        height = {
            name: float(np.mean([places[p.target][1] for p in found.onward if p.source == name]))
            for name in names
        }
        names.sort(key=lambda name: -height[name])
        top = (len(names) - 1) / 2
        places |= {name: (-float(step), top - k) for k, name in enumerate(names)}
    return places


def _arrow(
    figure: go.Figure,
    name: str,
    path: Path,
    places: dict[str, Place],
    label: dict[str, str],
    line: dict[str, object],
) -> None:
    x, y = _curve(places[path.source], places[path.target])
    told = f"{label[path.source]} → {label[path.target]}: {p_text(path.p_value)}"
    tail = [0.0] * (len(x) - 1)
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines+markers",
        name=name,
        showlegend=False,
        line=line,
        marker={
            "symbol": "arrow",
            "angleref": "previous",
            "color": line["color"],
            "size": [*tail, 13.0],
            "standoff": [*tail, DOT / 2 + 3],
            "opacity": 1,
        },
        text=[told] * len(x),
        hoverinfo="text",
    )


def _curve(start: Place, end: Place) -> tuple[list[float], list[float]]:
    """Straight to the right; otherwise in a bow that keeps clear of what leads to the right."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    if dx > 0:
        return [start[0], start[0] + dx / 2, end[0]], [start[1], start[1] + dy / 2, end[1]]
    share = np.linspace(0, 1, 25)
    bow = 4 * share * (1 - share)
    if dx == 0:
        return (start[0] - 0.1 * (1 + abs(dy) / 4) * bow).tolist(), (start[1] + share * dy).tolist()
    return (start[0] + share * dx).tolist(), (start[1] + share * dy + 0.3 * bow).tolist()


def _dots(
    figure: go.Figure,
    result: ScreeningResult,
    found: ClosedSet,
    places: dict[str, Place],
    label: dict[str, str],
) -> None:
    forced = [name for name in found.steps if name in result.settings.force_in]
    tested = [name for name in found.steps if name not in forced]
    for name, names, colour, symbol in (
        ("kept", tested, BLUE, "circle"),
        ("kept by hand", forced, PURPLE, "circle"),
        ("utility", [UTILITY], ORANGE, "square"),
    ):
        if names:
            figure.add_scatter(
                **_at(places, names),
                mode="markers",
                name=name,
                text=[label[each] for each in names],
                marker={"color": colour, "size": DOT, "symbol": symbol, "opacity": 1},
                hoverinfo="text",
                showlegend=name == "kept by hand",
            )
    every = [*found.steps, UTILITY]
    figure.add_scatter(
        **_at(places, every),
        mode="markers+text",
        name="names",
        text=[label[each] for each in every],
        textfont={"size": 14},
        # Away from the arrows, which lead to the middle, and from the ring.
        textposition=["bottom center" if places[each][1] < 0 else "top center" for each in every],
        marker={"size": RING + 3, "opacity": 0},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    remembering = [name for name in found.steps if name in found.memory]
    if remembering:
        figure.add_scatter(
            **_at(places, remembering),
            mode="markers",
            name="lasts: its next value depends on it",
            marker={
                "color": BLUE,
                "size": RING,
                "symbol": "circle-open",
                "line": {"width": 1.2},
            },
            text=[label[each] for each in remembering],
            hoverinfo="skip",
        )


def _at(places: dict[str, Place], names: Iterable[str]) -> dict[str, list[float]]:
    return {
        "x": [places[name][0] for name in names],
        "y": [places[name][1] for name in names],
    }

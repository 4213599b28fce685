"""A figure's colours as greys that can still be told apart.

Colours that name things (treatments, groups) become greys from dark to light, as far from each
other as their number allows, in the order of their own lightness. A scale that grows lighter or
darker all the way keeps its lightness; one that turns round in the middle, as that of weights does
at zero, becomes light (least) to dark (most), for otherwise plus would look like minus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

DARK, LIGHT = 0.13, 0.74  # the range of greys for named colours
SCALE_LIGHT, SCALE_DARK = 0.95, 0.12
SHORT = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])", re.I)
HEX = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", re.I)
RGB = re.compile(r"rgba?\(\s*([\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*(?:,\s*([\d.]+)\s*)?\)", re.I)
COLOURS = re.compile(r"colors?$|^colorway$")
SCALED = ("heatmap", "contour")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")

Colour = tuple[float, float, float, float]


def to_greyscale(figure: go.Figure) -> go.Figure:
    """A copy without colour."""
    traces = [trace.to_plotly_json() for trace in figure.data]
    layout = figure.layout.to_plotly_json()
    parts = [*traces, *layout.get("shapes", [])]
    named = sorted({c for part in parts for c in _named(part)}, key=lambda c: (_lightness(c), c))
    steps = np.linspace(DARK, LIGHT, len(named)) if len(named) > 1 else [DARK] * len(named)
    greys = dict(zip(named, steps, strict=True))

    def grey(text: str) -> str:
        colour = parsed(text)
        if colour is None:
            return text
        level = greys.get(_opaque(colour), _lightness(colour))
        return _written(level, colour[3])

    shown = go.Figure([_mapped(trace, grey) for trace in traces], _mapped(layout, grey))
    shown.layout.colorway = [_written(level, 1.0) for level in np.linspace(DARK, LIGHT, 4)]
    growing = [[0, _written(SCALE_LIGHT, 1.0)], [1, _written(SCALE_DARK, 1.0)]]
    for trace in shown.data:
        if trace.type in SCALED and trace.colorscale is None:
            trace.colorscale = growing
    _vary_dashes(shown)
    return shown


def parsed(text: str) -> Colour | None:
    """(red, green, blue, opacity), each from 0 to 1; None if it is not a colour we know."""
    text = text.strip()
    if found := SHORT.fullmatch(text):
        red, green, blue = (int(part * 2, 16) / 255 for part in found.groups())
        return red, green, blue, 1.0
    if found := HEX.fullmatch(text):
        red, green, blue = (int(part, 16) / 255 for part in found.groups())
        return red, green, blue, 1.0
    if found := RGB.fullmatch(text):
        red, green, blue = (float(part) / 255 for part in found.groups()[:3])
        return red, green, blue, float(found.group(4) or 1)
    return {"white": (1.0, 1.0, 1.0, 1.0), "black": (0.0, 0.0, 0.0, 1.0)}.get(text.lower())


def _named(part: Any) -> Iterator[Colour]:
    """The colours that name things in a trace or a shape, opaque; not those of growing scales."""
    for key, text in _colours(part):
        colour = parsed(text)
        if colour is not None and key != "growing" and not _is_paper_or_ink(colour):
            yield _opaque(colour)


def _colours(part: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        for name, own in part.items():
            yield from _colours(own, name)
    elif key == "colorscale" and isinstance(part, list | tuple):
        kind = "steps" if _flat(part) else "growing"
        yield from ((kind, str(colour)) for _, colour in part)
    elif isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.dtype == object):
        if COLOURS.search(key) or any(isinstance(own, dict) for own in part):
            for own in part:
                yield from _colours(own, key)
    elif isinstance(part, str) and COLOURS.search(key):
        yield key, part


def _mapped(part: Any, grey: Callable[[str], str], key: str = "") -> Any:
    """The same with every colour through `grey`."""
    if isinstance(part, dict):
        return {name: _mapped(own, grey, name) for name, own in part.items()}
    if key == "colorscale" and isinstance(part, list | tuple):
        return _scale(part, grey)
    if isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.dtype == object):
        if COLOURS.search(key) or any(isinstance(own, dict) for own in part):
            return [_mapped(own, grey, key) for own in part]
        return part
    if isinstance(part, str) and COLOURS.search(key):
        return grey(part)
    return part


def _scale(stops: Any, grey: Callable[[str], str]) -> list[list[Any]]:
    colours = [parsed(str(colour)) for _, colour in stops]
    if _flat(stops) or any(colour is None for colour in colours):
        return [[place, grey(str(colour))] for place, colour in stops]
    # As seen on white paper.
    levels = [1 - c[3] * (1 - _lightness(c)) for c in colours if c is not None]
    changes = np.diff(levels)
    if (changes <= 0).all() or (changes >= 0).all():
        return [[stop[0], _written(level, 1.0)] for stop, level in zip(stops, levels, strict=True)]
    span = SCALE_DARK - SCALE_LIGHT
    return [[place, _written(SCALE_LIGHT + span * float(place), 1.0)] for place, _ in stops]


def _flat(stops: Any) -> bool:
    """Whether a colour scale is a row of plain colours, each with its first and last place."""
    texts = [str(colour) for _, colour in stops]
    return len(texts) % 2 == 0 and len(texts) > 2 and texts[::2] == texts[1::2]


def _lightness(colour: Colour) -> float:
    """As a printer sees it: the luma of Rec. 601."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]


def _opaque(colour: Colour) -> Colour:
    return (*colour[:3], 1.0)


def _is_paper_or_ink(colour: Colour) -> bool:
    plain = max(colour[:3]) - min(colour[:3]) < 0.02
    return plain and not 0.25 < colour[0] < 0.75


def _written(level: float, opacity: float) -> str:
    grey = round(255 * min(max(level, 0.0), 1.0))
    return f"rgba({grey},{grey},{grey},{opacity:g})"


def _vary_dashes(figure: go.Figure) -> None:
    """Lines that only their colour told apart get dashes of their own."""
    lines = [
        trace
        for trace in figure.data
        if trace.type == "scatter"
        and "lines" in (trace.mode or "lines")
        and trace.name
        and trace.showlegend is not False
        and (trace.line.width is None or trace.line.width > 0)
    ]
    if len({trace.line.dash or "solid" for trace in lines}) < len(lines):
        for place, trace in enumerate(lines):
            trace.line.dash = DASHES[place % len(DASHES)]

"""Figures as journals want them: a column wide, with text that can be read in print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from smdp.blocks import NamedFigure
from smdp.figures.style import plain
from smdp.report.figure_theme import THEMES, FigureTheme, in_theme
from smdp.report.greyscale import to_greyscale
from smdp.settings import require
from smdp.words.weights import STABLE, UNSTABLE

Preset = Literal["single", "double"]

#: Width of a column, and of two, in millimetres.
WIDTHS: dict[str, float] = {"single": 85.0, "double": 170.0}
TALLEST_MM = 230.0
RESOLUTIONS = (300, 600)

#: The smallest text's size in the figure; a theme says how large that is in print.
LEAST_PIXELS = 12
POINTS_A_MM = 72 / 25.4
#: The usual width of a character, in its size.
CHARACTER, TITLE_PIXELS = 0.55, 15
BREAK = "<br>"
NAMES = 0.28  # of the width, for names on the left
LINE = 20  # pixels of a line of text
MARKS = (STABLE, UNSTABLE)
TAGS = re.compile(r"<[^>]*>|&[a-z#0-9]+;", re.I)


@dataclass(frozen=True)
class PrintSize:
    """The size in print, and that of the figure's own pixels, in which 12 are 7 points."""

    width_mm: float
    width: int
    height: int

    @property
    def height_mm(self) -> float:
        return self.width_mm * self.height / self.width

    def pixels(self, dpi: int) -> int:
        """Of a raster file's width."""
        return round(self.width_mm / 25.4 * dpi)


def check_preset(preset: str | FigureTheme, dpi: int) -> None:
    known = isinstance(preset, FigureTheme) or preset in WIDTHS
    require(known, "preset", " or ".join(map(repr, WIDTHS)), preset)
    require(dpi in RESOLUTIONS, "dpi", " or ".join(map(str, RESOLUTIONS)), dpi)


def for_print(
    named: NamedFigure,
    preset: Preset | FigureTheme,
    *,
    titles: bool = True,
    greyscale: bool = False,
) -> tuple[go.Figure, PrintSize]:
    """A copy of the figure at the preset's width, on white, with text of 7 points or more.

    With a theme, in its width, font, colours and size of text.
    """
    theme = preset if isinstance(preset, FigureTheme) else THEMES[preset]
    figure = to_greyscale(named.figure) if greyscale else in_theme(named.figure, theme)
    width_mm = theme.width_mm
    width = int(width_mm * POINTS_A_MM / theme.points * LEAST_PIXELS)
    _raise_small_text(figure)
    _fit(figure, width)
    lines = _heading(named, titles, width)
    heading, legend = LINE * len(lines) + 6 if lines else 0, _legend_height(figure, width)
    margin = figure.layout.margin.t or 0
    top = heading + max(margin, legend + 12 if legend else 0)
    tallest = int(TALLEST_MM / width_mm * width)
    own_height = round(theme.height * int(figure.layout.height or 420))
    height = min(own_height + round(top - margin), tallest)
    figure.update_layout(
        width=width,
        height=height,
        paper_bgcolor="white",
        plot_bgcolor="white",
        margin={"t": top},
        title={
            "text": BREAK.join(lines),
            "font": {"size": TITLE_PIXELS},
            "x": 8 / width,
            "y": 1 - (21 if len(lines) > 1 else 10) / height,  # plotly sets several lines higher
            "xref": "container",
            "yref": "container",
            "xanchor": "left",
            "yanchor": "top",
        },
    )
    return figure, PrintSize(width_mm, width, height)


def _heading(named: NamedFigure, titles: bool, width: int) -> list[str]:
    """The lines above the figure: its title, if wanted, and what must be said of it."""
    lines = _wrapped(plain(named.title, 200), width - 20, TITLE_PIXELS) if titles else []
    if named.marks:
        text = plain("; ".join(named.marks)).capitalize()
        lines.append(f'<span style="font-size:{LEAST_PIXELS}px;color:#5A5A5A">{text}</span>')
    return lines


def _legend_height(figure: go.Figure, width: int) -> int:
    """About as high as plotly will make a legend that lies above the figure; 0 without one."""
    named = [t for t in figure.data if t.showlegend is not False and t.name]
    shown = len(named) > 1 or any(t.showlegend for t in named)
    if not shown or figure.layout.showlegend is False:
        return 0
    texts = [t.name.split(BREAK) for t in named]
    widths = [46 + max(map(_length, lines)) * CHARACTER * 13 for lines in texts]
    room = width - (figure.layout.margin.l or 60) - (figure.layout.margin.r or 20)
    across = len(widths) if sum(widths) <= room else max(1, int(room / max(widths)))
    rows = -(-len(widths) // across)
    return LINE * rows * max(map(len, texts))


def _wrapped(text: str, room: float, size: float = 13) -> list[str]:
    """The text in lines that fit into so many pixels; its own line breaks stay."""
    letters = max(8, int(room / (CHARACTER * size)))
    return [line for part in text.split(BREAK) for line in _lines(part, letters)]


def _lines(text: str, letters: int) -> list[str]:
    """Words to lines; markup such as <sub> has no width."""
    found: list[str] = []
    for word in text.split():
        if found and _length(f"{found[-1]} {word}") <= letters:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found or [""]


def _length(text: str) -> int:
    return len(TAGS.sub(lambda tag: "x" if tag.group().startswith("&") else "", text))


def _raise_small_text(figure: go.Figure) -> None:
    """No text below the least size, wherever it is set."""

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            for name, own in part.items():
                if name.endswith("font") and isinstance(own, dict):
                    size = own.get("size")
                    if isinstance(size, int | float) and size < LEAST_PIXELS:
                        own["size"] = LEAST_PIXELS
                walk(own)
        elif isinstance(part, list | tuple):
            for own in part:
                walk(own)
        return part

    figure.update_layout(walk(figure.layout.to_plotly_json()), overwrite=True)
    for trace in figure.data:
        trace.update(walk(trace.to_plotly_json()), overwrite=True)


def _fit(figure: go.Figure, width: int) -> None:
    """Let titles, names and numbers beside the figure break into lines where it is narrow."""
    beside = _numbers_beside(figure, width)
    inside = width - (figure.layout.margin.l or 60) - beside
    for axis in figure.select_xaxes():
        low, high = axis.domain or (0, 1)
        _break_title(axis, 1.05 * (high - low) * inside)
    tall = (figure.layout.height or 420) - 90
    for axis in figure.select_yaxes():
        low, high = axis.domain or (0, 1)
        _break_title(axis, 1.1 * (high - low) * tall)
        _break_categories(figure, axis, NAMES * width)
    for trace in figure.data:
        if trace.name:
            trace.name = BREAK.join(_wrapped(trace.name, width - 70))
        if trace.type == "heatmap":
            _thin_out_texts(trace, figure, inside)


def _numbers_beside(figure: go.Figure, width: int) -> float:
    """The margin on the right; a column of numbers there breaks before its intervals."""
    margin = float(figure.layout.margin.r or 20)
    column = [a for a in figure.layout.annotations if a.xref == "paper" and (a.x or 0) > 1]
    if not column or margin < 0.3 * width:
        return margin
    for each in column:
        each.text = each.text.replace(" (", f"{BREAK}(", 1).replace(", ", f",{BREAK}", 1)
        each.align = "left"
    longest = max(_length(line) for a in column for line in a.text.split(BREAK))
    margin = 22 + longest * CHARACTER * 13
    figure.update_layout(margin={"r": margin})
    return margin


def _break_title(axis: Any, room: float) -> None:
    text = axis.title.text
    if text:
        axis.title.text = BREAK.join(_wrapped(text, room, axis.title.font.size or 13))


def _break_categories(figure: go.Figure, axis: Any, room: float) -> None:
    """Long names of an axis of names, in two lines or more."""
    if axis.type != "category" or axis.showticklabels is False or axis.ticktext:
        return
    place = axis.plotly_name.removeprefix("yaxis")
    traces = [t for t in figure.data if (t.yaxis or "y") == f"y{place}" and t.y is not None]
    names = list(dict.fromkeys(str(y) for t in traces for y in t.y if y is not None))
    if axis.tickvals is not None:
        names = [str(name) for name in axis.tickvals]
    broken = [BREAK.join(_wrapped(name, room, LEAST_PIXELS)) for name in names]
    if broken != names:
        axis.tickmode, axis.tickvals, axis.ticktext = "array", names, broken


def _thin_out_texts(trace: Any, figure: go.Figure, inside: float) -> None:
    """Numbers in cells only while they fit; a mark behind a number stays."""
    if trace.z is None or not trace.texttemplate:
        return
    axis = figure.layout[(trace.xaxis or "x").replace("x", "xaxis")]
    low, high = axis.domain or (0, 1)
    cell = (high - low) * (inside - 70) / max(1, np.shape(trace.z)[1])
    texts = [[f"{v:.2f}" for v in row] for row in np.asarray(trace.z, dtype=float)]
    if trace.text is not None:
        texts = [[str(text) for text in row] for row in trace.text]
    lines = [line for row in texts for text in row for line in text.split(BREAK)]
    if max(map(_length, lines), default=0) * CHARACTER * LEAST_PIXELS <= cell:
        return
    marks = [[text[-1] if text and text[-1] in MARKS else "" for text in row] for row in texts]
    trace.text = marks
    trace.texttemplate = "%{text}" if any(any(row) for row in marks) else None

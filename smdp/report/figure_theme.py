"""One look for all figures of a report: width, height, font, size of text, colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from smdp.figures.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from smdp.report.greyscale import COLOURS, Colour, parsed
from smdp.settings import Settings, require, setting

#: In the order of the house's own colours; the last is that of what stands back.
HOUSE = (BLUE, VERMILION, SKY, ORANGE, GREEN, PURPLE, YELLOW, GREY)
#: The blue of growing scales, which is none of these.
GROWING = (0, 110, 175)
#: Other palettes, as the R package ggsci has them under these names; they are not safe for people
#: who are colour-blind in every combination, as the house's is.
PALETTES: dict[str, tuple[str, ...]] = {
    "smdp": HOUSE,
    "npg": (
        "#3C5488", "#E64B35", "#4DBBD5", "#F39B7F", "#00A087", "#8491B4", "#91D1C2", "#7E6148",
    ),
    "jama": (
        "#374E55", "#B24745", "#00A1D5", "#DF8F44", "#79AF97", "#6A6599", "#80796B", "#8C8C8C",
    ),
    "nejm": (
        "#0072B5", "#BC3C29", "#6F99AD", "#E18727", "#20854E", "#7876B1", "#FFDC91", "#8C8C8C",
    ),
    "lancet": (
        "#00468B", "#ED0000", "#0099B4", "#FDAF91", "#42B540", "#925E9F", "#AD002A", "#ADB6B6",
    ),
}  # fmt: skip
FONTS = ("Inter", "Arial", "Helvetica", "Times New Roman")


@dataclass(frozen=True)
class FigureTheme(Settings):
    """How figures leave the program. `height`: a factor on the height that a figure has itself."""

    width_mm: float = setting(
        85.0,
        "Width (mm)",
        help="As the journal prints it.",
        least=40,
        most=250,
        given=(40.0, 250.0),
        step=1.0,
    )
    height: float = setting(
        1.0,
        "Height, as a factor",
        help="On the figure's own height.",
        least=0.5,
        most=2.5,
        given=(0.5, 2.5),
        step=0.1,
    )
    points: float = setting(
        7.0,
        "Smallest text (points)",
        help="In print.",
        least=5,
        most=14,
        given=(5.0, 14.0),
        step=0.5,
    )
    font: str = setting("Inter", "Font", help="Of all text in figures.", control="select")
    palette: str = setting(
        "smdp",
        "Colours",
        help="The house's own can be told apart by colour-blind people; the others are known "
        "under the names of journals.",
        control="select",
    )

    def check(self) -> None:
        require(self.font in FONTS, "font", f"one of {FONTS}", self.font)
        require(self.palette in PALETTES, "palette", f"one of {tuple(PALETTES)}", self.palette)


#: Widths that publishers print, in millimetres: one column, and the whole page.
THEMES: dict[str, FigureTheme] = {
    "single": FigureTheme(),
    "double": FigureTheme(width_mm=170.0),
    "Nature, one column": FigureTheme(width_mm=89.0, font="Helvetica", palette="npg"),
    "Nature, two columns": FigureTheme(width_mm=183.0, font="Helvetica", palette="npg"),
    "Elsevier, one column": FigureTheme(width_mm=90.0, font="Arial"),
    "Elsevier, two columns": FigureTheme(width_mm=190.0, font="Arial"),
    "PLOS, whole page": FigureTheme(width_mm=190.0, font="Arial", points=8.0),
}


def in_theme(figure: go.Figure, theme: FigureTheme) -> go.Figure:
    """A copy in the theme's font and colours; its size is set where it is drawn."""
    shown = go.Figure(figure)
    if theme.palette != "smdp":
        shown = _recoloured(shown, PALETTES[theme.palette])
    if theme.font != "Inter":
        family = f"{theme.font}, Arial, sans-serif"
        shown.update_layout(font={"family": family}, hoverlabel={"font": {"family": family}})
    return shown


def _recoloured(figure: go.Figure, palette: tuple[str, ...]) -> go.Figure:
    known: dict[tuple[int, int, int], tuple[int, int, int]] = {
        _bytes(parsed(own)): _bytes(parsed(other))
        for own, other in zip(HOUSE, palette, strict=True)
    }
    known[GROWING] = _bytes(parsed(palette[0]))

    def other(text: str) -> str:
        colour = parsed(text)
        found = None if colour is None else known.get(_bytes(colour))
        if colour is None or found is None:
            return text
        return f"rgba({found[0]},{found[1]},{found[2]},{colour[3]:g})"

    traces = [_painted(trace.to_plotly_json(), other) for trace in figure.data]
    return go.Figure(traces, _painted(figure.layout.to_plotly_json(), other))


def _painted(part: Any, other: Callable[[str], str], key: str = "") -> Any:
    """The same with every colour in another; names that look like colours are left alone."""
    if isinstance(part, dict):
        return {name: _painted(own, other, name) for name, own in part.items()}
    if key == "colorscale" and isinstance(part, list | tuple):
        return [[place, other(str(colour))] for place, colour in part]
    if isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.dtype == object):
        if COLOURS.search(key) or any(isinstance(own, dict) for own in part):
            return [_painted(own, other, key) for own in part]
        return part
    return other(part) if isinstance(part, str) and COLOURS.search(key) else part


def _bytes(colour: Colour | None) -> tuple[int, int, int]:
    assert colour is not None
    red, green, blue = (round(255 * part) for part in colour[:3])
    return red, green, blue

"""A figure with the name of its file, its title, and what has to be said of it everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import plotly.graph_objects as go

#: What a figure may have to say of itself, and how its file's name says it.
SYNTHETIC, OUT_OF_DATE = "synthetic data", "out of date"
MAX_NAME = 80


@dataclass(frozen=True)
class NamedFigure:
    """`marks`: such as "synthetic data"; they are in the file's name, and in the figure itself."""

    name: str
    title: str
    figure: go.Figure
    caption: str = ""
    marks: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """Without an ending; safe on every system."""
        text = "-".join([*(mark.replace(" data", "") for mark in self.marks), self.name])
        text = re.sub(r"[^A-Za-z0-9._]+", "-", text)[:MAX_NAME].strip("-.")
        return text or "figure"


def named_figures(
    figures: Mapping[str, go.Figure] | Iterable[NamedFigure],
) -> list[NamedFigure]:
    """Figures by their names, as they are wanted here."""
    if isinstance(figures, Mapping):
        return [
            NamedFigure(name, figure.layout.title.text or name, figure)
            for name, figure in figures.items()
        ]
    return list(figures)


def file_names(figures: Iterable[NamedFigure]) -> list[str]:
    """A file name for each, no two the same, on systems that do not mind capitals either."""
    found: list[str] = []
    taken: set[str] = set()
    for each in figures:
        name, copy = each.file_name, 1
        while name.lower() in taken:
            copy += 1
            name = f"{each.file_name}-{copy}"
        taken.add(name.lower())
        found.append(name)
    return found

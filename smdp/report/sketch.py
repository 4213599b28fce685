"""How the sections make their figures: with the marks that each of them must carry."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from smdp.report.named_figure import NamedFigure


@dataclass(frozen=True)
class Sketch:
    """Names figures after their section and marks them as synthetic or out of date."""

    section: str
    marks: tuple[str, ...] = ()

    def __call__(self, name: str, title: str, figure: go.Figure, caption: str = "") -> NamedFigure:
        return NamedFigure(f"{self.section}-{name}", title, figure, caption, self.marks)

"""Ten figures as 300-dpi PNG in one batch, beside a single one in the same run.

One browser draws the whole batch, so ten should take at most three times as long as one. Each is
the best of several alternating runs. The figures are those of the first pages, of the sample study.
"""

from __future__ import annotations

import sys
from time import perf_counter

import plotly.graph_objects as go

from smdp.data.arrange import arrange
from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import (
    ImputationSettings,
    PreparationSettings,
    RescalingSettings,
)
from smdp.data.prepare import complete, finish
from smdp.data.read_table import read_table
from smdp.data.study import Study
from smdp.figures.data import decisions_figure
from smdp.figures.missing_values import (
    exclusion_figure,
    missing_by_variable,
    missing_heatmap,
    series_figure,
)
from smdp.figures.rescaling import before_after_figure, levels_figure
from smdp.report.browser import find_browser
from smdp.report.figure_files import figure_files
from smdp.simulation.samples import BASICS, sample_file

RUNS = 3
BAR = 3.0


def main() -> None:
    if find_browser() is None:
        sys.exit("No Chromium was found. Install one, on Debian with: apt-get install chromium")
    figures = sample_figures()
    assert len(figures) == 10
    first = dict([next(iter(figures.items()))])
    times = [(_seconds(first), _seconds(figures)) for _ in range(RUNS)]
    one, ten = (min(pair[k] for pair in times) for k in (0, 1))
    print(f"one figure {one:.2f} s, ten figures {ten:.2f} s: {ten / one:.2f} times (bar {BAR:g})")
    if ten > BAR * one:
        sys.exit(1)


def sample_figures() -> dict[str, go.Figure]:
    frame = read_table(sample_file(f"{BASICS}.csv"))
    study = arrange(frame, guess_roles(frame))
    settings = PreparationSettings(rescaling=RescalingSettings())
    completed = complete(study, settings)
    prepared = finish(completed, settings.rescaling)
    assert prepared.study.levels is not None
    before = completed.study
    names = [variable.name for variable in study.variables]
    stress = names.index("stress")
    found = {
        "decisions": decisions_figure(study),
        "missing": missing_heatmap(study),
        "by-variable": missing_by_variable(study),
        "left-out": exclusion_figure(study, 0.5, [e.subject for e in completed.exclusions]),
        "levels": levels_figure(prepared.study),
        "stress-rescaled": before_after_figure(before, prepared.study, "stress"),
        "cigs-rescaled": before_after_figure(before, prepared.study, "cigs"),
    }
    return found | _series(study, stress)


def _series(study: Study, variable: int) -> dict[str, go.Figure]:
    settings = ImputationSettings()
    return {
        f"series-{subject}": series_figure(study, subject, variable, settings)
        for subject in range(3)
    }


def _seconds(figures: dict[str, go.Figure]) -> float:
    began = perf_counter()
    files = figure_files(figures, formats=("png",), preset="single", dpi=300)
    assert sum(name.endswith(".png") for name in files) == len(figures)
    return perf_counter() - began


if __name__ == "__main__":
    main()

"""The step Rescaling: one set of levels for all variables, or their own units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from smdp.blocks import bullets, table
from smdp.data.describe import describe_prepared, rescaling_table
from smdp.data.long_table import prepared_table
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import finish
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.data import WANG
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.text import plural

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.prepare import PreparedData
    from smdp.data.study import Study


#: What is asked of the step where nothing is rescaled.
OWN_UNITS = "own units"


def run(analysis: Analysis, progress: Progress) -> PreparedData:
    assert analysis.completed is not None
    progress(0.0, "Rescaling")
    return finish(analysis.completed, analysis.plan.rescaling)


def suits_common_levels(study: Study) -> bool:
    """As a study of questionnaire items and counts does."""
    return all(variable.kind != "continuous" for variable in study.variables)


def nothing_to_decide(analysis: Analysis) -> bool:
    """No plan says otherwise, and some variables are continuous: all keep their own units."""
    completed = analysis.completed
    planned = analysis.plan.rescaling is not None
    return completed is not None and not planned and not suits_common_levels(completed.study)


def summary(prepared: PreparedData, analysis: Analysis) -> str:
    levels = prepared.study.levels
    scale = OWN_UNITS if levels is None else f"{len(levels)} levels"
    return f"{plural(int(prepared.trajectories.valid.sum()), 'transition')}, {scale}"


def says(analysis: Analysis) -> list[str]:
    assert analysis.prepared is not None
    return describe_prepared(analysis.prepared)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    prepared = analysis.prepared
    assert prepared is not None
    yield "ranges", rescaling_table(prepared)
    yield "log", prepared.log
    yield "prepared-data", prepared_table(prepared)


def figures(prepared: PreparedData) -> Mapping[str, go.Figure]:
    from smdp.figures.rescaling import levels_figure

    return {} if prepared.study.levels is None else {"levels": levels_figure(prepared.study)}


def methods(analysis: Analysis, asked: RescalingSettings | str) -> str:
    if isinstance(asked, str):
        return "Variables were analysed in their own units."
    reference = f"'{asked.reference}'" if asked.reference else "the variable with the most values"
    levels = "the levels"
    study = analysis.prepared.study if analysis.prepared is not None else None
    if study is not None and study.levels is not None:
        reference, levels = f"'{study.reference}'", f"the {len(study.levels)} levels"
    return (
        f"All variables were rescaled to {levels} of {reference}, which was divided by its "
        "maximum; the others were rescaled to 0 to 1 by their declared or observed range and "
        f"rounded to the nearest level {WANG}."
    )


def script(plan: AnalysisPlan) -> str:
    settings = PreparationSettings.of(plan.preparation, plan.rescaling)
    return f"prepared = smdp.prepare(frame, roles, {code(settings, 0)})"


def rescaling_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.rescaling import levels_figure

    prepared = analysis.prepared
    assert prepared is not None
    found = bullets(describe_prepared(prepared))
    if prepared.study.levels is None:
        return found
    found += table(
        "Ranges before rescaling",
        rescaling_table(prepared),
        f"The range that became 0 to 1; {len(np.unique(prepared.study.levels))} levels.",
    )
    found.append(
        draw(
            "levels",
            "Levels after rescaling",
            levels_figure(prepared.study),
            "How often each variable takes each level.",
        )
    )
    return found


RESCALING = Step(
    name="rescaling",
    title="Rescaling",
    question="Should all variables share one scale, and which variable sets its levels?",
    sections=(PlanSection("rescaling", RescalingSettings),),
    result="smdp.data.prepare:PreparedData",
    needs=("missing",),
    takes={"completed study": "missing"},
    asked=lambda plan: plan.rescaling or OWN_UNITS,
    hands_on=lambda prepared: prepared.trajectories,
    received=lambda trajectories: SimpleNamespace(trajectories=trajectories),
    run=run,
    nothing_to_decide=nothing_to_decide,
    summary=summary,
    says=says,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("rescaling", "Rescaling", ("rescaling",), rescaling_section),),
    script=script,
    script_end='print(int(prepared.trajectories.valid.sum()), "transitions")',
    page=Page(
        "Rescaling", "Put all variables on common levels, or keep their units", "rescaling", 3
    ),
    personal=True,
)

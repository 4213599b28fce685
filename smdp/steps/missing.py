"""The step Missing values: who is left out, and what is filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from smdp.blocks import bullets, table
from smdp.data.describe import describe_completed, exclusion_table, how_words_are_filled
from smdp.data.exclude import exclude
from smdp.data.preparation_settings import CompletionSettings, PreparationSettings
from smdp.data.prepare import complete
from smdp.data.study import Cell
from smdp.errors import SmdpError
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.data import MOST_SUBJECTS
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.text import percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.prepare import CompletedStudy


def run(analysis: Analysis, progress: Progress) -> CompletedStudy:
    assert analysis.study is not None
    return complete(analysis.study, analysis.plan.preparation, progress=progress)


def nothing_to_decide(analysis: Analysis) -> bool:
    """No value is missing and everybody can stay."""
    study = analysis.study
    if study is None or study.missing.any():
        return False
    try:
        _, left_out = exclude(study, analysis.plan.preparation)
    except SmdpError:
        return False
    return not left_out


def summary(completed: CompletedStudy, analysis: Analysis) -> str:
    kept, everybody = len(completed.study.subjects), len(completed.arranged.subjects)
    return f"{kept} of {everybody} subjects kept"


def says(analysis: Analysis) -> list[str]:
    assert analysis.completed is not None
    return describe_completed(analysis.completed)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    assert analysis.completed is not None
    yield "left-out", exclusion_table(analysis.completed)


def figures(completed: CompletedStudy) -> Mapping[str, go.Figure]:
    from smdp.figures.missing_values import missing_by_variable, missing_heatmap

    study = completed.arranged
    return {"missing": missing_heatmap(study), "missing-by-variable": missing_by_variable(study)}


def methods(analysis: Analysis, asked: CompletionSettings) -> str:
    text = (
        f"Subjects with more than {percent(asked.exclude_above)} missing state values (among the "
        "variables that change over time) or with a single row were left out"
    )
    if asked.unobserved == "exclude":
        text += ", and so were those without any value of a variable"
    if asked.also_exclude:
        count = len(asked.also_exclude)
        text += "; one more was" if count == 1 else f"; {count} more were"
        text += " left out by hand"
    completed = analysis.completed
    if completed is not None:
        everyone, kept = len(completed.arranged.subjects), len(completed.study.subjects)
        text += f" ({everyone - kept} of {everyone} in all)"
    own = asked.imputation
    degree = {0: "constant", 1: "linear", 2: "quadratic"}[own.degree]
    words = how_words_are_filled(completed.study) if completed is not None else ""
    return (
        f"{text}. Other missing state values were replaced by the fitted values of a local "
        f"{degree} regression of each subject's variable on the number of the decision, with "
        f"tricube weights over the nearest {percent(own.span)} of that subject's observations "
        "(Cleveland et al., 1992), kept within the variable's declared or observed range and "
        "rounded where the variable has whole values only."
        f"{f' {words}' if words else ''}"
    )


def script(plan: AnalysisPlan) -> str:
    if plan.does("rescaling"):
        return ""  # `prepare` does both steps
    settings = PreparationSettings.of(plan.preparation, None)
    prepared = f"prepared = smdp.prepare(frame, roles, {code(settings, 0)})"
    return f"{prepared}\ncompleted = prepared.completed  # people left out, values imputed"


def missing_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.missing_values import missing_by_variable, missing_heatmap

    completed = analysis.completed
    assert completed is not None
    arranged = completed.arranged
    found = bullets(describe_completed(completed))
    found += table(
        "Values filled in, of those analysed",
        imputed_table(completed),
        "Imputed: between a subject's own observations; extrapolated: before the first or after "
        "the last.",
    )
    found.append(
        draw(
            "by-variable",
            "Missing values by variable",
            missing_by_variable(arranged),
            "All subjects in the table, before anybody was left out.",
        )
    )
    if len(arranged.subjects) <= MOST_SUBJECTS:
        found.append(
            draw(
                "by-subject",
                "Missing values by subject and decision",
                missing_heatmap(arranged),
                "The share of a decision's state values that are missing; before anybody was left "
                "out.",
            )
        )
    return found


def imputed_table(completed: CompletedStudy) -> pd.DataFrame:
    """By variable: how many values were observed and how many filled in."""
    origin = completed.origin
    rows = []
    for j, variable in enumerate(completed.study.variables):
        own = origin[:, :, j]
        cells = int((own != Cell.ABSENT).sum())
        inside, outside = int((own == Cell.IMPUTED).sum()), int((own == Cell.EXTRAPOLATED).sum())
        rows.append(
            {
                "variable": variable.name,
                "values": cells,
                "observed": int((own == Cell.OBSERVED).sum()),
                "imputed": inside,
                "extrapolated": outside,
                "filled in": percent((inside + outside) / max(cells, 1), 1),
            }
        )
    return pd.DataFrame(rows)


def split(given: Any) -> dict[str, Any]:
    """The settings of `smdp.prepare` may also say how variables are rescaled: the next step."""
    if not isinstance(given, PreparationSettings):
        return {}
    own: dict[str, Any] = {"preparation": given.completion}
    return own if given.rescaling is None else {**own, "rescaling": given.rescaling}


MISSING = Step(
    name="missing",
    title="Missing values",
    question="What is missing, whom does it rule out, and what takes its place?",
    sections=(PlanSection("preparation", CompletionSettings, CompletionSettings(), split),),
    result="smdp.data.prepare:CompletedStudy",
    needs=("data",),
    takes={"study": "data"},
    run=run,
    nothing_to_decide=nothing_to_decide,
    summary=summary,
    says=says,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(
        ReportSection("missing", "Missing data and imputation", ("missing",), missing_section),
    ),
    script=script,
    script_end='print(len(prepared.trajectories.subjects), "subjects kept")',
    page=Page("Missing values", "See what is missing and fill it in", "missing_values", 2),
    effort=3,
    personal=True,
)

"""The sections on the data: who, what was missing, how it was made comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from smdp.data.describe import (
    describe_completed,
    describe_prepared,
    describe_study,
    exclusion_table,
    percent,
    plural,
    rescaling_table,
    variable_table,
)
from smdp.data.study import Cell
from smdp.report.parts import Block, bullets, table
from smdp.report.sketch import Sketch

if TYPE_CHECKING:
    from smdp.analysis.result import AnalysisResult
    from smdp.data.prepare import CompletedStudy

MOST_SUBJECTS = 120  # with more, a row a subject cannot be read


def study_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.data import decisions_figure

    study = analysis.study
    assert study is not None
    found = bullets(describe_study(study))
    found += table("Flow of participants", flow_table(analysis))
    if analysis.completed is not None:
        found += table("Who was left out, and why", exclusion_table(analysis.completed))
    found += table(
        "State variables",
        variable_table(study),
        "Lowest, mean and highest: of the observed values.",
    )
    if len(study.subjects) <= MOST_SUBJECTS:
        found.append(
            sketch(
                "decisions",
                "Treatments over time",
                decisions_figure(study),
                "Which treatment each subject received at each decision: a row a subject, in the "
                "table's order.",
            )
        )
    return found


def flow_table(analysis: AnalysisResult) -> pd.DataFrame:
    """From the table to what was analysed: how many at each stage, and why not more."""
    study, completed, prepared = analysis.study, analysis.completed, analysis.prepared
    assert study is not None
    rows = [
        ("In the table", len(study.subjects), f"{plural(analysis.source.rows, 'row')}, as read"),
    ]
    if completed is not None:
        kept = completed.imputed.study
        out = len(completed.exclusions)
        rows.append(("Left out", out, "; ".join(_reasons(completed)) or "nobody"))
        decisions = f"{int(kept.on_grid.sum()):,} decisions, gaps included"
        rows.append(("Analysed", len(kept.subjects), decisions))
        if prepared is not None:
            used = int(prepared.trajectories.valid.sum())
            possible = int(sum(max(n - 1, 0) for n in kept.lengths))
            choice = prepared.trajectories.valid & prepared.trajectories.available
            text = f"{used:,} of {possible:,} steps from one decision to the next"
            if choice.sum() < used:
                text += f", {int(choice.sum()):,} of them with a choice of treatment"
            people = int(prepared.trajectories.valid.any(axis=1).sum())
            rows.append(("With usable transitions", people, text))
    return pd.DataFrame(rows, columns=["stage", "subjects", "details"])


def _reasons(completed: CompletedStudy) -> list[str]:
    """How many for which reason, without names."""
    kinds: dict[str, int] = {}
    for each in completed.exclusions:
        kind = "too many missing values" if "are missing (limit" in each.reason else each.reason
        kinds[kind] = kinds.get(kind, 0) + 1
    return [f"{count}: {kind}" for kind, count in kinds.items()]


def missing_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
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
        sketch(
            "by-variable",
            "Missing values by variable",
            missing_by_variable(arranged),
            "All subjects in the table, before anybody was left out.",
        )
    )
    if len(arranged.subjects) <= MOST_SUBJECTS:
        found.append(
            sketch(
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
    origin = completed.imputed.origin
    rows = []
    for j, variable in enumerate(completed.imputed.study.variables):
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


def rescaling_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.rescaling import levels_figure

    prepared = analysis.prepared
    assert prepared is not None
    found = bullets(describe_prepared(prepared))
    if prepared.rescaled is None:
        return found
    found += table(
        "Ranges before rescaling",
        rescaling_table(prepared),
        f"The range that became 0 to 1; {len(np.unique(prepared.rescaled.levels))} levels.",
    )
    found.append(
        sketch(
            "levels",
            "Levels after rescaling",
            levels_figure(prepared.rescaled),
            "How often each variable takes each level.",
        )
    )
    return found

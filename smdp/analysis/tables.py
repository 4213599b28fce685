"""Every table of an analysis, as the pages export them: full figures, fit for another program."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from smdp.analysis.analysis import Analysis
from smdp.steps import Step, steps


@dataclass(frozen=True, eq=False)
class ResultTable:
    """One table, the step that it belongs to, and whether that step is out of date."""

    name: str
    step: Step
    frame: pd.DataFrame
    out_of_date: bool
    synthetic: bool

    @property
    def file_name(self) -> str:
        marks = ("synthetic-" if self.synthetic else "") + (
            "out-of-date-" if self.out_of_date else ""
        )
        return f"{marks}{self.name}.csv"


def result_tables(analysis: Analysis) -> tuple[ResultTable, ...]:
    """The tables of every step that has a result, in the order of the steps."""
    stale = analysis.out_of_date
    return tuple(
        ResultTable(name, step, frame, step.name in stale, analysis.source.synthetic)
        for step in steps()
        if step.name in analysis.results
        for name, frame in step.tables(analysis)
    )

"""What a worker is asked: this step of this analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from smdp.analysis.analysis import Analysis
from smdp.analysis.further_tables import further_tables
from smdp.analysis.plan import plan_from_json
from smdp.analysis.provenance import TableSource
from smdp.progress import Progress
from smdp.steps import Step, step_named, steps


@dataclass(frozen=True, eq=False)
class StepRequest:
    """A step, the plan (as JSON), and what the steps before hand on to it.

    Where a step goes on from what is finished, that too.

    `table`, and `tables` that are joined to it: where the step reads them.
    """

    step: str
    plan: str
    handed: Mapping[str, Any]
    source: TableSource
    table: pd.DataFrame | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    outcome_hidden: bool = False

    @classmethod
    def of(cls, analysis: Analysis, step: str | Step) -> StepRequest:
        """With just what the step works on: it may be large."""
        own = step_named(step)
        needed = {*own.takes.values(), *own.gathers, *own.needed(analysis.plan)}
        if own.goes_on:
            needed.add(own.name)
        handed = {
            each.name: each.hands_on(analysis.results[each.name])
            for each in steps()
            if each.name in needed and each.name in analysis.results
        }
        table = analysis.table if own.reads_table else None
        tables = analysis.frames if own.reads_table else {}
        plan, hidden = analysis.plan.to_json(), analysis.outcome_hidden
        return cls(own.name, plan, handed, analysis.source, table, tables, hidden)

    def do(self, progress: Progress) -> object:
        received = {name: step_named(name).received(what) for name, what in self.handed.items()}
        analysis = Analysis(
            plan_from_json(self.plan),
            self.source,
            self.table,
            results=received,
            tables=further_tables(self.tables),
            outcome_hidden=self.outcome_hidden,
        )
        return step_named(self.step).run(analysis, progress)

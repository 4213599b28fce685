"""An analysis that is given a second table to be judged on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from smdp.analysis.analysis import Analysis
from smdp.analysis.further_tables import further_tables
from smdp.steps.step_plans import NEW_TABLE, NewDataPlan, TableFile


def with_new_table(
    analysis: Analysis, table: pd.DataFrame, file: str, *, sheet: Any = None, **changes: Any
) -> Analysis:
    """With a plan that judges it on this table; `changes`: of the step's other settings."""
    held = further_tables({NEW_TABLE: table})
    source = held[NEW_TABLE].source
    described = TableFile(NEW_TABLE, file, source.file_fingerprint, sheet)
    own = analysis.plan.new_data or NewDataPlan()
    plan = analysis.plan.replace(new_data=replace(own, table=described, **changes), stop_after=None)
    return replace(analysis, plan=plan, tables={**analysis.tables, **held})

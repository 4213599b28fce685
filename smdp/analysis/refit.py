"""An analysis refitted on its own and the new people: a new version that remembers the old one."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from smdp.analysis.analysis import Analysis
from smdp.data.columns import level_text
from smdp.errors import DataError, SettingError
from smdp.steps.versions import version_of
from smdp.text import listing, plural
from smdp.validation.same_people import row_texts


def refit_on_both(analysis: Analysis) -> Analysis:
    """The two tables as one analysis by the same plan, of which nothing is done yet.

    People who are in both tables go on with their later decisions. What was known before is kept
    as a version (`Analysis.versions`), to be compared with.
    """
    if analysis.table is None or analysis.plan.new_data is None:
        raise SettingError(
            "There is no second table to refit with.", "Look at new data first (step 'new_data')."
        )
    name = analysis.plan.new_data.table.name
    new = analysis.frames.get(name)
    if new is None:
        raise SettingError("The table of the new data is not here.", "Give it again.")
    both = _together(analysis.table, new, analysis)
    plan = analysis.plan.replace(new_data=None, data_name="", data_fingerprint="")
    tables = {each: table for each, table in analysis.frames.items() if each != name}
    begun = Analysis.begin(plan, both, tables)
    synthetic = analysis.source.synthetic and bool(new.attrs.get("synthetic", False))
    source = replace(begun.source, name=f"{analysis.source.name} and new data", synthetic=synthetic)
    return replace(begun, source=source, versions=(*analysis.versions, version_of(analysis)))


def _together(first: pd.DataFrame, new: pd.DataFrame, analysis: Analysis) -> pd.DataFrame:
    absent = [name for name in first.columns if name not in new.columns]
    roles = analysis.plan.roles
    missing = [name for name in absent if name in roles.columns()]
    if missing:
        raise DataError(
            f"The new table has no column {listing(map(repr, missing))}: the two cannot be one "
            "analysis.",
            "Add it, or leave it out of the roles.",
        )
    new = _without_rows_of(first, new)
    key = [name for name in (roles.subject, roles.time) if name in first and name in new]
    if len(key) == 2:
        seen = [set(zip(*(frame[c].map(level_text) for c in key), strict=True))
                for frame in (first, new)]  # fmt: skip
        twice = sorted(seen[0] & seen[1])
        if twice:
            raise DataError(
                f"Both tables have {plural(len(twice), 'row')} of the same person and time, such "
                f"as '{twice[0][0]}' at '{twice[0][1]}': the two cannot be one analysis.",
                "Give new people names of their own, or number later decisions on.",
            )
    both = pd.concat([first, new[[name for name in first.columns if name in new]]],
                     ignore_index=True)  # fmt: skip
    both.attrs = dict(first.attrs)
    return both


def _without_rows_of(first: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The new table without rows that the first has too, as an export of everybody so far has."""
    shared = [name for name in first.columns if name in new.columns]
    here, there = (row_texts(frame, shared) for frame in (new, first))
    same = here.isin(set(there))
    if same.all():
        return new  # which is told as what it is
    left = new[~same]
    left.attrs = dict(new.attrs)
    return left

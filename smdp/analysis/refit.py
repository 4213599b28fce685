"""An analysis refitted on its own and the new people: a new version that remembers the old one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from smdp.analysis.analysis import Analysis
from smdp.data.columns import level_text
from smdp.errors import DataError, SettingError
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST
from smdp.steps.policies import policy_names
from smdp.text import listing, percent, plural
from smdp.validation.versions import Version, agreement


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


def version_of(analysis: Analysis) -> Version:
    """What is to be remembered of an analysis as it stands."""
    fitted, prepared = analysis.feature_map, analysis.prepared
    record = analysis.records.get("policy")
    names = policy_names(analysis.policies)
    judged = analysis.values if len(analysis.values) == len(names) else ()
    rows = [_value(name, value) for name, value in zip(names, judged, strict=False)]
    why = () if analysis.new_data is None else tuple(
        f"{each.policy}: {each.verdict.decision}" for each in analysis.new_data.policies
    )  # fmt: skip
    return Version(
        fingerprint=analysis.source.fingerprint,
        data_name=analysis.source.name,
        finished="" if record is None else record.finished,
        people=0 if prepared is None else len(set(prepared.trajectories.subjects)),
        decisions=0 if prepared is None else int(prepared.trajectories.valid.sum()),
        variables=() if fitted is None else fitted.wholes_used,
        weights=pd.DataFrame() if fitted is None else fitted.weights,
        policies=tuple(analysis.policies),
        values=pd.DataFrame(
            rows, columns=["policy", "value", "lower", "upper", "gain", "gain_lower", "gain_upper"]
        ),
        why=why,
    )


def _value(name: str, value: PolicyValue) -> dict[str, object]:
    own = value.table[value.table["method"] == DOUBLY_ROBUST].iloc[0]
    gain = value.gain
    return {
        "policy": name,
        "value": own["estimate"],
        "lower": own["lower"],
        "upper": own["upper"],
        "gain": gain["estimate"],
        "gain_lower": gain["lower"],
        "gain_upper": gain["upper"],
    }


def versions_table(analysis: Analysis) -> pd.DataFrame:
    """A row for each version, the present one last: what it rests on, and what has changed.

    `same advice`: the share of the present decisions at which its first policy and the present one
    have the same best action. `weights`: how alike the maps' weights are (cosine, of the variables
    and features that both have).
    """
    every = [*analysis.versions, version_of(analysis)]
    now, prepared = every[-1], analysis.prepared
    rows = []
    for number, version in enumerate(every, start=1):
        same = np.nan
        if version.policies and now.policies and prepared is not None:
            same = agreement(version.policies[0], now.policies[0], prepared.trajectories)
        first = None if version.values.empty else version.values.iloc[0]
        rows.append(
            {
                "version": number,
                "made": version.finished[:10],
                "people": version.people,
                "decisions": version.decisions,
                "variables": listing(version.variables, 6),
                "dimension": version.dimension,
                "weights": _alike(version.weights, now.weights),
                "value": np.nan if first is None else first["value"],
                "gain": np.nan if first is None else first["gain"],
                "same advice": "" if same != same else percent(same),
                "why refitted": listing(version.why, 4),
            }
        )
    return pd.DataFrame(rows)


def _alike(old: pd.DataFrame, new: pd.DataFrame) -> float:
    features = [name for name in old.index if name in new.index]
    names = [name for name in old.columns if name in new.columns]
    if not features or not names:
        return np.nan
    one, two = (each.loc[features, names].to_numpy().ravel() for each in (old, new))
    size = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(one @ two) / size if size > 0 else np.nan

"""The versions of an analysis that was refitted: what each rests on, and what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST
from smdp.steps.policies import policy_names
from smdp.text import listing, percent
from smdp.validation.versions import Version, agreement

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

#: Under the table, wherever it is shown.
VERSIONS_NOTE = (
    "The last row is the present analysis. 'weights' is how alike the maps are (1: the same), "
    "'same advice' the share of decisions with the same best treatment."
)


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

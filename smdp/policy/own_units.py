"""Explanations of a policy that was learned from rescaled variables, back in the table's units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from smdp.policy.explanation import Explanation
from smdp.policy.individual import PatientExplanation, outside_range

Ranges = Mapping[str, tuple[float, float]]  # what became 0 and 1: `RescaledStudy.before_range`

LAG = re.compile(r"_lag\d+$")


def explanation_in_own_units(explanation: Explanation, ranges: Ranges) -> Explanation:
    """The same effects, with each variable's low, high and sd in its own units."""
    table = explanation.variables
    low, width = _unit(table, ranges)
    table = table.assign(
        low=low + table["low"] * width, high=low + table["high"] * width, sd=table["sd"] * width
    )
    return replace(explanation, variables=table)


def patient_in_own_units(patient: PatientExplanation, ranges: Ranges) -> PatientExplanation:
    """The same person, with her values, the averages and the ranges seen in their own units."""
    low, width = _unit(patient.variables, ranges)
    columns = ("value", "average", "low", "high")
    table = patient.variables.assign(**{c: low + patient.variables[c] * width for c in columns})
    value, least, most = (table[c].to_numpy() for c in ("value", "low", "high"))
    warnings = outside_range(table["variable"].tolist(), value, least, most)
    return replace(patient, variables=table, warnings=warnings)


def _unit(table: pd.DataFrame, ranges: Ranges) -> tuple[pd.Series, pd.Series]:
    """What became 0, and how long what became 1 is, for each row; 0 and 1 if not rescaled."""
    # A column of the table may itself end like a look-back.
    ends = [
        ranges.get(name) or ranges.get(LAG.sub("", name)) or (0.0, 1.0)
        for name in table["variable"]
    ]
    low = pd.Series([low for low, _ in ends], index=table.index)
    return low, pd.Series([high - low for low, high in ends], index=table.index)

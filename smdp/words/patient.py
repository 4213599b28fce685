"""What is recommended to one person, in a headline and in what it rests on."""

from __future__ import annotations

import math

import pandas as pd

from smdp.data.variables import described
from smdp.explanation.patient_explanation import PatientExplanation
from smdp.explanation.person import PersonNow, Similar
from smdp.text import capital, percent, signed
from smdp.words.explanation import action_name


def headline(patient: PatientExplanation) -> tuple[str, str]:
    """(what is recommended, by how much): for the box at the top of the page."""
    best, second = action_name(patient.best), action_name(patient.second)
    if patient.recommendation is None:
        return "No recommendation", f"{capital(patient.reason)}."
    how = f"Ahead of {second} by {margin_text(patient)}."
    if patient.in_doubt:
        how = f"{_in_doubt(patient)}."
    return f"Recommended: {best}", how


def margin_text(patient: PatientExplanation) -> str:
    """'1.20 (0.31 to 2.09)', without the bounds where there are none."""
    text = f"{patient.margin:.2f}"
    if math.isnan(patient.margin_lower):
        return text
    return f"{text} ({patient.margin_lower:.2f} to {patient.margin_upper:.2f})"


def _in_doubt(patient: PatientExplanation) -> str:
    """Why a pessimistic policy recommends what is not clearly better."""
    best, second = action_name(patient.best), action_name(patient.second)
    if patient.margin < 0:
        return (
            f"{capital(second)} is estimated to be better, but that is not clear ({best} minus "
            f"{second}: {margin_text(patient)}), and in doubt this policy recommends {best}"
        )
    return f"Ahead of {second} by {margin_text(patient)}, which is not clear"


def margin_note(patient: PatientExplanation, level: float) -> str:
    """How to read the Q-values' intervals beside each other."""
    if math.isnan(patient.margin_error):
        return "Without refits on resampled people there are no intervals."
    text = "Lines are 95 % intervals of each treatment's own value. "
    if math.isnan(patient.margin_lower):
        return text + "They move together; what counts is the difference."
    counts = "What counts is their difference"
    if patient.recommendation is not None:
        counts = "They move together, so that they can overlap although the difference is clear"
    elif patient.margin_lower <= 0:
        counts += ", which is not clear here"
    return (
        f"{text}{counts}: {margin_text(patient)}. This interval is of {percent(1 - 2 * level)}, "
        f"with a chance of {percent(level)} beyond each bound."
    )


def describe_similar(similar: Similar | None, least_share: float) -> str:
    """What was done in the states most like this one."""
    if similar is None:
        return ""
    parts = [f"{action_name(label)} in {percent(share)}" for label, share in similar.shares.items()]
    text = f"What was done at the {similar.count} decisions of the study most like this one: "
    text += f"{', '.join(parts)}."
    if similar.distance > 1:
        text += " But even these are farther away than the study's decisions are from each other."
    elif min(similar.shares.values()) < least_share:
        text += f" Below {percent(least_share)}, there is too little to compare with."
    return text


def value_table(patient: PatientExplanation, now: PersonNow | None = None) -> pd.DataFrame:
    """Her values beside the study's average and range, and each one's part in the difference."""
    rows = patient.variables
    variables = [patient.variable(name) for name in rows["variable"]]
    table = pd.DataFrame(
        {
            "variable": rows["variable"],
            "value": [v.text(value) for v, value in zip(variables, rows["value"], strict=True)],
            "average": [f"{v:.3g}" if math.isfinite(v) else "" for v in rows["average"]],
            "range seen": [
                f"{low:.4g} to {v.amount(high)}" if math.isfinite(low) else ""
                for v, low, high in zip(variables, rows["low"], rows["high"], strict=True)
            ],
            f"speaks for {action_name(patient.best)} by": [
                signed(part) for part in rows["contribution"]
            ],
        }
    )
    if now is not None:
        about = described(now.values["variable"], now.about)
        filled: dict[str, bool] = {}
        for variable, was in zip(about, now.values["filled"], strict=True):
            filled[variable.belongs_to] = bool(was) or filled.get(variable.belongs_to, False)
        table["reported"] = ["filled in" if filled[v] else "yes" for v in rows["variable"]]
    return table

"""Results as sentences in the style of the APA, to be pasted into a paper."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from smdp.data.outcome import OutcomeName
from smdp.evaluation.trial_effects import AVERAGE, TrialSummary
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED
from smdp.text import capital, p_text
from smdp.words.effects import Telling, percents
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals, digits_of, policy_label


def bracketed(estimate: float, lower: float, upper: float, digits: int, coverage: float) -> str:
    """'0.42, 95% CI [0.18, 0.66]', without an interval '0.42'."""
    text = f"{estimate:.{digits}f}"
    if np.isnan(lower) or np.isnan(upper):
        return text
    return f"{text}, {100 * coverage:g}% CI [{lower:.{digits}f}, {upper:.{digits}f}]"


def apa_effects(summary: TrialSummary, told: Telling) -> Iterator[str]:
    """Each treatment's average effect."""
    freedom = summary.freedom
    for _, row in summary.effects[summary.effects["term"] == AVERAGE].iterrows():
        action, against = action_name(row["action"]), action_name(row["against"])
        estimate, lower, upper = (float(row[c]) for c in ("estimate", "lower", "upper"))
        t = estimate / float(row["standard_error"]) if row["standard_error"] > 0 else np.nan
        test = f", t({freedom}) = {t:.2f}" if freedom and np.isfinite(t) else ""
        coverage = summary.coverage
        if summary.scale == "ratio":
            sign = "RR" if summary.kind == "yes/no" else "ratio of means"
            size = bracketed(np.exp(estimate), np.exp(lower), np.exp(upper), 2, coverage)
        else:
            digits = decimals([row["standard_error"]])
            sign, size = "b", bracketed(estimate, lower, upper, digits, coverage)
        if told.learned:
            size = size.replace("% CI", "% nominal interval")
        verb = "was associated with" if told.observed else "had an average effect on"
        outcome = told.outcome.the
        text = (
            f"{capital(action)}, compared with {against}, {verb} {outcome}, {sign} = {size}{test}, "
            f"{p_text(row['p_value'])}"
        )
        if told.base is not None and summary.scale == "linear":
            text += f"; before the logarithm, {percents(row, told.base)}"
        yield f"{text}."


def apa_value(value: PolicyValue, kind: str, outcome: OutcomeName) -> Iterator[str]:
    """The policy's value, and its differences to each alternative."""
    digits = digits_of(value)
    rows = value.table[value.table["method"] == DOUBLY_ROBUST].set_index("policy")
    own, observed = rows.iloc[0], rows.loc[OBSERVED]
    yield (
        f"The estimated value of the {kind} policy was "
        f"V = {_size(own, digits, value.coverage)}, against "
        f"V = {_size(observed, digits, value.coverage)} as people were treated "
        f"({outcome.title}, mean a decision, discount {value.discount:g}, N = {value.subjects}"
        f"{_how_judged(value)})."
    )
    for _, row in value.differences.iterrows():
        against = policy_label(str(row["against"]))
        without = "" if row["trusted"] else ", without an interval that could be trusted"
        yield (
            f"The difference of the {kind} policy to '{against}' was "
            f"{_size(row, digits, value.coverage)}{without}."
        )


def _how_judged(value: PolicyValue) -> str:
    """What a number owes that is copied into a paper alone."""
    return "; variables and features chosen with everybody, so too optimistic" * value.quick


def _size(row: pd.Series, digits: int, coverage: float) -> str:
    estimate, lower, upper = (float(row[c]) for c in ("estimate", "lower", "upper"))
    return bracketed(estimate, lower, upper, digits, coverage)

"""What the trial itself says, and the placebo check, in sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.evaluation.placebo import PlaceboCheck
from smdp.evaluation.trial_effects import AVERAGE, TrialSummary
from smdp.text import interval_text, p_text, percent
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals

HEARTSTEPS = (
    "This summary was checked on HeartSteps V1, a micro-randomised trial of activity suggestions: "
    "in the rows of the published analysis it gives 0.131 on the logarithm of the steps, which is "
    "the published +14 % (Klasnja et al., 2019, Annals of Behavioral Medicine 53, 573-582)."
)

#: The share of intervals around nothing that may exclude zero before it is worth a warning.
TOO_MANY = 0.25


def describe_trial(
    summary: TrialSummary,
    *,
    logarithm: bool = False,
    outcome: OutcomeName = UTILITY_NAME,
    observed: bool = False,
) -> list[str]:
    """The average effect of each action on the outcome; where it was `observed`, a difference."""
    follows = outcome.the if outcome.column else "the utility that follows"
    rows = summary.effects[summary.effects["term"] == AVERAGE]
    digits = decimals(rows["standard_error"])
    sentences = []
    for _, row in rows.iterrows():
        effect = interval_text(row["estimate"], row["lower"], row["upper"], digits)
        action, against = action_name(row["action"]), action_name(row["against"])
        effect = outcome.amount(effect)
        if observed:
            text = (
                f"On average, {follows} differed by {effect} between {action} and {against}, in "
                f"like states, {p_text(row['p_value'])}"
            )
        else:
            text = (
                f"On average, {action} changed {follows} by {effect} against {against}, "
                f"{p_text(row['p_value'])}"
            )
        if logarithm:
            ends = (np.expm1(row[c]) for c in ("estimate", "lower", "upper"))
            text += f": on the scale before the logarithm {_signed_percents(*ends)}"
        sentences.append(text + ".")
    if outcome.better:
        sentences.append(f"Which way is good: {outcome.better}.")
    if observed:
        sentences.append(
            "Treatment was not randomised, so this is an association: it is the effect of "
            "treatment only if nothing but the variables named here decided who was treated."
        )
    sentences.append(
        f"From {summary.decisions:,} decisions with a choice of {summary.subjects} subjects, by "
        "weighted and centred least squares with errors robust within subjects; "
        f"intervals are of {percent(summary.coverage)}."
    )
    sentences.append(
        "It is of the very next outcome, averaged over all states: it says nothing "
        "about later decisions, and treatment can help some and harm others at an average of zero."
    )
    return sentences


def trial_words(summary: TrialSummary) -> pd.DataFrame:
    """Effects with their intervals; a moderator's is by how much the effect changes a unit."""
    rows = summary.effects
    digits = decimals(rows["standard_error"])
    return pd.DataFrame(
        {
            "action": [action_name(a) for a in rows["action"]],
            "against": [action_name(a) for a in rows["against"]],
            "term": [
                "average effect" if term == AVERAGE else f"change with {term}"
                for term in rows["term"]
            ],
            f"estimate ({percent(summary.coverage)} interval)": [
                interval_text(e, low, high, digits)
                for e, low, high in zip(rows["estimate"], rows["lower"], rows["upper"], strict=True)
            ],
            "p": [p_text(p) for p in rows["p_value"]],
        }
    )


def placebo_summary(check: PlaceboCheck) -> str:
    return f"{p_text(check.p_value)} with {len(check.placebo)} shuffles"


def describe_placebo(check: PlaceboCheck, kind: str) -> list[str]:
    """The claimed gain beside those that shuffled actions give."""
    count = len(check.placebo)
    digits = decimals([float(check.placebo.std()) if count > 1 else abs(check.gain) / 10])
    low, high = check.placebo.min(), check.placebo.max()
    larger = int((check.placebo >= check.gain).sum())
    beaten = "None" if not larger else f"{larger}"
    return [
        f"With the treatments shuffled among the people at each time, {count} times, the {kind} "
        f"policy learned anew claims a gain of {check.mean:.{digits}f} on average ({low:.{digits}f}"
        f" to {high:.{digits}f}); with the true treatments it is {check.gain:.{digits}f}. For this "
        "check the feature map is kept as it is throughout, so that the gain can differ from the "
        "one above.",
        f"{beaten} of the {count} shuffled gains {'is' if larger == 1 else 'are'} as large as the "
        f"true one ({p_text(check.p_value)}; with {count} shuffles the smallest possible is "
        f"{p_text(1 / (count + 1))}).",
        "Shuffled treatments do nothing, so whatever gain they show is chance or a fault of the "
        "method. The check does not see whether something else decided both who was treated and "
        "how they fared.",
    ]


def check_placebo(check: PlaceboCheck) -> list[Problem]:
    """Whether chance alone does as well, and whether the method finds gains where none can be."""
    found = []
    count = len(check.placebo)
    if check.p_value > 1 - check.coverage and count >= 1 / (1 - check.coverage) - 1:
        found.append(
            Problem(
                "warning",
                "placebo",
                "Shuffled treatments often do as well as the true ones: the gain may be chance.",
                "Do not rely on this policy; look at the trial summary, or collect more data.",
            )
        )
    share = float(check.excludes_zero.mean())
    if count >= 8 and share >= TOO_MANY:
        found.append(
            Problem(
                "warning",
                "placebo",
                f"{percent(share)} of the intervals of shuffled gains exclude zero, where "
                f"{percent(1 - check.coverage)} are expected: here the intervals promise too much.",
                "Read the interval of the gain with caution; fewer features may help.",
            )
        )
    return found


def _signed_percents(estimate: float, lower: float, upper: float) -> str:
    return f"{100 * estimate:+.0f} % ({100 * lower:+.0f} % to {100 * upper:+.0f} %)"

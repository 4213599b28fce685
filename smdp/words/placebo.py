"""The placebo check in sentences."""

from __future__ import annotations

from smdp.data.problem import Problem
from smdp.evaluation.placebo import PlaceboCheck
from smdp.text import p_text, percent
from smdp.words.policy_value import decimals

#: The share of intervals around nothing that may exclude zero before it is worth a warning.
TOO_MANY = 0.25


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

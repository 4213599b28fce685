"""What a feature map says whose dimension one test has chosen.

The paper's absolute test, or the comparison with the full state of earlier versions.
"""

from __future__ import annotations

import pandas as pd

from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.text import p_text
from smdp.words.candidates import (
    chosen_candidate,
    deciding_p,
    p_or_not_tested,
    tried_in_pass,
)

NOT_PROVEN = "Not rejected is not proven: with more subjects a larger dimension might be needed. "


def describe_by_test(fitted: FittedFeatureMap) -> list[str]:
    return [
        _how_chosen(fitted),
        *_other_test(fitted),
        ("" if chosen_candidate(fitted)["rejected"] else NOT_PROVEN)
        + "The test compares predictions of the next state and utility; it cannot see what no "
        "variable in the table records.",
    ]


def _how_chosen(fitted: FittedFeatureMap) -> str:
    chosen = chosen_candidate(fitted)
    settings = fitted.settings
    test, p = _test(fitted), p_text(float(chosen[deciding_p(fitted)]))
    dimension, rejected = int(chosen["dimension"]), bool(chosen["rejected"])
    if settings.dimensions is not None and len(settings.dimensions) == 1:
        asked = settings.dimensions[0]
        left = "" if dimension == asked else f", but only {dimension} variables were left"
        verdict = "rejects" if rejected else "does not reject"
        return (
            f"Dimension {asked} was set by hand{left}; no other was tried. The {test} test "
            f"{verdict} it at level {settings.level:g} ({p}): "
            + ("it loses something that matters." if rejected else "a smaller one might do too.")
        )
    if rejected:
        return (
            f"Dimension {dimension} is rejected at level {settings.level:g} like all smaller ones "
            f"({p}), so it is the largest that was tried, not one that passed."
        )
    passed = f"that the {test} test does not reject at level {settings.level:g} ({p})"
    last = tried_in_pass(fitted, chosen["pass"])
    if dimension > 1 and not (last["dimension"] < dimension).any():
        return f"Dimension {dimension} is one {passed}; no smaller one was tried with it."
    return f"Dimension {dimension} is the smallest {passed}."


def _other_test(fitted: FittedFeatureMap) -> list[str]:
    """Where the test that does not decide contradicts the one that does."""
    chosen, level = chosen_candidate(fitted), fitted.settings.level
    other = "absolute" if _test(fitted) == "relative" else "relative"
    p = float(chosen[f"p_{other}"])
    if p != p or (p <= level) == bool(chosen["rejected"]):
        return []
    if bool(chosen["rejected"]):
        return [f"The {other} test, which does not decide here, would not reject it ({p_text(p)})."]
    found = {
        "absolute": "something in the state still goes with what the map leaves unexplained. Where "
        "the networks predict poorly from the full state too, more features would not change that",
        "relative": "predictions from the features are worse than from the full state",
    }
    return [
        f"The {other} test, which does not decide here, would reject it ({p_text(p)}): "
        f"{found[other]}."
    ]


def _test(fitted: FittedFeatureMap) -> str:
    return deciding_p(fitted).removeprefix("p_")


def candidate_table_by_test(fitted: FittedFeatureMap) -> pd.DataFrame:
    tried = fitted.candidates
    return pd.DataFrame(
        {
            "pass": tried["pass"],
            "dimension": tried["dimension"],
            "relative test": [p_or_not_tested(p) for p in tried["p_relative"]],
            "absolute test": [p_or_not_tested(p) for p in tried["p_absolute"]],
            "rejected": ["yes" if r else "no" for r in tried["rejected"]],
            "variables": tried["kept_count"],
            "penalty": tried["penalty"],
            "error, penalised": tried["cv_loss"].round(3),
            "as used": tried["refit_loss"].round(3),
        }
    )


def pass_table_by_test(fitted: FittedFeatureMap) -> pd.DataFrame:
    steps = fitted.steps
    return pd.DataFrame(
        {
            "pass": steps["pass"],
            "variables in": steps["variables_count"],
            "variables kept": steps["kept_count"],
            "dimension": steps["dimension"],
            "relative test": [p_or_not_tested(p) for p in steps["p_relative"]],
            "penalty (lambda)": steps["penalty"],
            "error as used": steps["refit_loss"].round(3),
            "kept": steps["kept"],
        }
    )

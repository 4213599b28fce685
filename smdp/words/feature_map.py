"""What a feature map's dimension says and does not say, and what to check."""

from __future__ import annotations

import pandas as pd

from smdp.data.problem import Problem
from smdp.errors import listing
from smdp.feature_map.result import FittedFeatureMap
from smdp.words.numbers import p_text

KIND_NAMES = {
    "adnn": "Alternating network (the paper's)",
    "tnn": "A separate network for each action",
    "pca": "Principal components (90 % of variance)",
    "identity": "All variables as they are",
}


def describe_feature_map(fitted: FittedFeatureMap) -> list[str]:
    """Two or three sentences with the actual numbers."""
    used = fitted.variables_used
    text = (
        f"{fitted.dimension} feature{'' if fitted.dimension == 1 else 's'} made of {len(used)} of "
        f"{len(fitted.variables)} variables: {listing(used, 12)}."
    )
    if fitted.kind != "adnn" or fitted.candidates.empty:
        return [text, "This is a map to compare with: no test has chosen its dimension."]
    chosen = fitted.candidates[fitted.candidates["chosen"]].iloc[-1]
    test = fitted.settings.test
    p = float(chosen[f"p_{test}"])
    verdict = (
        f"rejected at level {fitted.settings.level:g} like all smaller ones ({p_text(p)}), so it "
        "is the largest that was tried, not one that passed"
        if chosen["rejected"]
        else f"the smallest that the {test} test does not reject at level "
        f"{fitted.settings.level:g} ({p_text(p)})"
    )
    return [
        text,
        f"Dimension {int(chosen['dimension'])} is {verdict}.",
        "Not rejected is not proven: with more subjects a larger dimension might be needed. The "
        "test compares predictions of the next state and utility; it cannot see what no variable "
        "in the table records.",
    ]


def check_feature_map(fitted: FittedFeatureMap) -> list[Problem]:
    """Warnings with their remedies."""
    found = [Problem("note", "", note) for note in fitted.notes]
    if not fitted.variables_used:
        found.insert(
            0,
            Problem(
                "warning",
                "",
                "No variable is used by the map.",
                "Screen at a higher level, or use all variables.",
            ),
        )
    if fitted.kind == "adnn" and not fitted.candidates.empty:
        last = fitted.candidates.iloc[-1]
        if bool(last["rejected"]):
            found.append(
                Problem(
                    "warning",
                    "dimension",
                    "Every dimension that was tried is rejected.",
                    "Allow larger dimensions, or a deeper map (not interpretable).",
                )
            )
    return found


def feature_map_summary(fitted: FittedFeatureMap) -> str:
    text = f"dimension {fitted.dimension}"
    if fitted.kind == "adnn" and not fitted.candidates.empty:
        chosen = fitted.candidates[fitted.candidates["chosen"]].iloc[-1]
        text += f", {p_text(float(chosen[f'p_{fitted.settings.test}']))}"
    return text


def candidate_table(fitted: FittedFeatureMap) -> pd.DataFrame:
    """Every dimension tried, fit to be read: p-values as papers print them."""
    tried = fitted.candidates
    return pd.DataFrame(
        {
            "pass": tried["pass"],
            "dimension": tried["dimension"],
            "relative test": [_p(p) for p in tried["p_relative"]],
            "absolute test": [_p(p) for p in tried["p_absolute"]],
            "rejected": ["yes" if r else "no" for r in tried["rejected"]],
            "variables used": tried["kept_count"],
            "penalty (lambda)": tried["penalty"],
            "error while selecting": tried["cv_loss"].round(3),
            "error as used": tried["refit_loss"].round(3),
        }
    )


def pass_table(fitted: FittedFeatureMap) -> pd.DataFrame:
    """Every pass of Corollary 3.3: what went in, what was kept."""
    steps = fitted.steps
    return pd.DataFrame(
        {
            "pass": steps["pass"],
            "variables in": steps["variables_count"],
            "variables kept": steps["kept_count"],
            "dimension": steps["dimension"],
            "relative test": [_p(p) for p in steps["p_relative"]],
            "penalty (lambda)": steps["penalty"],
            "error as used": steps["refit_loss"].round(3),
            "kept": steps["kept"],
        }
    )


def _p(p: float) -> str:
    return p_text(p) if p == p else "not tested"

"""What a feature map's dimension says and does not say, and what to check."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from smdp.data.problem import Problem
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.progress import facts_of
from smdp.text import listing, p_text

NOT_PROVEN = "Not rejected is not proven: with more subjects a larger dimension might be needed. "


def dimensions_so_far(messages: Sequence[str]) -> list[str]:
    """The dimensions that a fit under way has tested, from the facts beside its messages."""
    lines = []
    for facts in map(facts_of, messages):
        if "tested_dimension" in facts:
            verdict = "rejected" if facts["rejected"] else "not rejected"
            where = f"Pass {facts['pass_number']}, dimension {facts['tested_dimension']}"
            lines.append(f"{where}: {verdict} ({p_text(facts['p_value'])})")
    return lines


def stopped_notice(fitted: FittedFeatureMap) -> str:
    """For the top of a page that shows a map whose fit was stopped; empty if it was not."""
    if fitted.complete:
        return ""
    return (
        f"Stopped after pass {len(fitted.steps)}; not iterated to the end. A further pass might "
        "use fewer variables or a smaller dimension."
    )


def describe_feature_map(fitted: FittedFeatureMap) -> list[str]:
    """Two or three sentences with the actual numbers."""
    used = fitted.variables_used
    text = (
        f"{fitted.dimension} feature{'' if fitted.dimension == 1 else 's'} made of {len(used)} of "
        f"{len(fitted.variables)} variables: {listing(used, 12)}."
    )
    if fitted.candidates.empty:
        return [text, "This is a map to compare with: no test has chosen its dimension."]
    return [
        text,
        _how_chosen(fitted),
        *_other_test(fitted),
        ("" if _chosen(fitted)["rejected"] else NOT_PROVEN)
        + "The test compares predictions of the next state and utility; it cannot see what no "
        "variable in the table records.",
    ]


def _how_chosen(fitted: FittedFeatureMap) -> str:
    chosen = _chosen(fitted)
    settings = fitted.settings
    test, p = settings.test, p_text(float(chosen[f"p_{settings.test}"]))
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
    last = fitted.candidates[fitted.candidates["pass"] == chosen["pass"]]
    if dimension > 1 and not (last["dimension"] < dimension).any():
        return f"Dimension {dimension} is one {passed}; no smaller one was tried with it."
    return f"Dimension {dimension} is the smallest {passed}."


def _other_test(fitted: FittedFeatureMap) -> list[str]:
    """Where the test that does not decide contradicts the one that does."""
    chosen, level = _chosen(fitted), fitted.settings.level
    other = "absolute" if fitted.settings.test == "relative" else "relative"
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


def _chosen(fitted: FittedFeatureMap) -> pd.Series:
    """The chosen candidate of the last pass."""
    return fitted.candidates[fitted.candidates["chosen"]].iloc[-1]


def check_feature_map(fitted: FittedFeatureMap) -> list[Problem]:
    """Warnings with their remedies, but for that of `stopped_notice`."""
    found = []
    if not fitted.variables_used:
        found.append(
            Problem(
                "warning",
                "",
                "No variable is used by the map.",
                "Screen at a higher level, or use all variables.",
            )
        )
    if not fitted.candidates.empty and bool(_chosen(fitted)["rejected"]):
        by_hand = fitted.settings.dimensions is not None
        found.append(
            Problem(
                "warning",
                "dimension",
                "The dimension set by hand is rejected."
                if by_hand
                else "Every dimension that was tried is rejected.",
                "Let the test choose, or set a larger dimension."
                if by_hand
                else "Try a deeper map (not interpretable), or more variables.",
            )
        )
    else:
        found += [Problem("note", "dimension", text) for text in _earlier_rejections(fitted)]
    return found + [Problem("note", "", note) for note in fitted.notes]


def _earlier_rejections(fitted: FittedFeatureMap) -> list[str]:
    """Passes before the last in which no dimension passed the test."""
    if fitted.candidates.empty:
        return []
    chosen = fitted.candidates[fitted.candidates["chosen"]].iloc[:-1]
    rejected = chosen[chosen["rejected"].astype(bool)]
    return [
        f"In pass {number} every dimension tried was rejected at level {fitted.settings.level:g}; "
        f"the largest, {dimension}, was used."
        for number, dimension in zip(rejected["pass"], rejected["dimension"], strict=True)
    ]


def feature_map_summary(fitted: FittedFeatureMap) -> str:
    text = f"dimension {fitted.dimension}"
    if not fitted.candidates.empty:
        chosen = _chosen(fitted)
        p = p_text(float(chosen[f"p_{fitted.settings.test}"]))
        text += f", rejected ({p})" if chosen["rejected"] else f", {p}"
    return text if fitted.complete else f"{text}, stopped after pass {len(fitted.steps)}"


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
            "variables": tried["kept_count"],
            "penalty": tried["penalty"],
            "error, penalised": tried["cv_loss"].round(3),
            "as used": tried["refit_loss"].round(3),
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

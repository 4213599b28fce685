"""Reading the numbers of features that a fit has tried: which was chosen, and what it keeps."""

from __future__ import annotations

import math

import pandas as pd

from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.text import interval_text, p_text, percent
from smdp.words.policy_value import decimals


def chosen_by_one_test(fitted: FittedFeatureMap) -> bool:
    """Whether one test chose its dimension: the paper's, or the comparison of earlier versions."""
    return not fitted.candidates.empty and "p_exact" not in fitted.candidates


def chosen_candidate(fitted: FittedFeatureMap) -> pd.Series:
    """The chosen candidate of the last pass."""
    return fitted.candidates[fitted.candidates["chosen"]].iloc[-1]


def tried_in_pass(fitted: FittedFeatureMap, number: int) -> pd.DataFrame:
    return fitted.candidates[fitted.candidates["pass"] == number]


def deciding_p(fitted: FittedFeatureMap) -> str:
    """The column of the p-value that decides where a test does."""
    if chosen_by_one_test(fitted):
        return "p_absolute" if fitted.settings.test == "absolute" else "p_relative"
    return "p_exact"


def share_has_bound(row: pd.Series) -> bool:
    """Whether the state says enough of the outcome for a bound on the share that is kept."""
    return bool(
        row["explained_by_state"] > 0
        and math.isfinite(row["share_kept"])
        and math.isfinite(row["share_at_least"])
    )


def at_least_text(bound: float) -> str:
    """Rounded down: 94.9 % is not 'at least 95 %'."""
    if not math.isfinite(bound):
        return "no bound"
    return percent(math.floor(100 * bound + 1e-9) / 100)


def share_text(row: pd.Series) -> str:
    """'97 % (at least 95 %)'."""
    if not math.isfinite(row["share_kept"]):
        return "no answer"
    share, bound = percent(row["share_kept"]), row["share_at_least"]
    return f"{share} (at least {at_least_text(bound)})" if math.isfinite(bound) else share


def between_text(low: float, high: float) -> str:
    """'88 % to 105 %', 'at least 88 %', 'no bound'."""
    below, above = math.isfinite(low), math.isfinite(high)
    if below and above:
        return f"{percent(low)} to {percent(high)}"
    if below:
        return f"at least {percent(low)}"
    return f"at most {percent(high)}" if above else "no bound"


def value_is_known(row: pd.Series) -> bool:
    """Whether it is known what a decision by these features costs: earlier results have no word."""
    wanted = ("value_lost", "value_lost_low", "value_lost_high", "same_choice")
    return all(math.isfinite(row.get(name, math.nan)) for name in wanted)


def value_text(row: pd.Series) -> str:
    """'0.02 (-0.01 to 0.05)', with as many decimals as the interval is worth."""
    low, high = row["value_lost_low"], row["value_lost_high"]
    return interval_text(row["value_lost"], low, high, decimals([(high - low) / 4]))


def p_or_not_tested(p: float) -> str:
    return p_text(p) if p == p else "not tested"

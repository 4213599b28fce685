"""The cost of treating, in words."""

from __future__ import annotations

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.trade_off import TradeOff
from smdp.evaluation.trade_off_settings import TradeOffSettings
from smdp.text import interval_text, percent, plural
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals


def trade_off_summary(found: TradeOff) -> str:
    first, last = found.curve.iloc[0], found.curve.iloc[-1]
    return f"treats at {percent(first['treated'])} to {percent(last['treated'])} of decisions"


def digits_of(found: TradeOff) -> int:
    return decimals((found.curve["outcome_upper"] - found.curve["outcome_lower"]) / 4)


def describe_cost(found: TradeOff, cost: float, outcome: OutcomeName = UTILITY_NAME) -> str:
    """What the curve says at one cost."""
    row, digits = found.at(cost), digits_of(found)
    free = found.curve.iloc[0]
    text = (
        f"If a treatment costs as much as {row['cost']:.4g} of {outcome.the_title}, the policy "
        f"gives one ({_other(found)}) at {_share(row)} of the decisions, and the outcome, without "
        f"the cost, is {_outcome(row, digits)}"
    )
    if row["cost"] == free["cost"]:
        return f"{text}."
    lost = interval_text(row["lost"], row["lost_lower"], row["lost_upper"], digits)
    end = ", which does not exclude zero" if row["lost_lower"] <= 0 <= row["lost_upper"] else ""
    return (
        f"{text}: {lost} against treatments at a cost of {free['cost']:.4g}{end}. As people were "
        f"treated, it was {percent(found.as_done['treated'])} of the decisions and "
        f"{found.as_done['outcome']:.{digits}f}."
    )


def describe_trade_off(found: TradeOff, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """How few treatments do about as well as the most."""
    usable = found.curve[found.curve["trusted"]]
    if usable.empty:
        return ["At no cost is there an interval that could be trusted."]
    alike = usable[usable["lost_upper"] >= 0]
    fewest = alike.loc[alike["treated"].idxmin()]
    first, digits = found.curve.iloc[0], digits_of(found)
    lost = interval_text(fewest["lost"], fewest["lost_lower"], fewest["lost_upper"], digits)
    return [
        f"At no cost the policy treats at {_share(first)} of the decisions, with "
        f"{_outcome(first, digits)} {outcome.title} a decision; the intervals are of "
        f"{percent(found.coverage)}.",
        f"The fewest treatments at which the outcome is not clearly below that: "
        f"{_share(fewest)} of the decisions (cost {fewest['cost']:.4g}, difference {lost}). That "
        "it is not clearly below does not say that nothing is lost.",
        "A cost depends on the treatment alone, so the same features serve. An outcome made of "
        "several parts (fewer cigarettes, and sleep at half the weight) is computed on Data with "
        "'Compute a column' and given the role of the outcome.",
    ]


def trade_off_words(found: TradeOff) -> pd.DataFrame:
    digits = digits_of(found)
    rows = found.curve.to_dict("records")
    return pd.DataFrame(
        {
            "cost of a treatment": [f"{row['cost']:.4g}" for row in rows],
            "treated (% of decisions)": [_share(row) for row in rows],
            "outcome without the cost": [_outcome(row, digits) for row in rows],
            "against no cost": [
                interval_text(row["lost"], row["lost_lower"], row["lost_upper"], digits)
                if place
                else ""
                for place, row in enumerate(rows)
            ],
        }
    )


def trade_off_methods(asked: TradeOffSettings) -> str:
    count = asked.points if asked.costs is None else len(asked.costs)
    return (
        "To see what fewer treatments would cost, a linear policy was learned for the outcome "
        f"minus a cost for each treatment, at {plural(count, 'cost')}, and judged in "
        "the same folds with the same feature maps, by its outcome without the cost and by the "
        "share of decisions at which it treats."
    )


def _other(found: TradeOff) -> str:
    return f"anything but {action_name(found.reference)}"


def _share(row: pd.Series) -> str:
    share, lower, upper = (
        100 * row[each] for each in ("treated", "treated_lower", "treated_upper")
    )
    return f"{interval_text(share, lower, upper, 0)} %"


def _outcome(row: pd.Series, digits: int) -> str:
    return interval_text(row["outcome"], row["outcome_lower"], row["outcome_upper"], digits)

"""The cost of treating, in words."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.trade_off import TradeOff
from smdp.evaluation.trade_off_settings import TradeOffSettings
from smdp.text import capital, interval_text, listing, percent, plural, shorten
from smdp.words.explanation import action_name
from smdp.words.policy_value import QUICK, decimals

WHOLE_FOLDS = (
    "The policies were learned and judged in the folds of the whole analysis: variables and "
    "features were found anew without the people judged."
)


def trade_off_summary(found: TradeOff) -> str:
    first, last = found.curve.iloc[0], found.curve.iloc[-1]
    return f"treats at {percent(first['treated'])} to {percent(last['treated'])} of decisions"


def digits_of(found: TradeOff) -> int:
    return decimals((found.curve["outcome_upper"] - found.curve["outcome_lower"]) / 4)


def counted(found: TradeOff, outcome: OutcomeName = UTILITY_NAME) -> OutcomeName:
    """What the policies earn: the outcome, or several together."""
    if not found.weights:
        return outcome
    others = " ".join(
        f"{'+' if weight > 0 else '-'} {abs(weight):.3g} × {part_name(name)}"
        for name, weight in found.weights.items()
    )
    return OutcomeName(f"{outcome.name} {others}", column=outcome.column or "utility")


def part_name(name: str, outcome: OutcomeName = UTILITY_NAME) -> str:
    """Of one outcome of several: 'minus next cigs', 'next sleep'."""
    return f"next {shorten(name, 40)}" if name else outcome.title


def weights_in_words(found: TradeOff, outcome: OutcomeName = UTILITY_NAME) -> str:
    """'One more of next sleep counts as much as 0.5 of minus next cigs.'"""
    told = [
        f"one {'more' if weight > 0 else 'less'} of {part_name(name)} counts as much as "
        f"{abs(weight):.3g} of {outcome.the_title}"
        for name, weight in found.weights.items()
    ]
    return f"{capital('; '.join(told))}." if told else ""


def describe_cost(found: TradeOff, cost: float, outcome: OutcomeName = UTILITY_NAME) -> str:
    """What the curve says at one cost."""
    row, digits = found.at(cost), digits_of(found)
    free, several = found.curve.iloc[0], bool(found.weights)
    what = "what is earned" if several else "the outcome"
    text = (
        f"If a treatment costs as much as {row['cost']:.4g} of {outcome.the_title}, the policy "
        f"gives one ({_other(found)}) at {_share(row)} of the decisions, and {what}, without "
        f"the cost, is {_outcome(row, digits)}"
    )
    if several:
        text += f" ({_each_part(found, float(row['cost']), outcome)})"
    if row["cost"] == free["cost"]:
        return f"{text}."
    lost = interval_text(row["lost"], row["lost_lower"], row["lost_upper"], digits)
    end = ", which does not exclude zero" if row["lost_lower"] <= 0 <= row["lost_upper"] else ""
    return (
        f"{text}: {lost} against treatments at a cost of {free['cost']:.4g}{end}. As people were "
        f"treated, it was {percent(found.as_done['treated'])} of the decisions and "
        f"{found.as_done['outcome']:.{digits}f}."
    )


def _parts_at(found: TradeOff, cost: float) -> pd.DataFrame:
    """Each outcome alone at a cost; NaN: as people were treated."""
    assert found.parts is not None
    own = found.parts["cost"]
    return found.parts[own.isna() if math.isnan(cost) else own == cost]


def _each_part(found: TradeOff, cost: float, outcome: OutcomeName) -> str:
    rows = _parts_at(found, cost).to_dict("records")
    return "; ".join(
        f"{part_name(row['outcome'], outcome)} {_of_part(row, _part_digits(found))}" for row in rows
    )


def _part_digits(found: TradeOff) -> int:
    assert found.parts is not None
    return decimals((found.parts["upper"] - found.parts["lower"]) / 4)


def _of_part(row: Mapping[Hashable, Any], digits: int) -> str:
    return interval_text(row["estimate"], row["lower"], row["upper"], digits)


def describe_trade_off(found: TradeOff, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """How few treatments do about as well as the most."""
    usable = found.curve[found.curve["trusted"]]
    if usable.empty:
        return ["At no cost is there an interval that could be trusted."]
    alike = usable[usable["lost_upper"] >= 0]
    fewest = alike.loc[alike["treated"].idxmin()]
    first, digits = found.curve.iloc[0], digits_of(found)
    lost = interval_text(fewest["lost"], fewest["lost_lower"], fewest["lost_upper"], digits)
    what = "what is earned" if found.weights else "the outcome"
    sentences = [weights_in_words(found, outcome)] if found.weights else []
    sentences += [
        f"At no cost the policy treats at {_share(first)} of the decisions, with "
        f"{_outcome(first, digits)} {counted(found, outcome).title} a decision; the intervals are "
        f"of {percent(found.coverage)}.",
        f"The fewest treatments at which {what} is not clearly below that: "
        f"{_share(fewest)} of the decisions (cost {fewest['cost']:.4g}, difference {lost}). That "
        "it is not clearly below does not say that nothing is lost.",
        WHOLE_FOLDS if found.whole_analysis else QUICK,
    ]
    if found.weights:
        sentences.append(
            "Variables and features were looked for with the study's own outcome in mind; for the "
            "others that count, the policy looks at their present values. To have the whole "
            "analysis made for all of them together, compute what counts on Data ('Compute a "
            "column') and give it the role of the outcome."
        )
    else:
        sentences.append("A cost depends on the treatment alone, so the same features serve.")
    return sentences


def trade_off_words(found: TradeOff, outcome: OutcomeName = UTILITY_NAME) -> pd.DataFrame:
    digits = digits_of(found)
    rows = found.curve.to_dict("records")
    what = "all together" if found.weights else "outcome"
    table = pd.DataFrame(
        {
            "cost of a treatment": [f"{row['cost']:.4g}" for row in rows],
            "treated (% of decisions)": [_share(row) for row in rows],
            f"{what} without the cost": [_outcome(row, digits) for row in rows],
            "against no cost": [
                interval_text(row["lost"], row["lost_lower"], row["lost_upper"], digits)
                if place
                else ""
                for place, row in enumerate(rows)
            ],
        }
    )
    if found.parts is None:
        return table
    for name in dict.fromkeys(found.parts["outcome"]):
        own = found.parts[found.parts["outcome"] == name].set_index("cost")
        table[part_name(name, outcome)] = [
            _of_part(own.loc[row["cost"]], _part_digits(found)) for row in rows
        ]
    return table


def trade_off_methods(asked: TradeOffSettings) -> str:
    count = asked.points if asked.costs is None else len(asked.costs)
    weights = {name: weight for name, weight in asked.weights.items() if weight}
    plus = listing([f"{weight:.3g} times the next {name}" for name, weight in weights.items()], 8)
    others = f"plus {plus}, " if weights else ""
    maps = "the variables of their maps and those that count" if weights else "their feature maps"
    return (
        "To see what fewer treatments would cost, a linear policy was learned for the outcome "
        f"{others}minus a cost for each treatment, at {plural(count, 'cost')}, and judged in "
        f"the same folds with {maps}, by its outcome without the cost and by the "
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

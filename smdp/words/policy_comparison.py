"""Candidate policies beside each other, and how outcomes are spread under one: in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.candidates import CandidateComparison, Simplicity
from smdp.evaluation.outcome_risk import (
    BELOW_MEDIAN,
    BELOW_QUARTILE,
    LOWER_QUARTILE,
    MEDIAN,
    Loses,
    OutcomeRisk,
    SubgroupGains,
)
from smdp.evaluation.rule_value import CARD, OWN_RULE
from smdp.evaluation.value_tables import OBSERVED
from smdp.text import capital, interval_text, listing, percent
from smdp.words.policy_value import ALWAYS, decimals, policy_label
from smdp.words.rule_card import rule_label

HOW_COMPARED = (
    "Each cell is what the row earns more than the column, with the interval of that difference. "
    "Both values come from the same people, so a difference is known better than either. Each "
    "interval is of one difference."
)
WITH_A_CARD = (
    "A card is judged with the variables that it asks for in the models of what is to be expected, "
    "and the others beside it too, so that its differences can deviate a little from those of the "
    "values."
)
WEIGHTED = (
    "Outcomes of single decisions, weighted as often as the policy would come to them. This rests "
    "on the weights alone, without the model that steadies the mean, so the two can differ a "
    "little."
)


def candidate_label(name: str) -> str:
    """'linear policy', 'rule card', 'my rule', 'as in the study', 'always action 1'."""
    if _is_rule(name):
        return rule_label(name, "")
    fixed = name == OBSERVED or name.startswith(ALWAYS)
    return policy_label(name if fixed else "learned", "" if fixed else name)


def the_candidate(name: str) -> str:
    """In a sentence: 'the linear policy', 'my rule 2'."""
    label = candidate_label(name)
    return label if label.startswith((OWN_RULE, ALWAYS)) else f"the {label}"


def _is_rule(name: str) -> bool:
    return name == CARD or name.startswith(OWN_RULE)


def comparison_digits(found: CandidateComparison) -> int:
    return decimals(found.differences["standard_error"])


def recommendation(found: CandidateComparison, outcome: OutcomeName = UTILITY_NAME) -> str:
    """Which candidate to take, and why."""
    if found.recommended is None or found.best is None:
        return (
            "No candidate is recommended: none has an interval that could be trusted. Use a "
            "smaller discount, or add people."
        )
    name, best = candidate_label(found.recommended), candidate_label(found.best)
    digits = comparison_digits(found)
    level = percent(found.coverage)
    if found.recommended == found.best:
        table = found.values[found.values["trusted"]].set_index("candidate")["simplicity"]
        simpler = [c for c in table.index if table[c] < table[found.best]]
        if not simpler:
            return f"Recommended: '{name}'. It has the largest value, and nothing is simpler."
        return (
            f"Recommended: '{name}'. It has the largest value, and everything that is simpler is "
            f"clearly below it ({level} intervals of the differences exclude zero)."
        )
    row = found.difference(found.recommended, found.best)
    gap = interval_text(row["estimate"], row["lower"], row["upper"], digits)
    of = f" {outcome.title}" if outcome.column else ""
    return (
        f"Recommended: '{name}', the simplest that is not clearly below the best. '{best}' has the "
        f"largest value, but the difference to it, {gap}{of} a decision, does not exclude zero: "
        "the study does not tell that the more complicated one is worth it."
    )


def comparison_words(found: CandidateComparison) -> pd.DataFrame:
    """Candidate by candidate: row minus column."""
    digits = comparison_digits(found)
    names = list(found.values["candidate"])
    rows = []
    for value in found.values.to_dict("records"):
        cells = {
            candidate_label(other): ""
            if other == value["candidate"]
            else _cell(found.difference(value["candidate"], other), digits)
            for other in names
        }
        rows.append(
            {
                "candidate": candidate_label(value["candidate"]),
                "value": interval_text(value["estimate"], value["lower"], value["upper"], digits),
                **{f"minus {other}": text for other, text in cells.items()},
            }
        )
    return pd.DataFrame(rows)


def order_of_simplicity() -> str:
    """For a caption."""
    said = {
        Simplicity.NO_CHOICE: "as in the study or one treatment for everybody",
        Simplicity.CARD: "a rule on a card",
        Simplicity.OWN_RULE: "a rule of your own",
        Simplicity.LINEAR: "linear",
        Simplicity.PESSIMISTIC: "pessimistic",
        Simplicity.NEURAL: "neural",
    }
    return f"From simple to complicated: {', '.join(said[each] for each in Simplicity)}."


def _cell(row: pd.Series, digits: int) -> str:
    return interval_text(row["estimate"], row["lower"], row["upper"], digits)


def risk_words(
    risk: OutcomeRisk, names: Sequence[str], outcome: OutcomeName = UTILITY_NAME
) -> pd.DataFrame:
    """`names`: the policies of the evaluation that are shown, the one in question first."""
    rows = []
    first = candidate_label(names[0]) if _is_rule(names[0]) else "the policy"
    for figure in (MEDIAN, LOWER_QUARTILE, BELOW_MEDIAN, BELOW_QUARTILE):
        own = risk.figures[risk.figures["figure"] == figure].set_index("policy")
        share = figure in (BELOW_MEDIAN, BELOW_QUARTILE)
        title = f"{capital(figure)}" + (" (% of decisions)" if share else f", {outcome.title}")
        cells: dict[str, str] = {"": title}
        for place, name in enumerate(names):
            label = candidate_label(name) if place else first
            cells[label] = _amount(own.loc[name], ("estimate", "lower", "upper"), share)
        row = own.loc[names[0]]
        parts = ("difference", "difference_lower", "difference_upper")
        cells[f"{first} minus as in the study"] = _amount(row, parts, share)
        rows.append(cells)
    return pd.DataFrame(rows)


def _amount(row: pd.Series, parts: tuple[str, str, str], share: bool) -> str:
    estimate, lower, upper = (100 * row[each] if share else row[each] for each in parts)
    size = abs(upper - lower)
    digits = 0 if share and size > 2 else (1 if math.isfinite(size) and size > 1 else 2)
    return interval_text(estimate, lower, upper, digits)


def how_compared(found: CandidateComparison) -> str:
    """For a caption."""
    level = f"Intervals are of {percent(found.coverage)}."
    with_card = CARD in set(found.values["candidate"])
    return " ".join([HOW_COMPARED, level, *([WITH_A_CARD] if with_card else [])])


def describe_risk(risk: OutcomeRisk, name: str, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """Whether the bad outcomes become more or fewer under the policy in question."""
    first = str(risk.figures["policy"].iloc[0])
    own = risk.figures[risk.figures["policy"] == first].set_index("figure")
    row, quartile = own.loc[BELOW_QUARTILE], own.loc[LOWER_QUARTILE]
    done = risk.figures[risk.figures["policy"] == OBSERVED].set_index("figure")
    limit = done.loc[LOWER_QUARTILE, "estimate"]
    before = percent(float(done.loc[BELOW_QUARTILE, "estimate"]))
    text = (
        f"Bad outcomes: at {percent(float(row['estimate']))} of the decisions under "
        f"{the_candidate(name)}, {outcome.the_title} would be worse than {limit:.4g}, the lower "
        f"quartile as people were treated, where it was so at {before}"
    )
    if not risk.trusted or not math.isfinite(row["difference_lower"]):
        return [f"{text}. There is no interval that could be trusted."]
    low, high = row["difference_lower"], row["difference_upper"]
    points = interval_text(100 * row["difference"], 100 * low, 100 * high, 1)
    verdict = "the study does not tell whether bad outcomes become more or fewer"
    if high < 0:
        verdict = "bad outcomes become fewer, and the interval excludes zero"
    if low > 0:
        verdict = "bad outcomes become more, and the interval excludes zero"
    return [
        f"{text}: a difference of {points} percentage points, so {verdict}. Intervals here are of "
        f"{percent(risk.coverage)}.",
        f"The lower quartile would be {quartile['estimate']:.4g}, against {limit:.4g}.",
    ]


def subgroup_words(gains: SubgroupGains) -> pd.DataFrame:
    said = {
        Loses.YES: "loses",
        Loses.MAYBE: "perhaps",
        Loses.NOT_SHOWN: "not shown",
        Loses.TOO_FEW: "too few people",
    }
    table = gains.groups
    errors = (table["upper"] - table["lower"]) / 4
    digits = decimals(errors)
    return pd.DataFrame(
        {
            "variable": table["variable"],
            "people with": table["group"],
            "people": table["people"],
            f"policy minus as in the study ({percent(gains.coverage)} interval)": [
                interval_text(e, low, high, digits)
                for e, low, high in zip(
                    table["estimate"], table["lower"], table["upper"], strict=True
                )
            ],
            "does it lose?": [said[Loses(each)] for each in table["loses"]],
        }
    )


def describe_subgroups(gains: SubgroupGains) -> list[str]:
    """Does anybody lose? With the number of groups that were looked at."""
    count = gains.looked_at
    if not count:
        return ["Does anybody lose? No group has an interval that could be trusted."]
    sure, maybe = gains.those_who(Loses.YES), gains.those_who(Loses.MAYBE)
    known = gains.groups[gains.groups["loses"] != Loses.TOO_FEW]
    worst = known.loc[known["lower"].idxmin()]
    reckoned = f"reckoning with the {count} groups that were looked at"
    if len(sure):
        first = (
            f"Does anybody lose? Yes: {_named(sure)} would do worse than as treated, {reckoned}."
        )
    elif len(maybe):
        first = (
            f"Does anybody lose? Perhaps: by its own interval {_named(maybe)} would do worse than "
            f"as treated; {reckoned}, that may be chance."
        )
    else:
        first = f"Does anybody lose? No group is shown to, {reckoned}."
    digits = decimals([(worst["upper"] - worst["lower"]) / 4])
    return [
        first,
        f"What cannot be ruled out: a loss of up to {max(0.0, -worst['lower']):.{digits}f} a "
        f"decision ({worst['variable']}: {worst['group']}, {worst['people']} people). Groups are "
        "of people, by their value at their first decision; in small groups much goes unseen.",
    ]


def _named(groups: pd.DataFrame) -> str:
    pairs = zip(groups["variable"], groups["group"], strict=True)
    return listing([f"{variable}: {group}" for variable, group in pairs], 6)

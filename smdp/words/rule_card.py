"""A rule card in sentences and tables: what it says, what it is worth, whether it is sure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.evaluation.rule_value import CARD, LEARNED, RuleReport
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED
from smdp.text import capital, interval_text, listing, percent, plural, shorten
from smdp.words.explanation import action_name
from smdp.words.policy_value import ALWAYS, decimals, policy_label

#: The first question comes back in fewer samples than this: it is not the people's alone.
SELDOM = 0.5
LONGEST_RULE = 160
#: A gain of fewer standard errors can be chance.
FEW_ERRORS = 2.0

NO_QUESTION = (
    "No question divides people so that different treatments are better, so the card says the same "
    "for everybody."
)


def rule_summary(report: RuleReport) -> str:
    return shorten(report.card.in_words(), 80)


def digits_of_rules(report: RuleReport) -> int:
    return decimals([*report.values["standard_error"], *report.differences["standard_error"]])


def rule_label(name: str, kind: str) -> str:
    """'rule card', 'linear policy', 'my rule', 'as in the study', 'always ..'."""
    if name == CARD:
        return "rule card"
    if name == LEARNED:
        return f"{kind} policy"
    if name == OBSERVED or name.startswith(ALWAYS):
        return policy_label(name)
    return name


def describe_rule(report: RuleReport, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """The card, its value, its cost, how often it agrees, and whether it comes back."""
    kind, found = report.policy_kind, [f"The card says: {report.card.in_words()}."]
    of = f" {outcome.title}" if outcome.column else ""
    if report.card.questions:
        found += filter(None, [_questions_sentence(report)])
    else:
        found.append(NO_QUESTION)
    found.append(worth_of_card(report, outcome))
    found.append(_cost_sentence(report, of))
    found.append(
        f"Card and {kind} policy say the same at {percent(report.agreement)} of "
        f"{report.decisions:,} decisions with a choice."
    )
    found += _stability_sentences(report)
    found.append(_folds_sentence(report))
    found += [_own_sentence(report, name, of) for name in report.own["name"]]
    if report.left_out:
        found.append(
            f"No card asks for {listing(report.left_out)}: texts, and several numbers that belong "
            "together, cannot be said in a word."
        )
    return found


def _questions_sentence(report: RuleReport) -> str:
    """Where people who had no part in finding them do not show that questions are needed."""
    own = report.depths.iloc[-1]
    if own["gain"] > FEW_ERRORS * own["standard_error"]:
        return ""
    return (
        "For people who had no part in finding it, its questions gain no more over the same for "
        "everybody than chance may give: the study does not show that they are needed."
    )


def _numbers(report: RuleReport, row: pd.Series) -> str:
    digits = digits_of_rules(report)
    return interval_text(row["estimate"], row["lower"], row["upper"], digits)


def worth_of_card(report: RuleReport, outcome: OutcomeName = UTILITY_NAME) -> str:
    """What it would earn, and whether that is more than what was done."""
    of = f" {outcome.title}" if outcome.column else ""
    card, seen = report.value(CARD), report.value(OBSERVED)
    digits = digits_of_rules(report)
    text = (
        f"Followed by everybody it would earn {_numbers(report, card)}{of} a decision, against "
        f"{seen['estimate']:.{digits}f} as in the study"
    )
    if not card["trusted"]:
        return f"{text}. There is no interval: {card['reason']}"
    gain = report.difference(CARD, OBSERVED)
    both = _numbers(report, gain)
    clear = _excludes(gain)
    end = "The interval excludes zero." if clear else "The study does not tell which is better."
    return f"{text}: a difference of {both}. {end}"


def verdict_on_card(report: RuleReport, value: PolicyValue | None = None) -> str:
    """Whether it does better than what was done, in one breath with the rule.

    `value`: of the policy that it was made of, if that is known.
    """
    gain = report.difference(CARD, OBSERVED)
    if not gain["trusted"]:
        return "what that would earn has no interval that could be trusted"
    if value is not None and far_apart(report, value):
        return (
            "whether that does better than what was done hangs on the variables with which it is "
            "judged"
        )
    if gain["lower"] > 0:
        return "that does better than what was done"
    if gain["upper"] < 0:
        return "but that does worse than what was done"
    return "whether that does better than what was done the study does not tell"


def beside_the_values(report: RuleReport, value: PolicyValue) -> str:
    """Why what was done has another value here than among the policies; "" where it is the same."""
    rows = value.table[value.table["method"] == DOUBLY_ROBUST].set_index("policy")
    here, there = report.value(OBSERVED), rows.loc[OBSERVED]
    digits = digits_of_rules(report)
    one, two = f"{here['estimate']:.{digits}f}", f"{there['estimate']:.{digits}f}"
    if one == two or report.discount != value.discount:
        return ""
    asked = dict.fromkeys([*report.card.asked, *(n for r in report.own_rules for n in r.asked)])
    also = f" ({listing(asked, 6)}, or what the cards of the folds ask)" if asked else ""
    text = (
        f"As people were treated, the value is {one} here and {two} beside the policies: the same "
        "question, but here what is to be expected is also modelled with the variables that cards "
        f"and rules ask for{also}."
    )
    if far_apart(report, value):
        text += (
            " That is far apart for what chance does to these values: something that the policies "
            "do not look at matters to the outcome. Screening, the Markov check and time as a "
            "variable are the places to look."
        )
    return text


#: In standard errors of the value of what was done, which both estimates share for the most part.
FAR = 0.5


def far_apart(report: RuleReport, value: PolicyValue) -> bool:
    """Whether what was done is worth something else beside the card than beside the policies."""
    rows = value.table[value.table["method"] == DOUBLY_ROBUST].set_index("policy")
    here, there = report.value(OBSERVED), rows.loc[OBSERVED]
    apart = abs(here["estimate"] - there["estimate"])
    error = min(here["standard_error"], there["standard_error"])
    return bool(report.discount == value.discount and apart > FAR * error)


def _cost_sentence(report: RuleReport, of: str) -> str:
    cost, kind = report.cost, report.policy_kind
    text = f"The {kind} policy would earn {_numbers(report, cost)}{of} a decision more than the"
    text += " card: that is what the card costs."
    if not cost["trusted"]:
        return f"{text} There is no interval: {cost['reason']}"
    if cost["lower"] > 0:
        return f"{text} The interval excludes zero."
    if cost["upper"] < 0:
        return f"{text} Less than nothing: the card does better, and the interval excludes zero."
    return f"{text} The interval includes zero: whether it costs anything the study does not tell."


def _excludes(row: pd.Series) -> bool:
    return bool(row["lower"] > 0 or row["upper"] < 0)


def _stability_sentences(report: RuleReport) -> list[str]:
    if not report.resamples:
        return []
    samples = plural(report.resamples, "sample")
    found = []
    if len(report.questions):
        first = report.questions.iloc[0]
        begins = dict(zip(report.first["variable"], report.first["share"], strict=True))
        found.append(
            f"In {samples} of the people, drawn anew, the first question was about "
            f"{first['variable']} in {percent(begins.get(first['variable'], 0.0))}, and in "
            f"{percent(first['in_place'])} with a cut near this one."
        )
        for _, row in report.questions.iloc[1:].iterrows():
            found.append(
                f"{row['variable']} was asked for in {percent(row['again'])} of them, in "
                f"{percent(row['near'])} with a cut near this one."
            )
    found.append(
        f"{'They' if found else f'In {samples} of the people, drawn anew, the rules found'} gave "
        f"the same treatment as the card at {percent(report.resample_agreement)} of the decisions "
        "on average."
    )
    return found


def _folds_sentence(report: RuleReport) -> str:
    cards = report.folds["card"]
    same = int((cards == report.card.in_words()).sum())
    anew = "screening, map, policy and card" if report.whole_analysis else "policy and card"
    return (
        f"For these values {anew} were made anew without each of {len(cards)} folds of people, who "
        f"then judged them. {same} of the {len(cards)} cards "
        f"{'was' if same == 1 else 'were'} the one shown."
    )


def _own_sentence(report: RuleReport, name: str, of: str) -> str:
    own = report.own.set_index("name").loc[name]
    value, against = report.value(name), report.difference(name, CARD)
    text = (
        f"{capital(name)} ({shorten(own['rule'], LONGEST_RULE)}): a condition holds at "
        f"{percent(own['fulfilled'])} of the decisions. It would earn {_numbers(report, value)}"
        f"{of} a decision; against the card that is {_numbers(report, against)}"
    )
    if not against["trusted"]:
        return f"{text}, without an interval. {against['reason']}"
    if _excludes(against):
        return f"{text}, and the interval excludes zero."
    return f"{text}: the study does not tell which of the two is better."


def check_rule(report: RuleReport, used: tuple[str, ...] | None = None) -> list[Problem]:
    """What a reader of the card must not overlook. `used`: the variables of the full policy."""
    found = []
    for (_, row), rule in zip(report.own.iterrows(), report.own_rules, strict=True):
        if row["fulfilled"] in (0, 1):
            who = "Nobody ever fulfils" if row["fulfilled"] == 0 else "Everybody always fulfils"
            found.append(
                Problem(
                    "warning",
                    "rule",
                    f"{who} a condition of '{shorten(row['rule'])}': it says the same at all "
                    f"{report.decisions:,} decisions.",
                    "Look at the values that its variables have.",
                )
            )
        others = [name for name in rule.asked if used is not None and name not in used]
        if others:
            found.append(
                Problem(
                    "note",
                    "rule",
                    f"'{shorten(row['rule'])}' asks for {listing(others)}, which the "
                    f"{report.policy_kind} policy does not use. That is allowed.",
                )
            )
    card = report.value(CARD)
    if not card["trusted"]:
        found.append(Problem("warning", "rule", f"No interval for the card: {card['reason']}"))
    if report.resamples and len(report.questions):
        again = float(report.questions["in_place"].iloc[0])
        if again < SELDOM:
            found.append(
                Problem(
                    "warning",
                    "rule",
                    f"The card's first question came back in only {percent(again)} of the samples "
                    "of people: with other people it might have been another card.",
                    "Do not read more into the question than the value of the card says.",
                )
            )
    return found


def card_words(report: RuleReport) -> pd.DataFrame:
    """The card, one row for each end: what has to hold, what to do, at how many decisions."""
    ends = list(report.card.paths())
    total = max(1, sum(end.decisions for _, end in ends))
    rows = [
        (
            " and ".join(question.words(holds) for question, holds in conditions) or "always",
            action_name(report.card.action_labels[end.action]),
            percent(end.decisions / total),
        )
        for conditions, end in ends
    ]
    return pd.DataFrame(rows, columns=["if", "then", "share of decisions"])


def value_words_of_rules(report: RuleReport) -> pd.DataFrame:
    """The values with their intervals, and each against the card."""
    kind, rows = report.policy_kind, []
    for name in report.values["policy"]:
        value = report.value(name)
        against = "" if name == CARD else _numbers(report, report.difference(name, CARD))
        rows.append(
            {
                "policy": rule_label(name, kind),
                "value (interval)": _numbers(report, value),
                "more than the card (interval)": against,
                "effective people": round(float(value["effective"]), 1),
            }
        )
    return pd.DataFrame(rows)


def question_words(report: RuleReport) -> pd.DataFrame:
    """How often each question came back."""
    table = report.questions
    return pd.DataFrame(
        {
            "question": table["question"],
            "asked": np.where(table["first"], "first", "second or later"),
            "variable asked for again": [percent(v) for v in table["again"]],
            "with a cut near": [percent(v) for v in table["near"]],
        }
    )


def first_words(report: RuleReport) -> pd.DataFrame:
    """What other samples of people would have been asked first."""
    table = report.first
    return pd.DataFrame(
        {
            "asked first": [
                name or "nothing: the same for everybody" for name in table["variable"]
            ],
            "samples": [percent(v) for v in table["share"]],
        }
    )


def depth_words(report: RuleReport) -> pd.DataFrame:
    """What more questions gain for people who had no part in finding them."""
    table = report.depths
    return pd.DataFrame(
        {
            "questions in a row": table["depth"],
            "gain over none (discounted sum)": table["gain"],
            "standard error": table["standard_error"],
        }
    )

"""What treatment did in the trial, in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.evaluation.trial_effects import AVERAGE, INTERCEPT, LEARNED, TrialSummary
from smdp.text import capital, interval_text, listing, p_text, percent, plural
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals

#: Moderators are named in a sentence if their p-value for the family is at most this.
CLEAR = 0.05
#: Percentages from here on are told without decimals, and none above the second.
TELLING_PERCENT, MOST_PERCENT = 10, 1000
TURNS = 0.1  # of the height of a curve over time: beyond its ends by more, it turns between them


@dataclass(frozen=True)
class Telling:
    """How effects are told: of which outcome, and how far their intervals can be trusted.

    `base`: of the logarithm that the outcome is, so that differences are percentages of what was
    measured; None where it is none.
    `observed`: nobody is known to have been randomised, so that effects are differences. `learned`:
    probabilities were learned from several people, so that intervals are too narrow to be called
    what they are. `screened`: the controls are what screening kept.
    """

    outcome: OutcomeName = UTILITY_NAME
    base: float | None = None
    observed: bool = False
    learned: bool = False
    screened: bool = False


def interval_name(summary: TrialSummary, telling: Telling) -> str:
    """What intervals are called: of their coverage only where they have it."""
    return "ordinary interval" if telling.learned else f"{percent(summary.coverage)} interval"


def trial_line(summary: TrialSummary) -> str:
    """For the sidebar: the average effect of each action."""
    rows = _averages(summary.effects)
    if len(rows) > 2:
        return f"{plural(len(rows), 'treatment')}, {plural(summary.decisions, 'decision')}"
    told = []
    for _, row in rows.iterrows():
        size = (
            f"× {np.exp(row['estimate']):.2f}"
            if summary.scale == "ratio"
            else f"{row['estimate']:+.{decimals([row['standard_error']])}f}"
        )
        told.append(f"{size}, {p_text(row['p_value'])}")
    return "; ".join(told)


def describe_trial(summary: TrialSummary, telling: Telling | None = None) -> list[str]:
    """The average effect of each action, for whom, when, how long after, and how it was found."""
    told = telling or Telling()
    sentences = [*_averages_in_words(summary, told)]
    if summary.moderators:
        sentences.append(_with_moderators(summary))
    sentences += [*_sizes(summary), *_for_whom(summary), *_when(summary, told)]
    if told.outcome.better:
        sentences.append(f"Which way is good: {direction(summary, told)}.")
    used = (*summary.controls, *(m for m in summary.moderators if m not in summary.controls))
    if told.observed:
        sentences.append(
            "Treatment is not known to have been randomised, so this is an association: it is the "
            "effect of treatment only if nothing but "
            + (listing(used, 8) if used else "chance")
            + " decided who was treated."
        )
    sentences.append(_how(summary, told))
    sentences.append(
        "It is of the very next outcome, averaged over all states: it says nothing "
        "about later decisions, and treatment can help some and harm others at an average of zero."
    )
    return sentences


def direction(summary: TrialSummary, told: Telling) -> str:
    """'less cigs is better, so that effects below 0 are good'; nothing where nobody said it."""
    if not told.outcome.better:
        return ""
    side = "above" if summary.sign > 0 else "below"
    if summary.scale == "ratio":
        return f"{told.outcome.better}, so that ratios {side} 1 are good"
    what = "differences" if told.observed else "effects"
    return f"{told.outcome.better}, so that {what} {side} 0 are good"


def _how(summary: TrialSummary, told: Telling) -> str:
    method = (
        "by centred and weighted estimating equations for ratios"
        if summary.scale == "ratio"
        else "by weighted and centred least squares"
    )
    freedom = f" and {summary.freedom} degrees of freedom" if summary.freedom else ""
    intervals = f"intervals are of {percent(summary.coverage)}"
    if told.learned:
        intervals = (
            f"intervals are ordinary ones, made for {percent(summary.coverage)}, which they do not "
            "reach where probabilities were learned from several people"
        )
    return (
        f"From {summary.decisions:,} decisions with a choice of {summary.subjects} subjects, "
        f"{method}{_adjusted(summary, told)}, with errors robust within subjects{freedom}; "
        f"{intervals}."
    )


def _adjusted(summary: TrialSummary, told: Telling) -> str:
    parts = []
    if summary.controls:
        which = ", which screening of the same data kept," if told.screened else ""
        parts.append(f"{listing(summary.controls, 8)}{which}")
    if set(summary.moderators) - set(summary.controls):
        parts.append("the moderators")
    return f", adjusted for {' and '.join(parts)}".rstrip(",") if parts else ""


def _averages(effects: pd.DataFrame) -> pd.DataFrame:
    return effects[effects["term"] == AVERAGE]


def _averages_in_words(summary: TrialSummary, told: Telling) -> Iterator[str]:
    outcome = told.outcome
    follows = outcome.the if outcome.column else "the utility that follows"
    rows = _averages(summary.effects)
    beside = None if summary.differences is None else _averages(summary.differences)
    for place, (_, row) in enumerate(rows.iterrows()):
        action, against = action_name(row["action"]), action_name(row["against"])
        p = p_text(row["p_value"])
        if summary.scale == "ratio":
            ratio = _ratio_text(row)
            if summary.kind == "yes/no":
                text = f"{capital(follows)} was {ratio} times as likely under {action} as under "
            else:
                text = f"The mean of {follows} was {ratio} times as large under {action} as under "
            text += f"{against}, {p}"
            if beside is not None:
                text += f"; as a difference, {_difference(beside.iloc[place], summary, outcome)}"
        else:
            effect = _difference(row, summary, outcome)
            if told.observed:
                text = (
                    f"On average, {follows} differed by {effect} between {action} and {against}, "
                    f"in like states, {p}"
                )
            else:
                text = f"On average, {action} changed {follows} by {effect} against {against}, {p}"
            if told.base is not None:
                text += f": on the scale before the logarithm {percents(row, told.base)}"
        yield text + "."


def _ends(row: pd.Series) -> tuple[float, float, float]:
    return float(row["estimate"]), float(row["lower"]), float(row["upper"])


def _ratio_text(row: pd.Series) -> str:
    estimate, lower, upper = np.exp(_ends(row))
    return interval_text(estimate, lower, upper, 2)


def _difference(row: pd.Series, summary: TrialSummary, outcome: OutcomeName) -> str:
    estimate, lower, upper = _ends(row)
    if summary.kind == "yes/no":
        points = interval_text(100 * estimate, 100 * lower, 100 * upper, 1)
        return f"{points} percentage points"
    digits = decimals([row["standard_error"]])
    return outcome.amount(interval_text(estimate, lower, upper, digits))


def _with_moderators(summary: TrialSummary) -> str:
    return (
        f"The average is at the mean of {listing(summary.moderators, 8)}; the table says by how "
        "much the effect changes with one unit of each, the others held fixed."
    )


def _sizes(summary: TrialSummary) -> Iterator[str]:
    if summary.standardised is None or summary.kind == "yes/no":
        return
    rows = summary.standardised
    sizes = [interval_text(*_ends(row), 2) for _, row in rows.iterrows()]
    if len(rows) > 1:
        told = zip(sizes, rows["action"], strict=True)
        sizes = [f"{size} for {action_name(action)}" for size, action in told]
    yield f"In standard deviations of the outcome, that is {'; '.join(sizes)}."


def _for_whom(summary: TrialSummary) -> Iterator[str]:
    found = summary.by_variable
    if found is None:
        return
    first = found.drop_duplicates(["action", "variable"])
    clear = first[first["family_p"] <= CLEAR].sort_values("family_p")
    names = [f"{row['variable']} ({p_text(row['family_p'])})" for _, row in clear.iterrows()]
    count = first["variable"].nunique()
    if names:
        yield (
            f"Looked at one by one, with p-values for all {count} variables together, the effect "
            f"changes with {listing(names, 6)}."
        )
    elif count > 1:
        yield (
            f"With none of {count} variables, looked at one by one, does the effect clearly "
            "change: that is no proof that it is the same for all."
        )


def _when(summary: TrialSummary, told: Telling) -> Iterator[str]:
    found = summary.over_time
    if found is not None:
        for action, own in found.groupby("action", sort=False):
            p = float(own["p_value"].iloc[0])
            where = f"{summary.time} " if summary.time else "decision "
            changes = "changed" if p <= CLEAR else "did not clearly change"
            sizes = [
                f"{_size_at(row, summary, told)} at {where}{row['at']:g}" for row in _course(own)
            ]
            yield (
                f"Over time the effect of {action_name(action)} {changes} ({p_text(p)}): "
                f"{', '.join(sizes)}."
            )


def _course(own: pd.DataFrame) -> list[pd.Series]:
    """Where a curve begins and ends, and between them where it turns, if the ends do not tell."""
    sizes = own["estimate"].to_numpy()
    outside = np.maximum(sizes - max(sizes[0], sizes[-1]), min(sizes[0], sizes[-1]) - sizes)
    turn = int(outside.argmax())
    told = [0, turn, -1] if outside[turn] > TURNS * np.ptp(sizes) else [0, -1]
    return [own.iloc[place] for place in told]


def _size_at(row: pd.Series, summary: TrialSummary, told: Telling) -> str:
    if summary.scale == "ratio":
        return f"{np.exp(row['estimate']):.2f} times"
    text = f"{row['estimate']:.{decimals([row['standard_error']])}f}"
    return text if told.base is None else f"{text} ({_signed_percent(row['estimate'], told.base)})"


def percents(row: pd.Series, base: float, sign: str = " %") -> str:
    """'+14 % (-1 % to +31 %)': differences of logarithms as changes of what was measured."""
    changes = [_percent_change(each, base) for each in _ends(row)]
    digits = 0 if max(map(abs, changes)) >= TELLING_PERCENT else 1
    estimate, lower, upper = (f"{_signed(change, digits)}{sign}" for change in changes)
    return f"{estimate} ({lower} to {upper})"


def _signed_percent(difference: float, base: float) -> str:
    change = _percent_change(difference, base)
    return f"{_signed(change, 0 if abs(change) >= TELLING_PERCENT else 1)} %"


def _signed(change: float, digits: int) -> str:
    return f"{change:+z.{digits}f}" if change <= MOST_PERCENT else f"over {MOST_PERCENT:+,}"


def _percent_change(difference: float, base: float) -> float:
    return float(100 * np.expm1(np.log(base) * difference))


# Tables.


def effect_tables(
    summary: TrialSummary, telling: Telling
) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Each table with its title and what is to be known of it."""
    yield "Average effects", trial_words(summary, telling), _note_on_terms(summary)
    if summary.by_variable is not None:
        yield (
            "Effects by one variable at a time",
            by_variable_words(summary, telling),
            "Low and high: a standard deviation below and above the mean. p: of a change of the "
            "effect with the variable, alone and for all variables together (Holm).",
        )
    if summary.delayed is not None:
        yield (
            "Effects on later outcomes",
            delayed_words(summary, telling),
            "Treatments in between as the study gave them.",
        )


def _note_on_terms(summary: TrialSummary) -> str:
    if not summary.moderators:
        return ""
    return "The average is at the mean of the moderators, 'all moderators 0' is R's intercept."


def trial_words(summary: TrialSummary, telling: Telling | None = None) -> pd.DataFrame:
    """Effects with their intervals; a moderator's is by how much the effect changes a unit."""
    told = telling or Telling()
    rows = summary.effects
    words = pd.DataFrame(
        {
            "action": [action_name(a) for a in rows["action"]],
            "against": [action_name(a) for a in rows["against"]],
            "term": [_term(term) for term in rows["term"]],
            **_sized(rows, summary, told),
            "p": [p_text(p) for p in rows["p_value"]],
        }
    )
    if summary.differences is not None:
        unit = "percentage points" if summary.kind == "yes/no" else "difference"
        own = summary.differences
        size = 100 if summary.kind == "yes/no" else 1
        digits = decimals(size * own["standard_error"])
        words[unit] = [
            interval_text(size * e, size * low, size * high, digits)
            for e, low, high in zip(own["estimate"], own["lower"], own["upper"], strict=True)
        ]
    return words


def _term(term: str) -> str:
    named = {AVERAGE: "average", INTERCEPT: "all moderators 0"}
    return named.get(term, f"per unit of {term}")


def _what(summary: TrialSummary) -> str:
    if summary.scale == "linear":
        return "estimate"
    return "risk ratio" if summary.kind == "yes/no" else "ratio of means"


def _sized(rows: pd.DataFrame, summary: TrialSummary, told: Telling) -> dict[str, list[str]]:
    """The columns that say how large effects are."""
    found = {f"{_what(summary)} ({interval_name(summary, told)})": _numbers(rows, summary)}
    if told.base is not None and summary.scale == "linear":
        found["in percent"] = [percents(row, told.base, sign="") for _, row in rows.iterrows()]
    return found


def _numbers(rows: pd.DataFrame, summary: TrialSummary) -> list[str]:
    if summary.scale == "ratio":
        return [_ratio_text(row) for _, row in rows.iterrows()]
    digits = decimals(rows["standard_error"])
    return [
        interval_text(e, low, high, digits)
        for e, low, high in zip(rows["estimate"], rows["lower"], rows["upper"], strict=True)
    ]


def by_variable_words(summary: TrialSummary, telling: Telling) -> pd.DataFrame:
    rows = summary.by_variable
    assert rows is not None
    return pd.DataFrame(
        {
            "action": [action_name(a) for a in rows["action"]],
            "variable": rows["variable"],
            "at": rows["value"],
            **_sized(rows, summary, telling),
            "p": [p_text(p) for p in rows["p_value"]],
            "p, all variables": [p_text(p) for p in rows["family_p"]],
        }
    )


def delayed_words(summary: TrialSummary, telling: Telling) -> pd.DataFrame:
    rows = summary.delayed
    assert rows is not None
    return pd.DataFrame(
        {
            "action": [action_name(a) for a in rows["action"]],
            "decisions later": rows["later"],
            **_sized(rows, summary, telling),
            "p": [p_text(p) for p in rows["p_value"]],
            "decisions": rows["decisions"],
        }
    )


def check_trial(summary: TrialSummary, learned: str) -> list[Problem]:
    """Notes, and whether the probabilities of treatment were learned; `learned`: what was said."""
    found = [Problem("note", "", note) for note in summary.notes]
    if learned == "yes" or (learned == "not said" and summary.learned):
        what = LEARNED if summary.learned else (
            "The probabilities of treatment were learned from the data of several people, as you "
            "say. Ordinary errors are then too small."
        )  # fmt: skip
        named = percent(summary.coverage)
        remedy = (
            f"Do not call the intervals {named}; an error for adaptive trials (Zhang, Janson & "
            "Murphy) is not computed here."
        )
        if learned == "not said":
            remedy = (
                f"Say whether they were: if not, intervals are called {named}. If they "
                "were, an error for adaptive trials (Zhang, Janson & Murphy) is needed, which is "
                "not computed here."
            )
        found.append(Problem("warning", "probability of treatment", what, remedy))
    return found

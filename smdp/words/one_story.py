"""Numbers of several pages that seem to answer one question, and how they relate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.trajectories import Trajectories
from smdp.evaluation.trial_effects import AVERAGE, TrialSummary
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED
from smdp.explanation.policy_explanation import NORMAL_QUANTILE
from smdp.explanation.q_differences import average_difference
from smdp.policy.learned_policy import LearnedPolicy
from smdp.text import capital, interval_text, percent
from smdp.words.explanation import action_name
from smdp.words.policy_value import ALWAYS, decimals


@dataclass(frozen=True)
class Quantity:
    """One number that compares two treatments, in the utility's direction.

    `where`: the page that shows it. `lower`, `upper`: NaN without an interval.
    """

    where: str
    estimate: float
    lower: float
    upper: float
    meaning: str
    interval: str = ""  # what its interval is called

    @property
    def direction(self) -> int:
        """1 or -1 where the interval excludes zero, else 0; by the estimate without an interval."""
        if np.isnan(self.lower):
            return int(np.sign(self.estimate))
        return int(np.sign(self.estimate)) if self.lower * self.upper > 0 else 0


Pair = tuple[str, list[Quantity]]  # 'a message against none', and its numbers


def numbers_on_treatments(
    trial: TrialSummary | None,
    policy: LearnedPolicy | None,
    called: str,
    value: PolicyValue | None,
    trajectories: Trajectories | None,
    interval: str = "",
) -> list[Pair]:
    """Of each treatment against the one that effects are compared with, if there are several.

    `called`: the policy, such as 'linear'. `interval`: what that of the effect is called, if not by
    its coverage.
    """
    if trajectories is None:
        return []
    told = []
    for action, against in _compared(trial, trajectories.action_labels):
        found = [
            *_of_trial(trial, action, interval),
            *_of_policy(policy, called, trajectories, action, against),
            *_of_always(value, trajectories, action),
        ]
        if len(found) > 1:
            told.append((f"{action_name(action)} against {action_name(against)}", found))
    return told


def how_they_relate(told: Sequence[Pair], outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """What each number on the first treatment says, and a line for each other treatment."""
    if not told:
        return []
    (pair, first), *others = told
    lines = [
        f"The pages give {len(first)} numbers for {pair}, which answer different questions"
        f"{_counted_in(outcome)}."
    ]
    lines += [f"{each.where}: {_number(each)}, {each.meaning}." for each in first]
    return [*lines, _together(first), *(_in_a_line(*each) for each in others)]


def how_they_relate_in_short(told: Sequence[Pair], outcome: OutcomeName = UTILITY_NAME) -> str:
    """The same of the first treatment, for a summary."""
    if not told:
        return ""
    line = _in_a_line(*told[0])
    return f"{line} {IN_SHORT}{_counted_in(outcome)}."


IN_SHORT = (
    "Different questions: Effects is of the very next outcome, Q-functions of all that follows, "
    "Policy of doing the same always"
)


def _counted_in(outcome: OutcomeName) -> str:
    return f", here in {outcome.title}, more of which is better" if outcome.column else ""


def _in_a_line(pair: str, found: Sequence[Quantity]) -> str:
    numbers = "; ".join(f"{each.where} {_number(each)}" for each in found)
    return f"For {pair}: {numbers}. {_together(found)}"


def _compared(trial: TrialSummary | None, labels: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each treatment with the one that it is held against."""
    if trial is not None:
        rows = trial.effects[trial.effects["term"] == AVERAGE]
        if len(rows):
            return list(zip(map(str, rows["action"]), map(str, rows["against"]), strict=True))
    return [(action, labels[0]) for action in labels[1:]]


def _of_trial(trial: TrialSummary | None, action: str, interval: str) -> Iterator[Quantity]:
    if trial is None:
        return
    rows = trial.effects if trial.scale == "linear" else trial.differences
    if rows is None:
        return
    row = rows[(rows["term"] == AVERAGE) & (rows["action"] == action)].iloc[0]
    lower, upper = sorted(trial.sign * float(row[c]) for c in ("lower", "upper"))
    yield Quantity(
        "Effects",
        trial.sign * float(row["estimate"]),
        lower,
        upper,
        "what giving it once does to the very next outcome, on average over the decisions of the "
        "study, with whatever came before and comes after as it was",
        interval or f"{percent(trial.coverage)} interval",
    )


def _of_policy(
    policy: LearnedPolicy | None,
    called: str,
    trajectories: Trajectories,
    action: str,
    against: str,
) -> Iterator[Quantity]:
    if policy is None or not {action, against} <= set(policy.action_labels):
        return
    average, error = average_difference(policy, trajectories, action, against)
    yield Quantity(
        "Q-functions",
        average,
        average - NORMAL_QUANTILE * error,
        average + NORMAL_QUANTILE * error,
        "the same and all that follows, if from then on the best is chosen by the "
        f"{called} Q-function, an outcome one decision later counting "
        f"{percent(policy.settings.discount)}; for one person it is the margin on Patient",
        "95 % interval",
    )


def _of_always(
    value: PolicyValue | None, trajectories: Trajectories, action: str
) -> Iterator[Quantity]:
    """Against what was done: both were estimated with the same people."""
    if value is None:
        return
    main = value.table[value.table["method"] == DOUBLY_ROBUST].set_index("policy")
    name = f"{ALWAYS}{action}"
    if name not in main.index or OBSERVED not in main.index:
        return
    taken = trajectories.actions[trajectories.valid & trajectories.available]
    share = float((taken == trajectories.action_labels.index(action)).mean())
    apart = float(main.loc[name, "estimate"] - main.loc[OBSERVED, "estimate"])
    lower = upper = float("nan")
    if value.judged is not None and main.loc[[name, OBSERVED], "trusted"].all():
        apart, lower, upper = value.judged.difference(name, OBSERVED, value.coverage)
    yield Quantity(
        "Policy",
        apart,
        lower,
        upper,
        "what giving it at every decision would earn a decision, beyond what was done (it was "
        f"given at {percent(share)}), in the states that this would lead to",
        f"{percent(value.coverage)} interval",
    )


def _number(each: Quantity) -> str:
    """'+1.2', or '1.2 (95 % interval 0.4 to 2.0)'."""
    if np.isnan(each.lower):
        return f"{each.estimate:+.{decimals([abs(each.estimate)])}f}"
    digits = decimals([(each.upper - each.lower) / 4])
    text = interval_text(each.estimate, each.lower, each.upper, digits)
    return text.replace("(", f"({each.interval} ", 1)


def _together(found: Sequence[Quantity]) -> str:
    signs = {each.where: each.direction for each in found}
    clear = {sign for sign in signs.values() if sign}
    unclear = [where for where, sign in signs.items() if not sign]
    if len(clear) > 1:
        for_it = [where for where, sign in signs.items() if sign > 0]
        against = [where for where, sign in signs.items() if sign < 0]
        return (
            f"They do not point the same way ({' and '.join(for_it)} for it, "
            f"{' and '.join(against)} against it): what helps at once may cost later, and the "
            "other way round; and numbers without an interval may differ by chance."
        )
    if unclear:
        if len(unclear) == len(found):
            return "Every interval includes zero: not even a direction is known."
        one = len(unclear) == 1
        return (
            f"{capital(' and '.join(unclear))}: the {'interval includes' if one else 'intervals'}"
            f"{'' if one else ' include'} zero, so that not even {'its' if one else 'their'} "
            "direction is known."
        )
    return "They point the same way, and need not be equal."

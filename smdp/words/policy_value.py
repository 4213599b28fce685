"""What a policy would earn, in sentences and tables: what this says, and what it does not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from smdp.data.column_roles import Assignment
from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.data.trajectories import Trajectories
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED
from smdp.policy.decision_rule import REASONS
from smdp.text import interval_text, percent
from smdp.words.explanation import action_name

ALWAYS = "always "


def units(outcome: OutcomeName = UTILITY_NAME) -> str:
    """What a value is counted in."""
    return f"mean {outcome.title} a decision, later decisions counting less"


def observational_notice(trajectories: Trajectories, assignment: Assignment | None = None) -> str:
    """For a standing banner where treatment was observed, or its probabilities are estimated."""
    if assignment == "observed":
        return (
            "Treatment was observed, not randomised: whatever else decided who was treated biases "
            "values and effects. Read them as associations."
        )
    choice = trajectories.valid & trajectories.available
    known = np.isfinite(trajectories.probabilities).all(axis=2)
    share = float((choice & ~known).sum() / max(1, choice.sum()))
    if not share:
        return ""
    which = "" if share == 1 else f" of {percent(share)} of the decisions"
    if assignment == "randomised":
        return (
            f"Treatment was randomised, by your account, but the probabilities{which} are not "
            "known and are estimated."
        )
    return (
        f"Read as an observational study: the probabilities of treatment{which} were not given and "
        "are estimated. Whatever else decided who was treated biases values and effects. If "
        "treatment was randomised, give the probabilities."
    )


def decimals(errors: Sequence[float] | pd.Series) -> int:
    """As many as show two figures of the smallest standard error; 2 without one."""
    known = [e for e in errors if np.isfinite(e) and e > 0]
    return min(4, max(0, 1 - math.floor(math.log10(min(known))))) if known else 2


def digits_of(value: PolicyValue) -> int:
    """Of every number of this evaluation."""
    own = value.table[value.table["method"] == DOUBLY_ROBUST]
    return decimals([*own["standard_error"], *value.differences["standard_error"]])


def policy_label(name: str, kind: str = "") -> str:
    """'learned' -> 'linear policy', 'observed' -> 'as in the study', 'always 1' -> ..."""
    if name == OBSERVED:
        return "as in the study"
    if name.startswith(ALWAYS):
        return f"always {action_name(name.removeprefix(ALWAYS))}"
    return f"{kind} policy".strip()


def evaluation_summary(values: Sequence[PolicyValue], kind: str = "value") -> str:
    """For the sidebar, of the first policy: 'value 3.2 (2.9 to 3.5), observed 2.4'.

    `kind`: which one it is, in place of the word 'value', where there are several.
    """
    first = values[0]
    digits = max(0, digits_of(first) - 1)
    rows = _main(first)
    own, observed = rows.iloc[0], rows.loc[OBSERVED]
    text = interval_text(own["estimate"], own["lower"], own["upper"], digits)
    without = "" if own["trusted"] else ", no interval"
    return f"{kind} {text}{without}, observed {observed['estimate']:.{digits}f}"


def gain_sentence(value: PolicyValue, kind: str, outcome: OutcomeName = UTILITY_NAME) -> str:
    """The difference to what was done, with its interval or the reason for none."""
    of = f" {outcome.title}" if outcome.column else ""
    gain = value.gain
    digits = digits_of(value)
    size = f"{abs(gain['estimate']):.{digits}f}"
    way = "more" if gain["estimate"] >= 0 else "less"
    if not gain["trusted"]:
        return (
            f"The {kind} policy is estimated to earn {size} {way}{of} a decision than what was "
            "done, "
            f"but there is no interval that could be trusted. {gain['reason']}"
        )
    low, high = sorted(abs(gain[c]) for c in ("lower", "upper"))
    if gain["lower"] <= 0 <= gain["upper"]:
        both = interval_text(gain["estimate"], gain["lower"], gain["upper"], digits)
        return (
            f"The {kind} policy differs from what was done by {both}{of} a decision. The interval "
            "includes zero: the study does not tell which of the two does better."
        )
    return (
        f"The {kind} policy would earn {size} ({low:.{digits}f} to {high:.{digits}f}) {way}{of} a "
        f"decision than what was done. The interval excludes zero.{_but_for(value)}"
    )


def _but_for(value: PolicyValue) -> str:
    """Where a fixed treatment may do as well: a gain over what was done is not all then."""
    row = _hardest_to_beat(value)
    if row is None or not row["trusted"] or row["lower"] > 0 or value.gain["estimate"] < 0:
        return ""
    fixed = policy_label(str(row["against"]))
    if row["upper"] < 0:
        return f" But '{fixed}' does better."
    return f" Whether it does better than '{fixed}' the study does not tell."


def _hardest_to_beat(value: PolicyValue) -> pd.Series | None:
    """The policy's difference to the best of the fixed treatments."""
    fixed = value.differences[value.differences["against"] != OBSERVED]
    return fixed.loc[fixed["estimate"].idxmin()] if len(fixed) else None


def without_interval(value: PolicyValue, kind: str) -> list[str]:
    """Why a policy has an estimate but no interval."""
    rows = _main(value)
    return [
        f"No interval for '{policy_label(str(name), kind)}': {reason}"
        for name, trusted, reason in zip(rows.index, rows["trusted"], rows["reason"], strict=True)
        if not trusted
    ]


def describe_value(
    value: PolicyValue,
    kind: str,
    abstained: Mapping[int, float] | None = None,
    outcome: OutcomeName = UTILITY_NAME,
) -> list[str]:
    """What it would earn, against what, what the rule does, and what all this does not say."""
    rows, digits = _main(value), digits_of(value)
    own, observed = rows.iloc[0], rows.loc[OBSERVED]
    tenth = percent(value.discount**9)
    sentences = [
        f"Followed at every decision, the {kind} policy would earn {_interval(own, digits)}; as "
        f"people were treated, it was {_interval(observed, digits)}. Both are the "
        f"{units(outcome)}{_way(outcome)}: with a "
        f"discount of {value.discount:g}, a tenth decision counts {tenth} as much as the first. "
        f"Intervals are of {percent(value.coverage)}.",
    ]
    gain = value.gain
    apart = own["lower"] > observed["upper"] or own["upper"] < observed["lower"]
    if gain["trusted"] and not apart and not gain["lower"] <= 0 <= gain["upper"]:
        sentences.append(
            "These two intervals overlap, and yet the difference is clear: both values come from "
            "the same people, so the difference is known better than either."
        )
    row = _hardest_to_beat(value)
    if row is not None:
        against = policy_label(str(row["against"]))
        ending = "" if row["trusted"] else ", without an interval that could be trusted"
        sentences.append(
            f"The best of the fixed treatments is '{against}': the policy's difference to it is "
            f"{_interval(row, digits)}{ending}."
        )
    if abstained:
        sentences.append(_abstains(abstained))
    judged = (
        "It is what policies learned in the same way from other people of the study would earn"
        if value.cross_fitted
        else "It is an estimate for this policy as it was given"
    )
    sentences.append(
        f"What this does not say: nobody in the study followed this policy. {judged}, for people "
        "and states like those in the study; not what one person gains, and not what happens where "
        "few people were in such states. A new trial would tell."
    )
    return sentences


def check_value(value: PolicyValue) -> list[Problem]:
    """Warnings, which name their remedies themselves; without those of `without_interval`."""
    return [Problem("warning", "", text) for text in value.cautions]


def value_words(value: PolicyValue, kind: str) -> pd.DataFrame:
    """All estimates, fit to be read: the one to be trusted first, the diagnostics after it."""
    table = value.table
    digits = digits_of(value)
    return pd.DataFrame(
        {
            "policy": [policy_label(name, kind) for name in table["policy"]],
            "method": [
                method if method == DOUBLY_ROBUST else f"{method} (diagnostic)"
                for method in table["method"]
            ],
            f"value ({percent(value.coverage)} interval)": [
                _interval(row, digits) for _, row in table.iterrows()
            ],
            "effective subjects": table["effective"].round(1),
        }
    )


def difference_words(value: PolicyValue, kind: str) -> pd.DataFrame:
    """The policy against each alternative."""
    table = value.differences
    digits = digits_of(value)
    return pd.DataFrame(
        {
            "policy": [policy_label(name, kind) for name in table["policy"]],
            "against": [policy_label(name) for name in table["against"]],
            f"difference ({percent(value.coverage)} interval)": [
                _interval(row, digits) for _, row in table.iterrows()
            ],
        }
    )


def positivity_words(value: PolicyValue, rare: float) -> pd.DataFrame:
    """How often each action was tried, and where hardly."""
    table = value.positivity
    return pd.DataFrame(
        {
            "action": [action_name(a) for a in table["action"]],
            "taken (%)": (100 * table["taken"]).round(1),
            "least probability": table["smallest"].round(3),
            f"below {rare:g} (%)": (100 * table["below"]).round(1),
            "hardly tried (%)": (100 * table["unsupported"]).round(1),
        }
    )


def share_words(shares: pd.DataFrame) -> pd.DataFrame:
    """Shares over time or by group, one row for each, fit to be read."""
    places = [c for c in ("first", "last", "group") if c in shares]
    actions = list(dict.fromkeys(shares["action"]))
    each = [shares[shares["action"] == action].reset_index(drop=True) for action in actions]
    wide = each[0][[*places, "decisions", "no_choice"]].rename(
        columns={"first": "from", "last": "to", "no_choice": "decisions without a choice"}
    )
    named = {
        f"{action_name(action)} (%)": (100 * own["share"]).round(1)
        for action, own in zip(actions, each, strict=True)
    }
    return wide.assign(**named)


def _way(outcome: OutcomeName) -> str:
    return f" ({outcome.better})" if outcome.better else ""


def _main(value: PolicyValue) -> pd.DataFrame:
    """The estimates to be trusted, by policy, the one in question first."""
    return value.table[value.table["method"] == DOUBLY_ROBUST].set_index("policy")


def _interval(row: pd.Series, digits: int) -> str:
    return interval_text(row["estimate"], row["lower"], row["upper"], digits)


def _abstains(abstained: Mapping[int, float]) -> str:
    why = sorted(abstained.items(), key=lambda item: -item[1])
    parts = "; ".join(f"{REASONS[reason]} ({percent(share)})" for reason, share in why)
    return (
        f"At {percent(sum(abstained.values()))} of the decisions with a choice there is no "
        f"recommendation: {parts}. The value counts, at these too, the treatment that looks best."
    )

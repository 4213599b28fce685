"""Whom to treat, when, and how sure that is: what a summary begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.steps.policies import learned_from, policy_names, rule_of_a_policy
from smdp.steps.step import StepState
from smdp.text import capital, listing, percent

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis
    from smdp.evaluation.value import PolicyValue


def whom_and_when(analysis: Analysis) -> list[str]:
    """By the rule card where there is one, and what the policy recommends at the decisions."""
    from smdp.explanation.recommendations import recommendations
    from smdp.policy.decision_rule import NO_ACTION, Reason
    from smdp.words.explanation import action_name
    from smdp.words.rule_card import NO_QUESTION, verdict_on_card

    found = []
    rule, of = rule_of_a_policy(analysis)
    if rule is not None:
        verdict = verdict_on_card(rule, _values(analysis).get(of))
        found.append(f"By the rule card: {rule.card.in_words()}; {verdict}.")
        if not rule.card.questions:
            found.append(NO_QUESTION)
    prepared = learned_from(analysis)
    if prepared is None or not analysis.policies:
        return found
    names = policy_names(analysis.policies)
    place = names.index(of) if of else 0
    policy = analysis.policies[place]
    every = recommendations(prepared.trajectories, policy)
    choice = every[every["reason"] != Reason.UNAVAILABLE]
    if choice.empty:
        return found
    shares = [
        f"{action_name(label)} at {percent(float((choice['recommended'] == k).mean()))}"
        for k, label in enumerate(policy.action_labels)
    ]
    without = float((choice["recommended"] == NO_ACTION).mean())
    found.append(
        f"At the {len(choice):,} decisions of the study that had a choice, the {names[place]} "
        f"policy recommends {listing(shares, 7)}; at {percent(without)} it gives no "
        "recommendation, for there the study does not tell which is better."
    )
    return found


def how_sure(analysis: Analysis) -> list[str]:
    """What card and policies would earn beyond what was done, and which of them to take."""
    from smdp.evaluation.candidates import comparison_of
    from smdp.words.policy_comparison import recommendation
    from smdp.words.policy_value import gain_sentence
    from smdp.words.rule_card import beside_the_values, worth_of_card

    outcome, values = analysis.outcome_name, _values(analysis)
    found = []
    rule, of = rule_of_a_policy(analysis)
    if rule is not None:
        worth = worth_of_card(rule, outcome)
        found.append(f"The card: {worth[:1].lower()}{worth[1:]}")
        if of in values:
            found += filter(None, [beside_the_values(rule, values[of])])
    if values and analysis.states().get("evaluation") == StepState.DONE:
        least = analysis.records["evaluation"].asked.settings.least_effective
        compared = comparison_of(analysis.policies, values, least, rule=rule, rule_of=of)
        if compared is not None:
            level = f"Intervals are of {percent(compared.coverage)}."
            found.append(f"{recommendation(compared, outcome)} {level}")
    return found + [gain_sentence(value, name, outcome) for name, value in values.items()]


def _values(analysis: Analysis) -> dict[str, PolicyValue]:
    """By the names of the policies; none where these are others by now."""
    names = policy_names(analysis.policies)
    same = len(names) == len(analysis.values)
    return dict(zip(names, analysis.values, strict=True)) if same else {}


def beside_each_other(analysis: Analysis) -> str:
    """How the numbers of several pages on a treatment relate; "" where there is one only."""
    from smdp.steps.evaluation import numbers_of_steps
    from smdp.words.one_story import how_they_relate_in_short

    return capital(how_they_relate_in_short(numbers_of_steps(analysis), analysis.outcome_name))

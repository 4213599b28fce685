"""Tabs of the Policy page that compare candidates, look at risk, and let treatments cost."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import section_now
from dashboard.policy_choice import learned_policies
from dashboard.policy_widgets import NOT_YET, of_these_policies
from dashboard.running import job_box, run_or_start
from dashboard.session import State, done, memo, result, state, the_analysis
from dashboard.show import figure, literal, says, table
from smdp.data.column_roles import NextValue
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.evaluation.candidates import comparison_of
from smdp.evaluation.judged_decisions import JudgedDecisions
from smdp.evaluation.outcome_risk import groups_to_look_at, outcome_risk, subgroup_gains
from smdp.evaluation.rule_value import CARD
from smdp.evaluation.trade_off import can_count
from smdp.evaluation.value import PolicyValue
from smdp.figures.policy_comparison import (
    comparison_figure,
    distribution_figure,
    subgroup_figure,
)
from smdp.figures.trade_off import trade_off_figure
from smdp.policy.learned_policy import LearnedPolicy
from smdp.steps import EVALUATION, FOLDS, POLICY, RULE, TRADE_OFF
from smdp.steps.policies import rule_of_a_policy
from smdp.steps.step_plans import EvaluationPlan
from smdp.words.policy import treatment_pairs
from smdp.words.policy_comparison import (
    WEIGHTED,
    candidate_label,
    comparison_words,
    describe_risk,
    describe_subgroups,
    how_compared,
    order_of_simplicity,
    recommendation,
    risk_words,
    subgroup_words,
)
from smdp.words.trade_off import describe_cost, describe_trade_off, trade_off_words

NOT_COMPARABLE = (
    "The rule card is not among them: it was judged with other settings than the policies. Make it "
    "again to compare it."
)
OLD = "This evaluation was saved without what is needed here: estimate again."


def _least() -> float:
    record = done(EVALUATION)
    assert record is not None
    return float(record.asked.settings.least_effective)


def compared(values: Mapping[str, PolicyValue]) -> None:
    """Every candidate against every other, and which one to take."""
    if not values:
        st.markdown(NOT_YET)
        return
    rule, of = rule_of_a_policy(the_analysis())
    found = comparison_of(learned_policies(), values, _least(), rule=rule, rule_of=of)
    if found is None:
        st.markdown(OLD)
        return
    st.markdown(f"**{literal(recommendation(found, the_analysis().outcome_name))}**")
    figure(comparison_figure(found), "candidates")
    st.caption(f"{how_compared(found)} {order_of_simplicity()}")
    if rule is None:
        st.caption("A rule card, and rules of your own, stand here too once they are made.")
    elif CARD not in set(found.values["candidate"]):
        st.caption(NOT_COMPARABLE)
    with st.expander("Table"):
        table(comparison_words(found), "candidates", found.differences)


def risk(
    value: PolicyValue | None, name: str, policy: LearnedPolicy, trajectories: Trajectories
) -> None:
    """Outcomes of single decisions, and whether a group loses."""
    if value is None or value.judged is None:
        st.markdown(NOT_YET if value is None else OLD)
        return
    judged, of_whom = _judged(value.judged, name)
    least, outcome = _least(), the_analysis().outcome_name
    made = [record and record.output for record in (done(EVALUATION), done(RULE))]
    found = memo(
        "policy.risk",
        (made, of_whom),
        lambda: outcome_risk(
            judged, coverage=value.coverage, least_effective=least, seed=value.seed
        ),
    )
    st.markdown("\n".join(f"- {literal(text)}" for text in describe_risk(found, of_whom, outcome)))
    figure(distribution_figure(found, of_whom, outcome), "outcomes")
    st.caption(WEIGHTED)
    table(risk_words(found, list(judged.estimates), outcome), "outcomes", found.figures)
    st.markdown("**Who gains, and does anybody lose?**")
    used = list(policy.feature_map.variables_used)
    others = [each for each in trajectories.variables if each not in used]
    chosen = controls.several(
        "Variables",
        "policy.risk.variables",
        [*used, *others],
        "People are divided by their value at their first decision. The more groups are looked at, "
        "the more differ by chance; that is reckoned with.",
        groups_to_look_at(trajectories, used),
    )
    if not chosen:
        return
    gains = subgroup_gains(
        judged, trajectories, chosen, coverage=value.coverage, least_effective=least
    )
    st.markdown("\n".join(f"- {literal(text)}" for text in describe_subgroups(gains)))
    figure(subgroup_figure(gains, outcome), "subgroup-gains")
    table(subgroup_words(gains), "subgroup-gains", gains.groups)


def _judged(judged: JudgedDecisions, name: str) -> tuple[JudgedDecisions, str]:
    """Of the policy, or of the card or a rule that was judged beside it, as it is chosen."""
    rule, of = rule_of_a_policy(the_analysis())
    if rule is None or rule.judged is None or of != name:
        return judged, name
    _, *fixed = judged.estimates
    chosen = controls.select(
        "Outcomes under",
        "policy.risk.of",
        [name, CARD, *rule.own["name"]],
        name,
        "The policy, the rule card that was made of it, or a rule of your own.",
        candidate_label,
    )
    return (judged, name) if chosen == name else (rule.judged.only(chosen, *fixed), chosen)


def cost_of_treating(trajectories: Trajectories, evaluation: EvaluationPlan) -> None:
    """The curve, and what it says at the cost of the slider."""
    st.caption(
        "Treatments take time, money and attention. As one costs more, a policy learned for the "
        "outcome minus the cost gives fewer: what would that lose? Other outcomes may count too."
    )
    form = Form(TRADE_OFF.name, section_now(TRADE_OFF))
    weights = _weights(trajectories)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        form.draw("points")
    nothing = treatment_pairs(trajectories.action_labels)[0][1]
    first = trajectories.action_labels[0]
    form.set(
        evaluation=evaluation.settings,
        seed=evaluation.seed,
        reference="" if nothing == first else nothing,
        weights=weights,
    )
    sections = {TRADE_OFF.sections[0].name: form.value()}
    folds = (FOLDS,) if evaluation.whole else ()
    running = any(state(step) == State.RUNNING for step in (*folds, TRADE_OFF))
    with right:
        start = st.button(
            "Follow the cost of treating",
            icon=":material/price_change:",
            disabled=running or state(POLICY) != State.DONE,
            help="A linear policy is learned and judged at each cost. Runs in the background; you "
            "may leave the page.",
        )
    if start:
        run_or_start(*folds, TRADE_OFF, evaluation=evaluation, **sections)
    job_box(TRADE_OFF)
    found = result(TRADE_OFF)
    if found is None or not of_these_policies(TRADE_OFF):
        return
    changed_notice(TRADE_OFF, **sections)
    outcome = the_analysis().outcome_name
    costs = [float(cost) for cost in found.curve["cost"]]
    cost = st.select_slider(
        "Cost of one treatment",
        costs,
        costs[0],
        format_func=lambda c: f"{c:.4g}",
        key="policy.cost",
        help=f"In the unit of the outcome: {outcome.title}.",
    )
    st.markdown(f"**{literal(describe_cost(found, cost, outcome))}**")
    figure(trade_off_figure(found, cost, outcome), "cost-of-treating")
    says(describe_trade_off(found, outcome), "What the curve says")
    with st.expander("Table"):
        table(trade_off_words(found, outcome), "cost-of-treating", found.curve)


def _weights(trajectories: Trajectories) -> dict[str, float]:
    """A slider for each other outcome that is to count."""
    roles, planned = the_analysis().plan.roles, section_now(TRADE_OFF).settings.weights
    own = roles.utility.variable if isinstance(roles.utility, NextValue) else ""
    about = {each.name: each for each in trajectories.about if can_count(each)}
    about.pop(own, None)
    outcome = the_analysis().outcome_name
    chosen = controls.several(
        "Other outcomes that count",
        "policy.counts",
        list(about),
        "The next value of a variable of the state, beside the outcome that the policy was learned "
        "for: fewer cigarettes, say, and better sleep.",
        [name for name in planned if name in about],
    )
    found = {}
    for name in chosen:
        most, step = _most_weight(trajectories, about[name])
        found[name] = controls.slider(
            f"One more of next {literal(name)} is worth so much of {literal(outcome.the_title)}",
            f"policy.counts.{name}",
            float(planned.get(name, 0.0)),
            -most,
            most,
            step,
            "Below 0 where less of it is better. At 0 it does not count.",
        )
    return found


def _most_weight(trajectories: Trajectories, variable: Variable) -> tuple[float, float]:
    """At which one deviation of it counts as much as two of the outcome; and a round step."""
    values = trajectories.select([variable.name]).states[:, 1:, 0][trajectories.valid]
    deviation = float(np.nanstd(variable.own(values)))
    ratio = 2 * float(np.nanstd(trajectories.utilities[trajectories.valid])) / (deviation or 1.0)
    step = 10.0 ** math.floor(math.log10(ratio / 10)) if ratio > 0 else 0.1
    return step * math.ceil(ratio / step), step

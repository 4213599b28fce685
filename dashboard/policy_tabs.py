"""Tabs of the Policy page that compare candidates, look at risk, and let treatments cost."""

from __future__ import annotations

from collections.abc import Mapping

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
from smdp.data.trajectories import Trajectories
from smdp.evaluation.candidates import comparison_of
from smdp.evaluation.outcome_risk import outcome_risk, subgroup_gains
from smdp.evaluation.value import PolicyValue
from smdp.figures.policy_comparison import (
    comparison_figure,
    distribution_figure,
    subgroup_figure,
)
from smdp.figures.trade_off import trade_off_figure
from smdp.policy.learned_policy import LearnedPolicy
from smdp.steps import EVALUATION, POLICY, TRADE_OFF
from smdp.steps.step_plans import EvaluationPlan
from smdp.words.policy import treatment_pairs
from smdp.words.policy_comparison import (
    HOW_COMPARED,
    WEIGHTED,
    comparison_words,
    describe_risk,
    describe_subgroups,
    order_of_simplicity,
    recommendation,
    risk_words,
    subgroup_words,
)
from smdp.words.trade_off import describe_cost, describe_trade_off, trade_off_words

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
    found = comparison_of(learned_policies(), values, _least())
    if found is None:
        st.markdown(OLD)
        return
    st.markdown(f"**{literal(recommendation(found, the_analysis().outcome_name))}**")
    figure(comparison_figure(found), "candidates")
    st.caption(f"{HOW_COMPARED} {order_of_simplicity()}")
    with st.expander("Table"):
        table(comparison_words(found), "candidates", found.differences)


def risk(
    value: PolicyValue | None, name: str, policy: LearnedPolicy, trajectories: Trajectories
) -> None:
    """Outcomes of single decisions, and whether a group loses."""
    if value is None or value.judged is None:
        st.markdown(NOT_YET if value is None else OLD)
        return
    judged, least, outcome = value.judged, _least(), the_analysis().outcome_name
    record = done(EVALUATION)
    key = (record and record.output, name)
    found = memo(
        "policy.risk",
        key,
        lambda: outcome_risk(
            judged, coverage=value.coverage, least_effective=least, seed=value.seed
        ),
    )
    st.markdown("\n".join(f"- {literal(text)}" for text in describe_risk(found, name, outcome)))
    figure(distribution_figure(found, name, outcome), "outcomes")
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
        used,
    )
    if not chosen:
        return
    gains = subgroup_gains(
        judged, trajectories, chosen, coverage=value.coverage, least_effective=least
    )
    st.markdown("\n".join(f"- {literal(text)}" for text in describe_subgroups(gains)))
    figure(subgroup_figure(gains, outcome), "subgroup-gains")
    table(subgroup_words(gains), "subgroup-gains", gains.groups)


def cost_of_treating(trajectories: Trajectories, evaluation: EvaluationPlan) -> None:
    """The curve, and what it says at the cost of the slider."""
    st.caption(
        "Treatments take time, money and attention. As one costs more, a policy learned for the "
        "outcome minus the cost gives fewer: what would that lose?"
    )
    form = Form(TRADE_OFF.name, section_now(TRADE_OFF))
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        form.draw("points")
    nothing = treatment_pairs(trajectories.action_labels)[0][1]
    first = trajectories.action_labels[0]
    reference = "" if nothing == first else nothing
    form.set(evaluation=evaluation.settings, seed=evaluation.seed, reference=reference)
    sections = {TRADE_OFF.sections[0].name: form.value()}
    with right:
        start = st.button(
            "Follow the cost of treating",
            icon=":material/price_change:",
            disabled=state(TRADE_OFF) == State.RUNNING or state(POLICY) != State.DONE,
            help="A linear policy is learned and judged at each cost. Runs in the background; you "
            "may leave the page.",
        )
    if start:
        run_or_start(TRADE_OFF, **sections)
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
        table(trade_off_words(found), "cost-of-treating", found.curve)

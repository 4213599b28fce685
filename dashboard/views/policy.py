"""8 Policy: whom the policy would treat, and what that would earn."""

from __future__ import annotations

import streamlit as st

from dashboard import policy_tabs
from dashboard import policy_widgets as widgets
from dashboard.form import Form
from dashboard.gate import changed_notice, same_settings
from dashboard.page import COLUMNS, run_button, step_heading
from dashboard.policy_choice import (
    assignment,
    policy_control,
    short_name,
    show_notice,
)
from dashboard.rule_widgets import rule_tab
from dashboard.running import is_running, job_box
from dashboard.session import State, result, state, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    literal,
    my_note,
    next_step,
    says,
)
from smdp.data.describe import utility_meaning
from smdp.explanation.recommendations import abstentions
from smdp.feature_map.kinds import map_kind
from smdp.figures.policy import value_figure
from smdp.steps import EVALUATION, FOLDS, RESCALING
from smdp.steps.step_plans import EvaluationPlan
from smdp.words.policy_value import (
    check_value,
    describe_value,
    judged_words,
    observational_notice,
)

step_heading(EVALUATION)
prepared = result(RESCALING)
trajectories = prepared.trajectories
show_notice(observational_notice(trajectories, assignment()))
outcome = the_analysis().outcome_name


def planned() -> EvaluationPlan:
    """What the plan says of the estimate, or else of the placebo check, which is made like it."""
    plan = the_analysis().plan
    if plan.evaluation is None and plan.placebo is not None:
        return EvaluationPlan(plan.placebo.settings, plan.placebo.seed)
    return plan.evaluation or EvaluationPlan()


settings_column, main = st.columns(COLUMNS, gap="large")
sections: dict[str, EvaluationPlan] = {}
with settings_column, errors_as_messages():
    policy = policy_control()
    assert policy is not None  # the step before is done
    name = short_name(policy)
    form = Form(EVALUATION.name, planned())
    form.draw("judged", "folds")
    whole = form["judged"] == "whole analysis"
    if not whole and map_kind(policy.feature_map.kind).refit is not None:  # others stay as they are
        form.draw("refit_map")
    form.more(skip=("refit_map",))
    sections = {"evaluation": form.value()}
    partly = the_analysis().fold_analyses
    if whole and partly is not None and not partly.complete and same_settings(FOLDS, **sections):
        st.caption(f"{len(partly.analyses)} of {partly.folds} folds are done and will be used.")
    run_button(
        EVALUATION,
        "Estimate what it would earn",
        sections,
        first=(FOLDS,) if whole else (),
        help="Every learned policy is judged. Runs in the background; you may leave the page.",
    )
if not sections:
    st.stop()
asked = sections["evaluation"]
every = widgets.recommended(trajectories, policy)

values = widgets.values_of_policies()
value = values.get(name)
with main:
    with st.container():  # a place of its own, so that the tabs below stay as they are
        job_box(FOLDS)
        job_box(EVALUATION)
        if value is not None:
            changed_notice(EVALUATION, **sections)
            figure(value_figure(values, name, outcome), "policy-value")
            st.caption(
                literal(f"{utility_meaning(the_analysis().plan.roles)} {judged_words(value)}")
            )
            widgets.gain_box(value, name)
        else:
            with st.container(border=True, height=320):
                if state(EVALUATION) == State.OUT_OF_DATE:
                    st.markdown(
                        "The policies have been learned anew since the last estimate. Press the "
                        "button to estimate again."
                    )
                elif is_running(EVALUATION) or is_running(FOLDS):
                    st.markdown("The values appear here when all policies are judged.")
                else:
                    st.markdown(
                        "What would people earn if the policy were followed, against how they were "
                        "treated in the study, and against always giving the same treatment? It "
                        "is estimated from the same study: people are judged by policies that "
                        "were learned from others. The values, with their intervals, appear here."
                    )
    tabs = st.tabs(
        [
            "Over time",
            "By subgroup",
            "Rule card",
            "Compared",
            "Risk",
            "Cost of treating",
            "Positivity",
            "Other estimators",
            "Placebo",
        ],
        key="policy.tabs",
    )
    with tabs[0]:
        widgets.over_time(every, policy.action_labels)
    with tabs[1]:
        widgets.by_subgroup(every, trajectories, policy)
    with tabs[2], errors_as_messages():
        rule_tab(policy, asked)
    with tabs[3]:
        policy_tabs.compared(values)
    with tabs[4]:
        policy_tabs.risk(value, name, policy, trajectories)
    with tabs[5]:
        policy_tabs.cost_of_treating(trajectories, asked)
    with tabs[6]:
        widgets.positivity(value, asked.settings.rare)
    with tabs[7]:
        widgets.other_estimators(value, name)
    with tabs[8]:
        widgets.placebo(policy, asked)
    if value is not None:
        says(describe_value(value, name, abstentions(every), outcome))
        widgets.beside_other_pages(policy)
        check(check_value(value))
        widgets.how(value)
        my_note(EVALUATION)
        next_step("Next: patient", "views/patient.py")

"""8 Policy: whom the policy would treat, and what that would earn."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import inputs
from dashboard import policy_widgets as widgets
from dashboard.gate import changed_notice, needs
from dashboard.policy_choice import learned_policies, policy_control
from dashboard.running import is_running, job_box, run_or_start
from dashboard.session import State, Step, result, state
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    heading,
    literal,
    my_note,
    next_step,
    says,
)
from smdp.data.describe import percent, utility_meaning
from smdp.figures.policy import value_figure
from smdp.policy.evaluation_settings import EvaluationSettings
from smdp.policy.recommendations import abstentions
from smdp.words.policy_value import (
    check_value,
    describe_value,
    evaluation_summary,
    observational_notice,
)

heading("Policy", "Whom would the policy treat, and what would that earn?")
if not needs(Step.EVALUATION):
    st.stop()
prepared = result(Step.RESCALING)
trajectories = prepared.trajectories
policies = learned_policies()
notice = observational_notice(trajectories)
if notice:
    st.warning(literal(notice), icon=":material/visibility:")

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    policy = policy_control()
    assert policy is not None  # the step before is done
    folds = inputs.whole_number(
        "Folds of subjects",
        "policy.folds",
        5,
        2,
        20,
        "Nobody is judged by what was learned from the same person: the policy is learned anew "
        "without each fold, and judged on it.",
    )
    refit_map = True
    if policy.feature_map.kind == "adnn":  # other maps stay as they are
        refit_map = inputs.checkbox(
            "Refit the map too",
            "policy.refit",
            True,
            "In each fold the feature map is fitted anew as well. Stricter, because the map has "
            "not seen the people judged either; takes longer. The variables and the dimension stay "
            "as they are. Not ticked: only the Q-function is learned anew.",
        )
    with st.expander("More"):
        bootstraps = inputs.whole_number(
            "Resamples of subjects (B)",
            "policy.bootstraps",
            200,
            20,
            5000,
            "How many times people are drawn anew, with replacement, for the intervals.",
        )
        coverage = inputs.select(
            "Confidence level of the intervals",
            "policy.coverage",
            (0.80, 0.90, 0.95, 0.99),
            0.95,
            "Of intervals made this way, so many would cover the true value.",
            percent,
        )
        seed = inputs.seed("policy.seed")

every = widgets.recommended(trajectories, policy)
with errors_as_messages():
    settings = EvaluationSettings(
        folds=folds, refit_map=refit_map, bootstraps=bootstraps, coverage=coverage
    )
    with settings_column:
        go = st.button(
            "Estimate what it would earn",
            type="primary",
            width="stretch",
            disabled=state(Step.EVALUATION) == State.RUNNING,
            help="Every learned policy is judged. Runs in the background; you may leave the page.",
        )
        seconds = 15 if refit_map else 10
        st.caption(f"About {seconds} seconds for a study of 30 people; longer with more decisions.")
    first = policies[0].kind if len(policies) > 1 else "value"
    if go:
        run_or_start(
            Step.EVALUATION,
            "evaluation",
            (trajectories, policies),
            settings,
            seed,
            partial(evaluation_summary, kind=first),
        )

values = {}
if finished := widgets.fresh(Step.EVALUATION):
    values = dict(zip([each.kind for each in policies], finished.result, strict=True))
value = values.get(policy.kind)
with main:
    with st.container():  # a place of its own, so that the tabs below stay as they are
        job_box(Step.EVALUATION)
        if value is not None:
            changed_notice(Step.EVALUATION, settings)
            figure(value_figure(values, policy.kind), "policy-value")
            st.caption(literal(utility_meaning(prepared.completed.arranged.roles)))
            widgets.gain_box(value, policy.kind)
        else:
            with st.container(border=True, height=320):
                if state(Step.EVALUATION) == State.OUT_OF_DATE:
                    st.markdown(
                        "The policies have been learned anew since the last estimate. Press the "
                        "button to estimate again."
                    )
                elif is_running(Step.EVALUATION):
                    st.markdown("The values appear here when all policies are judged.")
                else:
                    st.markdown(
                        "What would people earn if the policy were followed, against how they were "
                        "treated in the study, and against always giving the same treatment? It "
                        "is estimated from the same study: people are judged by policies that "
                        "were learned from others. The values, with their intervals, appear here."
                    )
    tabs = st.tabs(
        ["Over time", "By subgroup", "Positivity", "Other estimators", "Placebo", "Trial summary"],
        key="policy.tabs",
    )
    with tabs[0]:
        widgets.over_time(every, policy.action_labels)
    with tabs[1]:
        widgets.by_subgroup(every, trajectories, policy)
    with tabs[2]:
        widgets.positivity(value, settings.rare)
    with tabs[3]:
        widgets.other_estimators(value, policy.kind)
    with tabs[4]:
        widgets.placebo(trajectories, policy, settings, seed)
    with tabs[5]:
        widgets.trial(trajectories, coverage)
    if value is not None:
        says(describe_value(value, policy.kind, abstentions(every)))
        check(check_value(value))
        widgets.how(value)
        my_note(Step.EVALUATION)
        next_step("Next: patient", "patient")

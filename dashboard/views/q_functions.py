"""7 Q-functions: what each treatment is worth, in which state."""

from __future__ import annotations

from functools import partial
from typing import Literal

import streamlit as st

from dashboard import inputs
from dashboard.gate import changed_notice, needs
from dashboard.page_words import UPDATES
from dashboard.policy_choice import (
    learned_from,
    learned_policies,
    observational_banner,
    policy_control,
    will_learn_from,
)
from dashboard.policy_export import take_along
from dashboard.q_function_tabs import Shown, tabs
from dashboard.running import job_box, run_or_start
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
from smdp.figures.q_functions import feature_effects_figure, parameters_figure
from smdp.policy.explanation import explain_policy
from smdp.policy.own_units import explanation_in_own_units
from smdp.policy.settings import PolicySettings
from smdp.words.explanation import action_name, describe_explanation
from smdp.words.policy import (
    DIFFERENCES,
    PARAMETERS,
    check_policies,
    discount_words,
    policy_summary,
    treatment_pairs,
)

heading("Q-functions", "What is each treatment worth, in which state?")
if not needs(Step.POLICY):
    st.stop()
fitted = result(Step.FEATURES)
observational_banner(result(Step.RESCALING).trajectories)

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    discount = inputs.slider(
        "Discount (gamma)",
        "q.discount",
        0.9,
        0.0,
        0.99,
        0.01,
        "How much the future counts. A treatment is worth the next outcome, plus gamma times the "
        "one after it, plus gamma squared times the next, and so on. 0: only the next outcome. "
        "Near 1: what comes much later counts nearly as much, and is harder to learn.",
    )
    st.caption(discount_words(discount))
    linear = inputs.checkbox(
        "Linear model",
        "q.linear",
        True,
        "One parameter for each treatment and feature: can be read. Takes a second.",
    )
    neural = inputs.checkbox(
        "Neural model",
        "q.neural",
        True,
        "A network on the features: can bend and combine them. Takes up to a minute.",
    )
    with st.expander("More"):
        update = inputs.radio(
            "Update of the linear model",
            "q.update",
            list(UPDATES),
            next(iter(UPDATES)),
            "All at once: least-squares policy iteration, exact and quick. One at a time: the "
            "paper's stochastic update; slower, and it may not come to rest.",
        )
        bootstraps = inputs.whole_number(
            "Refits on resampled people, 0 for the default",
            "q.bootstraps",
            0,
            0,
            500,
            "People are drawn anew, with replacement, and the Q-functions are learned again: their "
            "spread is the error of parameters and margins. The default is 50, or 20 of a network.",
        )
        level = inputs.level(
            "Level for abstaining",
            "q.level",
            0.05,
            "No recommendation where the better treatment could, with this probability, be the "
            "worse one. At 0.5 every difference will do.",
        )
        seed = inputs.seed("q.seed")
    if not (linear or neural):
        st.caption("Tick at least one model.")

with errors_as_messages():
    models: list[Literal["linear", "neural"]] = ["linear"] if linear else []
    models += ["neural"] if neural else []
    settings = tuple(
        PolicySettings(
            model=model,
            discount=discount,
            update=UPDATES[update] if model == "linear" else "batch",
            bootstraps=bootstraps or None,
            abstain_level=level,
        )
        for model in models
    )
    with settings_column:
        go = st.button(
            "Learn the Q-functions",
            type="primary",
            width="stretch",
            icon=":material/school:",
            disabled=state(Step.POLICY) == State.RUNNING or not models,
            help="Runs in the background; you may leave the page. The linear model takes a second, "
            "the neural one up to a minute for most studies.",
        )
    if go:
        prepared = result(Step.RESCALING)
        will_learn_from(prepared)
        data = (prepared.trajectories.select(fitted.variables), fitted)
        run_or_start(Step.POLICY, "policies", data, settings, seed, policy_summary)

with settings_column:
    policy = policy_control()
with main:
    job_box(Step.POLICY)
    if policy is None:
        with st.container(border=True, height=440):
            labels = [action_name(a) for a in result(Step.RESCALING).trajectories.action_labels]
            st.markdown(
                f"For each treatment ({literal(', '.join(labels))}) a function of the "
                f"{fitted.dimension} feature{'' if fitted.dimension == 1 else 's'} will be "
                "learned: the utility that can be expected from giving it now and choosing well "
                "from then on. Its parameters appear here, beside what the features are made of."
            )
        st.stop()
    changed_notice(Step.POLICY, settings)
    prepared = learned_from()
    if prepared is None:
        st.info(
            "The data that these policies were learned from are gone. Learn them again to see "
            "what they say.",
            icon=":material/history:",
        )
        st.stop()
    pairs = treatment_pairs(policy.action_labels)
    pair = pairs[0]
    if len(pairs) > 1:
        pair = inputs.select(
            "Treatments compared",
            "q.pair",
            pairs,
            pair,
            "Differences on this page are between these two.",
            lambda p: f"{action_name(p[0])} rather than {action_name(p[1])}",
        )
    shown = Shown(policy, prepared, *pair)
    with errors_as_messages():
        explanation = shown.memo(
            "explanation",
            work=partial(
                explain_policy, policy, prepared.trajectories, action=pair[0], reference=pair[1]
            ),
        )
        view = "Each treatment"
        if policy.kind == "linear":
            view = (
                st.segmented_control(
                    "Parameters",
                    ["Each treatment", "Their difference"],
                    default=view,
                    required=True,
                    key="q.view",
                    label_visibility="collapsed",
                )
                or view
            )
        if policy.kind == "linear" and view == "Each treatment":
            st.caption(PARAMETERS)
            figure(parameters_figure(policy), "q-parameters")
        else:
            st.caption(DIFFERENCES)
            figure(feature_effects_figure(policy, explanation), "q-effects")
        if prepared.rescaled is not None:
            ranges = prepared.rescaled.before_range
            explanation = explanation_in_own_units(explanation, ranges)
        tabs(shown, explanation)
        says(describe_explanation(explanation))
        check(check_policies(learned_policies()))
        take_along(policy, prepared)
        my_note(Step.POLICY)
        if state(Step.POLICY) == State.DONE:
            next_step("Next: policy", "policy")

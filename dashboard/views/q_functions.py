"""7 Q-functions: what each treatment is worth, in which state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Literal, TypeVar

import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, next_page, run_button, step_heading
from dashboard.policy_choice import (
    learned_policies,
    observational_banner,
    policy_control,
)
from dashboard.policy_export import card_of, take_along
from dashboard.policy_widgets import beside_other_pages
from dashboard.q_function_tabs import Shown, tabs
from dashboard.running import job_box
from dashboard.session import result, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    literal,
    my_note,
    says,
)
from dashboard.work import learned_from
from smdp.explanation.policy_explanation import explain_policy
from smdp.figures.q_functions import feature_effects_figure, parameters_figure
from smdp.policy.policy_settings import PolicySettings
from smdp.steps import FEATURES, POLICY, RESCALING
from smdp.steps.step_plans import PolicyPlan
from smdp.words.explanation import action_name, describe_explanation
from smdp.words.policy import (
    DIFFERENCES,
    PARAMETERS,
    check_policies,
    discount_words,
    treatment_pairs,
)

Model = Literal["linear", "pessimistic", "neural"]
#: In the order in which their policies stand beside each other.
MODELS: tuple[Model, ...] = ("linear", "pessimistic", "neural")
S = TypeVar("S")


def chosen(form: Form[PolicyPlan], models: Sequence[Model]) -> tuple[PolicyPlan, ...]:
    """The plans of these models. The controls are of all, and show the first one's settings.

    What has no control, or was left as it is, stays each plan's own.
    """
    plans = [plan for plan in planned if plan.settings.model in models]
    have = {plan.settings.model for plan in plans}
    for model in models:
        if model not in have:
            alike = replace(first.settings, model=model, update=PolicySettings.update)
            if model == "pessimistic":
                nothing = treatment_pairs(result(RESCALING).trajectories.action_labels)[0][1]
                alike = replace(alike, reference=nothing)
            plans.append(replace(first, settings=alike))
            plans.sort(key=lambda plan: MODELS.index(plan.settings.model))
    asked = form.value()
    return tuple(_as_asked(plan, asked) for plan in plans)


def _as_asked(own: PolicyPlan, asked: PolicyPlan) -> PolicyPlan:
    wanted = asked.settings
    if own.settings.model != "linear":  # a network knows one update only
        wanted = replace(wanted, update=first.settings.update)
    settings = _changed(own.settings, first.settings, wanted)
    return replace(_changed(own, first, asked), settings=settings)


def _changed(own: S, start: S, asked: S) -> S:
    """One's own settings, with those that were asked for otherwise than the controls started."""
    values = {each.name: getattr(asked, each.name) for each in fields(asked)}  # type: ignore[arg-type]
    return replace(  # type: ignore[type-var]
        own, **{name: value for name, value in values.items() if value != getattr(start, name)}
    )


step_heading(POLICY)
fitted = result(FEATURES)
observational_banner(result(RESCALING).trajectories)
planned: tuple[PolicyPlan, ...] = the_analysis().plan.policies
were = {plan.settings.model for plan in planned}
first = planned[0] if planned else PolicyPlan()
first = replace(first, settings=replace(first.settings, model="linear"))  # which has all controls

settings_column, main = st.columns(COLUMNS, gap="large")
sections: dict[str, tuple[PolicyPlan, ...]] = {}
with settings_column, errors_as_messages():
    form = Form(POLICY.name, first)
    form.draw("discount")
    st.caption(discount_words(form["discount"]))
    linear = controls.checkbox(
        "Linear model",
        "policy.linear",
        "linear" in were or not planned,
        "One parameter for each treatment and feature: can be read. Takes a second.",
    )
    neural = controls.checkbox(
        "Neural model",
        "policy.neural",
        "neural" in were or not planned,
        "A network on the features: can bend and combine them. Takes longer.",
    )
    pessimistic = controls.checkbox(
        "Pessimistic model",
        "policy.pessimistic",
        "pessimistic" in were,
        "The linear model, but treatment is left as usual wherever another one is not clearly "
        "better. For small studies. Takes a second.",
    )
    form.more()
    ticked = {"linear": linear, "pessimistic": pessimistic, "neural": neural}
    models = [model for model in MODELS if ticked[model]]
    if not models:
        st.caption("Tick at least one model.")
    sections = {"policies": chosen(form, models)}
    run_button(
        POLICY,
        "Learn the Q-functions",
        sections,
        icon=":material/school:",
        disabled=not models,
        help="Runs in the background; you may leave the page. The linear model is quick, the "
        "neural one takes longer.",
    )

with settings_column:
    policy = policy_control()
with main:
    job_box(POLICY)
    if policy is None:
        with st.container(border=True, height=440):
            labels = [action_name(a) for a in result(RESCALING).trajectories.action_labels]
            st.markdown(
                f"For each treatment ({literal(', '.join(labels))}) a function of the "
                f"{fitted.dimension} feature{'' if fitted.dimension == 1 else 's'} will be "
                "learned: the outcome that can be expected from giving it now and choosing well "
                "from then on. Its parameters appear here, beside what the features are made of."
            )
        st.stop()
    changed_notice(POLICY, **sections)
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
        pair = controls.select(
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
        if policy.is_linear:
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
        if policy.is_linear and view == "Each treatment":
            st.caption(PARAMETERS)
            figure(parameters_figure(policy), "q-parameters")
        else:
            st.caption(DIFFERENCES)
            figure(feature_effects_figure(policy, explanation), "q-effects")
        explanation = explanation.in_own_units()
        tabs(shown, explanation)
        says(describe_explanation(explanation))
        beside_other_pages(policy)
        check(check_policies(learned_policies()))
        take_along(policy, prepared, card_of(policy))
        my_note(POLICY)
        next_page(POLICY)

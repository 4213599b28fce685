"""6 Weights: what the features are made of."""

from __future__ import annotations

import streamlit as st

from dashboard import inputs
from dashboard.gate import needs_result, stale_notice
from dashboard.running import job_box, run_or_start
from dashboard.session import State, Step, memo, result, state
from dashboard.show import figure, heading, literal, my_note, next_step, says, table
from smdp.data.variable_groups import variable_groups
from smdp.figures.weights import (
    ORDERS,
    feature_bars,
    norms_figure,
    selection_figure,
    shown_weights,
    weights_heatmap,
)
from smdp.words.feature_map import stopped_notice
from smdp.words.weights import (
    GRADIENTS,
    NORMS,
    ONE_LAYER,
    describe_stability,
    describe_weights,
    stability_summary,
    stability_table,
)

heading("Weights", "What is each feature made of?")
if not needs_result(Step.FEATURES):
    st.stop()
fitted = result(Step.FEATURES)
deep = fitted.weights_are == "average gradient"
prepared = result(Step.RESCALING).trajectories
groups = memo("weights.groups", id(prepared), lambda: variable_groups(prepared))

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    order = inputs.radio(
        "Order of the variables",
        "weights.order",
        ORDERS,
        ORDERS[0],
        "By size: the variable with the largest weight in any feature first. By group: first the "
        "background (the same at every decision of a person, such as age), then what changes from "
        "decision to decision, then earlier values if a look-back was added; by size within each.",
    )
    hide_zeros = inputs.checkbox(
        "Hide unused variables",
        "weights.hide",
        True,
        "Variables whose weights are exactly zero in every feature.",
    )
    if fitted.kind == "adnn":
        bootstraps = inputs.whole_number(
            "Resamples for stability",
            "weights.bootstraps",
            20,
            5,
            500,
            "How many times people are drawn anew, with replacement, and the whole map is fitted.",
        )
        if st.button(
            "Check stability",
            width="stretch",
            icon=":material/cached:",
            disabled=state(Step.STABILITY) == State.RUNNING or state(Step.FEATURES) != State.DONE,
            help="Fits the map that many times in the background: minutes, not seconds. Marks the "
            "weights whose sign holds, and gives each an interval.",
        ):
            run_or_start(
                Step.STABILITY,
                "stability",
                (prepared.select(fitted.variables), fitted),
                bootstraps,
                fitted.seed,
                stability_summary,
            )
stability = result(Step.STABILITY) if state(Step.STABILITY) == State.DONE else None
with main:
    job_box(Step.STABILITY)
    stale_notice(Step.FEATURES)
    if stopped_notice(fitted):
        st.warning(literal(stopped_notice(fitted)), icon=":material/stop_circle:")
    st.caption(GRADIENTS if deep else ONE_LAYER)
    figure(weights_heatmap(fitted, order, hide_zeros, groups, stability), "weights")
    if deep:
        st.caption(NORMS)
        figure(norms_figure(fitted, order, hide_zeros, groups), "norms")
    tabs = st.tabs([*(literal(name) for name in fitted.features[:12]), "Table"])
    for tab, name in zip(tabs, fitted.features[:12], strict=False):
        with tab:
            bars = feature_bars(fitted, name, order, hide_zeros, groups, stability)
            figure(bars, f"weights-{name}")
    with tabs[-1]:
        weights = shown_weights(fitted, order, hide_zeros, groups)
        table(weights.rename_axis("feature").reset_index(), "weights")
    says(describe_weights(fitted))
    if stability is not None:
        says(describe_stability(stability), "How stable is it?")
        figure(selection_figure(stability), "stability")
        with st.expander("Weights with their intervals over the resamples"):
            table(stability_table(stability), "stability", stability.weights)
    my_note(Step.STABILITY)
    if state(Step.FEATURES) == State.DONE:
        next_step("Next: Q-functions", "q_functions")

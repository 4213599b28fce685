"""6 Weights: what the features are made of."""

from __future__ import annotations

import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice, needs_result, stale_notice
from dashboard.page import COLUMNS, next_page, section_now
from dashboard.running import job_box, run_or_start
from dashboard.session import State, result, state, the_analysis
from dashboard.show import figure, heading, literal, my_note, says, table
from smdp.feature_map.kinds import map_kind
from smdp.figures.weights import (
    ORDERS,
    feature_bars,
    norms_figure,
    selection_figure,
    shown_weights,
    weights_heatmap,
)
from smdp.steps import FEATURES, RESCALING, STABILITY
from smdp.words.feature_map import stopped_notice
from smdp.words.weights import (
    GRADIENTS,
    NORMS,
    ONE_LAYER,
    describe_stability,
    describe_weights,
    stability_table,
)

heading("Weights", "What is each feature made of?")
if not needs_result(FEATURES):
    st.stop()
fitted = result(FEATURES)
deep = fitted.weights_are == "average gradient"
prepared = result(RESCALING).trajectories

settings_column, main = st.columns(COLUMNS, gap="large")
sections = {}
with settings_column:
    order = controls.radio(
        "Order of the variables",
        "weights.order",
        ORDERS,
        ORDERS[0],
        "By size: the variable with the largest weight in any feature first. By group: first the "
        "background (the same at every decision of a person, such as age), then what changes from "
        "decision to decision, then earlier values if a look-back was added; by size within each.",
    )
    hide_zeros = controls.checkbox(
        "Hide unused variables",
        "weights.hide",
        True,
        "Variables whose weights are exactly zero in every feature.",
    )
    if map_kind(fitted.kind).stability:
        form = Form(STABILITY.name, section_now(STABILITY))
        form.draw()
        # The seed of the map, unless the plan has one of its own.
        planned = the_analysis().plan.stability is not None
        form.set(seed=section_now(STABILITY).seed if planned else fitted.seed)
        sections = {"stability": form.value()}
        if st.button(
            "Check stability",
            width="stretch",
            icon=":material/cached:",
            disabled=state(STABILITY) == State.RUNNING or state(FEATURES) != State.DONE,
            help="Fits the map that many times in the background; you may leave the page. Marks "
            "the weights whose sign holds, and gives each an interval.",
        ):
            run_or_start(STABILITY, **sections)
stability = result(STABILITY) if state(STABILITY) == State.DONE else None
with main:
    job_box(STABILITY)
    stale_notice(FEATURES)
    if stopped_notice(fitted):
        st.warning(literal(stopped_notice(fitted)), icon=":material/stop_circle:")
    st.caption(GRADIENTS if deep else ONE_LAYER)
    figure(weights_heatmap(fitted, order, hide_zeros, stability), "weights")
    if deep:
        st.caption(NORMS)
        figure(norms_figure(fitted, order, hide_zeros), "norms")
    tabs = st.tabs([*(literal(name) for name in fitted.features[:12]), "Table"], key="weights.tabs")
    for tab, name in zip(tabs, fitted.features[:12], strict=False):
        with tab:
            bars = feature_bars(fitted, name, order, hide_zeros, stability)
            figure(bars, f"weights-{name}")
    with tabs[-1]:
        weights = shown_weights(fitted, order, hide_zeros)
        table(weights.rename_axis("feature").reset_index(), "weights")
    says(describe_weights(fitted))
    if stability is not None:
        changed_notice(STABILITY, **sections)
        says(describe_stability(stability), "How stable is it?")
        figure(selection_figure(stability), "stability")
        with st.expander("Weights with their intervals over the resamples"):
            table(stability_table(stability), "stability", stability.weights)
    my_note(STABILITY)
    if state(FEATURES) == State.DONE:
        next_page(STABILITY, even_if_open=True)

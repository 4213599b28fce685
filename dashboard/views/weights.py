"""6 Weights: what the features are made of."""

from __future__ import annotations

import streamlit as st

from dashboard import inputs
from dashboard.gate import needs_result, stale_notice
from dashboard.running import job_box, run_or_start
from dashboard.session import State, Step, result, state
from dashboard.show import figure, heading, literal, says, table
from smdp.figures.weights import (
    ORDERS,
    feature_bars,
    selection_figure,
    shown_weights,
    weights_heatmap,
)
from smdp.words.weights import describe_stability, describe_weights, stability_table

heading("Weights", "What is each feature made of?")
if not needs_result(Step.FEATURES):
    st.stop()
fitted = result(Step.FEATURES)

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    order = inputs.radio(
        "Order of the variables",
        "weights.order",
        ORDERS,
        ORDERS[0],
        "By size: the variable with the largest weight in any feature first.",
    )
    hide_zeros = inputs.checkbox(
        "Hide unused variables",
        "weights.hide",
        True,
        "Variables whose weights are exactly zero in every feature.",
    )
    if fitted.weights_are == "first layer":
        st.caption("Shown: the weights of the one layer, for standardised variables.")
    else:
        st.caption(
            "Shown: how much each feature rises with each variable on average (gradient), for "
            "standardised variables. The map is deeper than one layer, so its weights alone "
            "cannot be read."
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
            help="Fits the map that many times in the background: minutes, not seconds.",
        ):
            trajectories = result(Step.RESCALING).trajectories.select(fitted.variables)
            run_or_start(
                Step.STABILITY,
                "stability",
                (trajectories, fitted),
                bootstraps,
                fitted.seed,
                lambda done: f"{done.bootstraps} resamples",
            )
stability = result(Step.STABILITY) if state(Step.STABILITY) == State.DONE else None
with main:
    job_box(Step.STABILITY)
    stale_notice(Step.FEATURES)
    figure(weights_heatmap(fitted, order, hide_zeros), "weights")
    tabs = st.tabs([*(literal(name) for name in fitted.features[:12]), "Table"])
    for tab, name in zip(tabs, fitted.features[:12], strict=False):
        with tab:
            figure(feature_bars(fitted, name, order, hide_zeros), f"weights-{name}")
    with tabs[-1]:
        weights = shown_weights(fitted, order, hide_zeros)
        table(weights.rename_axis("feature").reset_index(), "weights")
    says(describe_weights(fitted))
    if stability is not None:
        says(describe_stability(stability), "How stable is it?")
        figure(selection_figure(stability), "stability")
        with st.expander("Weights with their intervals over the resamples"):
            table(stability_table(stability), "stability", stability.weights)

"""6 Weights: what the features are made of."""

from __future__ import annotations

import streamlit as st

from dashboard import inputs
from dashboard.gate import needs_result, stale_notice
from dashboard.session import Step, result
from dashboard.show import figure, heading, literal, says, table
from smdp.figures.weights import ORDERS, feature_bars, shown_weights, weights_heatmap
from smdp.words.weights import describe_weights

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
with main:
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

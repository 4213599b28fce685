"""The part of the Simulation page that sizes a micro-randomised trial by formula."""

from __future__ import annotations

import streamlit as st

from dashboard.form import Form
from dashboard.show import errors_as_messages, figure, table
from smdp.figures.simulation import trial_size_figure
from smdp.simulation.trial_size import TrialSize, TrialSizeSettings, grant_sentence, trial_size


def size_a_trial() -> None:
    settings_column, main = st.columns([1, 2.6], gap="large")
    size = None
    with settings_column:
        form = _controls()
    with main, errors_as_messages():
        size = trial_size(form.value())
    if size is not None:
        with main:
            _answer(size)


def _controls() -> Form[TrialSizeSettings]:
    """Only those that matter for the outcome and the shapes chosen."""
    form = Form("simulation.size", TrialSizeSettings())
    form.draw("outcome", "days", "decisions", "probability")
    effect = "effect" if form["outcome"] == "continuous" else "ratio"
    form.draw("effect_shape", effect)
    if form["effect_shape"] != "constant":
        form.draw(f"{effect}_first")
    if form["effect_shape"] == "quadratic":
        form.draw("effect_peak")
    if effect == "ratio":
        form.draw("baseline", "baseline_last")
    form.draw("availability_shape", "availability")
    if form["availability_shape"] != "constant":
        form.draw("availability_first")
    if form["availability_shape"] == "quadratic":
        form.draw("availability_turn")
    form.draw("power", "level", "people")
    return form


def _answer(size: TrialSize) -> None:
    asked = size.settings
    st.markdown(
        f"**{size.needed:,} people** are needed for {100 * asked.power:g} % power"
        + (
            f"; with **{size.people:,} people** the power is **{100 * size.power:.1f} %**."
            if asked.people
            else "."
        )
    )
    if size.people < 10:
        st.warning(
            "With fewer than 10 people the formula is not to be relied on. Plan at least 10.",
            icon=":material/warning:",
        )
    figure(trial_size_figure(size), "trial-size")
    st.markdown("**For the grant application**")
    st.code(grant_sentence(size), language=None, wrap_lines=True)
    st.caption(
        "The formula takes the outcome's spread as the same with and without treatment and on all "
        "days, and treatment as not changing later availability. Plan for drop-out in addition."
        if asked.outcome == "continuous"
        else "The formula takes availability as not depending on earlier treatments or outcomes. "
        "Plan for drop-out in addition."
    )
    with st.expander("Day by day"):
        table(size.days, "trial-size-days", size.days)

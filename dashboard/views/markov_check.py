"""Markov check: does the past still matter, and is it the same throughout the study?"""

from __future__ import annotations

import streamlit as st

from dashboard.data_widgets import change_state_and_go_on
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, next_page, run_button, section_now, step_heading
from dashboard.running import job_box
from dashboard.session import State, result, state, the_analysis
from dashboard.show import check, errors_as_messages, figure, my_note, part, says, table
from smdp.figures.markov import markov_figure
from smdp.markov.markov_check import MarkovCheck
from smdp.steps import MARKOV, RESCALING
from smdp.steps.markov import kept_variables
from smdp.text import plural
from smdp.words.markov import (
    LEVELS_NOTE,
    effect_table,
    ladder_table,
    markov_problems,
    stationarity_table,
)


def remedies(found: MarkovCheck) -> None:
    """One click for what the check asks for; it changes the roles, as the Data page does."""
    roles = the_analysis().plan.roles
    wanted = {m: found.state_look_back + m for m in found.offers}
    changes = found.process_changes or found.effect_changes
    offer_time = changes and not found.time_in_state and not roles.add_time
    if not wanted and not offer_time:
        return
    part("What you can do")
    old = state(MARKOV) != State.DONE
    for m, lags in wanted.items():
        if lags <= roles.lags:
            st.caption(
                f"The data hold a look-back of {roles.lags} already, but screening did not keep "
                "all of it: tick 'Use all variables' to check with it, or let screening always "
                "keep these variables."
            )
        elif st.button(
            f"Add a look-back of {m} to the state",
            key=f"markov.add-{m}",
            icon=":material/history:",
            disabled=old,
            help=f"Sets the look-back on the page Data to {lags}: that many earlier values of each "
            "variable and of the treatment join the state. The steps after it are then to be run "
            "again; their settings stay.",
        ):
            change_state_and_go_on(
                f"The state now looks back {plural(lags, 'decision')}.", lags=lags
            )
    if offer_time and st.button(
        "Add the decision number to the state",
        key="markov.add-time",
        icon=":material/schedule:",
        disabled=old,
        help="Ticks 'Add the decision number as a state' on the page Data, so that a policy can "
        "tell early from late. The steps after it are then to be run again; their settings stay.",
    ):
        change_state_and_go_on("The decision number is now part of the state.", add_time=True)


step_heading(MARKOV)
names = kept_variables(the_analysis()) or result(RESCALING).trajectories.variables

settings_column, main = st.columns(COLUMNS, gap="large")
sections = {}
with settings_column, errors_as_messages():
    form = Form(MARKOV.name, section_now(MARKOV))
    form.draw()
    form.more()
    sections = {"markov": form.value()}
    run_button(
        MARKOV,
        f"Test look-backs 0 to {form['most']}",
        sections,
        icon=":material/history:",
    )
    st.caption("This page can be skipped: no later step needs it.")

found = result(MARKOV)
with main:
    job_box(MARKOV)
    if found is None:
        with st.container(border=True, height=480):
            st.markdown(
                "A policy is learned as if the present state said all about what comes next that "
                "the past could tell, and as if that never changed. Here both are tested, with "
                f"{plural(len(names), 'variable')}: is anything earlier still needed once the "
                "present state and 0, 1, 2, … earlier decisions are known? And do the process, or "
                "the effect of treatment, change over the study? The figure appears here."
            )
    else:
        changed_notice(MARKOV, **sections)
        figure(markov_figure(found, the_analysis().outcome_name), "markov")
        headings = ["Look-back", "Over the study"]
        headings += [] if found.effect.empty else ["Effect over time"]
        tabs = dict(zip(headings, st.tabs(headings, key="markov.tabs"), strict=True))
        with tabs["Look-back"]:
            table(ladder_table(found), "look-back", found.ladder)
            st.caption(LEVELS_NOTE)
        with tabs["Over the study"]:
            table(stationarity_table(found), "stationarity", found.stationarity)
        if "Effect over time" in tabs:
            with tabs["Effect over time"]:
                table(effect_table(found), "effect-over-time", found.effect)
        says(MARKOV.says(the_analysis()))
        check(markov_problems(found))
        remedies(found)
        my_note(MARKOV)
    next_page(MARKOV, even_if_open=True)

"""4 Screening: which variables the outcome depends on."""

from __future__ import annotations

import streamlit as st

from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, next_page, run_button, section_now, step_heading
from dashboard.running import job_box
from dashboard.session import result
from dashboard.show import check, errors_as_messages, figure, my_note, says, table
from smdp.figures.screening import growth_figure, pooled_figure, time_heatmap
from smdp.steps import RESCALING, SCREENING
from smdp.words.screening import check_screening, describe_screening, screening_table

step_heading(SCREENING)
names = result(RESCALING).trajectories.variables

settings_column, main = st.columns(COLUMNS, gap="large")
sections = {}
with settings_column, errors_as_messages():
    form = Form(SCREENING.name, section_now(SCREENING))
    form.draw("level")
    form.draw("force_in", options={"force_in": names})
    left = [name for name in names if name not in form["force_in"]]
    form.draw("force_out", options={"force_out": left})
    form.more()
    sections = {"screening": form.value()}
    run_button(
        SCREENING,
        f"Screen {len(left) - len(form['force_out'])} variables",
        sections,
        icon=":material/filter_alt:",
        help="Runs in the background; you may leave the page. Seconds for most studies.",
    )

found = result(SCREENING)
with main:
    job_box(SCREENING)
    if found is None:
        with st.container(border=True, height=480):
            st.markdown(
                f"{len(names)} variables can be screened. Round by round, each is tested "
                "against the utility and against the next values of the variables kept so "
                "far, among people who received the same treatment. The figure appears here."
            )
    else:
        changed_notice(SCREENING, **sections)
        figure(pooled_figure(found), "screening")
        tabs = st.tabs(["Ranked table", "By decision", "Round by round"])
        with tabs[0]:
            table(screening_table(found), "screening", found.table.reset_index())
        with tabs[1]:
            numbers = [r.number for r in found.rounds]
            number = st.segmented_control(
                "Round", numbers, default=1, required=True, key="screening.round"
            )
            figure(time_heatmap(found, number), "screening-by-decision")
        with tabs[2]:
            figure(growth_figure(found), "screening-growth")
        says(describe_screening(found))
        check(check_screening(found))
        my_note(SCREENING)
        next_page(SCREENING)

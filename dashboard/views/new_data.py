"""New data: does the policy hold for other people, or for the same people later?"""

from __future__ import annotations

import streamlit as st

from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, run_button, section_now, step_heading
from dashboard.running import job_box
from dashboard.session import keep, kept, put, result, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    literal,
    my_note,
    next_step,
    part,
    says,
    table,
)
from smdp.analysis.new_table import with_new_table
from smdp.analysis.refit import refit_on_both
from smdp.data.read_table import read_table
from smdp.figures.new_data import beside_figure, calibration_figure, moved_figure
from smdp.steps import NEW_DATA
from smdp.steps.step_plans import NEW_TABLE
from smdp.steps.versions import VERSIONS_NOTE, versions_table
from smdp.validation.new_data import NewDataCheck, OnNewData
from smdp.words.new_data import (
    HEADINGS,
    MEANINGS,
    advised_table,
    beside_table,
    moved_table,
    reasons,
    rules,
)

#: How a verdict's box looks.
BOXES = {"keep": st.success, "refit": st.warning, "withdraw": st.error, "cannot tell": st.info}


def upload() -> None:
    """The second table; it stays with the analysis until another one takes its place."""
    given = st.file_uploader(
        "The new table",
        key=f"new_data.upload {kept('new_data.loaded', '')}",
        help="The same columns as the study's table, of new people or of later decisions. The log "
        "of a device that carries the exported policy opens as it is. It stays on this computer.",
    )
    if given is not None:
        frame = read_table(given.getvalue(), name=given.name)
        put(with_new_table(the_analysis(), frame, given.name))
        keep("new_data.loaded", given.name)
        st.rerun()
    held = the_analysis().tables.get(NEW_TABLE)
    if held is not None:
        rows = f"{held.source.rows:,} rows, {held.source.columns} columns"
        st.caption(literal(f"Loaded: {held.source.name} ({rows})."))


def verdict(own: OnNewData, found: NewDataCheck) -> None:
    """The box: what to do, and each reason that was looked at."""
    decision = own.verdict.decision
    lines = "\n".join(f"- {literal(line)}" for line in reasons(own, found.settings, found))
    who = "" if len(found.policies) == 1 else f"{own.policy.capitalize()} policy: "
    head = f"**{who}{HEADINGS[decision]}**: {MEANINGS[decision]}."
    BOXES[decision](f"{head}\n\n{lines}")


def refit() -> None:
    """Both tables as one analysis, which remembers this one."""
    part("A new version")
    st.caption(
        "The two tables become one study, by the same plan. What is known now is kept as a "
        "version to compare with. Undo takes it back while this page is open; to have it for "
        "longer, save this analysis first."
    )
    if st.button("Begin a new version with both tables", icon=":material/merge:"):
        with errors_as_messages():
            put(refit_on_both(the_analysis()))
            st.rerun()


def versions() -> None:
    if the_analysis().versions:
        part("Versions")
        table(versions_table(the_analysis()), "versions")
        st.caption(VERSIONS_NOTE)


def figures_and_tables(found: NewDataCheck) -> None:
    outcome = the_analysis().outcome_name
    headings = ["Which variables moved", "Predicted beside observed", "Calibration", "Advice"]
    moved, predicted, calibrated, advice = st.tabs(headings, key="new_data.tabs")
    with moved:
        if found.likeness is None:
            st.markdown("People were not compared: see below.")
        else:
            figure(moved_figure(found.likeness, found.settings.refit_level), "new-data-moved")
            st.caption("Diamonds moved, all variables considered together.")
            table(moved_table(found), "new-data-variables", found.likeness.table)
    with predicted:
        drawn = beside_figure(found.policies, outcome)
        if drawn is None:
            st.markdown(
                "There is nothing to compare: the first study's value (page Policy), or that of "
                "the new data, is not known."
            )
        else:
            figure(drawn, "new-data-predicted")
            table(beside_table(found), "new-data-predicted")
    with calibrated:
        some = [own for own in found.policies if own.calibration is not None]
        for own in some:
            if len(found.policies) > 1:
                st.markdown(f"**{literal(own.policy.capitalize())} policy**")
            assert own.calibration is not None
            figure(calibration_figure(own.calibration, outcome), f"calibration-{own.policy}")
        st.caption(
            "Decisions in groups by what following the recommendation was predicted to bring. On "
            "the dotted line, the first study's prediction is right."
            if some
            else "No policy's predictions could be held against outcomes."
        )
    with advice:
        table(advised_table(found), "new-data-advice")


step_heading(NEW_DATA)
settings_column, main = st.columns(COLUMNS, gap="large")
sections = {}
with settings_column, errors_as_messages():
    upload()
    loaded = NEW_TABLE in the_analysis().tables
    form = Form(NEW_DATA.name, section_now(NEW_DATA))
    form.draw()
    form.more()
    if loaded:
        sections = {"new_data": form.value()}
    run_button(
        NEW_DATA, "Judge on the new data", sections, icon=":material/fact_check:",
        disabled=not loaded,
    )  # fmt: skip
    st.caption("This page can be skipped: no later step needs it.")

found = result(NEW_DATA)
with main:
    job_box(NEW_DATA)
    if found is None:
        with st.container(border=True, height=420):
            st.markdown(
                "The analysis is frozen and meets a second table: a new cohort, later decisions of "
                "the same people, or the log of a device. Are they like the first people? Does "
                "the feature map suffice for them? What is the policy worth there, beside what was "
                "predicted? The verdict follows these rules, fixed beforehand:"
            )
            st.markdown("\n".join(f"- {literal(line)}" for line in rules(form.value().settings)))
    else:
        if sections:
            changed_notice(NEW_DATA, **sections)
        for own in found.policies:
            verdict(own, found)
        figures_and_tables(found)
        says(NEW_DATA.says(the_analysis()))
        check(NEW_DATA.warns(found, the_analysis()))
        with st.expander("The rules, fixed beforehand"):
            st.markdown("\n".join(f"- {literal(line)}" for line in rules(found.settings)))
        refit()
        my_note(NEW_DATA)
    versions()
    next_step("Next: report", "views/report.py")

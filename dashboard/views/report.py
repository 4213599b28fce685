"""Report: what a researcher takes away, and what a reviewer can repeat."""

from __future__ import annotations

import streamlit as st

from dashboard.gate import needs_result
from dashboard.session import done
from dashboard.show import heading, note_area, part
from smdp.steps import DATA, steps

heading("Report", "What do you take away, and how can somebody else repeat it?")
if not needs_result(DATA):
    st.stop()
with st.spinner("Putting the report together …"):  # its figures bring much along the first time
    from dashboard import controls, locking
    from dashboard import further_documents as further
    from dashboard import report_widgets as widgets
    from dashboard.work import current_analysis
    from smdp.report.collect import available_sections, section_titles
    from smdp.report.word_format import PAPERS

    analysis = current_analysis()
    assert analysis is not None  # there is a table, for its data are arranged
    there = list(available_sections(analysis))
    titles = section_titles()

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    title = controls.text("Title", "report.title", "Empty: the name of the table.")
    author = controls.text("Author", "report.author", "Below the title of the report.")
    paper = controls.radio("Paper", "report.paper", list(PAPERS), "A4", "Of Word documents.")
    left_out = controls.several(
        "Leave out sections",
        "report.without",
        [titles[key] for key in there],
        "Sections that the report does without. Its summary says which. Warnings that concern the "
        "whole analysis stand on top of it in any case.",
    )
    sections = tuple(key for key in there if titles[key] not in left_out)
    theme = widgets.figure_theme()

with main:
    widgets.state_of_it(analysis)
    if not sections:
        st.info("A report needs at least one section.", icon=":material/info:")
    else:
        widgets.report_files(analysis, sections, title, author, paper, theme)
        further.summary_files(analysis, title, author, paper, theme)
        further.checklist_files(analysis, author, paper)
        further.table_box(analysis, paper)
        further.card_files(analysis, author, paper)
        widgets.figure_box(analysis, sections, theme)
    locking.locked_plan(analysis, author, paper)
    widgets.analysis_files(analysis)
    part("My notes")
    st.caption("They stand in the report, each in the section of its step.")
    for step in steps():
        if done(step) is not None:
            note_area(step, step.title)

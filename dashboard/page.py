"""The skeleton of a step's page: heading, gate, form, button, job, figures, words, note, next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

import streamlit as st

from dashboard.form import Form
from dashboard.gate import changed_notice, needs
from dashboard.navigation import page_path, page_steps
from dashboard.paper_or_default import asked_for_the_paper
from dashboard.running import job_box, run_or_start
from dashboard.session import State, did_itself, result, state, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    heading,
    my_note,
    next_step,
    says,
    table,
)
from smdp.settings import as_in_the_paper
from smdp.steps import Step
from smdp.text import listing

#: Settings on the left, results on the right.
COLUMNS = (1, 2.6)

#: Their names keep the capital.
PEOPLE = ("Markov",)


def step_heading(step: Step) -> None:
    """The page's title and its question; the page ends here if the step cannot be done yet."""
    assert step.page is not None
    heading(step.page.title, step.question)
    if not needs(step):
        st.stop()


def section_now(step: Step) -> Any:
    """What the plan says of a step; where it says nothing, its defaults or what the paper has."""
    (section,) = step.sections
    planned = the_analysis().plan.section(section.name)
    return planned or as_in_the_paper(section.kind(), asked_for_the_paper())


def run_button(
    step: Step, label: str, sections: dict[str, Any], *, first: Sequence[Step] = (), **options: Any
) -> None:
    """The button that has a worker do the step, and `first` others that belong to it."""
    options.setdefault("help", "Runs in the background; you may leave the page.")
    running = any(state(each) == State.RUNNING for each in (*first, step))
    disabled = options.pop("disabled", False) or running
    if st.button(label, type="primary", width="stretch", disabled=disabled, **options):
        run_or_start(*first, step, **sections)


def next_page(step: Step, *, even_if_open: bool = False) -> None:
    """The button to the page that comes next, once the step is done, or can be left undone."""
    every = page_steps()
    place = every.index(step) + 1
    if (state(step) != State.DONE and not even_if_open) or place >= len(every):
        return
    by_themselves = []
    while place + 1 < len(every) and did_itself(every[place]):
        by_themselves.append(every[place].title)
        place += 1
    if by_themselves:
        st.caption(f"Nothing to decide, so done already: {listing(by_themselves).lower()}.")
    page = every[place].page
    assert page is not None
    next_step(f"Next: {_in_a_sentence(page.title)}", page_path(every[place]))


def _in_a_sentence(title: str) -> str:
    named_after_a_person = title.split()[0] in PEOPLE
    return title if "-" in title or named_after_a_person else title[:1].lower() + title[1:]


def skeleton(step: Step) -> None:
    """The whole page of a step that needs nothing particular."""
    step_heading(step)
    (section,) = step.sections
    settings_column, main = st.columns(COLUMNS, gap="large")
    sections: dict[str, Any] = {}
    with settings_column, errors_as_messages():
        start = section_now(step)
        assert is_dataclass(start)
        form = Form(step.name, start)
        form.draw()
        form.more()
        sections = {section.name: form.value()}
        run_button(step, f"Run: {step.title}", sections)
    with main:
        job_box(step)
        found = result(step)
        if found is None:
            with st.container(border=True, height=340):
                st.markdown("The result appears here.")
            return
        if sections:
            changed_notice(step, **sections)
        for name, plot in step.figures(found).items():
            figure(plot, name)
        for name, frame in step.tables(the_analysis()):
            with st.expander(name):
                table(frame, name)
        says(step.says(the_analysis()))
        check(step.warns(found, the_analysis()))
        my_note(step)
        next_page(step)

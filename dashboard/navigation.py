"""The pages in the order of the work, and the map in the sidebar."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dashboard import autosaving, history
from dashboard.address import go_to, name_in_address
from dashboard.running import is_waiting, watch_if_running
from dashboard.session import Key, State, analysis, done, state
from dashboard.show import figure_format, literal
from dashboard.table import loaded
from smdp.steps import Step, step_named, steps
from smdp.steps.step import Page

START = Page("Start", "The ways in", "start")
PATIENT = Page("Patient", "See one recommendation with its reasons", "patient", 9)
REPORT = Page("Report", "Take away report, figures, plan and analysis", "report")
#: Pages that show what the steps found and have no result of their own.
VIEWS = {
    PATIENT: ":material/person:",
    REPORT: ":material/description:",
    Page("History", "See what was changed when, and go back to it", "history"):
        ":material/restore:",
    Page("Simulation", "Try the method where the truth is known", "simulation"):
        ":material/experiment:",
    Page("Glossary", "Look up a word", "glossary"): ":material/menu_book:",
}  # fmt: skip
ICONS = {
    State.NOT_STARTED: ":material/radio_button_unchecked:",
    State.READY: ":material/play_circle:",
    State.RUNNING: ":material/progress_activity:",
    State.DONE: ":material/check_circle:",
    State.OUT_OF_DATE: ":material/history:",
}
WORDS = {
    State.NOT_STARTED: "waits for the step before",
    State.READY: "ready",
    State.RUNNING: "running",
    State.DONE: "",
    State.OUT_OF_DATE: "out of date",
}


def page_steps() -> list[Step]:
    """The steps that have a page of their own, in order."""
    return [step for step in steps() if step.page is not None]


def page_step(step: Step) -> Step:
    """The step on whose page this one is."""
    return step if step.page is not None else step_named(step.shown_with)


def page_path(step: Step) -> Any:
    """What `st.page_link` and `go_to` take."""
    page = step.page
    assert page is not None
    return f"views/{page.view}.py" if page.view else st.session_state[Key.SKELETONS][step.name]


def pages(skeleton: Callable[[Step], None]) -> list[Any]:
    """For `st.navigation`; the skeleton draws the page of a step without a view of its own."""
    own = {step.name: (step, step.page) for step in page_steps() if step.page is not None}
    st.session_state[Key.SKELETONS] = {
        name: st.Page(partial(skeleton, step), title=page.title, url_path=name)
        for name, (step, page) in own.items()
        if not page.view
    }
    steps_pages = [
        st.Page(f"views/{page.view}.py", title=page.title) if page.view else page_path(step)
        for step, page in own.values()
    ]
    views = [st.Page(f"views/{page.view}.py", title=page.title) for page in (START, *VIEWS)]
    return [views[0], *steps_pages, *views[1:]]


def step_of_page(title: str) -> Step | None:
    """The step whose result the page shows."""
    if title == PATIENT.title:
        return step_named("policy")
    return next((step for step in page_steps() if step.page and step.page.title == title), None)


def last_page() -> Any:
    """Of the last step that was done."""
    found = [step for step in page_steps() if done(step) is not None]
    return page_path(found[-1]) if found else page_path(step_named("data"))


def step_line(step: Step) -> str:
    """The step's state or its one-line result."""
    now, finished = state(step), done(step)
    if now == State.DONE and finished is not None:
        return finished.summary
    own = analysis()
    if own is None:
        return "load a file first" if step is page_steps()[0] else ""
    if now == State.NOT_STARTED and any(
        state(needed) == State.NOT_STARTED for needed in step.needed(own.plan)
    ):
        return ""  # said of the first step that waits, not of all after it
    if now == State.READY and step.ready:
        return step.ready
    if now == State.RUNNING and is_waiting(step):
        return "waiting for other jobs"
    return WORDS[now]


def page_label(page: Page | None) -> str:
    assert page is not None
    return f"{page.number}  {page.title}" if page.number else page.title


def sidebar() -> None:
    """The map: each step with its state and result, and what data is loaded."""
    table = loaded()
    with st.sidebar:
        with st.container(key="brand", horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown("<div class='brand'>smdp</div>", unsafe_allow_html=True, width="stretch")
            if table is not None:
                history.buttons("sidebar")
        history.toast()
        st.page_link(f"views/{START.view}.py", label="Start", icon=":material/home:")
        every = page_steps()
        _step_links([step for step in every if not _is_late(step)])
        st.page_link(f"views/{PATIENT.view}.py", label=page_label(PATIENT), icon=VIEWS[PATIENT])
        _step_links([step for step in every if _is_late(step)])
        with st.container(key="jobs"):
            watch_if_running()
        for page, icon in VIEWS.items():
            if page is PATIENT:
                continue
            st.page_link(f"views/{page.view}.py", label=page_label(page), icon=icon)
        mine = autosaving.present()
        if table is None and mine is not None and mine.problem:
            st.divider()
            st.caption(literal(mine.problem))
        if table is not None:
            st.divider()
            st.text(table.name if len(table.name) < 34 else table.name[:32] + "…")
            if table.synthetic:
                st.badge("Synthetic data", icon=":material/science:", color="orange")
            own = analysis()
            if own is not None and own.outcome_hidden:
                st.badge("Outcome hidden", icon=":material/visibility_off:", color="orange")
            figure_format()
            _keep_switch()
            if st.button("Forget everything", type="tertiary", icon=":material/delete:"):
                autosaving.forget_everything()
                go_to(f"views/{START.view}.py")


def _is_late(step: Step) -> bool:
    return step.page is not None and step.page.after_patient


def _step_links(every: list[Step]) -> None:
    for step in every:
        st.page_link(page_path(step), label=page_label(step.page), icon=ICONS[state(step)])
        st.caption(step_line(step))


def _keep_switch() -> None:
    """Whether the work is kept on this computer."""
    mine = autosaving.present()
    if mine is None:
        st.caption("Kept in memory until this page is closed or reloaded.")
        return
    on = st.toggle(
        "Keep my work on this computer",
        mine.on,
        key="autosave.on",
        help="Table, results and notes are kept in your own folder of this computer for 30 days "
        "after the last change, so that a closed or reloaded page loses nothing. Reload the page, "
        "or come back by its address. Switched off, what was kept is deleted.",
    )
    if on != mine.on:
        autosaving.switch(on)
        name_in_address()
    if mine.problem:
        st.caption(f"Not kept: {literal(mine.problem)}")
    elif on and mine.copied_from:
        st.caption("A copy: the same work was open in another tab, and is kept apart from this.")
    elif on:
        st.caption("A reloaded page finds it again.")
    else:
        st.caption("In memory only, until this page is closed or reloaded.")

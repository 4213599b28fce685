"""The pages in the order of the work, and the map in the sidebar."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard import autosaving
from dashboard.running import is_waiting, watch_if_running
from dashboard.session import State, Step, before, done, state
from dashboard.show import figure_format, literal
from dashboard.table import loaded


@dataclass(frozen=True)
class PageInfo:
    view: str
    title: str
    number: int | None = None
    purpose: str = ""


START = PageInfo("start", "Start")
PAGES = {
    Step.DATA: PageInfo("data", "Data", 1, "Say what each column is"),
    Step.MISSING: PageInfo(
        "missing_values", "Missing values", 2, "See what is missing and fill it in"
    ),
    Step.RESCALING: PageInfo(
        "rescaling", "Rescaling", 3, "Put all variables on common levels, or keep their units"
    ),
    Step.SCREENING: PageInfo("screening", "Screening", 4, "Find the variables that matter"),
    Step.FEATURES: PageInfo(
        "feature_dimension", "Feature dimension", 5, "Find how few features are enough"
    ),
    Step.STABILITY: PageInfo("weights", "Weights", 6, "Read what the features are made of"),
    Step.POLICY: PageInfo(
        "q_functions", "Q-functions", 7, "Learn what each treatment is worth in each state"
    ),
    Step.EVALUATION: PageInfo(
        "policy", "Policy", 8, "See whom it would treat, and what that would earn"
    ),
}
PATIENT = PageInfo("patient", "Patient", 9, "See one recommendation with its reasons")
REPORT = PageInfo("report", "Report", None, "Take away report, figures, plan and analysis")
SIMULATION = PageInfo("simulation", "Simulation", None, "Try the method where the truth is known")
GLOSSARY = PageInfo("glossary", "Glossary", None, "Look up a word")
#: Pages that show what the steps found and have no result of their own.
VIEWS = {
    PATIENT: ":material/person:",
    REPORT: ":material/description:",
    SIMULATION: ":material/experiment:",
    GLOSSARY: ":material/menu_book:",
}
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


def step_of_page(title: str) -> Step | None:
    """The step whose result the page shows."""
    if title == PATIENT.title:
        return Step.POLICY
    return next((step for step, page in PAGES.items() if page.title == title), None)


def step_line(step: Step) -> str:
    """The step's state or its one-line result."""
    now, finished = state(step), done(step)
    if now == State.DONE and finished is not None:
        return finished.summary
    if now == State.NOT_STARTED and step == Step.DATA:
        return "load a file first"
    if now == State.NOT_STARTED and state(before(step) or Step.DATA) == State.NOT_STARTED:
        return ""  # said of the first step that waits, not of all after it
    if now == State.READY and step == Step.STABILITY:
        return "to be read; stability not checked"
    if now == State.RUNNING and is_waiting(step):
        return "waiting for other jobs"
    return WORDS[now]


def sidebar() -> None:
    """The map: each step with its state and result, and what data is loaded."""
    table = loaded()
    with st.sidebar:
        st.markdown("<div class='brand'>smdp</div>", unsafe_allow_html=True)
        st.page_link(f"views/{START.view}.py", label="Start", icon=":material/home:")
        for step, page in PAGES.items():
            st.page_link(
                f"views/{page.view}.py",
                label=f"{page.number}  {page.title}",
                icon=ICONS[state(step)],
            )
            st.caption(step_line(step))
        watch_if_running()
        for page, icon in VIEWS.items():
            label = f"{page.number}  {page.title}" if page.number else page.title
            st.page_link(f"views/{page.view}.py", label=label, icon=icon)
        mine = autosaving.present()
        if table is None and mine is not None and mine.problem:
            st.divider()
            st.caption(literal(mine.problem))
        if table is not None:
            st.divider()
            st.text(table.name if len(table.name) < 34 else table.name[:32] + "…")
            if table.synthetic:
                st.badge("Synthetic data", icon=":material/science:", color="orange")
            figure_format()
            _keep_switch()
            if st.button("Forget everything", type="tertiary", icon=":material/delete:"):
                autosaving.forget_everything()
                st.switch_page(f"views/{START.view}.py")


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
        autosaving.name_in_address()
    if mine.problem:
        st.caption(f"Not kept: {literal(mine.problem)}")
    elif on and mine.copied_from:
        st.caption("A copy: the same work was open in another tab, and is kept apart from this.")
    elif on:
        st.caption("A reloaded page finds it again.")
    else:
        st.caption("In memory only, until this page is closed or reloaded.")

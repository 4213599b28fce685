"""'This page needs step X first', with the link."""

from __future__ import annotations

import streamlit as st

from dashboard.navigation import PAGES
from dashboard.session import State, Step, done, state, works_on


def needs(step: Step) -> bool:
    """Whether what this step works on is done and fresh; else the page says what is missing."""
    earlier = works_on(step)
    if earlier is None or state(earlier) == State.DONE:
        return True
    open_step = earlier
    while (previous := works_on(open_step)) is not None and state(previous) != State.DONE:
        open_step = previous
    page = PAGES[open_step]
    if state(open_step) == State.NOT_STARTED:
        with st.container(border=True):
            st.markdown(
                "No file is loaded yet. **Start** has the ways in: your own file, work that was "
                "kept, a sample study."
            )
            st.page_link("views/start.py", label="Go to Start", icon=":material/arrow_back:")
        return False
    if state(open_step) == State.OUT_OF_DATE:
        text = f"**{page.title}** is out of date: something before it has changed."
        link = f"Run {page.title} again"
    else:
        text = f"This page works on the result of **{page.title}**, which is not done yet."
        link = f"Go to {page.title}"
    with st.container(border=True):
        st.markdown(text)
        st.page_link(f"views/{page.view}.py", label=link, icon=":material/arrow_back:")
    return False


def needs_result(step: Step) -> bool:
    """Whether there is a result of this step to look at; else the page says where to make one."""
    if done(step) is not None:
        return True
    if needs(step):
        page = PAGES[step]
        with st.container(border=True):
            st.markdown(f"This page shows the result of **{page.title}**, which is not done yet.")
            st.page_link(
                f"views/{page.view}.py", label=f"Go to {page.title}", icon=":material/arrow_back:"
            )
    return False


def same_settings(step: Step, settings: object) -> bool:
    """Whether the step's result was made with these settings."""
    finished = done(step)
    return finished is not None and finished.settings == settings


def changed_notice(step: Step, settings: object) -> None:
    """On a page whose settings are no longer those of the result that it shows."""
    if state(step) == State.OUT_OF_DATE:
        stale_notice(step)
    elif done(step) is not None and not same_settings(step, settings):
        st.info(
            "The settings on this page are not those that the result below was made with. It stays "
            "as it is until you press the button.",
            icon=":material/history:",
        )


def stale_notice(step: Step) -> None:
    """On a page whose shown result was made from an earlier version of the steps before."""
    if state(step) == State.OUT_OF_DATE:
        st.warning(
            "The result below is out of date: an earlier step has changed since. Run this step "
            "again to bring it up to date.",
            icon=":material/history:",
        )

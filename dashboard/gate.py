"""'This page needs step X first', with the link; and when a shown result is of other settings."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.navigation import page_path, page_step
from dashboard.session import State, analysis, asked, done, first_open, result, state
from smdp.steps import Step


def needs(step: Step) -> bool:
    """Whether what this step works on is done and fresh; else the page says what is missing."""
    if analysis() is None:
        with st.container(border=True):
            st.markdown(
                "No file is loaded yet. **Start** has the ways in: your own file, work that was "
                "kept, a sample study."
            )
            st.page_link("views/start.py", label="Go to Start", icon=":material/arrow_back:")
        return False
    open_step = first_open(step)
    if open_step is None:
        return True
    title = page_title(open_step)
    if state(open_step) == State.OUT_OF_DATE:
        text = f"**{title}** is out of date: something before it has changed."
        link = f"Run {title} again"
    else:
        text = f"This page works on the result of **{title}**, which is not done yet."
        link = f"Go to {title}"
    _link(open_step, text, link)
    return False


def needs_result(step: Step) -> bool:
    """Whether there is a result of this step to look at; else the page says where to make one."""
    if result(step) is not None:
        return True
    if needs(step):
        title = page_title(step)
        text = f"This page shows the result of **{title}**, which is not done yet."
        _link(step, text, f"Go to {title}")
    return False


def page_title(step: Step) -> str:
    page = page_step(step).page
    return page.title if page is not None else step.title


def _link(step: Step, text: str, label: str) -> None:
    with st.container(border=True):
        st.markdown(text)
        st.page_link(page_path(page_step(step)), label=label, icon=":material/arrow_back:")


def same_settings(step: Step, **sections: Any) -> bool:
    """Whether the step's result was made as these sections of the plan say."""
    finished = done(step)
    return finished is not None and finished.asked == step.asked_by(asked(step, **sections).plan)


def changed_notice(step: Step, **sections: Any) -> None:
    """On a page whose settings are no longer those of the result that it shows."""
    if state(step) == State.OUT_OF_DATE:
        stale_notice(step)
    elif done(step) is not None and not same_settings(step, **sections):
        other_settings_notice()


def other_settings_notice() -> None:
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

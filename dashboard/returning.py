"""Coming back by the plain address: the browser remembers which kept work is its own.

Kept work is found by its name, which nobody can guess. The browser keeps the last few names in a
cookie, so that Start can offer that work again, to this browser and to no other on the computer.
"""

from __future__ import annotations

import time

import streamlit as st

from dashboard import autosaving
from dashboard.browser_memory import BETWEEN, COOKIE, MOST, remembering
from dashboard.navigation import last_page
from dashboard.session import Key
from dashboard.show import literal, part
from dashboard.table import loaded
from smdp.analysis.autosave import NAME, Autosaves


def remember_in_browser() -> None:
    """Let the browser keep the name of this session's work."""
    mine = autosaving.present()
    if mine is None or not mine.on or loaded() is None:
        return
    with st.sidebar:
        st.html(remembering(mine.name), unsafe_allow_javascript=True)


def offer() -> None:
    """On Start, as long as nothing is loaded: go on with what this browser worked on before."""
    mine = autosaving.present()
    if mine is None or loaded() is not None:
        return
    named = st.context.cookies.get(COOKIE, "").split(BETWEEN)
    names = [name for name in named if NAME.fullmatch(name)]
    found = [name for name in names if mine.store.saved_at(name) is not None]
    if not found:
        return
    with st.container(border=True):
        part("Go on where you left off")
        st.caption("Kept on this computer, and offered in this browser only.")
        for name in found[:MOST]:
            with st.container(horizontal=True, vertical_alignment="center"):
                if st.button(
                    literal(_title(mine.store, name)),
                    key=f"go-on-{name}",
                    icon=":material/resume:",
                ):
                    _go_on_with(name)
                st.caption(f"last changed {_ago(mine.store.saved_at(name))}")


def _title(store: Autosaves, name: str) -> str:
    return store.table_name(name) or "Kept work"


def _go_on_with(name: str) -> None:
    st.query_params[autosaving.IN_ADDRESS] = name
    del st.session_state[Key.AUTOSAVE]
    autosaving.begin()
    if loaded() is not None:
        st.switch_page(last_page())


def _ago(saved_at: float | None) -> str:
    minutes = 0 if saved_at is None else max(0, time.time() - saved_at) / 60
    if minutes < 1.5:
        return "a moment ago"
    if minutes < 90:
        return f"{round(minutes)} minutes ago"
    return (
        f"{round(minutes / 60)} hours ago" if minutes < 2160 else f"{minutes / 1440:.0f} days ago"
    )

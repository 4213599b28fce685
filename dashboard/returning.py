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
from dashboard.show import errors_as_messages, literal, part
from dashboard.table import loaded
from smdp.analysis.analysis import Analysis
from smdp.analysis.autosave import NAME


def remember_in_browser() -> None:
    """Let the browser keep the name of this session's work."""
    mine = autosaving.present()
    if mine is None or not mine.on or loaded() is None:
        return
    with st.sidebar:
        st.html(remembering(mine.name), unsafe_allow_javascript=True)


def offer() -> None:
    """On Start: go on with what this browser worked on before, and with what was set aside."""
    mine = autosaving.present()
    in_memory: list[Analysis] = st.session_state.get(Key.ASIDE, [])
    kept = _kept_names(mine) if mine is not None else []
    if not (kept or in_memory):
        return
    with st.container(border=True):
        part("Your last works")
        if kept:
            st.caption("Kept on this computer, and offered in this browser only.")
        for number, analysis in enumerate(in_memory):
            now_in_memory = "in memory only, until this page is closed or reloaded"
            _offer(analysis.source.name, f"aside-{number}", now_in_memory, analysis)
        for name in kept:
            assert mine is not None
            title = mine.store.table_name(name) or "Kept work"
            ago = _ago(mine.store.saved_at(name))
            _offer(title, f"go-on-{name}", f"last changed {ago}", name)


def _kept_names(mine: autosaving.Autosave) -> list[str]:
    """Left in this session, then those that the browser knew when its page was opened."""
    named = [*mine.left, *st.context.cookies.get(COOKIE, "").split(BETWEEN)]
    others = (n for n in dict.fromkeys(named) if NAME.fullmatch(n) and n != mine.name)
    return [name for name in others if mine.store.saved_at(name) is not None][:MOST]


def _offer(title: str, key: str, about: str, kept: str | Analysis) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(literal(title), key=key, icon=":material/resume:")
        st.caption(about)
    if pressed:
        with errors_as_messages(), st.spinner("Opening it …"):
            autosaving.go_on_with(kept)
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

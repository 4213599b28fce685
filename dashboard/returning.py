"""Coming back by the plain address: Start offers what was worked on in this browser.

A browser is known by a cookie that no script can read. Beside kept work lies a mark of the browser
that it was last worked on in, so that it is offered there and in no other.
"""

from __future__ import annotations

import contextlib
import time

import streamlit as st

from dashboard import autosaving
from dashboard.address import go_to
from dashboard.entering import BROWSER, browser_mark
from dashboard.navigation import last_page
from dashboard.session import Key
from dashboard.show import errors_as_messages, literal, part
from dashboard.table import loaded
from smdp.analysis.analysis import Analysis
from smdp.errors import SmdpError

MOST = 6


def remember_browser() -> None:
    """Let this session's work be offered again in this browser."""
    mine = autosaving.present()
    browser = _browser()
    if mine is None or not mine.on or loaded() is None or not browser:
        return
    if mine.known_to != (mine.name, browser):
        mine.known_to = (mine.name, browser)
        with contextlib.suppress(SmdpError, OSError):
            mine.store.mark_browser(mine.name, browser)


def _browser() -> str:
    """Its mark; "" where there is no browser."""
    known = st.context.cookies.get(BROWSER, "")
    return browser_mark(known) if isinstance(known, str) else ""


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
    """Left in this session, then what this browser worked on before."""
    named = dict.fromkeys((*mine.left, *mine.store.of_browser(_browser())))
    others = (name for name in named if name != mine.name)
    return [name for name in others if mine.store.saved_at(name) is not None][:MOST]


def _offer(title: str, key: str, about: str, kept: str | Analysis) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(literal(title), key=key, icon=":material/resume:")
        st.caption(about)
    if pressed:
        with errors_as_messages(), st.spinner("Opening it …"):
            autosaving.go_on_with(kept)
            go_to(last_page())


def _ago(saved_at: float | None) -> str:
    minutes = 0 if saved_at is None else max(0, time.time() - saved_at) / 60
    if minutes < 1.5:
        return "a moment ago"
    if minutes < 90:
        return f"{round(minutes)} minutes ago"
    return (
        f"{round(minutes / 60)} hours ago" if minutes < 2160 else f"{minutes / 1440:.0f} days ago"
    )

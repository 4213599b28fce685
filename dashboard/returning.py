"""Coming back by the plain address: Start offers what was worked on in this browser.

A browser is known by a cookie that no script can read. Beside kept work lies a mark of the browser
that it was last worked on in, so that it is offered there and in no other.
"""

from __future__ import annotations

import contextlib
import time

import streamlit as st

from dashboard import autosaving
from dashboard.entering import BROWSER, browser_mark
from dashboard.navigation import last_page
from dashboard.session import Key
from dashboard.show import literal, part
from dashboard.table import loaded
from smdp.analysis.autosave import Autosaves
from smdp.errors import SmdpError

MOST = 3


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
    """On Start, as long as nothing is loaded: go on with what this browser worked on before."""
    mine = autosaving.present()
    if mine is None or loaded() is not None:
        return
    found = mine.store.of_browser(_browser())[:MOST]
    if not found:
        return
    with st.container(border=True):
        part("Go on where you left off")
        st.caption("Kept on this computer, and offered in this browser only.")
        for name in found:
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

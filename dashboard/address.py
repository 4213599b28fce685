"""The page's address names the session's work (`?work=...`), so that a reloaded page finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from dashboard.session import Key
from dashboard.table import loaded

if TYPE_CHECKING:
    from dashboard.autosaving import Autosave

IN_ADDRESS, OFF = "work", "off"


def name_in_address() -> None:
    wanted = _wanted()
    if wanted is not None and st.query_params.get(IN_ADDRESS, "") != wanted:
        if wanted:
            st.query_params[IN_ADDRESS] = wanted
        else:
            st.query_params.pop(IN_ADDRESS, None)


def go_to(page: Any) -> NoReturn:
    """Another page, with the name in its address from the start.

    Put there afterwards, it would be one more address to the browser, and one more press of Back.
    """
    wanted = _wanted()
    st.switch_page(page, query_params={IN_ADDRESS: wanted} if wanted else {})


def _wanted() -> str | None:
    """None where nothing is ever kept."""
    mine: Autosave | None = st.session_state.get(Key.AUTOSAVE)
    if mine is None:
        return None
    return OFF if not mine.on else mine.name if loaded() is not None else ""

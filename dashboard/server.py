"""The server of the dashboard: its script behind the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from dashboard.browser_window import browser_window
from dashboard.guard import Guard
from dashboard.lasting_files import lasting_files
from smdp.commands.entrance import handed_over
from smdp.system import sweep_once

entrance = handed_over()


@asynccontextmanager
async def as_long_as_it_runs(app: st.App) -> AsyncIterator[None]:
    sweep_once()  # what an earlier start that was killed has left
    async with lasting_files(app):
        with browser_window(entrance, st.get_option("server.port")):
            yield


def said_in_our_words(error: Exception) -> bool:
    from dashboard.faults import say_fault  # not before the first page is asked for

    return say_fault(error)


app = st.App(
    "app.py",
    middleware=[Middleware(Guard, entrance=entrance)],
    lifespan=as_long_as_it_runs,
    on_script_error=said_in_our_words,
)

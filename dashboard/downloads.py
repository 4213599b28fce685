"""Files that are made when their button is clicked, and a message where that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from dashboard.session import Key, memo
from dashboard.show import say_error
from smdp.errors import SmdpError
from smdp.progress import Cancelled

CHECK_EVERY_SECONDS = 1.0


@contextmanager
def explained(file_name: str) -> Iterator[None]:
    """Whatever goes wrong in making a file becomes an error for people."""
    try:
        yield
    except (SmdpError, Cancelled):
        raise
    except Exception as error:
        raise SmdpError(
            f"The file '{file_name}' could not be made ({type(error).__name__}).",
            "Nothing already done is lost. Try again; if it fails again, this is a fault of the "
            "program that we would like to hear of.",
        ) from error


def download(
    label: str,
    make: Callable[[], str | bytes],
    *,
    file_name: str,
    mime: str,
    icon: str,
    key: str,
    kind: Literal["primary", "secondary"] = "secondary",
    help_text: str | None = None,
) -> None:
    """A button that makes the file and takes it; below it, `say_failures` says what went wrong."""
    failed = _failed()

    def made() -> str | bytes:
        failed.pop(key, None)
        try:
            with explained(file_name):
                return make()
        except SmdpError as error:
            failed[key] = error
            raise

    st.download_button(
        label,
        made,
        file_name=file_name,
        mime=mime,
        icon=icon,
        key=key,
        type=kind,
        help=help_text,
        on_click="ignore",
    )


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def say_failures(*keys: str) -> None:
    """Why the files of these buttons could not be made: that is found out outside of the script."""
    failed = _failed()
    for key in keys:
        if key in failed:
            say_error(failed[key])


def _failed() -> dict[str, SmdpError]:
    """By button, of this visit of the page."""
    visit = st.session_state.get(Key.VISIT, ("", 0))
    return memo("failed downloads", visit, dict[str, SmdpError])

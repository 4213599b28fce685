"""What a page says where the program itself is at fault, in place of Streamlit's own words."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard import session
from dashboard.session import Key
from dashboard.work import NOTE
from smdp.errors import SmdpError

logger = logging.getLogger("smdp")


@contextmanager
def without_unfit_choices() -> Iterator[None]:
    """A page that cannot be shown with the choices of a file is shown without them."""
    try:
        yield
    except Exception as error:
        own = session.analysis()
        if not st.session_state.pop(Key.CHOICES_OPENED, False) or own is None:
            raise
        logger.warning("The choices of a file were left out.", exc_info=error)
        session.forget_choices()
        for step, text in own.plan.notes.items():
            session.keep(f"{NOTE}{step}", text)
        session.start_visit_anew()
        session.tell(
            "The file's choices for the pages do not fit this program and were left out: the "
            "controls show what its plan says. Its results are as they were."
        )
        st.rerun()


def say_fault(error: Exception) -> bool:
    """Whether it was said; how it came to be is in the log."""
    from dashboard.show import say_error

    logger.error("A page could not be shown.", exc_info=error)
    say_error(
        SmdpError(
            f"This page could not be shown ({type(error).__name__}).",
            "Nothing already done is lost, and the other pages are there. If you opened a file of "
            "somebody else, it may not be what it says; 'Forget everything' begins anew. If it "
            "happens with work of your own, this is a fault of the program that we would like to "
            "hear of.",
        )
    )
    return True

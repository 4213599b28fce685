"""History: what was changed when, and the way back to any of it."""

from __future__ import annotations

import streamlit as st

from dashboard.history import WHILE_RUNNING, back_to, buttons, past, time_words
from dashboard.running import jobs
from dashboard.show import heading, literal
from smdp.analysis.history import MOST_TURNS
from smdp.text import listing

heading("History", "What was changed when, and how do you get back to it?")
mine = past()
if mine is None:
    with st.container(border=True):
        st.markdown(
            "Nothing has been done yet. From the first file on, every change of roles and "
            "settings that was put to use, and every result, is listed here; each line has a way "
            "back to it."
        )
        st.page_link("views/start.py", label="Go to Start", icon=":material/arrow_back:")
    st.stop()

history = mine.history
with st.container(horizontal=True):
    buttons("page")
running = [job.asked.title for job in jobs().values() if job.active and job.of_analysis]
if running:
    st.info(f"{literal(listing(running, 20))}: {WHILE_RUNNING}", icon=":material/hourglass_top:")
undone = set(history.ahead)
for turn in reversed(history.turns):
    time, text, way = st.columns((1.1, 6, 1.4), vertical_alignment="center")
    time.caption(time_words(turn.at))
    others = turn.said[1:] if not turn.back else ()
    first = literal(turn.headline)
    if turn.number in undone:
        first, others = f":gray[{first}]", ("undone", *others)
    small = [f":small[:gray[{literal(line)}]]" for line in others]
    text.markdown("  \n".join((first, *small)))
    with way:
        if turn.number == history.at:
            st.badge("Now", icon=":material/location_on:", color="blue")
        elif st.button(
            "Back to this",
            key=f"history.back {turn.number}",
            type="tertiary",
            icon=":material/restore:",
            help="Plan, roles, results and the controls of the pages as they were then. It can be "
            "undone.",
        ):
            back_to(turn)
st.caption(
    f"The last {MOST_TURNS} changes are kept, with this work. Your notes, the locked plan and "
    "simulations stay as they are when you go back. A file without its data has no history, and no "
    "report has one."
)

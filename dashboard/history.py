"""The history of the session's analysis: noted at the end of each run of a page, and gone back in.

Whatever changed the analysis, a button or a job that ended, is noted in one place, by comparing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard import session
from dashboard.paper_or_default import KEPT as PAPER
from dashboard.paper_or_default import asked_for_the_paper
from dashboard.running import jobs
from dashboard.session import Key
from dashboard.show import literal
from dashboard.table import NOT_CHOSEN, LoadedTable, loaded
from smdp.analysis.analysis import Analysis
from smdp.analysis.history import (
    AnalysisHistory,
    Turn,
    history_from_plain,
    history_to_plain,
    results_from_plain,
)
from smdp.text import capital, listing


@dataclass
class Past:
    """A session's history. `noted`: the analysis as it was last looked at. `tables`: those that it
    was of, by fingerprint. `left`: what was chosen on the pages at a turn that was gone back from.
    `offered`: the turn that each button was last drawn for. `toast`: to be said on the next page.
    """

    history: AnalysisHistory
    noted: Analysis | None = None
    tables: dict[str, LoadedTable] = field(default_factory=dict)
    left: dict[int, dict[str, Any]] = field(default_factory=dict)
    offered: dict[str, int | None] = field(default_factory=dict)
    toast: str = ""


def past() -> Past | None:
    """None before a table is loaded."""
    found: Past | None = st.session_state.get(Key.HISTORY)
    return found


def note() -> None:
    """Another turn where the analysis has changed since the last look."""
    own, table = session.analysis(), loaded()
    if own is None or table is None:
        return
    mine = past()
    if mine is None:
        mine = st.session_state[Key.HISTORY] = Past(AnalysisHistory.begin(_with_way(own)))
    elif mine.noted is not own:
        if mine.noted is not None and mine.noted.plan.roles == NOT_CHOSEN:
            # What was prepared on Data is in no plan yet: undone, it is there to be used again.
            mine.left[mine.history.at] = session.choices_of_steps()
        mine.history = mine.history.changed(_with_way(own))
    mine.noted = own
    mine.tables[own.source.fingerprint] = table
    there = {turn.number for turn in mine.history.turns}
    mine.left = {number: chosen for number, chosen in mine.left.items() if number in there}


def take_in() -> None:
    """What a page has just made without being asked is no turn: it is part of the present one."""
    own, mine = session.analysis(), past()
    if own is not None and mine is not None:
        mine.history, mine.noted = mine.history.with_more(_with_way(own)), own


def _with_way(own: Analysis) -> Analysis:
    """With what was chosen for the whole analysis, and the plan does not say."""
    return replace(own, choices={PAPER: asked_for_the_paper()})


def mark() -> tuple[Any, ...]:
    """What changes with it."""
    mine = past()
    if mine is None:
        return ()
    return (mine.history.at, mine.history.ahead, len(mine.history.turns))


# Saved and opened with the analysis.


def to_save(own: Analysis) -> dict[str, Any] | None:
    mine = past()
    return None if mine is None else history_to_plain(mine.history, session.known(), own)


def opened(saved: Any, own: Analysis) -> None:
    """Go on with the history that a file holds; where it has none, one begins."""
    for record, result in results_from_plain(saved):
        session.remember_result(record, result)
    session.known().let_go(own)
    history = history_from_plain(saved, own)
    if history is not None:
        st.session_state[Key.HISTORY] = Past(history)


# Going back and forward.


def buttons(place: str) -> None:
    """Undo and redo, each saying what it would do."""
    mine = past()
    if mine is None:
        return
    history = mine.history
    redone = history.redone
    _button(place, "Undo", "Undone", history.undone, history.present)
    _button(place, "Redo", "Redone", redone, redone.present if redone else None)


def _button(
    place: str, label: str, done: str, after: AnalysisHistory | None, turn: Turn | None
) -> None:
    mine, key = past(), f"history.{label} {place}"
    assert mine is not None
    offered = mine.offered.get(key)
    mine.offered[key] = turn.number if turn is not None else None
    told = f"{label} “{literal(turn.headline)}”" if turn is not None and after else ""
    pressed = st.button(
        label,
        icon=f":material/{label.lower()}:",
        type="tertiary" if place == "sidebar" else "secondary",
        disabled=after is None,
        help=told or f"Nothing to {label.lower()}.",
        key=key,
    )
    if not pressed or after is None or turn is None:
        return
    if offered == turn.number:
        _go(after, f"{done}: “{turn.headline}”")
    else:  # a job ended since the button was drawn
        st.toast(literal(f"Nothing was changed. New: “{mine.history.present.headline}”"))


def back_to(turn: Turn) -> None:
    mine = past()
    assert mine is not None
    after = mine.history.back_to(turn.number)
    _go(after, after.present.headline)


def _go(after: AnalysisHistory, said: str) -> None:
    """The analysis as it was then, and the pages as it says."""
    mine, present = past(), session.the_analysis()
    assert mine is not None
    mine.left[mine.history.at] = session.choices_of_steps()
    with st.spinner("Going there …"):
        brought = after.brought_back(session.known(), present)
    way = {PAPER: bool(after.present.state.choices.get(PAPER, False))}
    session.put_choices_of_steps(mine.left.get(after.at, way))
    fingerprint = brought.analysis.source.fingerprint
    st.session_state[Key.TABLE] = mine.tables.get(fingerprint, st.session_state[Key.TABLE])
    session.put(brought.analysis)
    mine.history, mine.noted, mine.toast = after, brought.analysis, said
    session.start_controls_anew()
    if brought.lost:
        titles = capital(listing([step.title for step in brought.lost], 20))
        session.tell(
            f"{titles}: no longer in memory. The settings are as they were; press the button on "
            "the page, and the same comes out again."
        )
    running = [job.asked.title for job in jobs().values() if job.active and job.of_analysis]
    if running:
        session.tell(f"{listing(running, 20)}: {WHILE_RUNNING}")
    st.rerun()


WHILE_RUNNING = (
    "still running; going back does not stop it. Where the data are those that it was asked of, "
    "its result comes in. Where they are others, a result that is up to date stays, and this one "
    "is kept for when you are back with its data."
)


def toast() -> None:
    """Say, on the page that is shown after it, that one went back."""
    mine = past()
    if mine is not None and mine.toast:
        st.toast(literal(mine.toast), icon=":material/history:")
        mine.toast = ""


# Words.


def time_words(at: str, now: datetime | None = None) -> str:
    """'14:03', 'yesterday 14:03', '3 May, 14:03', in the reader's own time."""
    zone = _zone()
    then = datetime.fromisoformat(at).astimezone(zone)
    today = (now or datetime.now(UTC)).astimezone(zone).date()
    days, clock = (today - then.date()).days, f"{then:%H:%M}"
    if days == 0:
        return clock
    return f"yesterday {clock}" if days == 1 else f"{then.day} {then:%b}, {clock}"


def _zone() -> tzinfo:
    name = st.context.timezone
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):
        return UTC

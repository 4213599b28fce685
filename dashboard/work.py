"""The session's work as an analysis that can be saved, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import history, session
from dashboard.policy_choice import CHOICE
from dashboard.session import Key
from dashboard.table import LoadedTable, loaded, sheets_of
from smdp.analysis.analysis import Analysis
from smdp.analysis.provenance import StepRecord
from smdp.plain_data import fingerprint, to_plain
from smdp.steps import step_named, steps

NOTE = "note."
KEPT, LEARNED, HISTORY = "controls", "learned from", "history"
#: Under which format 1 kept the choices; its controls of steps had other names.
KEPT_IN_FORMAT_1, CHOICE_IN_FORMAT_1 = "kept", "policy.model"


def current_analysis() -> Analysis | None:
    """Everything so far, with the author's notes; None before a table is loaded."""
    own = session.analysis()
    if own is None or loaded() is None:
        return None
    return replace(own.with_plan(notes=notes(), stop_after=_stop_after(own)), choices=_choices(own))


def _stop_after(own: Analysis) -> str | None:
    """A plan prepares the data to the end unless it is told where to stop."""
    for name in ("rescaling", "missing"):
        if name in own.results:
            return None if name == "rescaling" else name
    return "data"


def notes() -> dict[str, str]:
    """What the author wrote on each step."""
    kept: dict[str, Any] = st.session_state.get(Key.KEPT, {})
    found = {name: text for name, text in kept.items() if name.startswith(NOTE)}
    return {name.removeprefix(NOTE): text for name, text in found.items() if text.strip()}


def learned_from() -> Any:
    """The prepared data that the present policies were learned from; None if they are gone."""
    own, learned = session.analysis(), session.done("policy")
    if own is None or learned is None:
        return None
    wanted = learned.inputs.get("trajectories")
    made = own.records.get("rescaling")
    if made is not None and made.output == wanted:
        return own.prepared
    earlier = (known for known in session.known_results("rescaling"))
    return next((known.result for known in earlier if known.record.output == wanted), None)


def _choices(own: Analysis) -> dict[str, Any]:
    """What the pages want to find again."""
    found: dict[str, Any] = {KEPT: _kept_choices()}
    prepared = learned_from()
    if prepared is not None and prepared is not own.prepared:
        record = next(k.record for k in session.known_results("rescaling") if k.result is prepared)
        found[LEARNED] = (record, prepared)
    past = history.to_save(own)
    return found if past is None else {**found, HISTORY: past}


def choices_so_far() -> str:
    """A digest of what was chosen on the pages."""
    return fingerprint(_kept_choices())


def _kept_choices() -> dict[str, Any]:
    kept: dict[str, Any] = st.session_state.get(Key.KEPT, {})
    return {name: value for name, value in kept.items() if _is_plain(value)}


def _is_plain(value: object) -> bool:
    try:
        to_plain(value, {})
    except (TypeError, ValueError):
        return False
    return True


def _choices_of(analysis: Analysis) -> dict[str, Any]:
    """By the names of the controls; those of steps start from the plan where a file is older."""
    found = analysis.choices.get(KEPT)
    if found is not None:
        return _named(found)
    earlier = _named(analysis.choices.get(KEPT_IN_FORMAT_1, {}))
    if CHOICE_IN_FORMAT_1 in earlier:
        earlier[CHOICE] = earlier[CHOICE_IN_FORMAT_1]
    of_steps = tuple(f"{step.name}." for step in steps())
    return {name: value for name, value in earlier.items() if not name.startswith(of_steps)}


def _named(found: object) -> dict[str, Any]:
    """Choices by their names, and notes that are texts; a file may hold anything."""
    every = found.items() if isinstance(found, dict) else ()
    named = {name: value for name, value in every if isinstance(name, str)}
    return {n: v for n, v in named.items() if isinstance(v, str) or not n.startswith(NOTE)}


def put_into_session(analysis: Analysis, workbook: bytes = b"") -> None:
    """Open an analysis with its table in place of whatever the session holds.

    `workbook`: the file that the table was read from just now, if it was.
    """
    assert analysis.table is not None
    frame = analysis.table
    frame.attrs.setdefault("fingerprint", analysis.source.fingerprint)
    session.forget_results()
    name, sheet = analysis.source.name, analysis.plan.reading.sheet
    table = LoadedTable(name, workbook, sheet, sheets_of(name, workbook), frame)
    st.session_state[Key.TABLE] = table
    session.forget_choices()
    for name, value in _choices_of(analysis).items():
        session.keep(name, value)
    for step, text in analysis.plan.notes.items():
        session.keep(f"{NOTE}{step}", text)
    earlier = analysis.choices.get(LEARNED)
    if isinstance(earlier, tuple) and [type(each) for each in earlier] == [
        StepRecord,
        step_named("rescaling").result_type(),
    ]:
        session.remember_result(*earlier)
    st.session_state[Key.CHOICES_OPENED] = bool(analysis.choices)
    session.put(replace(analysis, choices={}))
    history.opened(analysis.choices.get(HISTORY), session.the_analysis())
    session.start_visit_anew()

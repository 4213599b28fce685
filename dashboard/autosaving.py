"""The session's work kept on this computer, so that a reloaded page finds it again.

The page's address names it (`?work=...`); each session has a name of its own, so that two tabs
never write the same file. Written in a thread, the newest state only.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard import history, session
from dashboard.address import IN_ADDRESS, OFF
from dashboard.running import adopt, jobs
from dashboard.session import Key
from dashboard.table import loaded
from dashboard.work import choices_so_far, current_analysis, notes, put_into_session
from smdp.analysis.analysis import Analysis
from smdp.analysis.autosave import NAME, Autosaves, autosave_folder
from smdp.analysis.open_mark import OpenMark
from smdp.errors import SettingError, SmdpError

#: A larger table is written with each result and each started job, not with each choice.
CELLS_WRITTEN_OFTEN = 1_000_000
#: Works of a session that are not kept on this computer.
MOST_IN_MEMORY = 5
#: Which session writes which autosave, in this server.
_owners: dict[str, str] = {}


@dataclass
class Autosave:
    """One session's autosave: `key` tells what was last handed over to be written."""

    store: Autosaves
    on: bool = True
    name: str = field(default_factory=lambda: secrets.token_hex(16))
    key: Any = None
    problem: str = ""
    running: tuple[str, ...] = ()  # the steps that are being worked out, as was last written
    left: tuple[str, ...] = ()  # earlier works of this session, the latest first
    copied_from: str = ""  # of a tab that was open when this one began with a copy of its work
    mark: OpenMark | None = None  # goes with the session
    known_to: tuple[str, str] = ("", "")  # the name and the browser, as was last written
    _waiting: Analysis | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def save(self, analysis: Analysis) -> None:
        with self._lock:
            self._waiting = analysis
        threading.Thread(target=self._write).start()

    def _write(self) -> None:
        with self._writing:
            with self._lock:
                analysis, self._waiting = self._waiting, None
            if analysis is None or not self.on:
                return  # a newer state was written instead, or nothing is wanted any more
            try:
                self.store.save(self.name, analysis)
                self.problem = ""
            except (SmdpError, OSError, TypeError, ValueError) as error:
                self.problem = getattr(error, "problem", "") or str(error)
                self.key = None  # so that the next run of the page tries again

    def save_now(self, analysis: Analysis, running: Sequence[str]) -> bool:
        """Write it before anything else happens; whether that could be done."""
        with self._writing:
            self._waiting = None
            try:
                self.store.save(self.name, analysis)
                self.store.mark_running(self.name, running)
            except (SmdpError, OSError, TypeError, ValueError):
                return False
        return True

    def stay_open(self) -> None:
        """Let nobody tidy the work away as long as the session lasts."""
        if self.mark is None or self.mark.path.stem != self.name:
            self.mark = self.store.hold(self.name)

    def forget(self) -> None:
        """Delete what was written, and write no more."""
        self.on = False
        self.mark, self.known_to = None, ("", "")
        with self._writing:
            self.store.forget(self.name)
        _owners.pop(self.name, None)


def begin() -> None:
    """At the start of a session: find the work that the page's address names."""
    folder = autosave_folder()
    if Key.AUTOSAVE in st.session_state or folder is None:
        return
    mine = Autosave(Autosaves(folder))
    st.session_state[Key.AUTOSAVE] = mine
    named = st.query_params.get(IN_ADDRESS, "")
    if named == OFF:
        mine.on = False
    elif NAME.fullmatch(named):
        held = mine.store.hold(named) if mine.store.saved_at(named) is not None else None
        try:
            analysis = mine.store.load(named)
        except SmdpError as error:
            mine.problem = f"The work kept on this computer could not be opened. {error.problem}"
            return
        if analysis is not None and analysis.table is not None:
            _take(mine, named, analysis, held)
    elif not folder.exists():
        return
    mine.store.tidy()


def _take(mine: Autosave, named: str, analysis: Analysis, held: OpenMark | None) -> None:
    """Go on with kept work, under its own name unless another page has it open."""
    put_into_session(analysis)
    before = _owners.get(named)
    if _in_use(named):
        mine.copied_from = named
    else:
        mine.name, mine.mark = named, held
        mine.running = mine.store.was_running(named)
        adopt(before, mine.running)
        mine.key = _worth_writing()


def keep_work() -> None:
    """At the end of a run: write what is new, and name it in the page's address."""
    mine = present()
    if mine is None or loaded() is None or not mine.on:
        return
    own = _session_id()
    if _owners.setdefault(mine.name, own) != own:  # taken over by a later session
        mine.name, mine.key = secrets.token_hex(16), None
        _owners[mine.name] = own
    mine.stay_open()
    _keep_what_is_running(mine)
    content = _worth_writing()
    if content != mine.key:
        analysis = current_analysis()
        if analysis is not None:
            mine.key = content
            mine.save(analysis)


def _keep_what_is_running(mine: Autosave) -> None:
    running = tuple(name for name, job in jobs().items() if job.active)
    if running != mine.running:
        mine.running = running
        with contextlib.suppress(SmdpError, OSError):
            mine.store.mark_running(mine.name, running)


def present() -> Autosave | None:
    """This session's autosave; None where they are switched off for the whole program."""
    mine: Autosave | None = st.session_state.get(Key.AUTOSAVE)
    return mine


def switch(on: bool) -> None:
    mine = present()
    if mine is None or mine.on == on:
        return
    if on:
        mine.on, mine.key = True, None
    else:
        mine.forget()


def set_aside() -> None:
    """Before another work takes its place: keep this one as it is, for Start to offer it again.

    On this computer, or in memory where that is not wanted or not possible. What is being worked
    out is stopped, and said to have been when the work is opened again.
    """
    mine, analysis = present(), current_analysis()
    if analysis is None:
        return
    running = tuple(name for name, job in jobs().items() if job.active and job.of_analysis)
    if mine is None or not mine.on or not mine.save_now(analysis, running):
        before: list[Analysis] = st.session_state.get(Key.ASIDE, [])
        st.session_state[Key.ASIDE] = [analysis, *before][:MOST_IN_MEMORY]
    elif mine.name not in mine.left:
        mine.left = (mine.name, *mine.left)
    if mine is not None:
        _owners.pop(mine.name, None)
        st.session_state[Key.AUTOSAVE] = Autosave(mine.store, on=mine.on, left=mine.left)


def go_on_with(kept: str | Analysis) -> None:
    """Open an earlier work: one of that name, or one that was set aside in memory."""
    mine = present()
    if isinstance(kept, str) and mine is not None:
        held, analysis = mine.store.hold(kept), mine.store.load(kept)
        if analysis is None or analysis.table is None:
            raise SettingError("This work is no longer kept on this computer.", "Load its file.")
        set_aside()
        left = tuple(name for name in st.session_state[Key.AUTOSAVE].left if name != kept)
        st.session_state[Key.AUTOSAVE] = now = Autosave(mine.store, left=left)
        _take(now, kept, analysis, held)
    elif isinstance(kept, Analysis):
        set_aside()
        others = [each for each in st.session_state[Key.ASIDE] if each is not kept]
        st.session_state[Key.ASIDE] = others
        put_into_session(kept)


def forget_everything() -> None:
    """The session's works, and what was kept of them on this computer."""
    mine = present()
    was_on = mine is not None and mine.on
    if mine is not None:
        for name in mine.left:
            if name != mine.name and not _in_use(name):
                mine.store.forget(name)
        mine.forget()
        if mine.copied_from and not _in_use(mine.copied_from):
            mine.store.forget(mine.copied_from)
    session.forget_everything()
    if mine is not None:
        st.session_state[Key.AUTOSAVE] = Autosave(mine.store, on=was_on)
        st.query_params.pop(IN_ADDRESS, None)


def _worth_writing() -> tuple[Any, ...]:
    """What is written anew when it changes: a reloaded page is to show what was chosen, too."""
    started = tuple(job.number for job in jobs().values() if job.active)
    table = loaded()
    often = table is not None and table.frame.size <= CELLS_WRITTEN_OFTEN
    return (work_so_far(), started, history.mark(), choices_so_far() if often else "")


def work_so_far() -> tuple[Any, ...]:
    """What was done and written, apart from choices that nothing was made with yet."""
    table = loaded()
    own = session.analysis()
    records = own.records.values() if own is not None else ()
    made = tuple((record.step, record.finished, record.output) for record in records)
    held: tuple[Any, ...] = ()
    if own is not None:
        held = (own.plan, own.outcome_hidden, own.locked and own.locked.fingerprint)
    titles = (session.kept("report.title", ""), session.kept("report.author", ""))
    return (table and table.token, made, tuple(sorted(notes().items())), titles, held)


def _session_id() -> str:
    context = st.runtime.scriptrunner.get_script_run_ctx()
    return context.session_id if context is not None else ""


def _in_use(name: str) -> bool:
    """Whether another session, with its page still open, writes it; else this one takes it over."""
    owner = _owners.get(name)
    others = owner is not None and owner != _session_id() and st.runtime.exists()
    if others and st.runtime.get_instance().is_active_session(str(owner)):
        return True
    _owners[name] = _session_id()
    return False

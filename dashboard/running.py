"""Long steps on the pages: start them, show where they are, cancel them, take their results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.jobs import Job, JobState, ended_with_the_program, start
from dashboard.session import Key
from dashboard.show import literal, say_error
from smdp.analysis.analysis import Analysis
from smdp.analysis.step_request import StepRequest
from smdp.errors import SettingError
from smdp.progress import Message
from smdp.steps import Step, steps
from smdp.text import duration
from smdp.worker import Request

CHECK_EVERY_SECONDS = 0.5
MOST_MILESTONES = 10
SESSIONS_REMEMBERED = 50

#: What the worker has said so far -> lines worth showing.
Milestones = Callable[[Sequence[Message]], list[str]]

#: By session: a reloaded page is a new session, and finds its jobs here.
_of_session: dict[str, dict[str, Job]] = {}


@dataclass(frozen=True, eq=False)
class AskedStep:
    """A step of an analysis that a worker does."""

    step: Step
    analysis: Analysis  # as it was when the step was asked for
    sections: Mapping[str, Any]
    then: tuple[Step, ...] = ()  # what was asked for with it, to be done after it

    @property
    def title(self) -> str:
        return self.step.title

    def has_earlier_result(self) -> bool:
        return session.result(self.step) is not None

    def summary(self, result: Any) -> str:
        return self.step.summary(result, self.analysis)

    def take(self, job: Job) -> bool:
        """The result goes into the present analysis, with the record of what it was made from.

        Not in place of one that is up to date, if it was made from other data: somebody went back
        in the history meanwhile. Then it is remembered.
        """
        made = self.analysis.with_result(self.step, job.result, seconds=job.seconds)
        record, now = made.records[self.step.name], session.the_analysis()
        # Where the present plan, of another table, say, cannot have the step, it is out of date.
        with contextlib.suppress(SettingError):
            now = replace(now, plan=now.plan.adjusted(**self.sections))
        if session.is_done(self.step) and record.inputs != now.inputs(self.step):
            session.remember_result(record, job.result)
            session.tell(
                f"{self.title} has ended ({literal(record.summary)}), but was asked of other data "
                "than those here now. The result that is here stays; that one is there at once "
                "when it is asked for again with the data as they were."
            )
            return False
        session.put(now.with_record(record, job.result))
        return True

    def go_on(self, job: Job) -> None:
        """Start what comes next, unless this was stopped before its end."""
        if self.then and not job.stopped_early and session.is_done(self.step):
            _do(self.then, self.sections)


@dataclass(frozen=True, eq=False)
class AskedSimulation:
    """A simulation that a worker does; it needs no table."""

    name: str
    title: str
    settings: Any
    summary: Callable[[Any], str]

    def has_earlier_result(self) -> bool:
        return session.simulated(self.name) is not None

    def take(self, job: Job) -> bool:
        found = session.Simulated(self.settings, job.result, job.stopped_early)
        session.put_simulated(self.name, found)
        return True

    def go_on(self, job: Job) -> None:
        """Nothing comes after it."""


def jobs() -> dict[str, Job]:
    """This session's, by the name of what they do."""
    if Key.JOBS not in st.session_state:
        st.session_state[Key.JOBS] = {}
    running: dict[str, Job] = st.session_state[Key.JOBS]
    return running


def _add(name: str, job: Job) -> None:
    jobs()[name] = job
    _of_session[_session_id()] = jobs()
    for oldest in list(_of_session)[:-SESSIONS_REMEMBERED]:
        del _of_session[oldest]


def _session_id() -> str:
    context = st.runtime.scriptrunner.get_script_run_ctx()
    return context.session_id if context is not None else ""


def adopt(session_id: str | None, were_running: Sequence[str]) -> None:
    """Take over the jobs of the session whose work this one goes on with.

    Of steps that were running and whose job nobody has any more, it is remembered that they were.
    """
    left = _of_session.pop(session_id or "", {})
    own = _session_id()
    for name, job in left.items():
        job.session = own
        _add(name, job)
    for step in steps():
        if step.name in were_running and step.name not in left and session.done(step) is None:
            _add(step.name, ended_with_the_program(step))


def run_or_start(*wanted: Step, **sections: Any) -> None:
    """Take the result from this session's earlier ones, or start a worker for it.

    Of several steps, one after the other. `sections`: what the plan is to say of them.
    """
    _do(wanted, sections)
    st.rerun()


def _do(todo: Sequence[Step], sections: Mapping[str, Any]) -> None:
    for place, step in enumerate(todo):
        wanted = session.asked(step, **sections)
        if not session.recall(step, wanted):
            _start(
                step.name,
                StepRequest.of(wanted, step),
                AskedStep(step, wanted, sections, tuple(todo[place + 1 :])),
                keeps=step.keeps(wanted.plan),
            )
            return
        jobs().pop(step.name, None)


def start_simulation(
    name: str, title: str, request: Request, settings: Any, summary: Callable[[Any], str]
) -> None:
    """Start a worker that simulates; what is finished is kept when it is stopped."""
    job = _start(name, request, AskedSimulation(name, title, settings, summary), keeps=True)
    job.of_analysis = False
    st.rerun()


def _start(name: str, request: Request, asked: Any, *, keeps: bool) -> Job:
    if name in jobs():
        jobs()[name].end()
    job = start(request, asked, keeps_what_is_finished=keeps)
    _add(name, job)
    return job


def collect() -> None:
    """Record what finished since the last run of the page.

    What was finished when a job was stopped replaces no earlier result unless the user says so.
    """
    for name, job in list(jobs().items()):
        if job.state == JobState.DONE:
            if job.stopped_early and job.asked.has_earlier_result():
                job.state = JobState.CANCELLED
            else:
                _take(name, job)
                # Seen on any page, and read aloud, which the bars of the pages are not.
                summary = literal(job.asked.summary(job.result))
                st.toast(f"{job.asked.title}: {summary}", icon=":material/check:")


def _take(name: str, job: Job) -> None:
    taken = job.asked.take(job)
    del jobs()[name]
    if taken:
        job.asked.go_on(job)


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def watch() -> None:
    """In the sidebar of every page: what runs, how far it is, and a way to stop it."""
    for name, job in jobs().items():
        if job.state != job.shown:
            job.shown = job.state
            st.rerun()
        if job.active:
            with st.container(horizontal=True, vertical_alignment="center", wrap=False):
                st.progress(
                    min(job.share, 1.0),
                    f"{job.asked.title}: {_where_it_is(job)}",
                    width="stretch",
                )
                stop = st.button(
                    "Stop at once" if job.stopping else "Cancel",
                    key=f"cancel-{name}",
                    icon=":material/stop:",
                    type="tertiary",
                )
            if stop:
                job.cancel()
                st.rerun()


def _where_it_is(job: Job) -> str:
    if job.state == JobState.WAITING:
        return f"waiting, {job.before} before it"
    return "stopping" if job.stopping else f"{round(100 * job.share)} %"


def watch_if_running() -> None:
    """Where nothing runs, the room for it stays: the pages below would jump."""
    if any(job.active or job.state == JobState.DONE for job in jobs().values()):
        watch()
    else:
        st.markdown("")


def job_box(step: Step | str) -> None:
    """On the step's own page: progress with the time left, or how the last job ended."""
    job = jobs().get(str(step))
    if job is None:
        return
    if job.active:
        _progress(step)
    elif job.state == JobState.FAILED and job.error is not None:
        say_error(job.error)
    elif job.state == JobState.CANCELLED and job.result is not None:
        finished = literal(job.asked.summary(job.result))
        st.info(
            f"Stopped. What was finished ({finished}) can be used instead of the earlier result "
            "below.",
            icon=":material/stop_circle:",
        )
        if st.button("Use what was finished", key=f"take-{step}", icon=":material/check:"):
            _take(str(step), job)
            st.rerun()
    elif job.ended_with:
        st.warning(
            f"This was still running when {job.ended_with}, so it was stopped. Earlier results "
            "are kept; press the button to run it again.",
            icon=":material/stop_circle:",
        )
    elif job.state == JobState.CANCELLED:
        st.info("Cancelled. Earlier results are kept.", icon=":material/stop_circle:")


def is_running(step: Step | str) -> bool:
    job = jobs().get(str(step))
    return job is not None and job.active


def is_waiting(step: Step | str) -> bool:
    job = jobs().get(str(step))
    return job is not None and job.state == JobState.WAITING


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def _progress(step: Step | str) -> None:
    job = jobs().get(str(step))
    if job is None or not job.active:
        return
    if job.state == JobState.WAITING:
        st.progress(0.0, _queue_words(job.before))
        return
    left = job.seconds_left
    about = "" if left is None else f" · about {duration(left)} left"
    message = "Stopping; what is finished is kept" if job.stopping else f"{job.message}{about}"
    st.progress(min(job.share, 1.0), message)


def milestones(step: Step | str, words: Milestones) -> None:
    """What the step's job has found so far: while it runs, and after it was cancelled."""
    show = _live_milestones if is_running(step) else _milestones
    show(step, words)


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def _live_milestones(step: Step | str, words: Milestones) -> None:
    _milestones(step, words)


def _milestones(step: Step | str, words: Milestones) -> None:
    job = jobs().get(str(step))
    found = words(job.messages) if job is not None else []
    if job is not None and found:
        st.caption("Found so far" if job.active else "Found before it stopped")
        st.markdown("\n".join(f"- {literal(line)}" for line in found[-MOST_MILESTONES:]))


def _queue_words(before: int) -> str:
    jobs_are = "1 job is" if before == 1 else f"{before} jobs are"
    return f"Waiting: {jobs_are} before yours"

"""Long steps on the pages: start them, show where they are, cancel them, take their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.jobs import Job, JobState, ended_with_the_program, start
from dashboard.policy_choice import will_learn_from
from dashboard.session import How, Key, Step
from dashboard.show import literal, say_error

CHECK_EVERY_SECONDS = 0.5
MOST_MILESTONES = 10
SESSIONS_REMEMBERED = 50

#: Of steps that are not called like their page.
NAMES = {
    Step.FEATURES: "Feature dimension",
    Step.POLICY: "Q-functions",
    Step.EVALUATION: "Value of the policy",
    Step.PLACEBO: "Placebo check",
    Step.STUDY_PLAN: "Study plan",
}

#: What the worker has said so far -> lines worth showing.
Milestones = Callable[[Sequence[str]], list[str]]

#: By session: a reloaded page is a new session, and finds its jobs here.
_of_session: dict[str, dict[Step, Job]] = {}


def jobs() -> dict[Step, Job]:
    """This session's, by step."""
    if Key.JOBS not in st.session_state:
        st.session_state[Key.JOBS] = {}
    running: dict[Step, Job] = st.session_state[Key.JOBS]
    return running


def _add(step: Step, job: Job) -> None:
    jobs()[step] = job
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
    for step, job in left.items():
        job.session = own
        _add(step, job)
    for step in Step:
        if step in were_running and step not in left and session.done(step) is None:
            _add(step, ended_with_the_program())
    if Step.POLICY in left:
        will_learn_from(session.result(Step.RESCALING))


def run_or_start(
    step: Step,
    task: str,
    data: object,
    settings: object,
    seed: int,
    summary: Callable[[Any], str],
    *,
    use_all: bool = False,
) -> None:
    """Take the result from this session's earlier ones, or start a worker for it."""
    variables = getattr(data, "variables", ())  # a page may choose among those of the step before
    how = How(task, seed, use_all)
    token = session.token_of_job(step, how, variables, settings)
    if session.known(token):
        session.record(step, session.token_before(step), token, settings, summary, how)
        jobs().pop(step, None)
    else:
        if step in jobs():
            jobs()[step].end()
        job = start(task, token, data, settings, seed)
        job.made_from, job.summary, job.how = session.token_before(step), summary, how
        _add(step, job)
    st.rerun()


def collect() -> None:
    """Record what finished since the last run of the page.

    What was finished when a job was stopped replaces no earlier result unless the user says so.
    """
    for step, job in list(jobs().items()):
        if job.state == JobState.DONE:
            if job.stopped_early and session.done(step) is not None:
                job.state = JobState.CANCELLED
            else:
                _take(step, job)
                # Seen on any page, and read aloud, which the bars of the pages are not.
                st.toast(
                    f"{_name(step)}: {literal(job.summary(job.result))}", icon=":material/check:"
                )


def _name(step: Step) -> str:
    return NAMES.get(step, step.title())


def _take(step: Step, job: Job) -> None:
    # The same settings again are to run to the end, not to bring back what was stopped.
    token = job.token + session.STOPPED_EARLY if job.stopped_early else job.token
    session.remember_result(token, job.result)
    session.record(step, job.made_from, token, job.settings, job.summary, job.how)
    del jobs()[step]


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def watch() -> None:
    """In the sidebar of every page: what runs, how far it is, and a way to stop it."""
    for step, job in jobs().items():
        if job.state != job.shown:
            job.shown = job.state
            st.rerun()
        if job.active:
            st.progress(min(job.share, 1.0), f"{_name(step)}: {_where_it_is(job)}")
            if st.button(
                "Stop at once" if job.stopping else "Cancel",
                key=f"cancel-{step}",
                icon=":material/stop:",
                type="tertiary",
            ):
                job.cancel()
                st.rerun()


def _where_it_is(job: Job) -> str:
    if job.state == JobState.WAITING:
        return f"waiting, {job.before} before it"
    return "stopping" if job.stopping else f"{round(100 * job.share)} %"


def watch_if_running() -> None:
    if any(job.active or job.state == JobState.DONE for job in jobs().values()):
        watch()


def job_box(step: Step) -> None:
    """On the step's own page: progress with the time left, or how the last job ended."""
    job = jobs().get(step)
    if job is None:
        return
    if job.active:
        _progress(step)
    elif job.state == JobState.FAILED and job.error is not None:
        say_error(job.error)
    elif job.state == JobState.CANCELLED and job.result is not None:
        st.info(
            f"Stopped. What was finished ({literal(job.summary(job.result))}) can be used instead "
            "of the earlier result below.",
            icon=":material/stop_circle:",
        )
        if st.button("Use what was finished", key=f"take-{step}", icon=":material/check:"):
            _take(step, job)
            st.rerun()
    elif job.ended_with:
        st.warning(
            f"This was still running when {job.ended_with}, so it was stopped. Earlier results "
            "are kept; press the button to run it again.",
            icon=":material/stop_circle:",
        )
    elif job.state == JobState.CANCELLED:
        st.info("Cancelled. Earlier results are kept.", icon=":material/stop_circle:")


def is_running(step: Step) -> bool:
    job = jobs().get(step)
    return job is not None and job.active


def is_waiting(step: Step) -> bool:
    job = jobs().get(step)
    return job is not None and job.state == JobState.WAITING


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def _progress(step: Step) -> None:
    job = jobs().get(step)
    if job is None or not job.active:
        return
    if job.state == JobState.WAITING:
        st.progress(0.0, _queue_words(job.before))
        return
    left = job.seconds_left
    about = "" if left is None else f" · about {_duration(left)} left"
    message = "Stopping; what is finished is kept" if job.stopping else f"{job.message}{about}"
    st.progress(min(job.share, 1.0), message)


def milestones(step: Step, words: Milestones) -> None:
    """What the step's job has found so far: while it runs, and after it was cancelled."""
    show = _live_milestones if is_running(step) else _milestones
    show(step, words)


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def _live_milestones(step: Step, words: Milestones) -> None:
    _milestones(step, words)


def _milestones(step: Step, words: Milestones) -> None:
    job = jobs().get(step)
    found = words(job.messages) if job is not None else []
    if job is not None and found:
        st.caption("Found so far" if job.active else "Found before it stopped")
        st.markdown("\n".join(f"- {literal(line)}" for line in found[-MOST_MILESTONES:]))


def _queue_words(before: int) -> str:
    jobs_are = "1 job is" if before == 1 else f"{before} jobs are"
    return f"Waiting: {jobs_are} before yours"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

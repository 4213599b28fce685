"""Long steps on the pages: start them, show where they are, cancel them, take their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.jobs import Job, JobState, start
from dashboard.session import How, Key, Step
from dashboard.show import literal, say_error

CHECK_EVERY_SECONDS = 0.5
MOST_MILESTONES = 10

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


def jobs() -> dict[Step, Job]:
    if Key.JOBS not in st.session_state:
        st.session_state[Key.JOBS] = {}
    running: dict[Step, Job] = st.session_state[Key.JOBS]
    return running


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
        jobs()[step] = job
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
        if job.state != JobState.RUNNING and not job.seen:
            job.seen = True
            st.rerun()
        if job.state == JobState.RUNNING:
            share = f"{round(100 * job.share)} %"
            st.progress(
                min(job.share, 1.0),
                f"{NAMES.get(step, step.title())}: {'stopping' if job.stopping else share}",
            )
            if st.button(
                "Stop at once" if job.stopping else "Cancel",
                key=f"cancel-{step}",
                icon=":material/stop:",
                type="tertiary",
            ):
                job.cancel()
                st.rerun()


def watch_if_running() -> None:
    if any(job.state in (JobState.RUNNING, JobState.DONE) for job in jobs().values()):
        watch()


def job_box(step: Step) -> None:
    """On the step's own page: progress with the time left, or how the last job ended."""
    job = jobs().get(step)
    if job is None:
        return
    if job.state == JobState.RUNNING:
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
    elif job.state == JobState.CANCELLED:
        st.info("Cancelled. Earlier results are kept.", icon=":material/stop_circle:")


def is_running(step: Step) -> bool:
    job = jobs().get(step)
    return job is not None and job.state == JobState.RUNNING


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def _progress(step: Step) -> None:
    job = jobs().get(step)
    if job is None or job.state != JobState.RUNNING:
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
        st.caption("Found so far" if job.state == JobState.RUNNING else "Found before it stopped")
        st.markdown("\n".join(f"- {literal(line)}" for line in found[-MOST_MILESTONES:]))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

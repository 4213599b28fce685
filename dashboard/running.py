"""Long steps on the pages: start them, show where they are, cancel them, take their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.jobs import Job, JobState, start
from dashboard.session import Key, Step
from dashboard.show import say_error

CHECK_EVERY_SECONDS = 0.5


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
) -> None:
    """Take the result from this session's earlier ones, or start a worker for it."""
    token = session.token_for(step, (settings, seed))
    if session.known(token):
        session.record(step, session.token_before(step), token, settings, summary)
        jobs().pop(step, None)
    else:
        if step in jobs():
            jobs()[step].cancel()
        job = start(task, token, data, settings, seed)
        job.made_from, job.summary = session.token_before(step), summary
        jobs()[step] = job
    st.rerun()


def collect() -> None:
    """Record what finished since the last run of the page."""
    for step, job in list(jobs().items()):
        if job.state == JobState.DONE:
            session.remember_result(job.token, job.result)
            session.record(step, job.made_from, job.token, job.settings, job.summary)
            del jobs()[step]


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def watch() -> None:
    """In the sidebar of every page: what runs, how far it is, and a way to stop it."""
    for step, job in jobs().items():
        if job.state in (JobState.DONE, JobState.FAILED) and not job.seen:
            job.seen = True
            st.rerun()
        if job.state == JobState.RUNNING:
            st.progress(min(job.share, 1.0), f"{step.title()}: {round(100 * job.share)} %")
            if st.button("Cancel", key=f"cancel-{step}", icon=":material/stop:", type="tertiary"):
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
    elif job.state == JobState.CANCELLED:
        st.info("Cancelled. Earlier results are kept.", icon=":material/stop_circle:")


@st.fragment(run_every=CHECK_EVERY_SECONDS)
def _progress(step: Step) -> None:
    job = jobs().get(step)
    if job is None or job.state != JobState.RUNNING:
        return
    left = job.seconds_left
    about = "" if left is None else f" · about {_duration(left)} left"
    st.progress(min(job.share, 1.0), f"{job.message}{about}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

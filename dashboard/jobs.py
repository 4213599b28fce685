"""Starts, watches and cancels worker processes, one for each running step of a session."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.session import BY_SETTINGS_ALONE, How
from smdp.errors import SmdpError

# A page reload closes the connection for a moment; a closed browser does so for good.
GRACE_SECONDS = 8.0
SECONDS_TO_END = 0.5
# For a worker that has something to keep: to hear that it is to stop, and to write it down.
SECONDS_TO_STOP = 10.0


class JobState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass
class Job:
    """One worker process and what it last said."""

    task: str
    token: str
    settings: Any
    process: subprocess.Popen
    folder: Path
    started: float = field(default_factory=time.monotonic)
    share: float = 0.0
    message: str = "Starting"
    messages: list[str] = field(default_factory=list)  # in order, none twice in a row
    state: JobState = JobState.RUNNING
    stopping: bool = False  # asked to stop, still running
    stopped_early: bool = False  # the result is what was finished by then
    error: SmdpError | None = None
    result: Any = None
    made_from: str = ""
    how: How = BY_SETTINGS_ALONE
    summary: Callable[[Any], str] = str
    seen: bool = False

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the share done so far; None while it is too early to say."""
        if self.share < 0.03:
            return None
        spent = time.monotonic() - self.started
        return spent * (1 - self.share) / self.share

    def cancel(self) -> None:
        """Stop, and keep what is finished; where there is nothing to keep, or asked twice, end."""
        from smdp.worker import KEEP_WHAT_IS_FINISHED

        if self.state != JobState.RUNNING:
            return
        if self.stopping or self.task not in KEEP_WHAT_IS_FINISHED or not _ask(self.process):
            self.end()
        else:
            self.stopping = True
            threading.Thread(target=_end_if_deaf, args=(self,), daemon=True).start()

    def end(self) -> None:
        """End at once; nothing is kept."""
        if self.state == JobState.RUNNING:
            self.state = JobState.CANCELLED
            _end(self.process)


def start(task: str, token: str, data: object, settings: object, seed: int) -> Job:
    """Start the task in a process of its own and return at once."""
    from smdp.plain_data import write_plain
    from smdp.worker import Request

    folder = Path(tempfile.mkdtemp(prefix="smdp-job-"))
    write_plain(Request(task, data, settings, seed), folder / "request")
    log = (folder / "log.txt").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "smdp.worker", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        encoding="utf-8",
    )
    log.close()
    job = Job(task, token, settings, process, folder)
    threading.Thread(target=_listen, args=(job,), daemon=True).start()
    context = st.runtime.scriptrunner.get_script_run_ctx()
    if context is not None:
        threading.Thread(target=_guard, args=(job, context.session_id), daemon=True).start()
    return job


def _listen(job: Job) -> None:
    """Follow the worker's lines to its end, and take its result or its error."""
    from smdp.plain_data import read_plain
    from smdp.worker import STOPPED

    assert job.process.stdout is not None
    problem: SmdpError | None = None
    for text in job.process.stdout:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if "progress" in line:
            job.share, job.message = float(line["progress"]), str(line["message"])
            if job.message not in job.messages[-1:]:
                job.messages.append(job.message)
        elif "stopped" in line:
            job.stopped_early = True
        elif "problem" in line:
            problem = SmdpError(line["problem"], line["remedy"])
    code = job.process.wait()
    try:
        if job.state == JobState.RUNNING:
            if code == 0:
                job.result = read_plain(job.folder / "result")
                job.share, job.state = 1.0, JobState.DONE
            elif code == STOPPED:
                job.state = JobState.CANCELLED
            else:
                job.error = problem or _unexplained(code)
                job.state = JobState.FAILED
    except (OSError, ValueError, SmdpError):
        job.error = SmdpError("The result could not be read back.", "Run the step again.")
        job.state = JobState.FAILED
    finally:
        shutil.rmtree(job.folder, ignore_errors=True)


def _unexplained(code: int) -> SmdpError:
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    return SmdpError(
        f"The calculation stopped unexpectedly ({ended}).",
        "Nothing already done is lost. Run the step again; if it stops again, the computer may be "
        "short of memory, or this is a fault of the program that we would like to hear of.",
    )


def _guard(job: Job, session: str) -> None:
    """End the worker when its browser session has been gone for a while."""
    gone_since: float | None = None
    # Without a runtime the server is going down, and the worker goes with it.
    while job.state == JobState.RUNNING and st.runtime.exists():
        time.sleep(1.0)
        if not st.runtime.exists() or st.runtime.get_instance().is_active_session(session):
            gone_since = None
        elif gone_since is None:
            gone_since = time.monotonic()
        elif time.monotonic() - gone_since > GRACE_SECONDS:
            job.end()


def _ask(process: subprocess.Popen) -> bool:
    """Ask a worker to stop; whether it could be asked."""
    assert process.stdin is not None
    try:
        process.stdin.write("stop\n")
        process.stdin.flush()
    except (OSError, ValueError):
        return False
    return True


def _end_if_deaf(job: Job) -> None:
    try:
        job.process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        job.end()


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

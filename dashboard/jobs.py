"""Starts, watches and cancels worker processes, one for each running step of a session.

Where as many run as may (`dashboard.job_queue`), a job waits for its turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.job_queue import job_queue, threads_of_a_worker
from smdp.errors import SmdpError
from smdp.progress import Message
from smdp.system import new_folder, remove_folder
from smdp.worker import Request

# A reloaded page takes its jobs over within moments; a closed one is gone for good.
GRACE_SECONDS = 8.0
SECONDS_TO_END = 0.5
# For a worker that has something to keep: to hear that it is to stop, and to write it down.
SECONDS_TO_STOP = 10.0


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(eq=False)
class Job:
    """One worker process and what it last said.

    `asked`: what its result is to be put into, for whoever started it. `keeps_what_is_finished`:
    stopped early, it has a result all the same. `of_analysis`: it works on the session's table.
    """

    folder: Path
    asked: Any = None
    keeps_what_is_finished: bool = False
    of_analysis: bool = True
    session: str = ""  # the browser session that it belongs to, and ends with
    process: subprocess.Popen | None = None
    started: float = 0.0
    ended: float = 0.0
    share: float = 0.0
    message: str = "Starting"
    messages: list[Message] = field(default_factory=list)  # in order, none twice in a row
    state: JobState = JobState.WAITING
    shown: JobState = JobState.WAITING  # the state that the whole page last showed
    stopping: bool = False  # asked to stop, still running
    stopped_early: bool = False  # the result is what was finished by then
    ended_with: str = ""  # what ended it that was no wish of the user
    error: SmdpError | None = None
    result: Any = None
    number: int = field(default_factory=count().__next__)  # tells jobs of this server apart
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def active(self) -> bool:
        return self.state in (JobState.WAITING, JobState.RUNNING)

    @property
    def before(self) -> int:
        """How many jobs are before this one; 0 when it does not wait."""
        return job_queue().before(self)

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the share done so far; None while it is too early to say."""
        if self.share < 0.03:
            return None
        spent = time.monotonic() - self.started
        return spent * (1 - self.share) / self.share

    @property
    def seconds(self) -> float | None:
        """How long it took, or has taken so far."""
        return None if not self.started else (self.ended or time.monotonic()) - self.started

    def begin(self) -> None:
        """Start the worker, unless the job was ended while it waited."""
        with self._lock:
            if self.state == JobState.WAITING:
                try:
                    self.process = _worker(self.folder)
                    self.started, self.state = time.monotonic(), JobState.RUNNING
                except OSError as error:
                    self.error = SmdpError(
                        f"The calculation could not be started: {error.strerror}.",
                        "Close other programs, then run the step again.",
                    )
                    self.state = JobState.FAILED
        if self.state == JobState.RUNNING:
            threading.Thread(target=_listen, args=(self,), daemon=True).start()
        else:
            self._leave()

    def cancel(self) -> None:
        """Stop, and keep what is finished; where there is nothing to keep, or asked twice, end."""
        keeps = self.state == JobState.RUNNING and self.keeps_what_is_finished
        if keeps and not self.stopping and _ask(self.process):
            self.stopping = True
            threading.Thread(target=_end_if_deaf, args=(self,), daemon=True).start()
        else:
            self.end()

    def end(self) -> None:
        """End at once; nothing is kept."""
        with self._lock:
            if not self.active:
                return
            self.state = JobState.CANCELLED
        if self.process is None:
            self._leave()
        else:
            _end(self.process)

    def _leave(self) -> None:
        remove_folder(self.folder)
        job_queue().leave(self)


def start(request: Request, asked: Any = None, *, keeps_what_is_finished: bool = False) -> Job:
    """Start the work in a process of its own, or queue for it, and return at once."""
    from smdp.plain_data import write_plain

    folder = new_folder("job")
    try:
        write_plain(request, folder / "request")
    except BaseException:
        remove_folder(folder)
        raise
    context = st.runtime.scriptrunner.get_script_run_ctx()
    own_session = context.session_id if context is not None else ""
    job = Job(folder, asked, keeps_what_is_finished, session=own_session)
    job_queue().enter(job)
    job.shown = job.state
    if context is not None:
        threading.Thread(target=_guard, args=(job,), daemon=True).start()
    return job


def ended_with_the_program(asked: Any) -> Job:
    """In the place of a job that a server did not finish before it was ended itself."""
    ended = Job(Path(), asked, state=JobState.CANCELLED, shown=JobState.CANCELLED)
    ended.ended_with = "the program was ended, or this work was left for another"
    return ended


def _worker(folder: Path) -> subprocess.Popen:
    with (folder / "log.txt").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "smdp.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            env=os.environ | threads_of_a_worker(),
        )


def _listen(job: Job) -> None:
    """Follow the worker's lines to its end, and take its result or its error."""
    from smdp.plain_data import read_plain
    from smdp.worker import STOPPED

    assert job.process is not None
    assert job.process.stdout is not None
    problem: SmdpError | None = None
    for text in job.process.stdout:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if "progress" in line:
            job.share = float(line["progress"])
            message = Message(str(line["message"]), **line.get("facts", {}))
            job.message = str(message)
            if job.message not in job.messages[-1:]:
                job.messages.append(message)
        elif "stopped" in line:
            job.stopped_early = True
        elif "problem" in line:
            problem = SmdpError(line["problem"], line["remedy"], line.get("concerns", ""))
    code = job.process.wait()
    job.ended = time.monotonic()
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
        job._leave()


def _unexplained(code: int) -> SmdpError:
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    return SmdpError(
        f"The calculation stopped unexpectedly ({ended}).",
        "Nothing already done is lost. Run the step again; if it stops again, the computer may be "
        "short of memory, or this is a fault of the program that we would like to hear of.",
    )


def _guard(job: Job) -> None:
    """End the job when its browser session has been gone for a while."""
    gone_since: float | None = None
    # Without a runtime the server is going down, and the worker goes with it.
    while job.active and st.runtime.exists():
        time.sleep(1.0)
        if not st.runtime.exists() or st.runtime.get_instance().is_active_session(job.session):
            gone_since = None
        elif gone_since is None:
            gone_since = time.monotonic()
        elif time.monotonic() - gone_since > GRACE_SECONDS:
            if job.active:
                job.ended_with = "its page was closed"
            job.end()


def _ask(process: subprocess.Popen | None) -> bool:
    """Ask a worker to stop; whether it could be asked."""
    assert process is not None
    assert process.stdin is not None
    try:
        process.stdin.write("stop\n")
        process.stdin.flush()
    except (OSError, ValueError):
        return False
    return True


def _end_if_deaf(job: Job) -> None:
    assert job.process is not None
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

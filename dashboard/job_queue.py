"""A queue of jobs: a few at once for all sessions of the server, first come, first served.

At most as many workers run as there are cores, each with its share of the threads; the others
wait. The environment variable SMDP_WORKERS asks for fewer.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Protocol

from smdp.parallel import DASHBOARD_WORKERS, cores
from smdp.settings import require

#: Of OpenMP (and with it torch), of the BLAS libraries that numpy comes with, and of Apple's.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Waiting(Protocol):
    def begin(self) -> None:
        """Start; to be followed by `JobQueue.leave`."""


class JobQueue:
    """Who is at work, and who waits, in the order of their coming."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._at_work: list[Waiting] = []
        self._waiting: list[Waiting] = []

    def enter(self, job: Waiting) -> None:
        """Let the job begin, at once if there is room, else when there is."""
        with self._lock:
            self._waiting.append(job)
        self._fill()

    def leave(self, job: Waiting) -> None:
        """Make room, or wait no more; harmless when done twice."""
        with self._lock:
            for jobs in (self._at_work, self._waiting):
                if job in jobs:
                    jobs.remove(job)
        self._fill()

    def before(self, job: Waiting) -> int:
        """How many came before a job that waits and are still there; 0 for one that does not."""
        with self._lock:
            if job not in self._waiting:
                return 0
            return len(self._at_work) + self._waiting.index(job)

    def _fill(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or len(self._at_work) >= self.count:
                    return
                job = self._waiting.pop(0)
                self._at_work.append(job)
            job.begin()


@cache
def job_queue() -> JobQueue:
    """That of this server."""
    return JobQueue(workers_at_once())


def workers_at_once() -> int:
    """As many as there are cores, or fewer if SMDP_WORKERS says so."""
    chosen = os.environ.get(DASHBOARD_WORKERS, "").strip()
    if not chosen:
        return cores()
    whole = chosen.isascii() and chosen.isdigit() and int(chosen) >= 1
    require(whole, DASHBOARD_WORKERS, "a whole number of at least 1", chosen)
    return min(int(chosen), cores())


def threads_of_a_worker() -> dict[str, str]:
    """Environment variables with which all workers together have no more threads than cores."""
    return dict.fromkeys(THREAD_VARIABLES, str(max(1, cores() // workers_at_once())))

"""Places for workers: a few at once for all sessions of the server, first come, first served.

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


class Guest(Protocol):
    def begin(self) -> None:
        """Take the place that has become free; to be given back with `Places.leave`."""


class Places:
    """Who has a place, and who waits for one, in the order of their coming."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._seated: list[Guest] = []
        self._waiting: list[Guest] = []

    def enter(self, guest: Guest) -> None:
        """Let the guest begin, at once if there is a place, else when one becomes free."""
        with self._lock:
            self._waiting.append(guest)
        self._fill()

    def leave(self, guest: Guest) -> None:
        """Give back the place, or wait no more; harmless when done twice."""
        with self._lock:
            for guests in (self._seated, self._waiting):
                if guest in guests:
                    guests.remove(guest)
        self._fill()

    def before(self, guest: Guest) -> int:
        """How many came before a guest who waits and are still there; 0 for one who does not."""
        with self._lock:
            if guest not in self._waiting:
                return 0
            return len(self._seated) + self._waiting.index(guest)

    def _fill(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or len(self._seated) >= self.count:
                    return
                guest = self._waiting.pop(0)
                self._seated.append(guest)
            guest.begin()


@cache
def places() -> Places:
    """Those of this server."""
    return Places(workers_at_once())


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

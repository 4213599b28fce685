"""Jobs for tests of workers: what they work on, and waiting for what they do."""

from __future__ import annotations

import time
from collections.abc import Callable

from dashboard.jobs import Job
from smdp import Trajectories, prepare, read_table
from smdp.data.guess_roles import guess_roles
from smdp.settings import ScreeningSettings
from smdp.simulation.samples import sample_file

ENDLESS = ScreeningSettings(permutations=3_000_000)


def sample_trajectories() -> Trajectories:
    frame = read_table(sample_file("basics_mobile_synthetic.csv"))
    return prepare(frame, guess_roles(frame)).trajectories


def wait(job: Job, *states: str, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while job.state not in states and time.monotonic() < deadline:
        time.sleep(0.02)
    assert job.state in states, (job.state, job.message, job.error)


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()

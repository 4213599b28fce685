"""Jobs for tests of workers: what they work on, and waiting for their state."""

from __future__ import annotations

from waiting import wait_until

from dashboard.jobs import Job
from smdp import Trajectories, prepare, read_table
from smdp.data.guess_roles import guess_roles
from smdp.settings import ScreeningSettings
from smdp.simulation.samples import sample_file

ENDLESS = ScreeningSettings(permutations=3_000_000)


def sample_trajectories() -> Trajectories:
    frame = read_table(sample_file("basics_mobile_synthetic.csv"))
    return prepare(frame, guess_roles(frame)).trajectories


def wait(job: Job, *states: str, seconds: float = 240.0) -> None:
    """Until the job is in one of the states."""
    wait_until(
        lambda: job.state in states, seconds, told=lambda: (job.state, job.message, job.error)
    )

"""Workers: they report, can be cancelled, fail with a reason, leave no orphans."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from dashboard_server import alive
from long_jobs import ENDLESS, feature_map, sample_trajectories, screening, wait
from waiting import wait_until

from dashboard import jobs
from dashboard.jobs import JobState
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate


@pytest.fixture(scope="module")
def trajectories():
    return sample_trajectories()


def test_result_is_that_of_the_library(trajectories):
    job = jobs.start(screening(trajectories, seed=3))
    wait(job, JobState.DONE, JobState.FAILED)
    assert job.state == JobState.DONE, job.error
    here = screen(trajectories, ScreeningSettings(), seed=3)
    assert job.result.selected == here.selected
    assert job.result.table.equals(here.table)
    for one, two in zip(job.result.rounds, here.rounds, strict=True):
        np.testing.assert_array_equal(one.p_values, two.p_values)
    assert not job.folder.exists()


def test_progress_and_cancel_at_once(trajectories):
    job = jobs.start(screening(trajectories, ENDLESS))
    wait_until(lambda: "Round 1" in job.message)
    job.cancel()  # a worker that hears nothing is not waited for
    assert job.state == JobState.CANCELLED
    assert not alive(job.process.pid)
    wait_until(lambda: not job.folder.exists())


def test_a_mistake_in_the_settings_is_the_librarys_own_message(trajectories):
    job = jobs.start(screening(trajectories, ScreeningSettings(method="paper", permutations=5)))
    wait(job, JobState.FAILED)
    assert "permutations" in job.error.problem
    assert job.error.remedy


def test_a_killed_worker_is_an_explained_error(trajectories):
    job = jobs.start(screening(trajectories, ENDLESS))
    os.kill(job.process.pid, signal.SIGKILL)
    wait(job, JobState.FAILED)
    assert "stopped unexpectedly (signal 9)" in job.error.problem
    assert "Run the step again" in job.error.remedy


STARTS_A_JOB_AND_DIES = """
import os, sys
from dashboard import jobs
from long_jobs import ENDLESS, sample_trajectories, screening
job = jobs.start(screening(sample_trajectories(), ENDLESS))
sys.stdout.write(f"PID {job.process.pid}\\n")
sys.stdout.flush()
os._exit(9)
"""


def test_no_worker_outlives_its_server():
    ended = subprocess.run(
        [sys.executable, "-c", STARTS_A_JOB_AND_DIES],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    pid = int(ended.stdout.rpartition("PID")[2])
    wait_until(lambda: not alive(pid))


@pytest.fixture(scope="module")
def two_passes():
    """A study and settings whose map drops a variable in the first pass, and takes seconds."""
    study = simulate("linear", noise=3, subjects=12, times=30, seed=1)
    settings = FeatureMapSettings(
        widths=(6,), penalties=(0.6,), folds=2, steps=200, polish_steps=20, refit_steps=400,
        restarts=2, batch=32, dimensions=(1,), reason="for a test",
    )  # fmt: skip
    return feature_map(study.select(["S1", "S2", "S3", "W1"]), settings)


def test_cancelling_a_feature_map_keeps_the_passes_that_are_finished(two_passes):
    job = jobs.start(two_passes, keeps_what_is_finished=True)
    wait_until(lambda: job.message.startswith("Pass 2"))
    job.cancel()
    assert job.stopping
    assert job.state == JobState.RUNNING
    wait(job, JobState.DONE, JobState.FAILED, JobState.CANCELLED)
    assert job.state == JobState.DONE
    assert job.stopped_early
    assert not job.result.complete
    assert len(job.result.steps) == 1
    assert job.result.settings.reason == "for a test"
    wait_until(lambda: not job.folder.exists())
    assert not alive(job.process.pid)


def test_cancelling_before_anything_is_finished(two_passes):
    job = jobs.start(two_passes, keeps_what_is_finished=True)
    wait_until(lambda: job.message.startswith("Pass 1"))
    job.cancel()
    wait(job, JobState.DONE, JobState.FAILED, JobState.CANCELLED)
    assert job.state == JobState.CANCELLED
    assert job.result is None
    assert job.error is None


def test_cancelling_twice_ends_at_once(two_passes):
    job = jobs.start(two_passes, keeps_what_is_finished=True)  # still importing: it cannot hear
    job.cancel()
    job.cancel()
    assert job.state == JobState.CANCELLED
    assert not alive(job.process.pid)


def test_a_worker_that_does_not_hear_is_ended(two_passes, monkeypatch):
    monkeypatch.setattr(jobs, "SECONDS_TO_STOP", 0.5)
    job = jobs.start(two_passes, keeps_what_is_finished=True)
    wait_until(lambda: job.message.startswith("Pass 1"))
    os.kill(job.process.pid, signal.SIGSTOP)
    job.cancel()
    wait(job, JobState.CANCELLED)
    wait_until(lambda: not alive(job.process.pid))

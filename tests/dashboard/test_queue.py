"""Jobs wait their turn: a few workers at once, first come, first served, no place lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from long_jobs import ENDLESS, sample_trajectories, screening, wait
from streamlit.testing.v1 import AppTest
from waiting import wait_until

from dashboard import autosaving, job_queue, jobs, running
from dashboard.job_queue import JobQueue
from dashboard.jobs import Job, JobState
from dashboard.session import Key
from smdp.errors import SettingError
from smdp.parallel import DASHBOARD_WORKERS
from smdp.screening_settings import ScreeningSettings
from smdp.system import sweep
from tests.dashboard.conftest import APP, saved


@pytest.fixture(scope="module")
def trajectories():
    return sample_trajectories()


@pytest.fixture
def one_at_once(monkeypatch):
    """A server with a place for one worker."""
    free = JobQueue(1)
    monkeypatch.setattr(jobs, "job_queue", lambda: free)
    return free


def test_jobs_wait_for_a_place_in_the_order_of_their_coming(trajectories, one_at_once):
    first, second, third = (
        jobs.start(screening(trajectories, settings))
        for settings in (ENDLESS, ScreeningSettings(), ScreeningSettings())
    )
    assert [job.state for job in (first, second, third)] == ["running", "waiting", "waiting"]
    assert [job.before for job in (first, second, third)] == [0, 1, 2]
    assert second.process is None
    first.cancel()
    wait(second, JobState.RUNNING, JobState.DONE)
    assert third.state == JobState.WAITING
    assert third.before == 1
    wait(third, JobState.DONE)
    assert second.state == JobState.DONE
    assert third.started > second.started
    assert third.result.table.equals(second.result.table)


def test_a_waiting_job_can_be_cancelled_and_leaves_nothing(trajectories, one_at_once):
    first, second, third = (jobs.start(screening(trajectories, ENDLESS)) for _ in range(3))
    second.cancel()
    assert second.state == JobState.CANCELLED
    assert second.process is None
    assert not second.folder.exists()
    assert third.before == 1
    first.end()
    wait(third, JobState.RUNNING)
    third.end()
    wait_until(lambda: not third.folder.exists())


def test_a_worker_that_dies_gives_its_place_back(trajectories, one_at_once):
    first, second = (jobs.start(screening(trajectories, ENDLESS)) for _ in range(2))
    os.kill(first.process.pid, signal.SIGKILL)
    wait(second, JobState.RUNNING)
    assert first.state == JobState.FAILED
    second.end()


def test_a_worker_that_cannot_be_started_gives_its_place_back(
    trajectories, one_at_once, monkeypatch
):
    def no_memory(folder):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(jobs, "_worker", no_memory)
    job = jobs.start(screening(trajectories, ENDLESS))
    assert job.state == JobState.FAILED
    assert "Cannot allocate memory" in job.error.problem
    assert not job.folder.exists()
    monkeypatch.undo()
    monkeypatch.setattr(jobs, "job_queue", lambda: one_at_once)
    after = jobs.start(screening(trajectories, ENDLESS))
    assert after.state == JobState.RUNNING
    after.end()


def test_a_session_that_ends_leaves_the_queue(trajectories, one_at_once, monkeypatch):
    class Server:
        gone: ClassVar = {"left"}

        def is_active_session(self, session):
            return session not in self.gone

    monkeypatch.setattr(jobs.st.runtime, "exists", lambda: True)
    monkeypatch.setattr(jobs.st.runtime, "get_instance", Server)
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.1)
    first, second = (jobs.start(screening(trajectories, ENDLESS)) for _ in range(2))
    second.session = "left"
    watching = threading.Thread(target=jobs._guard, args=(first,), daemon=True)
    watching.start()  # of a page that was reloaded: a new session has taken its job over
    jobs._guard(second)
    assert second.state == JobState.CANCELLED
    assert second.ended_with == "its page was closed"
    assert first.state == JobState.RUNNING
    first.end()
    watching.join()


def test_workers_have_no_more_threads_than_there_are_cores(monkeypatch):
    monkeypatch.setattr(job_queue, "cores", lambda: 8)
    for asked, at_once, threads in (("", 8, "1"), ("2", 2, "4"), ("3", 3, "2"), ("50", 8, "1")):
        monkeypatch.setenv(DASHBOARD_WORKERS, asked)
        assert job_queue.workers_at_once() == at_once
        assert set(job_queue.threads_of_a_worker().values()) == {threads}
    for wrong in ("0", "-1", "many", "²"):
        monkeypatch.setenv(DASHBOARD_WORKERS, wrong)
        with pytest.raises(SettingError, match="SMDP_WORKERS"):
            job_queue.workers_at_once()


def test_a_worker_gets_its_threads(trajectories):
    job = jobs.start(screening(trajectories, ENDLESS))
    given = Path(f"/proc/{job.process.pid}/environ").read_text().split("\0")
    job.end()
    for name, count in job_queue.threads_of_a_worker().items():
        assert f"{name}={count}" in given


def test_what_a_killed_server_left_behind_is_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone, here = ended.pid, os.getpid()
    left = [f"smdp-{kind}-{gone}-a" for kind in ("job", "workers", "reading")]
    stay = [f"smdp-job-{here}-b", f"smdp-workers-{here}-b", "smdp-workers-new", "smdp-notes-1-a"]
    old = "smdp-workers-abc_d1"  # as they were called before
    for name in (*left, *stay, old):
        (tmp_path / name / "request").mkdir(parents=True)
    os.utime(tmp_path / old, (time.time() - 2 * 86400,) * 2)
    (tmp_path / f"smdp-job-{gone}-link").symlink_to(tmp_path / stay[0])
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*stay, f"smdp-job-{gone}-link"}


def test_a_page_that_is_reloaded_twice_keeps_its_job(sample, autosaves, monkeypatch):
    sample.press("Use these roles").go("missing_values").press("impute")
    sample.go("rescaling").press("Rescale all variables").go("screening")
    job = Job(Path("nowhere"), SimpleNamespace(title="Screening"), state=JobState.RUNNING)
    monkeypatch.setattr(running, "start", lambda *what, **how: job)
    monkeypatch.setattr(running, "_of_session", {})
    monkeypatch.setattr(autosaving, "_in_use", lambda name: False)
    sample.press("Screen 15 variables")
    saved(sample, autosaves)
    page = sample.at
    for _ in range(2):
        (left,) = running._of_session.values()
        monkeypatch.setattr(running, "_of_session", {"gone": left})
        monkeypatch.setitem(autosaving._owners, page.query_params["work"], "gone")
        job.session = "gone"
        reloaded = AppTest.from_file(str(APP), default_timeout=60)
        reloaded.query_params["work"] = page.query_params["work"]
        page = reloaded.run()
        assert page.session_state[Key.JOBS] == {"screening": job}
        assert job.session != "gone"
    job.state, job.ended_with = JobState.CANCELLED, "its page was closed"
    page.switch_page("views/screening.py").run()
    assert "still running when its page was closed" in page.warning[0].value

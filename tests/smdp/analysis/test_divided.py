"""Work divided among processes, and on a Dask cluster: the same numbers, to the last bit."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from smdp.analysis.analysis import AnalysisCancelled, run_analysis
from smdp.analysis.plan import plan_to_toml
from smdp.cli import main
from smdp.errors import DataError, SmdpError
from smdp.feature_map.adnn import training
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.tuning import grid, how_to_select
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.parallel import each, threads, workers
from smdp.plain_data import fingerprint
from smdp.progress import Cancelled, Progress, silent
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as running:
        yield running.scheduler_address


@pytest.fixture(params=["two processes", "cluster"])
def where(request) -> dict[str, object]:
    if request.param == "cluster":
        return {"scheduler": request.getfixturevalue("cluster")}
    return {"jobs": 2}


def test_a_whole_analysis(cluster, analysis, plan, study_file):
    heard = []
    with workers(scheduler=cluster):
        found = run_analysis(study_file, plan, progress=lambda share, what: heard.append(what))
    assert "Stability: Refit 1 of 2: waiting for 2 workers" in heard
    assert list(found.results) == list(analysis.results)
    for step, result in found.results.items():
        assert fingerprint(result) == fingerprint(analysis.results[step]), step


def test_screening_by_decision(where):
    study = simulate("quad", noise=4, subjects=24, times=8, seed=2)
    settings = ScreeningSettings(permutations=199, level=0.3)
    with workers(**where):
        found = screen(study, settings, seed=5)
    assert fingerprint(found) == fingerprint(screen(study, settings, seed=5))


def test_networks_in_several_pieces(cluster, monkeypatch):
    monkeypatch.setattr(training, "TOGETHER", 3)
    study = simulate("linear", noise=0, subjects=10, times=12, seed=1).select(["S1", "S2", "S3"])
    sets = TrainingSets(transitions(study, 2, np.random.default_rng(0)))
    settings = FeatureMapSettings(widths=(6,), folds=2, steps=20)
    specs = grid(sets, (1, 2), settings)
    how, seed = how_to_select(settings), np.random.SeedSequence(4)
    assert len(list(training._pieces(specs))) > 2
    with workers(scheduler=cluster):
        found = training.train(sets, specs, how, seed=seed)
    assert fingerprint(found) == fingerprint(training.train(sets, specs, how, seed=seed))


def test_it_can_be_stopped(where, plan, study_file):
    def stop(share: float, message: str) -> None:
        if "Refit" in message:
            raise Cancelled

    with pytest.raises(AnalysisCancelled) as stopped, workers(**where):
        run_analysis(study_file, plan, progress=stop)
    assert "features" in stopped.value.finished.results


def test_on_the_command_line(cluster, plan, study_file, tmp_path):
    short = tmp_path / "plan.toml"
    short.write_text(plan_to_toml(plan.replace(stop_after="screening")), encoding="utf-8")
    run = ["run", str(short), "--data", str(study_file), "--quiet", "--out"]
    assert main([*run, str(tmp_path / "here")]) == 0
    assert main([*run, str(tmp_path / "there"), "--scheduler", cluster]) == 0
    tables = sorted((tmp_path / "here" / "tables").iterdir())
    assert tables
    for table in tables:
        assert table.read_bytes() == (tmp_path / "there" / "tables" / table.name).read_bytes()


def test_a_whole_analysis_in_threads(analysis, plan, study_file):
    heard = []
    with threads(3):
        found = run_analysis(study_file, plan, progress=lambda share, what: heard.append(share))
    assert heard == sorted(heard)
    for step, result in found.results.items():
        assert fingerprint(result) == fingerprint(analysis.results[step]), step


def test_in_threads_it_can_be_stopped(plan, study_file):
    def stop(share: float, message: str) -> None:
        if "Refit" in message:
            raise Cancelled

    with pytest.raises(AnalysisCancelled) as stopped, threads(2):
        run_analysis(study_file, plan, progress=stop)
    assert "features" in stopped.value.finished.results


def test_threads_give_results_in_order_and_the_first_error_of_the_order():
    begun = []
    both = threading.Barrier(2, timeout=20)

    def work(k: int, progress: Progress = silent) -> int:
        begun.append(k)
        if k < 2:
            both.wait()  # two at the same time
        progress(1.0, "")
        if k == 3:
            raise DataError("third")
        return k * k

    with threads(2):
        assert list(each(work, range(3))) == [0, 1, 4]
        both.reset()
        found = each(work, range(40))
        assert [next(found) for _ in range(3)] == [0, 1, 4]
        with pytest.raises(DataError, match="third"):
            next(found)
    assert len(begun) < 20  # what comes after was not begun


def test_progress_of_threads_never_goes_back_nor_beyond_the_last():
    heard = []

    def work(k: int, progress: Progress = silent) -> None:
        for share in (0.0, 0.5, 1.0):
            progress(share, "")

    def told(k: int) -> Progress:
        return lambda share, what: heard.append(k + share)

    with threads(2):
        list(each(work, range(7), progress=told))
    assert heard == sorted(heard)
    assert heard[-1] < 7


def test_a_cluster_that_is_not_there_is_said(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("smdp.pools.PATIENCE", 0.2)
    nowhere = "tcp://127.0.0.1:9"
    message = re.escape(f"no Dask scheduler at '{nowhere}'")
    with pytest.raises(SmdpError, match=message), workers(scheduler=nowhere):
        pass

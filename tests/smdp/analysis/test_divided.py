"""Work divided among processes, and on a Dask cluster: the same numbers, to the last bit."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from smdp.analysis.analysis import AnalysisCancelled, run_analysis
from smdp.analysis.plan import plan_to_toml
from smdp.cli import main
from smdp.errors import SmdpError
from smdp.feature_map.adnn import training
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.tuning import grid, how_to_select
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.parallel import workers
from smdp.plain_data import fingerprint
from smdp.progress import Cancelled
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


def test_a_cluster_that_is_not_there_is_said(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("smdp.pools.PATIENCE", 0.2)
    nowhere = "tcp://127.0.0.1:9"
    message = re.escape(f"no Dask scheduler at '{nowhere}'")
    with pytest.raises(SmdpError, match=message), workers(scheduler=nowhere):
        pass

"""Studies: repeatable cell by cell, whoever does them, and safe against every kind of stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import small_simulation
from small_simulation import CELLS, CHEAP, SETTINGS, run_small, small_how
from waiting import wait_until

from smdp.errors import DataError, SettingError, SmdpError
from smdp.plain_data import read_plain, write_plain
from smdp.progress import Cancelled, facts_of
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate
from smdp.simulation.replication import replicate, separate_networks
from smdp.simulation.study_run import StudyCancelled, run_study
from smdp.simulation.study_settings import (
    PAPER_SETTINGS,
    SimulationSetting,
    StudyCell,
    StudySettings,
    planned_cells,
    seeds_of,
)
from smdp.simulation.study_store import CLOCK, FILE_NAME, read_study
from smdp.simulation.study_tables import kept_by_kind, summarise, timings
from smdp.text import duration
from smdp.words.simulation import trials_so_far


def same(first, second):
    """Everything but the clock, to the last bit."""
    rows = [study.rows.drop(columns=list(CLOCK)) for study in (first, second)]
    pd.testing.assert_frame_equal(*rows, check_exact=True)
    pd.testing.assert_frame_equal(summarise(first), summarise(second), check_exact=True)


def test_the_papers_study_has_nine_settings_and_five_maps():
    assert len(PAPER_SETTINGS) == 9
    cells = planned_cells(PAPER_SETTINGS, ["adnn", "oracle"], 3)
    assert len(set(cells)) == len(cells) == 9 * 2 * 3
    assert [cell.replication for cell in cells] == sorted(cell.replication for cell in cells)


def test_every_cell_is_done_and_its_numbers_make_sense(small_study):
    rows = small_study.rows
    assert len(rows) == 2 * 4 * 3
    assert set(rows["status"]) <= {"done", "failed"}
    by_map = rows.set_index("feature_map")
    assert (by_map.loc["identity", "dimension"] == by_map.loc["identity", "variables_count"]).all()
    assert set(by_map.loc["oracle", "variables"]) == {"S1 S2 S3 S4"}
    assert (by_map.loc["pca", "dimension"] < by_map.loc["identity", "dimension"].min()).all()
    assert np.isfinite(small_study.done[["linear", "neural"]]).all().all()
    assert small_study.done["neural_further"].isna().all()


def test_seeds_depend_on_nothing_but_the_data_asked_for():
    setting = SimulationSetting("quad", 50)
    first = seeds_of(0, setting, 3)
    assert first == seeds_of(0, replace(setting, discount=0.9), 3)
    others = [
        seeds_of(1, setting, 3),
        seeds_of(0, setting, 4),
        seeds_of(0, replace(setting, noise=51), 3),
        seeds_of(0, replace(setting, model="exp"), 3),
        seeds_of(0, replace(setting, times=91), 3),
    ]
    assert len({each["data"] for each in [first, *others]}) == 6
    assert len(set(first.values())) == 5


def test_part_of_a_study_can_be_repeated_alone(small_study):
    alone = replicate(StudyCell(SETTINGS[1], "pca", 2), small_how())
    row = small_study.rows.query("model == 'quad' and feature_map == 'pca' and replication == 2")
    assert row["linear"].item() == alone.linear
    assert row["neural"].item() == alone.neural
    data = simulate("quad", noise=6, subjects=12, times=15, seed=alone.data_seed)
    assert data.states.shape == (12, 16, 70)


def test_two_workers_give_the_same_table(small_study, tmp_path):
    two = run_small(folder=tmp_path, jobs=2)
    same(small_study, two)
    same(small_study, read_study(tmp_path))


def test_a_dask_cluster_gives_the_same_table(small_study):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        found = run_small(scheduler=cluster.scheduler_address)
    same(small_study, found)


def test_a_study_is_extended_and_what_is_done_is_not_done_again(small_study, tmp_path, monkeypatch):
    run_study(SETTINGS[:1], maps=["pca"], replications=2, how=small_how(), folder=tmp_path)
    done = []

    def watched(cell, how, *, progress=None):
        done.append(cell)
        return replicate(cell, how, progress=progress)

    monkeypatch.setattr("smdp.simulation.study_run.replicate", watched)
    run_small(folder=tmp_path)
    assert len(done) == CELLS - 2
    same(small_study, read_study(tmp_path))


def test_cells_that_are_known_are_not_done_again(small_study, monkeypatch):
    first = run_study(SETTINGS[:1], maps=CHEAP, replications=2, how=small_how())
    done = []

    def watched(cell, how, *, progress=None):
        done.append(cell)
        return replicate(cell, how, progress=progress)

    monkeypatch.setattr("smdp.simulation.study_run.replicate", watched)
    same(run_small(known=first), small_study)
    assert len(done) == CELLS - len(first.rows)
    fewer = run_study(SETTINGS[:1], maps=CHEAP[:1], replications=1, how=small_how(), known=first)
    assert len(fewer.rows) == 1
    with pytest.raises(SettingError, match="seed is 0, not 1"):
        run_study(SETTINGS[:1], maps=CHEAP, how=small_how(seed=1), known=first)


def started(folder, jobs):
    """The small study in a process of its own."""
    return subprocess.Popen([sys.executable, small_simulation.__file__, str(folder), str(jobs)])


def rows_in(folder):
    try:
        return len(read_study(folder).rows)
    except SmdpError:
        return 0


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX signal")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_study_goes_on_where_it_was(small_study, tmp_path, jobs):
    process = started(tmp_path / "study", jobs)
    children = set()
    try:
        wait_until(lambda: step_by_step(process, tmp_path / "study") >= 4)
        children = children_of(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = rows_in(tmp_path / "study")
    assert 4 <= before < CELLS
    wait_until_gone(children)
    found = run_small(folder=tmp_path / "study")
    same(small_study, found)


def step_by_step(process, folder):
    """The rows after a moment more of work: what is not held may be done before it is looked at."""
    process.send_signal(signal.SIGCONT)
    time.sleep(0.05)
    process.send_signal(signal.SIGSTOP)
    return rows_in(folder)


def children_of(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return {int(each) for each in found.stdout.split()}


def wait_until_gone(pids):
    """Workers end by themselves when the program that started them is killed."""
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_study_that_is_stopped_keeps_what_is_finished(small_study, tmp_path, jobs):
    def stop(share, message):
        if share >= 5 / CELLS:
            raise Cancelled

    with pytest.raises(StudyCancelled) as stopped:
        run_small(folder=tmp_path, jobs=jobs, progress=stop)
    finished = stopped.value.finished
    assert len(finished.rows) == 5
    same(finished, read_study(tmp_path))
    write_plain(finished, tmp_path / "plain")
    same(finished, read_plain(tmp_path / "plain"))
    same(small_study, run_small(folder=tmp_path))


def test_failures_are_kept_with_their_seed_and_are_not_fatal(tmp_path):
    setting = SimulationSetting("linear", 0, 8, 3)
    unknown = ScreeningSettings(permutations=99, pooling="trajectory", force_in=("Q1",))
    how = small_how(screening=unknown)
    study = run_study([setting], maps=["screened", "oracle"], replications=2, how=how,
                      folder=tmp_path)  # fmt: skip
    failed = study.failed
    assert set(failed["feature_map"]) == {"screened"}
    assert len(failed) == 2
    assert failed["message"].str.contains("Q1").all()
    assert failed["data_seed"].iloc[0] == seeds_of(0, setting, 0)["data"]
    assert len(study.done) == 2
    table = summarise(study).set_index("feature_map")
    assert table.loc["screened", ["replications", "failed"]].tolist() == [0, 2]
    assert np.isnan(table.loc["screened", "linear"])
    again = run_study([setting], maps=["screened"], replications=2, how=how, folder=tmp_path,
                      retry_failed=True)  # fmt: skip
    same(study, again)


def test_nothing_kept_is_a_failure_that_says_so():
    how = small_how(screening=ScreeningSettings(level=0.01, permutations=99, pooling="trajectory"))
    found = [
        replicate(StudyCell(SimulationSetting("linear", 0, 6, 2), "screened", r), how)
        for r in range(3)
    ]
    failed = [each for each in found if each.status == "failed"]
    assert failed
    assert failed[0].message.startswith("Screening kept no variable.")
    assert failed[0].screened == ""


def test_a_study_with_other_settings_is_refused(tmp_path):
    run_study(SETTINGS[:1], maps=["oracle"], replications=1, how=small_how(), folder=tmp_path)
    with pytest.raises(SettingError, match="neural_steps is 60, not 50"):
        run_study(SETTINGS[:1], maps=["oracle"], replications=1,
                  how=small_how(neural_steps=50), folder=tmp_path)  # fmt: skip
    how = small_how()
    other = replace(how, tnn=replace(how.tnn, steps=11))
    with pytest.raises(SettingError, match=r"tnn\.steps is 10, not 11"):
        run_study(SETTINGS[:1], maps=["oracle"], replications=1, how=other, folder=tmp_path)


def test_what_is_no_study_is_explained(tmp_path):
    with pytest.raises(DataError, match=r"no file 'study\.sqlite'"):
        read_study(tmp_path)
    (tmp_path / FILE_NAME).write_text("this is no database, but long enough to be read " * 20)
    with pytest.raises(DataError, match="cannot be used"):
        read_study(tmp_path)


def test_settings_survive_being_written():
    how = small_how(further_discount=0.95)
    assert StudySettings.from_json(how.to_json()) == how
    with pytest.raises(DataError, match="another version"):
        StudySettings.from_json({**how.to_json(), "unknown": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "'jobs' must be a whole number of at least 1"),
        ({"maps": ["lda"]}, "'maps' must be some of identity"),
        ({"replications": 0}, "'replications' must be"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(SettingError, match=message):
        run_study(**{"settings": SETTINGS, **arguments})


def test_a_further_discount_adds_an_outcome():
    cell = StudyCell(SETTINGS[0], "oracle", 0)
    plain, further = replicate(cell, small_how()), replicate(cell, small_how(further_discount=0.95))
    assert plain.neural_further is None
    assert further.neural_further is not None
    assert further.neural == plain.neural


def test_networks_take_part():
    """The alternating and the separate networks, with hardly any training."""
    for kind in ("adnn", "tnn"):
        found = replicate(StudyCell(SimulationSetting("linear", 0, 12, 8), kind, 0), small_how())
        assert found.status == "done", found.message
        assert found.dimension >= 1


def test_separate_networks_have_candidates_for_their_number_of_variables():
    """16 of 64 variables predict the next state for each action: 16 features are enough."""
    filled = separate_networks(StudySettings().tnn, 64)
    assert filled.dimensions == (16, 20, 24, 32)
    assert filled.widths == (64,)
    assert filled.steps == StudySettings().tnn.steps
    many = separate_networks(StudySettings().tnn, 264)
    assert many.widths == (132,)
    assert (many.steps, many.refit_steps) == (3 * filled.steps, 3 * filled.refit_steps)
    chosen = replace(filled, dimensions=(3,), widths=(7,))
    assert separate_networks(chosen, 64) == chosen


def test_kinds_of_variables_are_counted(small_study):
    kept = kept_by_kind(small_study)
    everything = kept[(kept["feature_map"] == "identity") & (kept["model"] == "quad")]
    assert everything["variables"].tolist() == [4, 60, 2, 2, 2]
    assert (everything["share"] == 1).all()
    oracle = kept[(kept["feature_map"] == "oracle") & (kept["model"] == "quad")].set_index("kind")
    assert oracle.loc["true", "all"] == 1
    assert (oracle.drop("true")["kept"] == 0).all()


def test_progress_says_how_far_and_how_long():
    said = []
    run_study(
        SETTINGS[:1], maps=["pca"], replications=3, how=small_how(),
        progress=lambda share, text: said.append((share, text)),
    )  # fmt: skip
    shares = [share for share, _ in said]
    assert shares == sorted(shares)
    assert said[-1] == (1.0, "3 of 3 done")
    assert any(text == "1 of 3 done" and facts_of(text)["seconds_left"] > 0 for _, text in said)
    lines = trials_so_far([text for _, text in said])
    assert [line.split(":")[0] for line in lines] == [f"trial {n}, PCA" for n in (1, 2, 3)]
    assert [text for _, text in said if "finished_trial" in facts_of(text)] == [
        f"Finished: {line}" for line in lines
    ]
    assert [duration(s) for s in (45, 600, 7800)] == ["45 s", "10 min", "2 h 10 min"]


def test_timings_are_means_of_seconds(small_study):
    assert (timings(small_study)["seconds"] > timings(small_study)["map_seconds"]).all()

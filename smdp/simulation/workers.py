"""Cells of a simulation study in several processes, or on a Dask cluster, by joblib."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from smdp.errors import SmdpError
from smdp.simulation.replication import CellResult, replicate
from smdp.simulation.study_settings import Cell, StudySettings

#: Seconds between two looks at the progress, and between two at whether the parent lives.
POLL = 0.5

#: Seconds to wait for a cluster, and for workers to end.
PATIENCE = 20

Report = Callable[[], None]


def in_processes(
    cells: Sequence[Cell], how: StudySettings, jobs: int, report: Report
) -> Iterator[CellResult]:
    """In `jobs` processes with one thread each, which end when this one does."""
    joblib = _joblib()
    with TemporaryDirectory(prefix="smdp-study-") as folder:
        # Workers end when this file is gone: joblib has no way to stop work that has begun.
        going_on = Path(folder) / "going-on"
        going_on.touch()

        def results() -> Iterator[CellResult]:
            parent = os.getpid()
            with joblib.parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
                yield from _parallel(joblib)(
                    joblib.delayed(_in_worker)(cell, how, parent, going_on) for cell in cells
                )

        yield from _polled(results, going_on.unlink, report)


def on_cluster(
    cells: Sequence[Cell], how: StudySettings, scheduler: str, report: Report
) -> Iterator[CellResult]:
    """On the workers of the Dask scheduler at this address, which must have smdp installed."""
    joblib = _joblib()
    try:
        from distributed import Client
    except ImportError as error:
        raise SmdpError(
            "A cluster needs the package 'dask', which is not installed.",
            "Install it with: pip install 'smdp[cluster]'",
        ) from error
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise SmdpError(
            f"There is no Dask scheduler at '{scheduler}'.",
            "Start one with 'dask scheduler', and workers with 'dask worker ADDRESS --nthreads 1'.",
        ) from error

    def results() -> Iterator[CellResult]:
        with joblib.parallel_config(backend="dask", client=client):
            yield from _parallel(joblib)(joblib.delayed(replicate)(cell, how) for cell in cells)

    try:
        yield from _polled(results, client.close, report)
    finally:
        client.close()


def _parallel(joblib: Any) -> Any:
    # One cell at a time and few ahead: each takes seconds to minutes.
    return joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2 * n_jobs")


def _polled(
    results: Callable[[], Iterator[CellResult]], stop: Callable[[], None], report: Report
) -> Iterator[CellResult]:
    """The results of an iterator that blocks, with a report every moment; stopped when left."""
    queue: SimpleQueue[CellResult | BaseException | None] = SimpleQueue()

    def work() -> None:
        try:
            for result in results():
                queue.put(result)
            queue.put(None)
        except BaseException as error:
            queue.put(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = queue.get(timeout=POLL)
            except Empty:
                report()
                continue
            if item is None:
                thread.join()
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        if thread.is_alive():
            stop()
            thread.join(PATIENCE)


class _Worker:
    """What a worker process is doing, watched by a thread of its own."""

    watched = False
    going_on: Path | None = None  # the file of the study whose cell is being done


def _in_worker(cell: Cell, how: StudySettings, parent: int, going_on: Path) -> CellResult:
    """Do a cell in a process that ends when the study is stopped, or its parent killed."""
    _Worker.going_on = going_on
    if not _Worker.watched:
        _Worker.watched = True
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        return replicate(cell, how)
    finally:
        _Worker.going_on = None


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        going_on = _Worker.going_on
        if going_on is not None and not going_on.exists():
            break
        time.sleep(POLL)
    os._exit(4)


def _joblib() -> Any:
    try:
        import joblib
    except ImportError as error:
        raise SmdpError(
            "Several processes need the package 'joblib', which is not installed.",
            "Install it with: pip install joblib. Or use one process (jobs 1).",
        ) from error
    return joblib

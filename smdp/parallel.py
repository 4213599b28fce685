"""Independent pieces of work in several processes, or on a Dask cluster, by joblib.

    with workers(jobs=4):  # or workers(scheduler="tcp://10.0.0.1:8786")
        run_analysis(table, plan)

Loops over such pieces (`each`) are divided among the workers where there are any, and done one
after the other where there are none. Results come in the order of the pieces and are the same, to
the last bit, wherever a piece is done: it has its own seed, and BLAS has one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import length_hint
from queue import Empty, SimpleQueue
from typing import Any

from smdp.pools import (
    PATIENCE,
    Pool,
    Work,
    cluster,
    joblib_or_error,
    processes,
    with_one_thread,
)
from smdp.progress import Progress, silent
from smdp.settings import require_whole

#: The environment variable that says how many workers the dashboard may run at once.
DASHBOARD_WORKERS = "SMDP_WORKERS"

#: Seconds between two looks at the progress.
POLL = 0.5

_pool: ContextVar[Pool | None] = ContextVar("pool", default=None)


def cores() -> int:
    """Those that this process may use."""
    count: int = joblib_or_error().cpu_count()
    return max(1, count)


@contextmanager
def workers(jobs: int = 1, scheduler: str | None = None) -> Iterator[None]:
    """Divide the work within among `jobs` processes with one thread each, which end when this one
    does; or among the workers of the Dask scheduler at this address, which must have smdp."""
    require_whole("jobs", jobs, 1)
    if scheduler is None and jobs == 1:
        yield
        return
    with cluster(scheduler) if scheduler is not None else processes(jobs) as pool:
        token = _pool.set(pool)
        try:
            yield
        finally:
            _pool.reset(token)


def divided() -> bool:
    """Whether there are workers to divide the work among."""
    return _pool.get() is not None


def each(
    work: Work,
    items: Iterable[Any],
    *shared: Any,
    progress: Callable[[int], Progress] = lambda k: silent,
) -> Iterator[Any]:
    """work(item, *shared) of each item, in order.

    `progress(k)` is told how far the k-th is; elsewhere, only that it is waited for. It may raise.
    """
    pool = _pool.get()
    if pool is None or length_hint(items, 2) < 2:
        for k, item in enumerate(items):
            yield with_one_thread(work, item, *shared, progress=progress(k))
        return
    done = 0

    def report() -> None:
        progress(done)(0.0, f"waiting for {pool.size} workers")

    report()
    for result in _polled(lambda: pool.results(work, items, shared, ordered=True), pool, report):
        yield result
        done += 1


def as_finished(
    work: Work, items: Iterable[Any], *shared: Any, report: Callable[[], None]
) -> Iterator[Any]:
    """work(item, *shared) of each item by the workers, whichever is finished first.

    `report` is called often and may raise to stop everything.
    """
    pool = _pool.get()
    assert pool is not None, "there are no workers"
    yield from _polled(lambda: pool.results(work, items, shared, ordered=False), pool, report)


def _polled(
    results: Callable[[], Iterator[Any]], pool: Pool, report: Callable[[], None]
) -> Iterator[Any]:
    """The results of an iterator that blocks, with a report every moment; stopped when left."""
    queue: SimpleQueue[tuple[Any] | BaseException | None] = SimpleQueue()

    def work() -> None:
        try:
            for result in results():
                queue.put((result,))
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
            yield item[0]
    finally:
        if thread.is_alive():
            pool.stop()
            thread.join(PATIENCE)

"""Independent pieces of work in several processes or threads, or on a Dask cluster.

    with workers(jobs=4):  # or workers(scheduler="tcp://10.0.0.1:8786"), or threads(4)
        run_analysis(table, plan)

Loops over such pieces (`each`) are divided among the workers where there are any, and done one
after the other where there are none. Results come in the order of the pieces and are the same, to
the last bit, wherever a piece is done: it has its own seed, and BLAS has one thread. Threads cost
nothing to start, and most work is compiled and lets others go on meanwhile; processes (joblib) are
for hours of work.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from itertools import islice
from operator import length_hint
from queue import Empty, SimpleQueue
from typing import Any

from smdp.pools import (
    PATIENCE,
    Pool,
    Work,
    cluster,
    joblib_or_error,
    limited_for_all_threads,
    processes,
    with_one_thread,
)
from smdp.progress import Cancelled, Progress, silent
from smdp.settings import require_whole

#: The environment variable that says how many workers the dashboard may run at once.
DASHBOARD_WORKERS = "SMDP_WORKERS"

#: Seconds between two looks at the progress.
POLL = 0.5

#: Of a piece in a thread, the share that is reported as done when all of it is.
ALL = 0.999

_pool: ContextVar[Pool | None] = ContextVar("pool", default=None)
_threads: ContextVar[int] = ContextVar("threads", default=1)


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


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Divide the work within among so many threads of this process, unless there are workers."""
    require_whole("count", count, 1)
    token = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(token)


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
    pool, count, alone = _pool.get(), _threads.get(), length_hint(items, 2) < 2
    if pool is None and count > 1 and not alone:
        yield from _in_threads(work, items, shared, progress, count)
        return
    if pool is None or alone:
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


def _in_threads(
    work: Work,
    items: Iterable[Any],
    shared: tuple[Any, ...],
    progress: Callable[[int], Progress],
    count: int,
) -> Iterator[Any]:
    """In order, with few ahead. What a piece divides itself is done in its own thread."""
    shares: dict[int, float] = {}  # of each piece that has begun
    lock, stopped = threading.Lock(), threading.Event()

    def report_of(k: int) -> Progress:
        def report(share: float, message: str) -> None:
            with lock:
                if stopped.is_set():
                    raise Cancelled
                shares[k] = max(shares.get(k, 0.0), ALL * min(share, 1.0))
                done, part = divmod(sum(shares.values()), 1.0)
                try:
                    progress(int(done))(part, message)
                except BaseException:
                    stopped.set()
                    raise

        return report

    def one(k: int, item: Any) -> Any:
        found = with_one_thread(work, item, *shared, progress=report_of(k))
        with lock:
            shares[k] = ALL
        return found

    ahead: deque[Future[Any]] = deque()
    context = copy_context()
    context.run(_threads.set, 1)
    pool = ThreadPoolExecutor(count)
    left = enumerate(items)

    def start(most: int) -> None:
        for k, item in islice(left, most):
            ahead.append(pool.submit(context.copy().run, one, k, item))

    with limited_for_all_threads(context):
        try:
            start(2 * count)
            while ahead:
                found = ahead.popleft().result()
                start(1)
                yield found
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


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

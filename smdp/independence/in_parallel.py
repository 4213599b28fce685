"""Independent pieces of work, in threads, with progress and prompt cancelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from smdp.progress import Cancelled

Result = TypeVar("Result")

#: Seconds between two looks at the progress while threads work.
POLL = 0.1


def in_parallel(
    work: Callable[[int, Callable[[], None]], Result],
    count: int,
    jobs: int,
    report: Callable[[float], None],
) -> Iterator[Result]:
    """work(0, between), work(1, between), .. in order, `jobs` at a time.

    `between` is for `work` to call between its own pieces; `report` gets the number of finished
    works and may raise to stop everything. Threads and not processes: nearly all the time goes to
    BLAS and to array loops that release the interpreter, and nothing has to be copied.
    """
    if jobs == 1 or count < 2:
        for i in range(count):
            report(i)
            yield work(i, lambda i=i: report(i))  # type: ignore[misc]
        return
    yield from _in_threads(work, count, jobs, report)


def _in_threads(
    work: Callable[[int, Callable[[], None]], Result],
    count: int,
    jobs: int,
    report: Callable[[float], None],
) -> Iterator[Result]:
    from threadpoolctl import threadpool_limits

    stopped = Event()

    def between() -> None:
        if stopped.is_set():
            raise Cancelled

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(jobs) as pool:
        waiting: list[Future[Result]] = []
        try:
            for i in range(count):
                # Only a few ahead: results that nobody has taken yet hold memory.
                while len(waiting) < 2 * jobs and i + len(waiting) < count:
                    waiting.append(pool.submit(work, i + len(waiting), between))
                first = waiting.pop(0)
                report(i)
                while not wait([first], timeout=POLL).done:
                    report(i)
                yield first.result()
        finally:
            stopped.set()
            for future in waiting:
                future.cancel()

"""Independent pieces of work, in threads, with progress and prompt cancelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from threading import Event
from typing import TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from smdp.independence.workspace import Workspace
from smdp.progress import Cancelled

Result = TypeVar("Result")
Work = Callable[[int, Workspace], Result]

#: Seconds between two looks at the progress while threads work.
POLL = 0.1


def in_parallel(
    work: Work[Result], count: int, jobs: int, report: Callable[[float], None]
) -> Iterator[Result]:
    """work(0, workspace), work(1, workspace), .. in order, `jobs` at a time.

    `report` gets the share that is finished, often, and may raise to stop everything. Threads and
    not processes: nearly all the time goes to BLAS and to array loops that release the interpreter,
    and nothing has to be copied. BLAS itself gets one thread: the products are too small for more,
    and on a busy machine its threads, waiting for each other, took four times as long.
    """
    in_turn = _in_threads if jobs > 1 and count > 1 else _one_by_one
    with threadpool_limits(1, user_api="blas"):
        yield from in_turn(work, count, min(jobs, count), report)


def _one_by_one(
    work: Work[Result], count: int, jobs: int, report: Callable[[float], None]
) -> Iterator[Result]:
    done = 0
    workspace = Workspace(lambda: report(done / count))
    for done in range(count):
        workspace.pause()
        yield work(done, workspace)


def _in_threads(
    work: Work[Result], count: int, jobs: int, report: Callable[[float], None]
) -> Iterator[Result]:
    stopped = Event()

    def pause() -> None:
        if stopped.is_set():
            raise Cancelled

    workspaces: SimpleQueue[Workspace] = SimpleQueue()
    for _ in range(jobs):
        workspaces.put(Workspace(pause))

    def one(i: int) -> Result:
        workspace = workspaces.get()
        try:
            return work(i, workspace)
        finally:
            workspaces.put(workspace)

    with ThreadPoolExecutor(jobs) as pool:
        waiting: list[Future[Result]] = []
        try:
            for done in range(count):
                # Only a few ahead: results that nobody has taken yet hold memory.
                while len(waiting) < 2 * jobs and done + len(waiting) < count:
                    waiting.append(pool.submit(one, done + len(waiting)))
                first = waiting.pop(0)
                report(done / count)
                while not wait([first], timeout=POLL).done:
                    report(done / count)
                yield first.result()
        finally:
            stopped.set()
            for future in waiting:
                future.cancel()

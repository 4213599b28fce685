"""Workers for `smdp.parallel`: processes of this machine, or those of a Dask cluster, by joblib."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from smdp import __version__
from smdp.errors import SmdpError
from smdp.system import is_orphan, temporary_folder

#: Seconds between two looks at whether the parent lives.
POLL = 0.5

#: Seconds to wait for a cluster, and for workers to end.
PATIENCE = 20

HOW_TO_START = (
    "Start one with 'dask scheduler', and workers with 'dask worker ADDRESS --nthreads 1'."
)

#: work(item, *shared, progress=...): it must be a function that can be imported.
Work = Callable[..., Any]


class Pool(Protocol):
    """Workers that are ready."""

    @property
    def size(self) -> int: ...

    def results(
        self, work: Work, items: Iterable[Any], shared: tuple[Any, ...], *, ordered: bool
    ) -> Iterator[Any]:
        """work(item, *shared) of each item."""

    def stop(self) -> None:
        """Give up what is being done."""


@dataclass(frozen=True)
class _ProcessPool:
    size: int
    going_on: Path  # workers end when this file is gone: joblib cannot stop work that has begun

    def results(
        self, work: Work, items: Iterable[Any], shared: tuple[Any, ...], *, ordered: bool
    ) -> Iterator[Any]:
        joblib = joblib_or_error()
        known = {"parent": os.getpid(), "going_on": self.going_on}
        with joblib.parallel_config(backend="loky", n_jobs=self.size, inner_max_num_threads=1):
            yield from _parallel(joblib, ordered)(
                joblib.delayed(_in_worker)(work, item, *shared, **known) for item in items
            )

    def stop(self) -> None:
        self.going_on.unlink(missing_ok=True)


@contextmanager
def processes(jobs: int) -> Iterator[Pool]:
    with temporary_folder("workers") as folder:
        going_on = folder / "going-on"
        going_on.touch()
        yield _ProcessPool(jobs, going_on)


@dataclass(frozen=True)
class _ClusterPool:
    client: Any
    size: int

    def results(
        self, work: Work, items: Iterable[Any], shared: tuple[Any, ...], *, ordered: bool
    ) -> Iterator[Any]:
        joblib = joblib_or_error()
        # Sent once; otherwise they would go with every item. Not named by their content, as joblib
        # would do it: what the last loop shared may just be about to be deleted under that name.
        sent = self.client.scatter(list(shared), broadcast=True, hash=False)
        with joblib.parallel_config(backend="dask", client=self.client):
            yield from _parallel(joblib, ordered)(
                joblib.delayed(with_one_thread)(work, item, *sent) for item in items
            )

    def stop(self) -> None:
        self.client.close()


@contextmanager
def cluster(scheduler: str) -> Iterator[Pool]:
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
        raise SmdpError(f"There is no Dask scheduler at '{scheduler}'.", HOW_TO_START) from error
    try:
        yield _ClusterPool(client, _ready_workers(client, scheduler))
    finally:
        client.close()


def _ready_workers(client: Any, scheduler: str) -> int:
    """How many threads the cluster's workers have; they must have this version of smdp."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except OSError as error:
        raise SmdpError(f"The scheduler at '{scheduler}' has no workers.", HOW_TO_START) from error
    try:
        found = set(client.run(_version).values())
    except ImportError:
        found = {"none"}
    if found != {__version__}:
        raise SmdpError(
            f"The workers of '{scheduler}' have another version of smdp than this machine: "
            f"{', '.join(sorted(found - {__version__}))} instead of {__version__}.",
            "Install the same version on all.",
        )
    return sum(client.ncores().values())


def _version() -> str:
    return __version__


def _parallel(joblib: Any, ordered: bool) -> Any:
    # One piece at a time and few ahead: each takes seconds to minutes.
    how = "generator" if ordered else "generator_unordered"
    return joblib.Parallel(return_as=how, batch_size=1, pre_dispatch="2 * n_jobs")


#: Whether BLAS has one thread already: looking for it takes longer than small pieces of work.
_alone: ContextVar[bool] = ContextVar("alone", default=False)
_among: ContextVar[bool] = ContextVar("among", default=False)


def among_threads() -> bool:
    """Whether other threads work at the same time: what is one for the process stays as it is."""
    return _among.get()


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are split between threads: only with a fixed number of them are the bits the same."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if _alone.get():
        yield
        return
    before = _alone.set(True)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        _alone.reset(before)


@contextmanager
def limited_for_all_threads(context: Context) -> Iterator[None]:
    """The same while threads run in copies of this context: none sets it back for others."""
    from threadpoolctl import threadpool_limits

    context.run(_alone.set, True)
    context.run(_among.set, True)
    with threadpool_limits(1, user_api="blas"):
        yield


def with_one_thread(work: Work, *arguments: Any, **options: Any) -> Any:
    with one_thread():
        return work(*arguments, **options)


class _Worker:
    """What a worker process is doing, watched by a thread of its own."""

    watched = False
    going_on: Path | None = None  # the file of the work of which a piece is being done


def _in_worker(work: Work, *arguments: Any, parent: int, going_on: Path) -> Any:
    """Do a piece in a process that ends when the work is stopped, or its parent killed."""
    _Worker.going_on = going_on
    if not _Worker.watched:
        _Worker.watched = True
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        return with_one_thread(work, *arguments)
    finally:
        _Worker.going_on = None


def _end_with(parent: int) -> None:
    while not is_orphan(parent):
        going_on = _Worker.going_on
        if going_on is not None and not going_on.exists():
            break
        time.sleep(POLL)
    os._exit(4)


def joblib_or_error() -> Any:
    try:
        import joblib
    except ImportError as error:
        raise SmdpError(
            "Several processes need the package 'joblib', which is not installed.",
            "Install it with: pip install joblib. Or use one process (jobs 1).",
        ) from error
    return joblib

"""A simulation study: settings x feature maps x replications, kept as they finish.

    rows = run_study(PAPER_SETTINGS, replications=20, folder="study", jobs=2)

A cell depends on its setting, feature map and number and on the study's seed alone: not on the
other cells, on the number of workers or on interruptions. So a study that was stopped is taken up
where it was, and part of it can be repeated alone. (On machines with other processors, networks
may differ in the last digits.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from smdp import __version__
from smdp.parallel import as_finished, divided, workers
from smdp.progress import Cancelled, Message, Progress, silent
from smdp.settings import require_whole
from smdp.simulation.names import PAPER_MAPS, StudyMap
from smdp.simulation.replication import CellResult, replicate, said_of
from smdp.simulation.study_settings import (
    SimulationSetting,
    StudyCell,
    StudySettings,
    planned_cells,
)
from smdp.simulation.study_store import StudyRows, StudyStore, open_study
from smdp.simulation.time_left import TimeLeft

Report = Callable[..., None]


class StudyCancelled(Cancelled):
    """The study was stopped; `finished` are the cells that were finished until then."""

    def __init__(self, finished: StudyRows) -> None:
        super().__init__("The simulation study was stopped.")
        self.finished: StudyRows = finished


def run_study(
    settings: Sequence[SimulationSetting],
    *,
    maps: Sequence[StudyMap] = PAPER_MAPS,
    replications: int = 20,
    how: StudySettings = StudySettings(),  # noqa: B008 - frozen
    folder: Path | str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    retry_failed: bool = False,
    known: StudyRows | None = None,
    progress: Progress | None = None,
) -> StudyRows:
    """Do what is not done yet of the study in the folder, and return all that is in it.

    `jobs`: processes, each with one thread; `scheduler`: the address of a Dask cluster to use
    instead. Without a folder nothing is kept but the result. `known`: cells of this study, done
    earlier, that need not be done again. Failures are kept with their seed and
    message, and not tried again unless asked for: they would fail again. Stopped by `progress`,
    it raises `StudyCancelled`.
    """
    progress = progress or silent
    require_whole("jobs", jobs, 1)
    cells = planned_cells(settings, maps, replications)
    with open_study(Path(folder) if folder is not None else None, how, __version__) as store:
        if known is not None:
            store.take_over(known, cells)
        finished = store.finished(count_failed=not retry_failed)
        left = [cell for cell in cells if cell not in finished]
        try:
            _work(store, left, len(cells), how, jobs, scheduler, progress)
        except Cancelled as stop:
            raise StudyCancelled(store.read()) from stop
        return store.read()


def _work(
    store: StudyStore,
    left: list[StudyCell],
    total: int,
    how: StudySettings,
    jobs: int,
    scheduler: str | None,
    progress: Progress,
) -> None:
    where = _Where(total - len(left), total, TimeLeft(store.read().rows, left, jobs), progress)
    where.report()
    with workers(max(1, min(jobs, len(left))), scheduler if left else None):
        for result in _results(left, how, where.report):
            store.append(result)
            where.finished(result)


class _Where:
    """How far a study is, as it is told to people."""

    def __init__(self, done: int, total: int, clock: TimeLeft, progress: Progress) -> None:
        self._done, self._total, self._failed = done, total, 0
        self._clock, self._progress = clock, progress

    def finished(self, result: CellResult) -> None:
        self._done += 1
        self._failed += result.status == "failed"
        self._clock.finished(result)
        self._progress(self._done / self._total, said_of(result))
        self.report()

    def report(self, share: float = 0.0, what: str = "") -> None:
        """`share`: how much of the next cell is done, where that is known."""
        text = f"{self._done} of {self._total} done"
        if self._failed:
            text += f", {self._failed} failed"
        text += f" ({what[0].lower()}{what[1:]})" if what else ""
        left = self._clock.seconds() if self._done < self._total else None
        message = Message(text, seconds_left=left)
        self._progress(min(1.0, (self._done + share) / self._total), message)


def _results(cells: list[StudyCell], how: StudySettings, report: Report) -> Iterator[CellResult]:
    """The results as they finish; `report` is called often and may raise to stop everything."""
    if divided():
        yield from as_finished(replicate, cells, how, report=report)
    else:
        for cell in cells:
            yield replicate(cell, how, progress=report)

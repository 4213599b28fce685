"""How long a simulation study will still take, from how long its finished cells took."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import pandas as pd

from smdp.simulation.replication import CellResult
from smdp.simulation.study_settings import StudyCell


class TimeLeft:
    """Means by setting and map; where there is none, by map; else over all."""

    def __init__(self, known: pd.DataFrame, cells: Sequence[StudyCell], workers: int) -> None:
        self._totals: dict[tuple, tuple[float, int]] = {}
        columns = ["model", "noise", "subjects", "times", "feature_map", "seconds"]
        for *key, seconds in known[known["status"] == "done"][columns].itertuples(index=False):
            self._add(tuple(key), seconds)
        self._left: dict[tuple, int] = {}
        for cell in cells:
            own = cell.setting
            key = (own.model, own.noise, own.subjects, own.times, cell.feature_map)
            self._left[key] = self._left.get(key, 0) + 1
        self._workers = max(1, workers)
        self._at, self._estimate = monotonic(), self._seconds()

    def finished(self, result: CellResult) -> None:
        key = (result.model, result.noise, result.subjects, result.times, result.feature_map)
        if result.status == "done":
            self._add(key, result.seconds)
        self._left[key] -= 1
        self._at, self._estimate = monotonic(), self._seconds()

    def seconds(self) -> float | None:
        """None as long as nothing is known."""
        if self._estimate is None:
            return None
        return max(0.0, self._estimate - (monotonic() - self._at))

    def _add(self, key: tuple, seconds: float) -> None:
        for each in (key, key[-1:], ()):
            total, count = self._totals.get(each, (0.0, 0))
            self._totals[each] = (total + seconds, count + 1)

    def _seconds(self) -> float | None:
        if not self._totals:
            return None
        longest = largest = 0.0
        for key, count in self._left.items():
            if count > 0:
                total, seen = next(
                    self._totals[each] for each in (key, key[-1:], ()) if each in self._totals
                )
                longest += count * total / seen
                largest = max(largest, total / seen)
        return max(longest / self._workers, largest)

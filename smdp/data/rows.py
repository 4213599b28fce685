"""The decisions of trajectories one below the other: what maps, policies and estimates work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.text import listing


@dataclass(frozen=True)
class Rows:
    """R decisions, in the order of the trajectories and, in each, of time.

    Trajectories of the same name are one subject. `unit` and `subject` count only those that have
    a row: N trajectories, which belong to C subjects.
    """

    row: NDArray[np.int64]  # (R,): the place among all trajectories
    time: NDArray[np.int64]  # (R,)
    subject: NDArray[np.int64]  # (R,): 0 .. C-1
    shape: tuple[int, int]  # (n, T), of the trajectories

    @property
    def subjects(self) -> int:
        """C"""
        return int(self.subject.max()) + 1

    @property
    def units(self) -> int:
        """N"""
        return len(self.first)

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """(R,): the trajectory, 0 .. N-1."""
        return numbered(self.row)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(N,): each trajectory's first row."""
        return np.unique(self.row, return_index=True)[1]

    @cached_property
    def cluster(self) -> NDArray[np.int64]:
        """(N,): the subject of each trajectory."""
        return self.subject[self.first]

    def at(self, grid: NDArray[Any]) -> NDArray[Any]:
        """The rows' values of an array (n, T, ..) or, for states, (n, T + 1, ..)."""
        return np.asarray(grid[self.row, self.time])

    def after(self, states: NDArray[Any]) -> NDArray[Any]:
        """The states (n, T + 1, ..) that follow the rows."""
        return np.asarray(states[self.row, self.time + 1])

    def on_grid(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, T, d): the rows' values (R, d) in their places, NaN elsewhere."""
        grid = np.full((*self.shape, values.shape[1]), np.nan)
        grid[self.row, self.time] = values
        return grid

    def take(self, kept: NDArray[np.bool_]) -> Self:
        """Only these rows (R,), with all that is known of each."""
        arrays: dict[str, Any] = {
            each.name: value[kept]
            for each in fields(self)
            if isinstance(value := getattr(self, each.name), np.ndarray)
        }
        return replace(self, **{**arrays, "subject": numbered(self.subject[kept])})


def numbered(names: NDArray[Any]) -> NDArray[np.int64]:
    """0, 1, .. for the different names, in their order."""
    return np.unique(names, return_inverse=True)[1]


def require_complete(*values: NDArray[np.float64]) -> None:
    """Refuse missing states or utilities of rows."""
    if not all(np.isfinite(each).all() for each in values):
        raise DataError(
            "States or utilities are missing in transitions that are marked as valid.",
            "Prepare the data first, so that missing values are imputed.",
        )


def require_every_action(level: NDArray[np.int64], labels: Sequence[str], otherwise: str) -> None:
    """Refuse rows in which some action was never taken; `otherwise` ends the sentence."""
    never = [f"'{label}'" for k, label in enumerate(labels) if not (level == k).any()]
    if never:
        raise DataError(
            f"Nobody received the action {listing(never)} in a usable transition, {otherwise}.",
            "Leave it out of the actions, or join it with a similar one.",
        )

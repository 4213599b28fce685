"""A table that is shaped while somebody tries things out: only what is new is worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from smdp.data.shaping.operation import Operation
from smdp.data.shaping.shape import ShapingRecord, Stage, first_stage, next_stage
from smdp.errors import SmdpError

ROWS_SHOWN = 8
BEFORE = "{name} before"


@dataclass(frozen=True, eq=False)
class ShapedSoFar:
    """The table after all operations, or after those before the first that cannot be done.

    `failed`: the place of that one, from 0, and `error`, why; None if all could be done.
    """

    frame: pd.DataFrame
    records: tuple[ShapingRecord, ...]
    failed: int | None = None
    error: SmdpError | None = None


@dataclass(frozen=True, eq=False)
class TriedOut:
    """What an operation would do.

    `people`: how many there are before and after, where it is known who they are. `rows`: the first
    rows of the columns that it makes, beside those that they are made of.
    """

    record: ShapingRecord
    people: tuple[int, int] | None
    rows: pd.DataFrame


class GradualShape:
    """A table, and what it became by the operations that were last asked for, one after the other.

    `tables`: others that can be joined, by name.
    """

    def __init__(
        self, frame: pd.DataFrame, tables: Mapping[str, pd.DataFrame] | None = None
    ) -> None:
        self._frame, self._tables = frame, tables or {}
        self._first = first_stage(frame, (), tables=tables)
        self._stages: list[tuple[Operation, Stage]] = []

    def after(
        self,
        operations: Sequence[Operation],
        *,
        person: str | None = None,
        time: str | None = None,
    ) -> ShapedSoFar:
        """The table by these operations, as far as they can be done.

        Those that it begins with and that were the same last time are not done again.
        """
        first = first_stage(self._frame, operations, person=person, time=time, tables=self._tables)
        self._forget_what_differs(operations, first)
        stage = self._stages[-1][1] if self._stages else first
        for place in range(len(self._stages), len(operations)):
            try:
                stage = next_stage(stage, operations, place)
            except SmdpError as error:
                return ShapedSoFar(stage.frame, stage.records, place, error)
            self._stages.append((operations[place], stage))
        return ShapedSoFar(stage.frame, stage.records)

    def before(self, place: int) -> pd.DataFrame:
        """The table to which the operation at this place was done."""
        return self._stage(place).frame

    def try_out(self, operation: Operation, place: int) -> TriedOut:
        """What this operation would do at this place; an error if it cannot be done there."""
        stage = self._stage(place)
        done = next_stage(stage, [*(each for each, _ in self._stages[:place]), operation], place)
        return TriedOut(done.records[-1], _people(stage, done), _rows(operation, stage, done))

    def _stage(self, place: int) -> Stage:
        return self._stages[place - 1][1] if place else self._first

    def _forget_what_differs(self, operations: Sequence[Operation], first: Stage) -> None:
        before, now = self._first.known, first.known
        same = 0
        if (before.person, before.time) == (now.person, now.time):
            for (known, _), operation in zip(self._stages, operations, strict=False):
                if known != operation:
                    break
                same += 1
        self._first = first
        del self._stages[same:]


def _people(before: Stage, after: Stage) -> tuple[int, int] | None:
    person, later = before.known.person, after.known.person
    if person not in before.frame.columns or later not in after.frame.columns:
        return None
    return before.frame[person].nunique(), after.frame[later].nunique()


def _rows(operation: Operation, before: Stage, after: Stage) -> pd.DataFrame:
    made = [name for name in after.records[-1].made if name in after.frame.columns]
    made = made or [name for name in operation.makes() if name in after.frame.columns]
    used = [name for name in dict.fromkeys(operation.uses()) if name not in made]
    shown = {
        name: after.frame[name].head(ROWS_SHOWN) for name in used if name in after.frame.columns
    }
    same_rows = len(before.frame) == len(after.frame)
    for name in made:
        if same_rows and name in before.frame.columns:
            shown[BEFORE.format(name=name)] = before.frame[name].head(ROWS_SHOWN)
    shown |= {name: after.frame[name].head(ROWS_SHOWN) for name in made}
    return pd.DataFrame({name: column.to_numpy() for name, column in shown.items()})

"""A list of operations, done to a table one after the other, each with a record of what it did."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from smdp.data.shaping.operation import Operation, Shaped
from smdp.data.shaping.person_rows import Surroundings
from smdp.data.shaping.rows_and_names import RenameColumn, nobody_left
from smdp.errors import DataError, SettingError, SmdpError
from smdp.result import Content
from smdp.text import listing, plural, shorten

MOST_OPERATIONS = 200


@dataclass(frozen=True)
class ShapingRecord:
    """What one operation did.

    `description`: in one line. `made`: columns that are new or have other values. `found`: in how
    many rows what was met. `levels`: of a column of levels, the rows of each. `notes`: what else is
    to be known.
    """

    description: str
    rows_before: int
    rows_after: int
    columns_before: int
    columns_after: int
    cells_changed: int
    made: tuple[str, ...] = ()
    found: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def effect(self) -> str:
        """How much it changed: '390 of 8,274 rows left out; 16 columns more'."""
        said = []
        if gone := self.rows_before - self.rows_after:
            said.append(f"{plural(gone, 'row')} of {self.rows_before:,} left out")
        if more := self.columns_after - self.columns_before:
            said.append(f"{plural(abs(more), 'column')} {'more' if more > 0 else 'fewer'}")
        if self.cells_changed:
            said.append(f"{plural(self.cells_changed, 'cell')} filled or changed")
        return "; ".join(said) or "nothing is changed by it"

    def sentences(self) -> list[str]:
        """What it did, and what is to be known of that."""
        said = [self.description]
        gone = self.rows_before - self.rows_after
        if gone:
            said.append(f"{plural(gone, 'row')} of {self.rows_before:,} left out")
        return said + list(self.notes)


@dataclass(frozen=True, eq=False)
class ShapedTable(Content):
    """The table after all operations, and a record of each, in their order."""

    frame: pd.DataFrame
    records: tuple[ShapingRecord, ...]

    def summary(self) -> str:
        """What was done, a line for each operation and each thing to be known of it."""
        lines = []
        for place, record in enumerate(self.records, start=1):
            first, *more = record.sentences()
            lines += [f"{place}. {first}", *(f"   - {each}" for each in more)]
        return "\n".join(lines)


def shape(
    frame: pd.DataFrame,
    operations: Sequence[Operation],
    *,
    person: str | None = None,
    time: str | None = None,
    tables: Mapping[str, pd.DataFrame] | None = None,
) -> ShapedTable:
    """The table with these operations done to it, in order: columns made, rows kept, tables joined.

    `person`, `time`: the columns of these, by which `lag` and its like find what came before; they
    may be made by one of the operations. `tables`: others that are joined, by name. The table that
    is given stays as it is. The first operation that cannot be done is an error that says which.
    """
    stage = first_stage(frame, operations, person=person, time=time, tables=tables)
    for place, operation in enumerate(operations):
        try:
            stage = next_stage(stage, operations, place)
        except SmdpError as error:
            raise _at(error, place, operation) from error
    return ShapedTable(stage.frame, stage.records)


@dataclass(frozen=True, eq=False)
class Stage:
    """A table after some of the operations, what is known of it, and what these did."""

    frame: pd.DataFrame
    known: Surroundings
    records: tuple[ShapingRecord, ...] = ()


def first_stage(
    frame: pd.DataFrame,
    operations: Sequence[Operation],
    *,
    person: str | None = None,
    time: str | None = None,
    tables: Mapping[str, pd.DataFrame] | None = None,
) -> Stage:
    """Before the first of these operations; `person` and `time` as they are called in the end."""
    _check(frame, operations)
    first = [
        None if name is None else name_before(name, list(frame.columns), operations)
        for name in (person, time)
    ]
    return Stage(frame, Surroundings(first[0], first[1], tables or {}))


def next_stage(stage: Stage, operations: Sequence[Operation], place: int) -> Stage:
    """After the operation at this place, where the table is the one that it is done to."""
    operation, frame, known = operations[place], stage.frame, stage.known
    _refuse_later(frame, operations, place)
    shaped = operation.apply(frame, known)
    if len(shaped.frame) == 0:
        raise nobody_left("none is left by this step")
    known = replace(
        known,
        person=shaped.renamed.get(known.person or "", known.person),
        time=shaped.renamed.get(known.time or "", known.time),
    )
    return Stage(shaped.frame, known, (*stage.records, _record(operation, frame, shaped)))


def _check(frame: pd.DataFrame, operations: Sequence[Operation]) -> None:
    for each in operations:
        if not isinstance(each, Operation):
            raise SettingError(
                f"{shorten(repr(each))} is not an operation.", "Give smdp.ComputeColumn(..), say."
            )
    if len(operations) > MOST_OPERATIONS:
        raise SettingError(
            f"There are {len(operations):,} operations, and the limit is {MOST_OPERATIONS}.",
            "Do some of them before, and save the table.",
        )
    if len(frame) == 0:
        raise DataError("The table has no rows.", "Check that it holds the data.")
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise DataError(
            f"The table has columns with the same name: {listing(twice)}.",
            "Give each column a name of its own.",
        )


def name_before(name: str, columns: Collection[str], operations: Sequence[Operation]) -> str:
    """What a column is called before it gets the name by which it is known in the end.

    `columns`: those of the table before.
    """
    for operation in reversed(operations):
        if isinstance(operation, RenameColumn) and operation.name == name:
            if name in columns:
                break
            name = operation.column
    return name


def name_after(name: str, operations: Sequence[Operation]) -> str:
    """What a column is called in the end."""
    for operation in operations:
        if isinstance(operation, RenameColumn) and operation.column == name:
            name = operation.name
    return name


def _refuse_later(frame: pd.DataFrame, operations: Sequence[Operation], place: int) -> None:
    """Refuse an operation that uses a column which is made only later, or by itself."""
    for name in operations[place].uses():
        if name in frame.columns:
            continue
        if name in operations[place].makes():
            raise DataError(
                f"'{shorten(name)}' is made of itself, and the table has no such column before.",
                "Use other columns in it.",
            )
        for later in range(place + 1, len(operations)):
            if name in operations[later].makes():
                raise DataError(
                    f"It uses '{shorten(name)}', which is made only by step {later + 1}.",
                    f"Move step {later + 1} before it.",
                )


def _at(error: SmdpError, place: int, operation: Operation) -> DataError:
    """The error with the step that it came from."""
    what = f"Step {place + 1} of shaping the table ({operation.do}): {error.problem}"
    return DataError(what, error.remedy, error.concerns)


def _record(operation: Operation, before: pd.DataFrame, shaped: Shaped) -> ShapingRecord:
    return ShapingRecord(
        description=operation.describe(),
        rows_before=len(before),
        rows_after=len(shaped.frame),
        columns_before=before.shape[1],
        columns_after=shaped.frame.shape[1],
        cells_changed=shaped.cells_changed,
        made=shaped.made,
        found=shaped.found,
        levels=shaped.levels,
        notes=tuple(shaped.sentences()),
    )

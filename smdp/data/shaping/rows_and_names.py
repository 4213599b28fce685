"""Rows that are kept, columns that are left out or called otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.shaping.compute import CONDITION_HELP
from smdp.data.shaping.evaluate import holds
from smdp.data.shaping.operation import (
    REQUIRED,
    Operation,
    Shaped,
    check_formula,
    check_name,
    name_setting,
    require_columns,
    require_free,
    used_by,
)
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import DataError, SettingError
from smdp.settings import setting
from smdp.text import listing, shorten

UNKNOWN = "left out because the condition is neither true nor false"


@dataclass(frozen=True, eq=False)
class KeepRows(Operation, do="keep rows", title="Keep some rows (filter)"):
    """The rows in which a `condition` is true; those where it is false or missing are left out."""

    condition: str = setting(
        REQUIRED, "Keep rows where", help=CONDITION_HELP, control="text", stands_for="formula"
    )

    def check(self) -> None:
        check_formula(self.condition)

    def describe(self) -> str:
        return f"Rows where {shorten(self.condition, 200)} are kept."

    def uses(self) -> tuple[str, ...]:
        return used_by(self.condition)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        done = holds(self.condition, frame, known)
        keep = done.cells.values == 1
        if not keep.any():
            raise nobody_left(f"the condition {shorten(self.condition, 200)} is true in no row")
        unknown = int(np.isnan(done.cells.values).sum())
        found = {**done.found, UNKNOWN: unknown} if unknown else done.found
        kept = frame if keep.all() else frame[keep].reset_index(drop=True)
        return Shaped(kept, found=found)


@dataclass(frozen=True, eq=False)
class DropColumns(Operation, do="drop columns", title="Leave out columns"):
    """The table without these `columns`."""

    columns: tuple[str, ...] = setting(
        REQUIRED, "Columns", what="columns", control="several", stands_for="column"
    )

    def check(self) -> None:
        if not self.columns:
            raise SettingError(
                "No columns are named that are to be left out.", "Name at least one."
            )

    def describe(self) -> str:
        return f"Left out: {listing(self.columns, 12)}."

    def uses(self) -> tuple[str, ...]:
        return self.columns

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, self.columns)
        if set(frame.columns) <= set(self.columns):
            raise DataError("Without these columns, the table has none.", "Keep some of them.")
        return Shaped(frame.drop(columns=list(self.columns)))


@dataclass(frozen=True, eq=False)
class RenameColumn(Operation, do="rename", title="Rename a column"):
    """Another `name` for a `column`."""

    column: str = setting(REQUIRED, "Column", stands_for="column")
    name: str = name_setting("New name")

    def check(self) -> None:
        check_name(self.name)

    def describe(self) -> str:
        return f"'{shorten(self.column)}' is called '{shorten(self.name)}'."

    def uses(self) -> tuple[str, ...]:
        return (self.column,)

    def makes(self) -> tuple[str, ...]:
        return (self.name,)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, [self.column])
        if self.name != self.column:
            require_free(frame, self.name)
        renamed = {self.column: self.name}
        return Shaped(frame.rename(columns=renamed), renamed=renamed)


def nobody_left(why: str) -> DataError:
    return DataError(f"No row is left: {why}.", "Change this step, or leave it out.")

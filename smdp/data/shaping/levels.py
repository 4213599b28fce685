"""Other words for the values of a column: given one by one, or 'other' for those that are rare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from smdp.data.files.text_values import column_from_text
from smdp.data.shaping.cells import CellValues, as_text, column_cells, number_cells
from smdp.data.shaping.operation import (
    REQUIRED,
    Operation,
    Shaped,
    check_name,
    require_columns,
    require_free,
    with_column,
)
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import DataError, SettingError
from smdp.settings import setting
from smdp.text import listing, percent, plural, shorten

MOST_NAMED = 8  # values in a description
RESULT_HELP = "Left empty, the column itself is changed."


class _OfOneColumn:
    """What is made of one column, in its place or beside it."""

    column: str
    name: str

    def uses(self) -> tuple[str, ...]:
        return (self.column,)

    def makes(self) -> tuple[str, ...]:
        return (self.name or self.column,)


@dataclass(frozen=True, eq=False)
class RecodeColumn(_OfOneColumn, Operation, do="recode", title="Recode values"):
    """Other `values` for those of a `column`: a mapping from the old value, as text, to the new.

    A new value of "" is missing. `others`: values that are not listed are kept, become missing, or
    are all called `others_level`. `name`: of the result; "" changes the column itself. Where all
    new values are numbers, so is the column.
    """

    column: str = setting(REQUIRED, "Column", stands_for="column")
    values: Mapping[str, str] = setting(REQUIRED, "New values", what="a table of texts")
    others: Literal["keep", "missing", "one level"] = setting(
        "keep",
        "Values that are not listed",
        choices={"keep": "stay", "missing": "become missing", "one level": "get one name"},
    )
    others_level: str = setting("", "Their name", control="text")
    name: str = setting("", "Name of the result", help=RESULT_HELP, control="text")

    def check(self) -> None:
        object.__setattr__(self, "values", dict(self.values))
        named = bool(self.others_level)
        if named != (self.others == "one level"):
            raise SettingError(
                "'others_level' is the name of values that are not listed, if these get one name.",
                "Give it with others='one level', and only then.",
            )

    def describe(self) -> str:
        pairs = [f"{old} is {new or 'missing'}" for old, new in self.values.items()]
        rest = {
            "keep": "others stay",
            "missing": "others are missing",
            "one level": f"others are {shorten(self.others_level)}",
        }[self.others]
        into = f" as '{shorten(self.name)}'" if self.name else ""
        shown = listing(pairs, MOST_NAMED)
        return f"'{shorten(self.column)}' recoded{into}: {shown}; {rest}."

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, [self.column])
        name = _result(frame, self.column, self.name)
        cells = as_text(column_cells(frame[self.column]))
        present = set(cells.levels[np.unique(cells.values[cells.values >= 0])])
        wanted = {old.strip(): new for old, new in self.values.items()}
        absent = [old for old in wanted if old not in present]
        if len(absent) == len(wanted) and self.others == "keep":
            raise DataError(
                f"'{shorten(self.column)}' has none of the values that are to be recoded: "
                f"{listing(absent)}.",
                f"It has {listing(sorted(present), 12)}.",
            )
        rest = {"missing": "", "one level": self.others_level}
        coded = cells.by_level(
            lambda old: wanted[old] if old in wanted else rest.get(self.others, old)
        )
        made, changed = with_column(frame, name, _numbers_if_all_are(_without_empty(coded)))
        kept = frozenset(old for old in present if old not in wanted and self.others == "keep")
        notes = (f"Not in the column: {listing(absent, MOST_NAMED)}.",) if absent else ()
        counts = _counts(_without_empty(coded))
        meaning = {name: (self.column, kept)}
        return Shaped(made, (name,), changed, {}, counts, notes, same_meaning=meaning)


@dataclass(frozen=True, eq=False)
class GroupRare(_OfOneColumn, Operation, do="group rare", title="Group rare values"):
    """One level `into` for the rare values of a `column`.

    Rare is what has fewer rows than `fewest_rows`, or less than `fewest_share` of the rows that
    have a value: one of the two is given. `name`: of the result; "" changes the column itself.
    """

    column: str = setting(REQUIRED, "Column", stands_for="column")
    fewest_rows: int | None = setting(
        None,
        "Fewest rows of a level",
        help="Values with fewer rows are rare. 0: by their share instead.",
        least=1,
    )
    fewest_share: float | None = setting(
        None,
        "Smallest share of a level",
        help="Values of a smaller share of the rows are rare. 0: by their rows instead.",
        above=0,
        below=1,
        what="a share",
        percent=True,
    )
    into: str = setting("other", "Name of the rest", control="text")
    name: str = setting("", "Name of the result", help=RESULT_HELP, control="text")

    def check(self) -> None:
        check_name(self.into)
        if (self.fewest_rows is None) == (self.fewest_share is None):
            raise SettingError(
                f"When a value of '{shorten(self.column)}' is rare must be said in one way.",
                "Give either the fewest rows of a level or the smallest share, not both.",
            )

    def describe(self) -> str:
        if self.fewest_rows is not None:
            least = f"fewer than {plural(self.fewest_rows, 'row')}"
        else:
            least = f"less than {percent(self.fewest_share or 0, 1)} of the rows"
        into = f" as '{shorten(self.name)}'" if self.name else ""
        return f"Values of '{shorten(self.column)}' with {least} are '{shorten(self.into)}'{into}."

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, [self.column])
        name = _result(frame, self.column, self.name)
        cells = as_text(column_cells(frame[self.column]))
        rows = _counts(cells)
        total = sum(rows.values())
        share = self.fewest_share or 0
        least = share * total if self.fewest_rows is None else self.fewest_rows
        rare = {level for level, count in rows.items() if count < least and level != self.into}
        grouped = cells.by_level(lambda level: self.into if level in rare else level)
        made, changed = with_column(
            frame, name, grouped if rare else column_cells(frame[self.column])
        )
        moved = sum(rows[level] for level in rare)
        notes = [f"{plural(len(rare), 'value')} of {plural(moved, 'row')} grouped."]
        if rare and self.into in rows:
            notes.append(f"'{shorten(self.into)}' was there before, and holds these too now.")
        kept = frozenset(level for level in rows if level not in rare)
        meaning = {name: (self.column, kept)}
        return Shaped(
            made, (name,), changed, {}, _counts(grouped), tuple(notes), same_meaning=meaning
        )


def _result(frame: pd.DataFrame, column: str, name: str) -> str:
    if name and name != column:
        require_free(frame, name)
    return name or column


def _counts(cells: CellValues) -> dict[str, int]:
    """Rows by level, the most frequent first."""
    counts: NDArray[np.int64] = np.bincount(
        cells.values[cells.values >= 0], minlength=len(cells.levels)
    )
    order = np.argsort(-counts, kind="stable")
    return {str(cells.levels[i]): int(counts[i]) for i in order if counts[i]}


def _without_empty(cells: CellValues) -> CellValues:
    """The same, missing where the text is empty."""
    empty = np.flatnonzero(cells.levels == "")
    gone = np.isin(cells.values, empty)
    return CellValues("text", np.where(gone, -1, cells.values), cells.levels)


def _numbers_if_all_are(cells: CellValues) -> CellValues:
    used = np.unique(cells.values[cells.values >= 0])
    if len(used) == 0:
        return number_cells(np.full(len(cells.values), np.nan))
    read = column_from_text(pa.chunked_array([pa.array(cells.levels[used], pa.large_string())]))
    if pa.types.is_large_string(read.type):
        return cells
    numbers = np.full(len(cells.levels), np.nan)
    numbers[used] = np.asarray(read, np.float64)
    return cells.numbers_by_level(numbers)

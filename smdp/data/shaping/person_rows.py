"""The rows of each person in the order of time: which row came before which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.shaping.cells import CellValues, as_text, column_cells, date_cells
from smdp.data.shaping.dates import dates_of
from smdp.errors import SettingError
from smdp.text import shorten


@dataclass(frozen=True)
class Surroundings:
    """What is known of a table besides its cells.

    `person`, `time`: its columns of these; None where that is not known. `tables`: others, by name.
    """

    person: str | None = None
    time: str | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class PersonRows:
    """`order`: the rows that have a person and a time, each person's together, in order of time.

    `rank`: how many rows of the same person stand before, for each of them. `time`: numbers or
    dates, of every row. `doubled`: rows at the time of another row of the same person.
    """

    rows: int
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    time: CellValues
    doubled: NDArray[np.bool_]

    def earlier(self, steps: int) -> NDArray[np.int64]:
        """For each row, the row of the same person that many before; -1 where there is none."""
        found = np.full(self.rows, -1, np.int64)
        later = np.flatnonzero(self.rank >= steps)
        found[self.order[later]] = self.order[later - steps]
        return found

    def number(self) -> NDArray[np.float64]:
        """Each row's place among those of its person, from 1; NaN without person or time."""
        found = np.full(self.rows, np.nan)
        found[self.order] = self.rank + 1
        return found


def person_rows(frame: pd.DataFrame, known: Surroundings) -> PersonRows:
    person = person_places(frame, known)
    time = _time(frame, known)
    usable = np.flatnonzero((person >= 0) & ~time.missing)
    moment = time.values[usable]
    order = usable[np.lexsort((moment, person[usable]))]
    begins = np.diff(person[order], prepend=-1) != 0
    places = np.arange(len(order))
    start = np.maximum.accumulate(np.where(begins, places, 0)) if len(order) else places
    again = ~begins[1:] & (time.values[order][1:] == time.values[order][:-1])
    doubled = np.zeros(len(frame), bool)
    doubled[order[1:][again]] = doubled[order[:-1][again]] = True
    return PersonRows(len(frame), order, places - start, time, doubled)


def person_places(frame: pd.DataFrame, known: Surroundings) -> NDArray[np.int64]:
    """Each row's person as 0, 1, ..; -1 where there is none."""
    cells = column_cells(frame[_column(frame, known.person, "person")])
    return as_text(cells).values if cells.kind == "text" else pd.factorize(cells.values)[0]


def _time(frame: pd.DataFrame, known: Surroundings) -> CellValues:
    name = _column(frame, known.time, "time")
    cells = column_cells(frame[name])
    if cells.kind != "text":
        return cells
    moments = dates_of(cells.levels)
    if np.isnat(moments).all():
        raise SettingError(
            f"The time column '{shorten(name)}' holds neither numbers nor dates.",
            "Choose another, or make one of a date and a time of the day first.",
        )
    return date_cells(np.append(moments, np.datetime64("NaT", "us"))[cells.values])


def _column(frame: pd.DataFrame, name: str | None, what: str) -> str:
    if name is None:
        raise SettingError(
            f"It is not known which column is the {what}.",
            "Say which columns are the person and the time: what came before is looked up by them.",
            concerns="person and time",
        )
    if name not in frame.columns:
        raise SettingError(
            f"The column of the {what}, '{shorten(name)}', is not in the table at this point.",
            "Choose another, or make the column in an earlier step.",
            concerns="person and time",
        )
    return name

"""Dates with a time of the day, put together from columns and taken apart into them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.shaping.cells import MOMENT, CellValues, column_cells, date_cells
from smdp.data.shaping.dates import dates_of, hours_of
from smdp.data.shaping.evaluate import evaluate
from smdp.data.shaping.findings import NO_CLOCK, NO_DATE
from smdp.data.shaping.formula import written
from smdp.data.shaping.operation import (
    REQUIRED,
    Operation,
    Shaped,
    check_name,
    name_setting,
    replace_setting,
    require_columns,
    require_free,
    with_column,
)
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import DataError, SettingError
from smdp.settings import setting
from smdp.text import listing, shorten

NO_BEEP = "a beep without an hour"
_HOUR = np.timedelta64(3_600_000_000, "us")
_MOST_BEEPS = 24 * 60 - 1


@dataclass(frozen=True, eq=False)
class DateAndTime(Operation, do="date and time", title="Make a date with a time"):
    """A column `name` of moments, from a `date` and a time of the day.

    `clock`: the column of the time, as text like 14:30 or 2:30 pm, as hours like 14.5, or as 1430;
    or two or three columns of hours, minutes and seconds. `beep`: instead, the column of the number
    of the prompt within the day; `hours`: when each was, from the first. Without hours, the k-th is
    put k minutes after midnight, which keeps their order and says nothing of the time between.
    """

    name: str = name_setting()
    date: str = setting(REQUIRED, "Date", stands_for="column")
    clock: tuple[str, ...] = setting(
        (),
        "Time of the day",
        help="One column, or two or three of hours, minutes and seconds.",
        what="columns",
        control="several",
        stands_for="column",
    )
    beep: str = setting(
        "",
        "Number of the prompt",
        help="In place of the time of the day.",
        control="text",
        stands_for="column",
    )
    hours: tuple[float, ...] = setting(
        (), "Hours of the prompts", help="Such as  9, 12.5, 18", least=0, below=24
    )
    replace: bool = replace_setting()

    def __post_init__(self) -> None:
        if isinstance(self.clock, str):
            object.__setattr__(self, "clock", (self.clock,) if self.clock else ())
        super().__post_init__()

    def check(self) -> None:
        check_name(self.name)
        if bool(self.clock) == bool(self.beep) or len(self.clock) > 3:
            raise SettingError(
                "The time of the day is one column, or two or three of hours, minutes and seconds, "
                "or the number of a prompt.",
                "Give either the time ('clock') or the number of the prompt ('beep').",
            )
        if self.hours and not self.beep:
            raise SettingError(
                "'hours' are those of prompts.", "Give the column of these as 'beep'."
            )

    def describe(self) -> str:
        when = listing([f"'{name}'" for name in self.clock or (self.beep,)])
        return f"'{shorten(self.name)}' is the moment of '{shorten(self.date)}' and {when}."

    def uses(self) -> tuple[str, ...]:
        return (self.date, *self.clock, *([self.beep] if self.beep else []))

    def makes(self) -> tuple[str, ...]:
        return (self.name,)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, self.uses())
        require_free(frame, self.name, self.replace)
        date, no_date = dates_in(frame, self.date)
        hour, no_hour = self._prompts(frame) if self.beep else self._clock(frame)
        missing = date.missing | np.isnan(hour)
        seconds = np.round(np.where(missing, 0, hour) * 3600).astype("timedelta64[s]")
        moments = date.values.astype("datetime64[D]").astype(MOMENT) + seconds
        cells = date_cells(np.where(missing, np.datetime64("NaT", "us"), moments))
        made, changed = with_column(frame, self.name, cells)
        found = {NO_DATE: no_date, NO_BEEP if self.beep else NO_CLOCK: no_hour}
        counted = {what: rows for what, rows in found.items() if rows}
        notes = self._read_as(frame, cells)
        if self.beep and not self.hours:
            notes += ("Prompts stand minutes apart: their order is known, not their time.",)
        return Shaped(made, (self.name,), changed, counted, notes=notes)

    def _read_as(self, frame: pd.DataFrame, cells: CellValues) -> tuple[str, ...]:
        there = np.flatnonzero(~cells.missing)
        if len(there) == 0:
            return ()
        first = int(there[0])
        shown = [f"'{shorten(frame[name].iloc[first], 30)}'" for name in self.uses()]
        moment = pd.Timestamp(cells.values[first])
        return (f"{listing(shown)} is read as {moment:%d %B %Y, %H:%M}.",)

    def _prompts(self, frame: pd.DataFrame) -> tuple[NDArray[np.float64], int]:
        beep = column_cells(frame[self.beep])
        if beep.kind != "number":
            raise DataError(
                f"'{shorten(self.beep)}' is to be the number of the prompt, and holds no numbers.",
                "Choose another column, or give it as the time of the day ('clock').",
            )
        hours = self.hours or tuple(k / 60 for k in range(1, _MOST_BEEPS + 1))
        place = np.where(beep.missing, 0, beep.values)
        known = (place == np.floor(place)) & (place >= 1) & (place <= len(hours))
        chosen = np.array([np.nan, *hours])[np.where(known, place, 0).astype(int)]
        return chosen, int((~known & ~beep.missing).sum())

    def _clock(self, frame: pd.DataFrame) -> tuple[NDArray[np.float64], int]:
        columns = [column_cells(frame[name]) for name in self.clock]
        if len(columns) > 1:
            hour = sum(
                (_numbers(cells, name) / 60**place)
                for place, (cells, name) in enumerate(zip(columns, self.clock, strict=True))
            )
            hour = np.asarray(hour)
            given = ~np.isnan(hour)
        else:
            hour = _hours(columns[0])
            given = ~columns[0].missing
        good = (hour >= 0) & (hour < 24)
        return np.where(good, hour, np.nan), int((given & ~good).sum())


@dataclass(frozen=True, eq=False)
class SplitDate(Operation, do="split date", title="Split a date into day and hour"):
    """The day and the hour of a `column` of moments, as columns `date` and `hour`.

    A name that is left empty is not made.
    """

    column: str = setting(REQUIRED, "Column", stands_for="column")
    date: str = setting("", "Name of the day's column", control="text")
    hour: str = setting("", "Name of the hour's column", control="text")

    def check(self) -> None:
        if not self.makes():
            raise SettingError("Neither the day nor the hour has a name.", "Name one of them.")
        if self.date == self.hour:
            raise SettingError("The day and the hour have the same name.", "Give them two.")

    def describe(self) -> str:
        parts = [("day", self.date), ("hour", self.hour)]
        made = " and ".join(f"the {what} as '{shorten(name)}'" for what, name in parts if name)
        return f"Of '{shorten(self.column)}', {made}."

    def uses(self) -> tuple[str, ...]:
        return (self.column,)

    def makes(self) -> tuple[str, ...]:
        return tuple(name for name in (self.date, self.hour) if name)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, [self.column])
        found: dict[str, int] = {}
        changed = 0
        quoted = written(self.column)
        for function, name in (("date", self.date), ("hour", self.hour)):
            if name:
                require_free(frame, name)
                done = evaluate(f"{function}({quoted})", frame, known)
                frame, cells = with_column(frame, name, done.cells)
                changed += cells
                found |= done.found
        return Shaped(frame, self.makes(), changed, found)


def dates_in(frame: pd.DataFrame, name: str) -> tuple[CellValues, int]:
    """The dates of a column, and in how many rows its text is none."""
    cells = column_cells(frame[name])
    if cells.kind == "text":
        moments = np.append(dates_of(cells.levels), np.datetime64("NaT", "us"))[cells.values]
        found = date_cells(moments)
    elif cells.kind == "date":
        found = cells
    else:
        raise DataError(
            f"'{shorten(name)}' is to be a date, and holds numbers.", "Choose another column."
        )
    return found, int((found.missing & ~cells.missing).sum())


def _hours(cells: CellValues) -> NDArray[np.float64]:
    """Hours after midnight, of clock times in whatever way they are written."""
    if cells.kind == "text":
        return cells.numbers_by_level(hours_of(cells.levels)).values
    if cells.kind == "date":
        return np.where(
            cells.missing, np.nan, (cells.values - cells.values.astype("datetime64[D]")) / _HOUR
        )
    values = cells.values
    with np.errstate(invalid="ignore"):
        if np.nanmax(values, initial=0) < 100:
            return values
        as_digits = (values == np.floor(values)) & (values % 100 < 60)
    return np.where(as_digits, values // 100 + values % 100 / 60, np.nan)  # 1430


def _numbers(cells: CellValues, name: str) -> NDArray[np.float64]:
    if cells.kind != "number":
        raise DataError(
            f"'{shorten(name)}' is to be hours, minutes or seconds, and holds no numbers.",
            "Choose other columns, or one of the time of the day.",
        )
    return cells.values

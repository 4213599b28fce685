"""Turning a column of times into each subject's decision number.

Whole numbers, dates and date-times on a regular grid keep their gaps: a decision that has no row
leaves a hole. Times that follow no grid are numbered in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from smdp.errors import DataError
from smdp.text import listing, shorten

# A grid on which fewer than this share of the decisions has a row is no grid.
FULL_ENOUGH = 0.5
MOST_SLOTS_A_DAY = 24
_FIRST_LOOK = 500  # rows, by which formats are sorted out
ISO = "ISO8601"
DATE_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d", "%Y/%m/%d %H:%M",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y", "%d.%m.%y %H:%M",
    "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%y", "%m/%d/%y %H:%M",
    "%m/%d/%Y %I:%M %p", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%d-%m-%Y",
    "%d-%m-%Y %H:%M", "%d/%m/%y", "%d/%m/%y %H:%M", "%d %b %Y", "%d%b%Y", "%b %d, %Y",
)  # fmt: skip


@dataclass(frozen=True)
class Decisions:
    """Each row's decision number (from 0, per subject) and how it was found, in words."""

    index: NDArray[np.int64]
    note: str


def decision_index(subject: NDArray[np.int64], time: pd.Series) -> Decisions:
    """The decision number of each row; `subject` holds each row's subject as 0 .. n-1."""
    name = shorten(time.name)
    missing = np.flatnonzero(time.isna().to_numpy())
    if len(missing):
        raise DataError(
            f"The time column '{name}' is empty in data rows {listing(missing + 1)}.",
            "Fill in these times or delete the rows.",
        )
    if is_numeric_dtype(time):
        return _from_numbers(subject, time.to_numpy(dtype=float), name)
    stamps = time if is_datetime64_any_dtype(time) else parse_dates(time, subject)
    if getattr(stamps.dtype, "tz", None) is not None:
        stamps = stamps.dt.tz_localize(None)
    found = _from_stamps(subject, stamps, name)
    if stamps is time:
        return found
    read = f"'{shorten(time.iloc[0], 30)}' is read as {stamps.iloc[0]:%d %B %Y, %H:%M}."
    return Decisions(found.index, f"{found.note} {read}")


def parse_dates(time: pd.Series, subject: NDArray[np.int64] | None = None) -> pd.Series:
    """Text as date-times, in a format that fits every row.

    Where several fit (3/4 is a day in March or in April), the one in which time runs forward, and
    then the one in which each subject's times lie closest together.
    """
    text = time.astype(str).str.strip()
    subject = np.zeros(len(text), np.int64) if subject is None else subject
    fits: list[tuple[int, float, int, pd.Series]] = []
    first = {form: _parsed(text.iloc[:_FIRST_LOOK], form).notna() for form in (ISO, *DATE_FORMATS)}
    likely = [form for form, read in first.items() if read.all()]
    for place, form in enumerate(likely):
        parsed = _parsed(text, form)
        if parsed.notna().all():
            groups = parsed.groupby(subject)
            steps_back = int((groups.diff() < pd.Timedelta(0)).sum())
            span = float((groups.max() - groups.min()).dt.total_seconds().sum())
            fits.append((steps_back, span, place, parsed))
    if fits:
        return min(fits, key=lambda fit: fit[:3])[3]
    numbers = pd.to_numeric(text, errors="coerce").notna()
    best = max(first, key=lambda form: first[form].sum())
    dates = first[best].sum() > numbers.iloc[:_FIRST_LOOK].sum()
    understood = _parsed(text, best).notna() if dates else numbers
    bad = np.flatnonzero(~understood.to_numpy())
    shown = [f"'{shorten(text.iloc[i], 30)}' (data row {i + 1})" for i in bad]
    raise DataError(
        f"The time column '{shorten(time.name)}' holds values that are neither numbers nor "
        f"dates: {listing(shown, 3)}.",
        "Write times as whole numbers (1, 2, 3), dates (2024-03-31) or date-times "
        "(2024-03-31 14:30), or mark these values as missing codes.",
    )


def _parsed(text: pd.Series, form: str) -> pd.Series:
    """NaT where the text is no date of this format."""
    if form == ISO:
        return pd.to_datetime(text, errors="coerce", format=form, utc=True).dt.tz_localize(None)
    return pd.to_datetime(text, errors="coerce", format=form)


def _from_numbers(subject: NDArray[np.int64], time: NDArray[np.float64], name: str) -> Decisions:
    infinite = np.flatnonzero(~np.isfinite(time))
    if len(infinite):
        raise DataError(
            f"The time column '{name}' is infinite in data rows {listing(infinite + 1)}.",
            "Correct these times or mark them as missing codes.",
        )
    if not np.all(time == np.round(time)) or np.abs(time).max(initial=0) > 2**52:
        return _in_order(subject, time, name, "has fractions")
    return _on_grid(subject, time.astype(np.int64), name)


def _from_stamps(subject: NDArray[np.int64], stamps: pd.Series, name: str) -> Decisions:
    days = stamps.dt.normalize()
    day_number = ((days - days.min()) // pd.Timedelta(days=1)).to_numpy().astype(np.int64)
    clock = ((stamps - days) // pd.Timedelta(minutes=1)).to_numpy().astype(np.int64)
    slots = np.unique(clock)
    seconds = (stamps - days.min()).dt.total_seconds().to_numpy()
    if len(slots) > MOST_SLOTS_A_DAY:
        return _in_order(subject, seconds, name, "follows no fixed times of the day")
    hours = listing([f"{s // 60:02d}:{s % 60:02d}" for s in slots])
    pace = "one decision a day" if len(slots) == 1 else f"{len(slots)} decisions a day ({hours})"
    slot = np.searchsorted(slots, clock)
    return _on_grid(subject, day_number * len(slots) + slot, name, pace, seconds)


def _on_grid(
    subject: NDArray[np.int64],
    time: NDArray[np.int64],
    name: str,
    pace: str = "",
    order: NDArray[np.float64] | None = None,
) -> Decisions:
    """On a regular grid; from the common start where most begin together, else from one's own."""
    first = np.full(subject.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, subject, time)
    together = bool(np.mean(first == first.min()) > 0.5)
    origin = np.full_like(first, first.min()) if together else first
    since = time - origin[subject]
    step = int(np.gcd.reduce(since)) if len(since) else 1
    index = since // max(step, 1)
    last = np.zeros_like(first)
    np.maximum.at(last, subject, index)
    if len(index) / np.sum(last + 1) < FULL_ENOUGH:
        values = time.astype(float) if order is None else order
        return _in_order(subject, values, name, "leaves most of its grid empty")
    start = "everyone starts together" if together else "decision 1 is each subject's first"
    if not pace:
        pace = f"one decision every {step}" if step > 1 else "one decision for each number"
    return Decisions(index, f"Time '{name}': {pace}; {start}.")


def _in_order(
    subject: NDArray[np.int64], time: NDArray[np.float64], name: str, why: str
) -> Decisions:
    rank = pd.Series(time).groupby(subject).rank(method="dense").to_numpy().astype(np.int64) - 1
    return Decisions(
        rank,
        f"Time '{name}' {why}: each subject's decisions are numbered in order, "
        "so a decision that was skipped cannot be seen.",
    )

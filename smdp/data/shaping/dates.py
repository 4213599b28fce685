"""Text as dates and times of the day, in the format that most of it has."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.decisions import DATE_FORMATS, ISO, parse_dates
from smdp.data.shaping.cells import MOMENT

_FIRST_LOOK = 500  # texts by which formats are sorted out
_CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,2})[:.h](?P<minute>[0-9]{2})(?:[:.](?P<second>[0-9]{2})(?:\.[0-9]+)?)?"
    r"\s*(?P<half>[aApP]\.?[mM]\.?)?"
)


def dates_of(texts: NDArray[np.object_]) -> NDArray[np.datetime64]:
    """Each text as a moment, NaT where it is none in the format that fits most of them.

    Where several formats fit as many (3/4 is a day in March or in April), the choice is that of
    `parse_dates`: the one in which time runs forward in the order of the texts.
    """
    first = texts[:_FIRST_LOOK]
    counts = {form: int((~np.isnat(_parsed(first, form))).sum()) for form in (ISO, *DATE_FORMATS)}
    likely = [form for form, fits in counts.items() if fits and fits == max(counts.values())]
    if not likely:
        return np.full(len(texts), np.datetime64("NaT", "us"))
    read = {form: _parsed(texts, form) for form in likely}
    fits = {form: int((~np.isnat(moments)).sum()) for form, moments in read.items()}
    best = [moments for form, moments in read.items() if fits[form] == max(fits.values())]
    if len(best) == 1 or all(_same(best[0], other) for other in best[1:]):
        return best[0]
    every = ~np.isnat(np.array(best)).any(axis=0)
    if not every.any():
        return best[0]
    settled = np.full(len(texts), np.datetime64("NaT", "us"))
    settled[every] = parse_dates(pd.Series(texts[every])).to_numpy(MOMENT)
    return settled


def hours_of(texts: NDArray[np.object_]) -> NDArray[np.float64]:
    """Each text as hours after midnight ('14:30' is 14.5, '2:30 pm' too), NaN where it is none."""
    return np.array([_hours(str(text).strip()) for text in texts], np.float64)


def _parsed(texts: NDArray[np.object_], form: str) -> NDArray[np.datetime64]:
    iso: dict[str, Any] = {"utc": True} if form == ISO else {}
    text = pd.Series(texts, dtype="str")
    if form == ISO:  # a bare year or number is no date
        text = text.where(text.str.contains("-", regex=False))
    found = pd.to_datetime(text, errors="coerce", format=form, **iso)
    return found.dt.tz_localize(None).to_numpy(MOMENT)


def _same(one: NDArray[np.datetime64], other: NDArray[np.datetime64]) -> bool:
    return bool(((one == other) | (np.isnat(one) & np.isnat(other))).all())


def _hours(text: str) -> float:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return np.nan
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if match["half"]:
        if not 1 <= hour <= 12:
            return np.nan
        hour = hour % 12 + 12 * (match["half"][0] in "pP")
    return hour + minute / 60 + second / 3600 if hour < 24 and max(minute, second) < 60 else np.nan

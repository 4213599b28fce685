"""Wide tables and REDCap's longitudinal exports, turned long: one row a subject and time."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import pandas as pd

from smdp.data.files.limits import MAX_ROWS
from smdp.errors import DataError
from smdp.text import listing

Layout = Literal["long", "wide", "redcap"]
NUMBERED = re.compile(r"^(?P<stem>.*?[^\d_.\s-])[_.\s-]?(?:[tT])?(?P<number>\d{1,4})$")
FEWEST_TIMES = 3
REDCAP_EVENT, REDCAP_INSTANCE = "redcap_event_name", "redcap_repeat_instance"
DECISION = "decision_number"


def recognise_layout(frame: pd.DataFrame) -> Layout:
    """REDCap by its columns; wide if columns repeat with numbers and rows do not repeat."""
    if REDCAP_EVENT in frame.columns or REDCAP_INSTANCE in frame.columns:
        return "redcap"
    repeated = numbered_columns(frame)
    wide_share = sum(len(c) for c in repeated.values()) / max(frame.shape[1], 1)
    return "wide" if repeated and wide_share > 0.5 and _a_row_each(frame, repeated) else "long"


def _a_row_each(frame: pd.DataFrame, repeated: dict[str, dict[int, str]]) -> bool:
    """Whether rows may be people: where nothing beside the numbered columns tells rows apart, the
    numbers are those of a questionnaire's items, and the rows its repetitions."""
    numbered = {column for times in repeated.values() for column in times.values()}
    names = [c for c in frame.columns if c not in numbered and frame[c].dtype.kind != "f"]
    return not names or any(frame[name].is_unique for name in names)


def numbered_columns(frame: pd.DataFrame) -> dict[str, dict[int, str]]:
    """Stems with the columns of their times: {'stress': {1: 'stress_1', 2: 'stress_2', ...}}."""
    stems: dict[str, dict[int, str]] = {}
    for name in map(str, frame.columns):
        match = NUMBERED.match(name)
        if match:
            stems.setdefault(match["stem"], {})[int(match["number"])] = name
    return {stem: times for stem, times in stems.items() if len(times) >= FEWEST_TIMES}


def to_long(frame: pd.DataFrame, layout: Layout | None = None) -> pd.DataFrame:
    """The table with one row for each subject and time, whatever its layout was."""
    layout = recognise_layout(frame) if layout is None else layout
    if layout == "wide":
        return wide_to_long(frame)
    return redcap_to_long(frame) if layout == "redcap" else frame


def wide_to_long(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns like stress_1 .. stress_28 become a column `stress` and a time."""
    stems = numbered_columns(frame)
    if not stems:
        raise DataError(
            "No columns repeat with numbers, such as stress_1, stress_2, stress_3.",
            "The table is perhaps long already: one row for each subject and time.",
        )
    repeated = {column for times in stems.values() for column in times.values()}
    fixed = [c for c in frame.columns if c not in repeated]
    clash = [stem for stem in stems if stem in fixed or stem == DECISION]
    if clash:
        raise DataError(
            f"The table has both a column and numbered columns called {listing(clash)}.",
            "Rename one of them.",
        )
    numbers = sorted({number for times in stems.values() for number in times})
    if len(frame) * len(numbers) > MAX_ROWS:
        raise DataError(
            f"Turned long, the table would have {len(frame):,} x {len(numbers)} rows, and the "
            f"limit is {MAX_ROWS:,}.",
            "If it has one row for each person and time already, its layout is 'long'.",
        )
    blocks = []
    for number in numbers:
        block = frame[fixed].copy()
        block[DECISION] = number
        for stem, times in stems.items():
            block[stem] = frame[times[number]] if number in times else np.nan
        block["__row"] = np.arange(len(frame))
        blocks.append(block)
    long = pd.concat(blocks, ignore_index=True).sort_values(["__row", DECISION], kind="stable")
    empty = long[list(stems)].isna().all(axis=1)
    long = long[~empty].drop(columns="__row").reset_index(drop=True)
    long.attrs = _attrs_of_stems(frame, stems)
    return long


def redcap_to_long(frame: pd.DataFrame) -> pd.DataFrame:
    """REDCap's longitudinal export: events and repeat instances become decisions.

    Fields filled in before the first decision (baseline) are carried to a record's rows. Where
    instances repeat, these rows are the decisions; else the events are.
    """
    record = str(frame.columns[0]) if "record_id" not in frame.columns else "record_id"
    bookkeeping = [c for c in frame.columns if str(c).startswith("redcap_")]
    fields = [c for c in frame.columns if c != record and c not in bookkeeping]
    event = frame[REDCAP_EVENT] if REDCAP_EVENT in frame else pd.Series("", index=frame.index)
    event_order = event.map({name: i for i, name in enumerate(event.unique())}).fillna(0)
    instance = pd.Series(np.nan, index=frame.index)
    if REDCAP_INSTANCE in frame:
        instance = pd.to_numeric(frame[REDCAP_INSTANCE], errors="coerce")
    repeating = instance.notna() if instance.notna().any() else _busy_events(frame, event, fields)
    if not repeating.any():
        raise DataError(
            "The REDCap export has neither repeat instances nor several events with data.",
            "Export the longitudinal instrument, with one row for each report.",
        )
    # What is asked later must not be carried back to earlier decisions.
    before = ~repeating & (event_order <= event_order[repeating].min())
    baseline = frame.loc[before, [record, *fields]].groupby(record, sort=False).first()
    long = frame.loc[repeating, [record, *fields]].copy()
    place = pd.DataFrame({"event": event_order, "instance": instance.fillna(1)})[repeating]
    if place["event"].nunique() == 1:
        decision = place["instance"].astype(int)
    else:
        decision = place.groupby(["event", "instance"], sort=True).ngroup() + 1
    long.insert(1, DECISION, decision)
    for field in fields:
        if long[field].isna().all() and field in baseline:
            long[field] = long[record].map(baseline[field])
    long = long.reset_index(drop=True)
    long.attrs = dict(frame.attrs)
    return long


def _busy_events(frame: pd.DataFrame, event: pd.Series, fields: list[str]) -> pd.Series:
    """Rows of the events that fill in what most events fill in (the repeated instrument)."""
    filled = frame[fields].notna().groupby(event).any()
    common = filled.columns[filled.sum() >= FEWEST_TIMES]
    busy = filled.index[filled[common].any(axis=1)] if len(common) else []
    return event.isin(busy)


def _attrs_of_stems(frame: pd.DataFrame, stems: dict[str, dict[int, str]]) -> dict:
    """Labels of the first numbered column stand for the whole stem."""
    attrs = dict(frame.attrs)
    for kind in ("variable_labels", "value_labels"):
        labels = dict(attrs.get(kind, {}))
        for stem, times in stems.items():
            first = times[min(times)]
            if first in labels:
                labels[stem] = labels[first]
        attrs[kind] = labels
    return attrs

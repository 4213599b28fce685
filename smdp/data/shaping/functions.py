"""The functions of formulas: how each is called, what it gives, and how it is worked out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.shaping.cells import (
    DAY,
    MOMENT,
    CellValues,
    as_text,
    date_cells,
    number_cells,
)
from smdp.data.shaping.dates import hours_of
from smdp.data.shaping.findings import (
    LEFT_OUT,
    NEGATIVE_ROOT,
    NO_CLOCK,
    NO_NUMBER,
    NO_ROW,
    NOT_POSITIVE,
    TOO_LARGE,
)
from smdp.data.shaping.person_rows import person_places

if TYPE_CHECKING:
    from smdp.data.shaping.evaluate import Evaluation
    from smdp.data.shaping.formula import Call

MOST_BACK = 1_000

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")

Work = Callable[["Evaluation", "Call"], CellValues]


@dataclass(frozen=True)
class Function:
    """`usage`: how it is written. `words`: what it gives. `most`: None for any number."""

    usage: str
    words: str
    least: int
    most: int | None
    work: Work


def _of_numbers(
    name: str, work: Callable[[NDArray], NDArray], refused: str = TOO_LARGE
) -> Callable[[Evaluation, Call], CellValues]:
    def run(evaluation: Evaluation, call: Call) -> CellValues:
        numbers = evaluation.number(call.arguments[0], name)
        with np.errstate(all="ignore"):
            return evaluation.finite(work(numbers.values), ~numbers.missing, refused)

    return run


def _round(evaluation: Evaluation, call: Call) -> CellValues:
    numbers = evaluation.number(call.arguments[0], "round")
    digits = 0
    if len(call.arguments) > 1:
        digits = evaluation.fixed_number(call.arguments[1], "round", -15, 15)
    with np.errstate(all="ignore"):
        rounded = np.round(numbers.values, digits)
    # Digits beyond those that a number has leave it as it is.
    return number_cells(np.where(np.isfinite(rounded), rounded, numbers.values))


def _gathered(name: str) -> Work:
    """Of several columns: a missing one is left out; all missing, the result is."""

    def run(evaluation: Evaluation, call: Call) -> CellValues:
        total: NDArray = np.array(np.nan)
        counted: NDArray = np.array(0)
        for argument in call.arguments:
            each = evaluation.number(argument, name)
            there = ~each.missing
            if name in ("sum", "mean"):
                with np.errstate(all="ignore"):
                    both = np.where(np.isnan(total), 0, total) + np.where(there, each.values, 0)
                total = np.where((counted > 0) | there, both, np.nan)
            else:
                total = (np.fmin if name == "min" else np.fmax)(total, each.values)
            counted = counted + there
        evaluation.report(LEFT_OUT, (counted > 0) & (counted < len(call.arguments)))
        if name == "mean":
            total = total / np.maximum(counted, 1)
        return evaluation.finite(total, counted > 0, TOO_LARGE)

    return run


def _if(evaluation: Evaluation, call: Call) -> CellValues:
    condition, yes, no = call.arguments
    truth = np.broadcast_to(evaluation.truth(condition).values, (evaluation.rows,))
    with evaluation.only_in(truth == 1):
        one = evaluation.value(yes)
    with evaluation.only_in(truth == 0):
        other = evaluation.value(no)
    one, other = evaluation.unified(no, one, other, "if(..), in its two cases,")
    chosen = np.where(truth == 1, one.values, other.values)
    made = CellValues(one.kind, chosen, one.levels)
    return _missing_where(made, np.isnan(truth))


def _missing_where(cells: CellValues, rows: NDArray[np.bool_]) -> CellValues:
    return cells.take(np.where(rows, -1, np.arange(len(cells.values)))) if rows.any() else cells


def _is_missing(evaluation: Evaluation, call: Call) -> CellValues:
    return number_cells(evaluation.value(call.arguments[0]).missing)


def _coalesce(evaluation: Evaluation, call: Call) -> CellValues:
    found = evaluation.value(call.arguments[0])
    for argument in call.arguments[1:]:
        with evaluation.only_in(np.broadcast_to(found.missing, (evaluation.rows,))):
            other = evaluation.value(argument)
        found, other = evaluation.unified(argument, found, other, "coalesce(..)")
        chosen = np.where(found.missing, other.values, found.values)
        found = CellValues(found.kind, chosen, found.levels)
    return found


def _one_of(evaluation: Evaluation, call: Call) -> CellValues:
    first, *values = call.arguments
    cells = evaluation.value(first)
    hit: NDArray = np.zeros(cells.values.shape, bool)
    for argument in values:
        equal = evaluation.compare("=", cells, evaluation.value(argument), argument)
        hit = hit | (equal.values == 1)
    return number_cells(np.where(cells.missing, np.nan, hit))


def _earlier(evaluation: Evaluation, call: Call, steps: int) -> tuple[CellValues, CellValues]:
    """The cells, and those of the same person that many rows before."""
    rows = evaluation.person_rows(call)
    with evaluation.only_in(None):
        cells = evaluation.value(call.arguments[0]).spread(evaluation.rows)
    outside = np.ones(evaluation.rows, bool)
    outside[rows.order] = False
    evaluation.report(NO_ROW, outside)
    return cells, cells.take(rows.earlier(steps))


def _lag(evaluation: Evaluation, call: Call) -> CellValues:
    steps = 1
    if len(call.arguments) > 1:
        steps = evaluation.fixed_number(call.arguments[1], "lag", 1, MOST_BACK)
    return _earlier(evaluation, call, steps)[1]


def _difference(evaluation: Evaluation, call: Call) -> CellValues:
    now, before = _earlier(evaluation, call, 1)
    if now.kind != "date":
        now = evaluation.as_number(now, call.arguments[0], "difference")
        before = evaluation.as_number(before, call.arguments[0], "difference")
    return _since(now, before)


def _since(now: CellValues, before: CellValues) -> CellValues:
    if now.kind == "date":
        gone = now.missing | before.missing
        return number_cells(np.where(gone, np.nan, (now.values - before.values) / DAY))
    return number_cells(now.values - before.values)


def _time_since_last(evaluation: Evaluation, call: Call) -> CellValues:
    rows = evaluation.person_rows(call)
    return _since(rows.time, rows.time.take(rows.earlier(1)))


def _row_number(evaluation: Evaluation, call: Call) -> CellValues:
    return number_cells(evaluation.person_rows(call).number())


def _days(cells: CellValues) -> NDArray[np.float64]:
    """Days since 1970, NaN where missing."""
    days = cells.values.astype("datetime64[D]").astype(np.int64).astype(np.float64)
    return np.where(cells.missing, np.nan, days)


def _day_number(evaluation: Evaluation, call: Call) -> CellValues:
    dates = evaluation.date(call.arguments[0], "day_number").spread(evaluation.rows)
    with evaluation.at(call):
        person = person_places(evaluation.frame, evaluation.known)
    days = pd.Series(np.where(person < 0, np.nan, _days(dates)))
    first = days.groupby(person).transform("min")
    return number_cells((days - first + 1).to_numpy())


def _date(evaluation: Evaluation, call: Call) -> CellValues:
    dates = evaluation.date(call.arguments[0], "date")
    return date_cells(dates.values.astype("datetime64[D]").astype(MOMENT))


def _date_time(evaluation: Evaluation, call: Call) -> CellValues:
    return evaluation.date(call.arguments[0], "date_time")


def _weekday(evaluation: Evaluation, call: Call) -> CellValues:
    days = _days(evaluation.date(call.arguments[0], "weekday"))
    return number_cells((days + 3) % 7 + 1)  # 1 January 1970 was a Thursday


def _hour(evaluation: Evaluation, call: Call) -> CellValues:
    cells = evaluation.value(call.arguments[0])
    if cells.kind == "text":
        hours = hours_of(cells.levels)
        if not np.isnan(hours).all():
            found = cells.numbers_by_level(np.floor(hours))
            evaluation.report(NO_CLOCK, found.missing & ~cells.missing)
            return found
    dates = evaluation.date(call.arguments[0], "hour")
    clock = (dates.values - dates.values.astype("datetime64[D]")) / np.timedelta64(1, "h")
    return number_cells(np.floor(np.where(dates.missing, np.nan, clock)))


def _number(evaluation: Evaluation, call: Call) -> CellValues:
    cells = evaluation.value(call.arguments[0])
    if cells.kind != "text":
        return evaluation.as_number(cells, call.arguments[0], "number")
    comma = bool(evaluation.frame.attrs.get("decimal_comma", False))
    found = cells.numbers_by_level(
        np.array([_number_in(text, comma) for text in cells.levels], float)
    )
    evaluation.report(NO_NUMBER, found.missing & ~cells.missing)
    return found


def _number_in(text: str, decimal_comma: bool) -> float:
    """12,345 may be a number of thousands: it is none where decimals are not known to have one."""
    text = text.strip()
    if "," in text and "." not in text and (decimal_comma or not _THOUSANDS.fullmatch(text)):
        text = text.replace(",", ".", 1)
    value = float(text) if _NUMBER.fullmatch(text) else np.nan
    return value if np.isfinite(value) else np.nan


def _text(evaluation: Evaluation, call: Call) -> CellValues:
    return as_text(evaluation.value(call.arguments[0]))


def _lower(evaluation: Evaluation, call: Call) -> CellValues:
    return evaluation.text(call.arguments[0], "lower").by_level(str.lower)


def _part_of(name: str, holds: Callable[[str, str], bool]) -> Work:
    def run(evaluation: Evaluation, call: Call) -> CellValues:
        cells = evaluation.text(call.arguments[0], name)
        part = evaluation.fixed_text(call.arguments[1], name)
        return cells.numbers_by_level(np.array([holds(text, part) for text in cells.levels], float))

    return run


def _log(base: Callable[[NDArray], NDArray]) -> Callable[[NDArray], NDArray]:
    return lambda values: base(np.where(values > 0, values, np.nan))


_EVERY = (
    Function("log(x)", "natural logarithm", 1, 1, _of_numbers("log", _log(np.log), NOT_POSITIVE)),
    Function(
        "log10(x)",
        "logarithm to the base 10",
        1,
        1,
        _of_numbers("log10", _log(np.log10), NOT_POSITIVE),
    ),
    Function("exp(x)", "e to the power of x", 1, 1, _of_numbers("exp", np.exp)),
    Function("sqrt(x)", "square root", 1, 1, _of_numbers("sqrt", np.sqrt, NEGATIVE_ROOT)),
    Function("abs(x)", "x without its sign", 1, 1, _of_numbers("abs", np.abs)),
    Function("floor(x)", "the whole number below", 1, 1, _of_numbers("floor", np.floor)),
    Function(
        "round(x, digits)",
        "rounded to that many decimals, to none if they are not given; a half goes to the even "
        "neighbour",
        1,
        2,
        _round,
    ),
    Function("min(a, b, ..)", "the smallest; missing ones are left out", 1, None, _gathered("min")),
    Function("max(a, b, ..)", "the largest; missing ones are left out", 1, None, _gathered("max")),
    Function("mean(a, b, ..)", "the mean; missing ones are left out", 1, None, _gathered("mean")),
    Function("sum(a, b, ..)", "the sum; missing ones are left out", 1, None, _gathered("sum")),
    Function("if(condition, a, b)", "a where it is true, b where it is false", 3, 3, _if),
    Function("is_missing(x)", "whether there is no value", 1, 1, _is_missing),
    Function("coalesce(a, b, ..)", "the first that is not missing", 1, None, _coalesce),
    Function("one_of(x, 'a', 'b', ..)", "whether x is one of these", 2, None, _one_of),
    Function("lag(x, k)", "x of the person's row k rows before; 1 if k is not given", 1, 2, _lag),
    Function("difference(x)", "x minus x of the person's row before", 1, 1, _difference),
    Function(
        "time_since_last()",
        "time since the person's row before: in days, or in the unit of a time that is a number",
        0,
        0,
        _time_since_last,
    ),
    Function("row_number()", "which of the person's rows it is, from 1", 0, 0, _row_number),
    Function("day_number(date)", "1 on the person's first day, 2 on the next", 1, 1, _day_number),
    Function("date(x)", "the day, of text or a date with a time", 1, 1, _date),
    Function("date_time(x)", "the day and the time of the day", 1, 1, _date_time),
    Function("weekday(date)", "1 on Mondays to 7 on Sundays", 1, 1, _weekday),
    Function("hour(date)", "the hour, 0 to 23, of a date or of text like 14:30", 1, 1, _hour),
    Function("number(x)", "the number that a text holds", 1, 1, _number),
    Function("text(x)", "as text", 1, 1, _text),
    Function("lower(x)", "text in small letters", 1, 1, _lower),
    Function(
        "contains(x, 'part')",
        "whether the text has this part",
        2,
        2,
        _part_of("contains", lambda text, part: part in text),
    ),
    Function(
        "starts_with(x, 'part')",
        "whether the text begins so",
        2,
        2,
        _part_of("starts_with", str.startswith),
    ),
)
#: By name, in the order of the documentation.
FUNCTIONS = {each.usage.partition("(")[0]: each for each in _EVERY}

"""A formula worked out for all rows of a table at once.

What cannot be worked out in a row (a division by zero) is missing there, and is counted. Only
where it is used: `if(x > 0, log(x), 0)` has nothing to report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.shaping.cells import (
    DAY,
    MOMENT,
    CellKind,
    CellValues,
    column_cells,
    constant,
    date_cells,
    in_common,
    number_cells,
)
from smdp.data.shaping.dates import dates_of
from smdp.data.shaping.findings import (
    BY_ZERO,
    DOUBLED,
    INFINITE,
    NEGATIVE_ROOT,
    NO_DATE,
    TOO_LARGE,
)
from smdp.data.shaping.formula import (
    Call,
    Chain,
    ColumnName,
    Constant,
    Formula,
    FormulaError,
    Node,
    Unary,
    nearest,
    parse,
)
from smdp.data.shaping.functions import FUNCTIONS
from smdp.data.shaping.person_rows import PersonRows, Surroundings, person_rows
from smdp.errors import SettingError
from smdp.text import listing, shorten

_NOUNS: dict[CellKind, str] = {
    "number": "a number",
    "text": "text",
    "date": "a date",
    "missing": "missing",
}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_WORK_OUT: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
}


@dataclass(frozen=True)
class Evaluated:
    """`cells`: one for each row. `found`: in how many rows what was met."""

    cells: CellValues
    found: Mapping[str, int]


def evaluate(text: str, frame: pd.DataFrame, known: Surroundings | None = None) -> Evaluated:
    """The formula's value in each row of the table."""
    formula = read_formula(text)
    work = Evaluation(formula, frame, known or Surroundings())
    cells = work.value(formula.root).spread(len(frame))
    return Evaluated(cells, {what: int(rows.sum()) for what, rows in work.found.items()})


def holds(text: str, frame: pd.DataFrame, known: Surroundings | None = None) -> Evaluated:
    """A condition: 1 in the rows where it is true, 0 where it is false, missing where unknown."""
    formula = read_formula(text)
    work = Evaluation(formula, frame, known or Surroundings())
    cells = work.truth(formula.root).spread(len(frame))
    return Evaluated(cells, {what: int(rows.sum()) for what, rows in work.found.items()})


@lru_cache(maxsize=256)
def read_formula(text: str) -> Formula:
    """The formula in a text; an error if it is none."""
    return parse(text, {name: (each.least, each.most) for name, each in FUNCTIONS.items()})


class Evaluation:
    """One formula at work on one table."""

    def __init__(self, formula: Formula, frame: pd.DataFrame, known: Surroundings) -> None:
        self.formula, self.frame, self.known = formula, frame, known
        self.rows = len(frame)
        self.found: dict[str, NDArray[np.bool_]] = {}
        self._used: NDArray[np.bool_] | None = None  # the rows whose values are used; None: all
        self._columns: dict[str, CellValues] = {}
        self._person_rows: PersonRows | None = None

    def value(self, node: Node) -> CellValues:
        if isinstance(node, Constant):
            return constant(node.value)
        if isinstance(node, ColumnName):
            return self._column(node)
        if isinstance(node, Unary):
            return self._unary(node)
        if isinstance(node, Call):
            return FUNCTIONS[node.function].work(self, node)
        assert isinstance(node, Chain)
        return self._chain(node)

    def number(self, node: Node, reader: str) -> CellValues:
        """The part's numbers; `reader`: who needs them, for the message where it has none."""
        return self.as_number(self.value(node), node, reader)

    def as_number(self, cells: CellValues, node: Node, reader: str) -> CellValues:
        if cells.kind == "missing":
            return number_cells(cells.values)
        if cells.kind != "number":
            shown = self.formula.source(node)
            remedy = f"Write number({shown}) if it holds numbers." if cells.kind == "text" else ""
            what = f"{reader} needs a number, and {shown} is {_NOUNS[cells.kind]}."
            self.formula.refuse(node, what, remedy)
        return cells

    def truth(self, node: Node) -> CellValues:
        """1 where it is true, 0 where it is false. A number is true if it is not 0."""
        cells = self.value(node)
        if cells.kind in ("text", "date"):
            shown = self.formula.source(node)
            self.formula.refuse(
                node,
                f"{shown} is {_NOUNS[cells.kind]}, and neither true nor false.",
                f"Compare it with something, such as {shown} = 'yes'.",
            )
        return number_cells(np.where(cells.missing, np.nan, cells.values != 0))

    def text(self, node: Node, reader: str) -> CellValues:
        cells = self.value(node)
        if cells.kind == "missing":
            return CellValues("text", np.array(-1))
        if cells.kind != "text":
            shown = self.formula.source(node)
            what = f"{reader} needs text, and {shown} is {_NOUNS[cells.kind]}."
            self.formula.refuse(node, what, f"Write text({shown}).")
        return cells

    def date(self, node: Node, reader: str) -> CellValues:
        """The part's dates; text is read as such."""
        cells = self.value(node)
        if cells.kind == "missing":
            return date_cells(np.datetime64("NaT", "us"))
        if cells.kind == "number":
            shown = self.formula.source(node)
            self.formula.refuse(node, f"{reader} needs a date, and {shown} is a number.")
        return cells if cells.kind == "date" else self.dates_from(cells, node)

    def dates_from(self, cells: CellValues, node: Node) -> CellValues:
        moments = dates_of(cells.levels)
        found = np.append(moments, np.datetime64("NaT", "us"))[cells.values]
        if isinstance(node, Constant) and np.isnat(found).all():
            shown = self.formula.source(node)
            self.formula.refuse(node, f"{shown} is no date.", "Write dates as '2024-03-31'.")
        self.report(NO_DATE, np.isnat(found) & ~cells.missing)
        return date_cells(found)

    def fixed_number(self, node: Node, reader: str, least: int, most: int) -> int:
        """A whole number that is written out, the same for every row."""
        sign = 1
        if isinstance(node, Unary) and node.sign == "-":
            node, sign = node.operand, -1
        value = node.value if isinstance(node, Constant) else None
        if not isinstance(value, float) or value != int(value) or not least <= sign * value <= most:
            self.formula.refuse(node, f"{reader} needs a whole number from {least} to {most} here.")
        return sign * int(value)

    def fixed_text(self, node: Node, reader: str) -> str:
        """Text that is written out, the same for every row."""
        value = node.value if isinstance(node, Constant) else None
        if not isinstance(value, str):
            self.formula.refuse(node, f"{reader} needs a text in quotes here.")
        return value

    def report(self, what: str, rows: Any) -> None:
        """Count rows in which something was met, of those whose values are used."""
        met = np.broadcast_to(rows if self._used is None else rows & self._used, (self.rows,))
        if met.any():
            self.found[what] = met | self.found.get(what, False)

    @contextmanager
    def only_in(self, rows: NDArray[np.bool_] | None) -> Iterator[None]:
        """Of what is worked out meanwhile, values are used in these rows only; None: in all."""
        before = self._used
        self._used = rows if rows is None or before is None else rows & before
        try:
            yield
        finally:
            self._used = before

    def person_rows(self, node: Node) -> PersonRows:
        if self._person_rows is None:
            with self.at(node):
                self._person_rows = person_rows(self.frame, self.known)
            self.report(DOUBLED, self._person_rows.doubled)
        return self._person_rows

    @contextmanager
    def at(self, node: Node) -> Iterator[None]:
        """Errors of settings say at which part of the formula they came up."""
        try:
            yield
        except FormulaError:
            raise
        except SettingError as error:
            self.formula.refuse(node, error.problem, error.remedy, error.concerns)

    def finite(self, values: Any, rows: Any, what: str) -> CellValues:
        """The numbers, missing and counted as `what` where they are not finite in these rows."""
        bad = ~np.isfinite(values) & rows
        self.report(what, bad)
        return number_cells(np.where(np.isfinite(values), values, np.nan))

    def unified(
        self, node: Node, first: CellValues, second: CellValues, reader: str
    ) -> tuple[CellValues, CellValues]:
        """Two values of one kind; `missing` is of every kind."""
        if "missing" in (first.kind, second.kind):
            return _as_kind(first, second.kind), _as_kind(second, first.kind)
        if first.kind != second.kind:
            nouns = f"{_NOUNS[first.kind]} and {_NOUNS[second.kind]}"
            self.formula.refuse(node, f"{reader} has {nouns}.", _other_kind(first, second))
        return in_common(first, second) if first.kind == "text" else (first, second)

    def compare(self, sign: str, first: CellValues, second: CellValues, node: Node) -> CellValues:
        if {first.kind, second.kind} == {"date", "text"}:
            first = self.dates_from(first, _part(node, 0)) if first.kind == "text" else first
            second = self.dates_from(second, _part(node, 1)) if second.kind == "text" else second
        first, second = self.unified(node, first, second, f"the comparison by '{sign}'")
        if first.kind == "text" and sign not in ("=", "!="):
            self.formula.refuse(
                node,
                f"text has no order, so '{sign}' cannot compare it.",
                "Write number(..) or date(..) around both sides if they hold numbers or dates.",
            )
        true = _COMPARE[sign](first.values, second.values)
        return number_cells(np.where(first.missing | second.missing, np.nan, true))

    def _column(self, node: ColumnName) -> CellValues:
        if node.name not in self._columns:
            name = node.name if node.name in self.frame.columns else node.name.strip()
            if name not in self.frame.columns:
                names = [str(column) for column in self.frame.columns]
                close = nearest(node.name, names)
                listed = f"The table has {listing(names)}."
                remedy = f"Did you mean {_bracketed(close)}?" if close else listed
                self.formula.refuse(node, f"there is no column '{shorten(node.name)}'.", remedy)
            self._columns[node.name] = column_cells(self.frame[name])
        cells = self._columns[node.name]
        if cells.kind != "number":
            return cells
        infinite = np.isinf(cells.values)
        return self.finite(cells.values, infinite, INFINITE) if infinite.any() else cells

    def _unary(self, node: Unary) -> CellValues:
        if node.sign == "not":
            return number_cells(1 - self.truth(node.operand).values)
        cells = self.number(node.operand, f"'{node.sign}'")
        return number_cells(-cells.values) if node.sign == "-" else cells

    def _chain(self, node: Chain) -> CellValues:
        sign = node.rest[0][0]
        if sign in ("and", "or"):
            return self._logic(node, decisive=float(sign == "or"))
        found = self.value(node.first)
        before = node.first
        for sign, part in node.rest:
            other = self.value(part)
            if sign in _COMPARE:
                found = self.compare(sign, found, other, node)
            else:
                found = self._arithmetic(sign, found, other, before, part)
            before = Node(node.start, part.end)
        return found

    def _logic(self, node: Chain, decisive: float) -> CellValues:
        """`decisive`: what settles it whatever the other side is, 0 for 'and', 1 for 'or'."""
        found = self.truth(node.first).values
        for _, part in node.rest:
            with self.only_in(np.broadcast_to(found != decisive, (self.rows,))):
                other = self.truth(part).values
            settled = (found == decisive) | (other == decisive)
            unknown = np.isnan(found) | np.isnan(other)
            open_end = np.where(unknown, np.nan, 1 - decisive)
            found = np.where(settled, decisive, open_end)
        return number_cells(found)

    def _arithmetic(
        self, sign: str, a: CellValues, b: CellValues, left: Node, right: Node
    ) -> CellValues:
        if "date" in (a.kind, b.kind) and sign in "+-":
            return self._date_arithmetic(sign, a, b, left, right)
        a = self.as_number(a, left, f"'{sign}'")
        b = self.as_number(b, right, f"'{sign}'")
        present = ~(a.missing | b.missing)
        with np.errstate(all="ignore"):
            values = np.where(present, _WORK_OUT[sign](a.values, b.values), np.nan)
        bad = present & ~np.isfinite(values)
        if bad.any():
            zero = bad & ((b.values == 0) if sign == "/" else (a.values == 0) & (sign == "^"))
            self.report(BY_ZERO, zero)
            root = bad & ~zero & np.isnan(values)
            self.report(NEGATIVE_ROOT, root)
            self.report(TOO_LARGE, bad & ~zero & ~root)
            values = np.where(bad, np.nan, values)
        return number_cells(values)

    def _date_arithmetic(
        self, sign: str, a: CellValues, b: CellValues, left: Node, right: Node
    ) -> CellValues:
        """Days between two dates, or a date some days before or after another."""
        if a.kind == b.kind == "date":
            if sign == "+":
                self.formula.refuse(right, "two dates cannot be added.", "Subtract them: a - b.")
            missing = a.missing | b.missing
            return number_cells(np.where(missing, np.nan, (a.values - b.values) / DAY))
        if b.kind == "date" and sign == "-":
            self.formula.refuse(right, "a date cannot be subtracted from a number.")
        date, days = (a, b) if a.kind == "date" else (b, a)
        days = self.as_number(days, right if a.kind == "date" else left, f"a date {sign} days")
        return self._moved(date, days, 1 if sign == "+" else -1)

    def _moved(self, date: CellValues, days: CellValues, sign: int) -> CellValues:
        far = np.abs(days.values) > 1_000_000  # beyond any calendar
        self.report(TOO_LARGE, far & ~date.missing)
        missing = date.missing | days.missing | far
        micro = np.round(np.where(missing, 0, days.values) * (DAY / np.timedelta64(1, "us")))
        moved = date.values + sign * micro.astype("timedelta64[us]")
        return date_cells(np.where(missing, np.datetime64("NaT", "us"), moved.astype(MOMENT)))


def _part(node: Node, place: int) -> Node:
    if isinstance(node, Chain) and len(node.rest) == 1:
        return (node.first, node.rest[0][1])[place]
    return node


def _as_kind(cells: CellValues, kind: CellKind) -> CellValues:
    if cells.kind != "missing" or kind == "missing":
        return cells
    if kind == "text":
        return CellValues("text", np.full(cells.values.shape, -1))
    if kind == "date":
        return date_cells(np.full(cells.values.shape, np.datetime64("NaT", "us")))
    return number_cells(cells.values)


def _other_kind(first: CellValues, second: CellValues) -> str:
    if {first.kind, second.kind} == {"number", "text"}:
        return "Write number(..) around the text, or put the number in quotes."
    return "Write date(..) around the text." if "text" in (first.kind, second.kind) else ""


def _bracketed(name: str) -> str:
    """A column's name as a formula has it."""
    shown = shorten(name)
    plain = name.replace("_", "a").replace(".", "a").isalnum() and name.isascii()
    return shown if plain and not name[0].isdigit() else f"[{shown}]"

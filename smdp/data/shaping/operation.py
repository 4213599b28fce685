"""What every operation on a table has: settings, one line of English, and what it did, as facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from typing import Any, ClassVar

import pandas as pd

from smdp.data.columns import level_text
from smdp.data.shaping.cells import CellValues, column_cells, same, to_column
from smdp.data.shaping.evaluate import read_formula
from smdp.data.shaping.findings import in_words
from smdp.data.shaping.formula import columns_in, nearest
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import DataError, SettingError
from smdp.result import Content
from smdp.settings import Settings, setting
from smdp.text import listing, shorten

REQUIRED: Any = MISSING  # of a setting without a default
DECIMAL_COMMA = "decimal_comma"
VARIABLE_LABELS, VALUE_LABELS, UNITS = "variable_labels", "value_labels", "units"


@dataclass(frozen=True, eq=False)
class Shaped(Content):
    """A new table, and what was done to the one before.

    `made`: the columns that are new, or have other values now. `cells_changed`: how many of their
    cells were not so before. `found`: in how many rows what was met, as "division by zero".
    `levels`: of a column of levels that was made, how many rows each has. `notes`: what else is to
    be known. `renamed`: old names and new ones. `same_meaning`: by column made, the column it comes
    from, and the values that mean what they meant there. `labels`: those that come with new
    columns, by kind.
    """

    frame: pd.DataFrame
    made: tuple[str, ...] = ()
    cells_changed: int = 0
    found: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    same_meaning: Mapping[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """What is to be known of it: '3 rows: division by zero'."""
        return [*in_words(self.found), *self.notes]


class Operation(Settings, Content, ABC):
    """One thing that is done to a table.

    `do`: the name of its kind in a plan; it never changes. `title`: what people read for it.
    """

    kind_key: ClassVar[str] = "do"
    kinds: ClassVar[dict[str, type]] = {}
    do: ClassVar[str]
    title: ClassVar[str]

    def __init_subclass__(cls, do: str, title: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if do in Operation.kinds:
            raise ValueError(f"there is an operation '{do}' already")
        cls.do, cls.title = do, title or do.capitalize()
        Operation.kinds[do] = cls

    @abstractmethod
    def describe(self) -> str:
        """What it does, in one line."""

    @abstractmethod
    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        """Do it to a table without labels, which is not to be changed."""

    def uses(self) -> tuple[str, ...]:
        """The columns that must be there before."""
        return ()

    def makes(self) -> tuple[str, ...]:
        """The columns that are there afterwards."""
        return ()

    def apply(self, frame: pd.DataFrame, known: Surroundings | None = None) -> Shaped:
        """The table with this done to it; the one that is given stays as it is."""
        # Labels of thousands of columns would be copied whenever a column is taken.
        plain = frame.copy(deep=False)
        plain.attrs = {DECIMAL_COMMA: frame.attrs.get(DECIMAL_COMMA, False)}
        shaped = self._work(plain, known or Surroundings())
        made = shaped.frame.copy(deep=False)
        made.attrs = _attrs(frame.attrs, shaped)
        return replace(shaped, frame=made)


def _attrs(before: Mapping[Any, Any], shaped: Shaped) -> dict[Any, Any]:
    """What was known of the table, as it holds of the new one."""
    attrs = dict(before)
    for kind in (VARIABLE_LABELS, VALUE_LABELS, UNITS):
        if kind not in before and kind not in shaped.labels:
            continue
        labels = before.get(kind, {})
        now = {shaped.renamed.get(name, name): label for name, label in labels.items()}
        if kind != VARIABLE_LABELS:
            now = {name: label for name, label in now.items() if name not in shaped.made}
        if kind == VALUE_LABELS:
            for name, (source, values) in shaped.same_meaning.items():
                kept = labels.get(source, {}).items()
                now[name] = {value: label for value, label in kept if level_text(value) in values}
        now |= shaped.labels.get(kind, {})
        attrs[kind] = {name: label for name, label in now.items() if name in shaped.frame.columns}
    return attrs


def name_setting(label: str = "Name of the new column") -> Any:
    return setting(REQUIRED, label, what="a name", control="text")


def replace_setting() -> Any:
    return setting(
        False,
        "Replace if taken",
        help="Whether a column that has this name already is replaced. Otherwise it is refused.",
        more=True,
    )


def check_name(name: str) -> None:
    if not name.strip():
        raise SettingError("The new column has no name.", "Give it one.")


def check_formula(text: str) -> None:
    """Refuse what is no formula, before there is a table."""
    read_formula(text)


def used_by(text: str) -> tuple[str, ...]:
    """The columns that a formula names."""
    return columns_in(read_formula(text))


def require_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Refuse columns that the table does not have, with the name that was probably meant."""
    for name in names:
        if name not in frame.columns:
            known = [str(column) for column in frame.columns]
            close = nearest(name, known)
            remedy = f"Did you mean '{close}'?" if close else f"It has {listing(known)}."
            raise DataError(f"The table has no column '{shorten(name)}'.", remedy)


def require_free(frame: pd.DataFrame, name: str, may_replace: bool = False) -> None:
    if name in frame.columns and not may_replace:
        raise DataError(
            f"The table already has a column '{shorten(name)}'.",
            "Give the new column another name, or say that it replaces the old one.",
        )


def with_column(frame: pd.DataFrame, name: str, cells: CellValues) -> tuple[pd.DataFrame, int]:
    """The table with the column, and how many of its cells were not so before."""
    spread = cells.spread(len(frame))
    column = to_column(spread, frame.index).rename(name)
    if name not in frame.columns:
        # Not one by one into the frame: pandas warns of that from the hundredth on.
        return pd.concat([frame, column], axis=1), int((~spread.missing).sum())
    changed = int((~same(column_cells(frame[name]), spread)).sum())
    new = frame.copy(deep=False)
    new[name] = column
    return new, changed

"""Columns of another table, joined by keys that both tables have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.shaping.cells import CellValues, as_text, column_cells, in_common
from smdp.data.shaping.operation import (
    REQUIRED,
    UNITS,
    VALUE_LABELS,
    VARIABLE_LABELS,
    Operation,
    Shaped,
    require_columns,
    require_free,
)
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import DataError, SettingError
from smdp.settings import setting
from smdp.text import listing, plural, shorten

NO_MATCH = "no row of '{table}' has their key"


@dataclass(frozen=True, eq=False)
class JoinTable(Operation, do="join", title="Join another table"):
    """Columns of another `table`, whose rows are found by `keys`.

    `table`: its name among the tables that are given. `keys`: columns of this table;
    `their_keys`: those of the other, () where they have the same names. Keys are compared as
    they are read: 7, 7.0 and "7" are one key. `columns`: those to take, () for all.
    `unmatched`: what happens to rows whose key the other table does not have.
    """

    table: str = setting(REQUIRED, "Table", stands_for="table")
    keys: tuple[str, ...] = setting(
        REQUIRED,
        "Joined by",
        help="The columns, such as the person's number, by which rows belong together.",
        what="columns",
        control="several",
        stands_for="column",
    )
    their_keys: tuple[str, ...] = setting(
        (),
        "In the other table",
        help="How these are called there. Left empty: the same.",
        what="columns",
        control="several",
        stands_for="their column",
    )
    columns: tuple[str, ...] = setting(
        (),
        "Columns to take",
        help="Left empty, all are taken.",
        what="columns",
        control="several",
        stands_for="their column",
    )
    unmatched: Literal["keep", "drop", "refuse"] = setting(
        "keep",
        "Rows without a match",
        choices={"keep": "stay, with missing values", "drop": "are left out", "refuse": "an error"},
    )
    several: Literal["refuse", "first", "last"] = setting(
        "refuse",
        "Several rows with one key",
        choices={
            "refuse": "an error",
            "first": "the first is taken",
            "last": "the last is taken",
        },
    )

    def check(self) -> None:
        if not self.keys:
            raise SettingError("Tables are joined by at least one column.", "Name the key.")
        if self.their_keys and len(self.their_keys) != len(self.keys):
            raise SettingError(
                f"There are {len(self.keys)} key columns, but {len(self.their_keys)} in the other "
                "table.",
                "Name as many in both.",
            )

    def describe(self) -> str:
        taken = listing(self.columns, 12) if self.columns else "All columns"
        rest = {
            "keep": "rows without a match stay",
            "drop": "rows without a match are left out",
            "refuse": "every row must have a match",
        }[self.unmatched]
        pairs = [
            mine if mine == theirs else f"{mine} = {theirs}"
            for mine, theirs in zip(self.keys, self._their_keys, strict=True)
        ]
        which = "" if self.several == "refuse" else f", the {self.several} row of each"
        where = f"of the table '{shorten(self.table)}', by {listing(pairs)}{which}"
        return f"{taken} {where}; {rest}."

    def uses(self) -> tuple[str, ...]:
        return self.keys

    def makes(self) -> tuple[str, ...]:
        return self.columns

    @property
    def _their_keys(self) -> tuple[str, ...]:
        return self.their_keys or self.keys

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        other = self._other(known)
        require_columns(frame, self.keys)
        require_columns(other, (*self._their_keys, *self.columns))
        taken = self.columns or tuple(c for c in other.columns if c not in self._their_keys)
        for name in taken:
            require_free(frame, str(name))
        mine, theirs = _keys(frame, self.keys, other, self._their_keys)
        passed_over = self._passed_over(theirs)
        if self.several == "refuse":
            self._refuse_doubled(other, theirs, passed_over)
        row = np.full(max(mine.max(initial=-1), theirs.max(initial=-1)) + 2, -1)
        taken_from = np.flatnonzero((theirs >= 0) & ~passed_over)
        row[theirs[taken_from]] = taken_from
        matches = row[mine]  # a missing key is -1, and so the last place, which is never filled
        self._refuse_unmatched(frame, other, matches)
        keep = np.flatnonzero(matches >= 0)
        dropped = self.unmatched == "drop" and len(keep) < len(frame)
        if dropped:
            frame, matches = frame.iloc[keep].reset_index(drop=True), matches[keep]
        found = self._joined(frame, other, list(taken), matches)
        without = int((matches < 0).sum()) if not dropped else len(row[mine]) - len(keep)
        names = tuple(map(str, taken))
        changed = int(found[list(taken)].notna().to_numpy().sum())
        reason = {NO_MATCH.format(table=shorten(self.table)): without} if without else {}
        notes = self._notes(int((~np.isin(theirs, mine) | (theirs < 0)).sum()), passed_over)
        return Shaped(
            found,
            names,
            changed,
            reason,
            notes=notes,
            labels=_labels(known.tables[self.table], names),
        )

    def _other(self, known: Surroundings) -> pd.DataFrame:
        if self.table not in known.tables:
            there = (
                f"There are: {listing(known.tables)}." if known.tables else "Give it in 'tables'."
            )
            raise SettingError(f"There is no table '{shorten(self.table)}' to join.", there)
        other = known.tables[self.table].copy(deep=False)
        other.attrs = {}
        return other

    def _joined(
        self, frame: pd.DataFrame, other: pd.DataFrame, taken: list[str], matches: NDArray[np.int64]
    ) -> pd.DataFrame:
        plain = other[taken].reset_index(drop=True)
        found = plain.take(matches) if (matches >= 0).all() else plain.reindex(matches)
        found.index = frame.index
        return pd.concat([frame, found], axis=1)

    def _passed_over(self, theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The rows of the other table that are not taken, for another one has their key."""
        keep: Literal["first", "last"] = "last" if self.several == "last" else "first"
        return pd.Series(theirs).duplicated(keep=keep).to_numpy() & (theirs >= 0)

    def _notes(self, unused: int, passed_over: NDArray[np.bool_]) -> tuple[str, ...]:
        name = f"'{shorten(self.table)}'"
        found = [f"{plural(unused, 'row')} of {name} match no row."] if unused else []
        if passed_over.any():
            rows = plural(int(passed_over.sum()), "row")
            found.append(f"{rows} of {name} not taken: another has the same key.")
        return tuple(found)

    def _refuse_doubled(
        self, other: pd.DataFrame, theirs: NDArray[np.int64], passed_over: NDArray[np.bool_]
    ) -> None:
        if not passed_over.any():
            return
        twice = np.isin(theirs, theirs[passed_over])
        values = other.loc[twice, list(self._their_keys)].drop_duplicates()
        shown = [" / ".join(map(str, row)) for row in values.head(6).itertuples(index=False)]
        more = f" and {len(values) - 6} more" if len(values) > 6 else ""
        raise DataError(
            f"The table '{shorten(self.table)}' has several rows for "
            f"{listing(self._their_keys)} = {listing(shown, 6)}{more}.",
            "Join by more columns, or say which row is taken: the first or the last.",
        )

    def _refuse_unmatched(
        self, frame: pd.DataFrame, other: pd.DataFrame, matches: NDArray[np.int64]
    ) -> None:
        if (matches >= 0).any() and ((matches >= 0).all() or self.unmatched != "refuse"):
            return
        without = np.flatnonzero(matches < 0)
        mine = frame.iloc[without][self.keys[0]].unique()
        theirs = other[self._their_keys[0]].unique()
        other_name = f"'{shorten(self.table)}'"
        what = f"No match in {other_name} for {plural(len(without), 'row')} of {len(frame):,}"
        raise DataError(
            f"{what}: '{shorten(self.keys[0])}' is {listing(mine, 3)} in these, and "
            f"'{shorten(self._their_keys[0])}' is {listing(theirs, 3)} in {other_name}.",
            "Check which columns are the keys, and how they are written.",
        )


def _keys(
    frame: pd.DataFrame, mine: tuple[str, ...], other: pd.DataFrame, theirs: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each row's key as a number, the same for the same key in both tables; -1 where missing."""
    found = np.zeros(len(frame) + len(other), np.int64)
    for one, two in zip(mine, theirs, strict=True):
        both = _in_common(column_cells(frame[one]), column_cells(other[two]))
        missing = (found < 0) | (both < 0)
        pair = found * (both.max(initial=0) + 1) + both
        found = np.where(missing, -1, pd.factorize(pair)[0])
    return found[: len(frame)], found[len(frame) :]


def _in_common(one: CellValues, two: CellValues) -> NDArray[np.int64]:
    if one.kind == two.kind and one.kind != "text":
        places = pd.factorize(np.concatenate([one.values, two.values]))[0]
        return places.astype(np.int64)
    first, second = in_common(as_text(one), as_text(two))
    return np.concatenate([first.values, second.values])


def _labels(other: pd.DataFrame, names: tuple[str, ...]) -> dict[str, dict]:
    return {
        kind: {name: label for name, label in other.attrs.get(kind, {}).items() if name in names}
        for kind in (VARIABLE_LABELS, VALUE_LABELS, UNITS)
        if kind in other.attrs
    }

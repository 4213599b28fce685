"""People who are in both tables: by their names, and by rows that are the same."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from smdp.data.column_roles import ColumnRoles
from smdp.data.columns import level_text
from smdp.data.problem import Problem
from smdp.errors import DataError

#: A person with fewer rows may have the same ones as somebody else by chance.
FEWEST_ROWS = 3


@dataclass(frozen=True)
class Overlap:
    """`same_names`: people of both tables. `copies`: of the new table, with the person of the first
    study whose rows are the same. `again`: of the new table, the rows that are the first study's
    own, and stand before later ones of the same people. `everybody`: all new people have names of
    the first study.
    """

    people: int
    same_names: tuple[str, ...]
    copies: tuple[tuple[str, str], ...]
    again: tuple[int, ...] = ()

    @property
    def everybody(self) -> bool:
        return 0 < self.people == len(self.same_names)

    def findings(self) -> list[Problem]:
        found = []
        if self.copies:
            found.append(
                Problem(
                    "warning",
                    "",
                    f"{len(self.copies)} of {self.people} people of the new table have the very "
                    "rows that the first study has of them. They are left out, for the policy was "
                    "learned from them.",
                )
            )
        if self.again:
            found.append(
                Problem(
                    "warning",
                    "",
                    "Rows that the first study has of the same people stand in the new table too "
                    f"({len(self.again):,}). They are left out, for the policy was learned from "
                    "them.",
                )
            )
        rest = [name for name in self.same_names if name not in dict(self.copies)]
        if rest and self.everybody:
            found.append(
                Problem(
                    "note",
                    "",
                    f"All {self.people} people of the new table were in the first study: these are "
                    "the same people later. The policy knows them, so what it earns here says "
                    "little of others.",
                )
            )
        elif rest:
            found.append(
                Problem(
                    "warning",
                    "",
                    f"{len(rest)} of {self.people} people of the new table have names that the "
                    "first study has too, with other rows. They are taken to be the same people "
                    "later; the policy knows them.",
                    "Give people of a new cohort names of their own.",
                )
            )
        return found


def overlap_of(new: pd.DataFrame, first: pd.DataFrame, roles: ColumnRoles) -> Overlap:
    """Who is in both; rows are compared in the columns that both tables have a role for."""
    wanted = [roles.time, roles.action, *roles.state_names]
    wanted += [roles.utility] if isinstance(roles.utility, str) else []
    shared = [name for name in wanted if name in new.columns and name in first.columns]
    here, there = _rows(new, roles.subject, shared), _rows(first, roles.subject, shared)
    owners: dict[str, set[str]] = {}
    for person, rows in there.items():
        for row in rows:
            owners.setdefault(row, set()).add(person)
    copies: dict[str, str] = {}
    again: list[int] = []
    for person, rows in here.items():
        if len(rows) < FEWEST_ROWS:
            continue
        common = set.intersection(*(owners.get(row, set()) for row in rows))
        if common:
            copies[person] = min(common, key=lambda name: (name != person, name))
        elif person in there:
            again += _again(rows, there[person])
    same = tuple(sorted(set(here) & set(there)))
    return Overlap(len(here), same, tuple(copies.items()), tuple(sorted(again)))


def _again(new: pd.Series, first: pd.Series) -> list[int]:
    """Places of the first study's rows of a person, where the new table has them all.

    All but one: the last may have got its outcome since. With fewer, a row can be the same by
    chance, of somebody else with that name.
    """
    own = new[new.isin(first)]
    enough = len(own) >= max(FEWEST_ROWS, len(first) - 1)
    return own.index.tolist() if enough else []


def without_copies(frame: pd.DataFrame, roles: ColumnRoles, overlap: Overlap) -> pd.DataFrame:
    """The new table without rows that the first study has; an error if nobody is left."""
    if not overlap.copies and not overlap.again:
        return frame
    if len(overlap.copies) == overlap.people:
        raise DataError(
            "Everybody of the new table is in the first study, with the same rows: nothing is new.",
            "Choose the table of the new people, or of later decisions.",
        )
    copied = {name for name, _ in overlap.copies}
    kept = ~frame[roles.subject].map(lambda cell: level_text(cell) in copied).to_numpy(dtype=bool)
    kept[list(overlap.again)] = False
    left = frame[kept]
    left.attrs = dict(frame.attrs)
    return left


def _rows(frame: pd.DataFrame, subject: str, columns: list[str]) -> dict[str, pd.Series]:
    """By person, each of her rows as one text, with its place in the table."""
    joined = row_texts(frame, columns).reset_index(drop=True)
    people = frame[subject].map(level_text, na_action="ignore").reset_index(drop=True)
    return {str(person): rows for person, rows in joined.groupby(people, sort=False)}


def row_texts(frame: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Each row's values of these columns as one text, the same for the same values."""
    texts = [frame[name].map(_cell) for name in columns]
    return texts[0].str.cat(texts[1:], sep="\x1f")


def _cell(value: object) -> str:
    """The same for equal numbers, however they were written."""
    if value is None or value is pd.NA or value != value:
        return ""
    text = level_text(value)
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text.lower()

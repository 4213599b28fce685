"""Changes of the table of roles that concern many columns at once, and the outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from smdp.data.column_roles import NextValue
from smdp.data.guess_roles import Role
from smdp.errors import SettingError
from smdp.text import listing, plural, shorten

#: Roles that one column has at most; giving one takes it from the column that had it.
SINGLE: tuple[Role, ...] = ("subject", "time", "action", "utility", "available")
#: What a person may change in a row.
EDITABLE = ("role", "type", "group", "missing codes", "lowest", "highest")


def columns_like(table: pd.DataFrame, pattern: str) -> list[str]:
    """Columns called so, whatever their capitals; * stands for any letters, ? for one."""
    parts = re.escape(pattern.strip()).replace(r"\*", ".*").replace(r"\?", ".")
    called = re.compile(parts, re.IGNORECASE | re.DOTALL)
    return [name for name in table["column"] if called.fullmatch(name)]


def columns_with(table: pd.DataFrame, words: str) -> list[str]:
    """Columns whose name, label or role holds each of the words."""
    wanted = words.lower().split()
    texts = table[["column", "label", "role"]].astype(str).agg(" ".join, axis=1).str.lower()
    found = [all(word in text for word in wanted) for text in texts]
    return list(table.loc[found, "column"])


def columns_after(table: pd.DataFrame, name: str) -> list[str]:
    """Every column to the right of this one in the file."""
    names = list(table["column"])
    return names[names.index(name) + 1 :] if name in names else []


def without_single(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Of several columns, those that a change of many may touch: not the subject, ..."""
    if len(columns) < 2:
        return list(columns)
    held = set(table.loc[table["role"].isin(SINGLE), "column"])
    return [name for name in columns if name not in held]


def give_role(table: pd.DataFrame, columns: Sequence[str], role: Role) -> pd.DataFrame:
    """The table with this role for all of these columns."""
    if not columns:
        raise SettingError("No column is chosen.", "Tick some, or give a pattern that fits some.")
    if role in SINGLE and len(columns) > 1:
        raise SettingError(
            f"Only one column can have the role '{role}', not {listing(columns, 3)}.",
            "Choose one column.",
        )
    given = table.copy()
    if role in SINGLE:
        given.loc[given["role"] == role, "role"] = "ignore"
    given.loc[given["column"].isin(columns), "role"] = role
    return given


def what_changed(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """'age: role', '3 columns'; empty if nothing a person may change did."""
    differs = pd.DataFrame(
        {
            key: [
                not (a == b or (_is_empty(a) and _is_empty(b)))
                for a, b in zip(before[key], after[key], strict=True)
            ]
            for key in EDITABLE
        },
        index=before.index,
    )
    rows = list(before.loc[differs.any(axis=1), "column"])
    if len(rows) == 1:
        keys = [key for key in EDITABLE if differs[key].any()]
        return f"{shorten(rows[0], 30)}: {', '.join(keys)}"
    return plural(len(rows), "column") if rows else ""


def _is_empty(cell: object) -> bool:
    return cell is None or cell == "" or cell != cell


def possible_outcomes(table: pd.DataFrame) -> list[str | NextValue]:
    """Columns measured after the decision first, then the next values of states."""
    free = table["role"].isin(["state", "ignore", "utility"])
    measured = table.loc[free & (table["numeric"] | (table["role"] == "utility")), "column"]
    numbers = (table["role"] == "state") & ~table["type"].isin(["nominal", "text"])
    return [*measured, *(NextValue(name) for name in table.loc[numbers, "column"])]


def with_outcome(table: pd.DataFrame, outcome: str | NextValue) -> pd.DataFrame:
    """The table in which this, and nothing else, is the outcome."""
    if isinstance(outcome, str):
        return give_role(table, [outcome], "utility")
    alone = table.copy()
    alone.loc[alone["role"] == "utility", "role"] = "ignore"
    return alone

"""The loaded table of a session: read once, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session import Key
from smdp.data.column_roles import ColumnRoles
from smdp.data.files.registry import sheet_names

if TYPE_CHECKING:
    import pandas as pd

#: Stands in a plan until somebody says which column is what.
NOT_CHOSEN = ColumnRoles("subject?", "time?", "action?", ["state?"], "utility?")


@dataclass(frozen=True)
class LoadedTable:
    """A file as it was read, with what it takes to read another sheet of it."""

    name: str
    content: bytes  # empty where only the table is known, as in a saved analysis
    sheet: str | int | None
    sheets: tuple[str, ...]
    frame: pd.DataFrame

    @property
    def sheet_name(self) -> str | None:
        """Of the sheet that was read: a plan may count sheets, or take the first unsaid."""
        if isinstance(self.sheet, str) or not self.sheets:
            return None if self.sheet is None else str(self.sheet)
        return self.sheets[self.sheet or 0]

    @property
    def fingerprint(self) -> str:
        return str(self.frame.attrs["fingerprint"])

    @property
    def token(self) -> str:
        return f"{self.fingerprint}:{self.sheet}"

    @property
    def synthetic(self) -> bool:
        return bool(self.frame.attrs.get("synthetic", False))


def sheets_of(name: str, content: bytes) -> tuple[str, ...]:
    """The sheets of a workbook, none for any other file."""
    return tuple(sheet_names(content, name=name)) if content else ()


def new_upload_box() -> None:
    """A fresh box, so that the same file is not read again on the next visit."""
    st.session_state[Key.UPLOADS] = st.session_state.get(Key.UPLOADS, 0) + 1


def loaded() -> LoadedTable | None:
    table: LoadedTable | None = st.session_state.get(Key.TABLE)
    return table

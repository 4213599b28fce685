"""The loaded table of a session: read once, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session import Key, another_table, forget_choices, start_visit_anew
from dashboard.show import errors_as_messages
from smdp.data.column_roles import ColumnRoles
from smdp.data.files.registry import formats_in_words, sheet_names

if TYPE_CHECKING:
    import pandas as pd

    from smdp.analysis.analysis import Analysis

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


def load(name: str, content: bytes, sheet: str | None = None) -> LoadedTable:
    """Read the file and make it the session's table; on an error the earlier one stays."""
    from smdp.data.read_table import read_table

    sheets = sheets_of(name, content)
    sheet = sheet or (sheets[0] if sheets else None)
    frame = read_table(content, name=name, sheet=sheet)
    table = LoadedTable(name, content, sheet, sheets, frame)
    current = loaded()
    if current is None or current.fingerprint != table.fingerprint:
        forget_choices()
        start_visit_anew()
    st.session_state[Key.TABLE] = table
    another_table(_begun(table))
    return table


def _begun(table: LoadedTable) -> Analysis:
    """The analysis of a table of which nothing is said yet."""
    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.steps.step_plans import ReadingSettings

    plan = AnalysisPlan(
        roles=NOT_CHOSEN,
        reading=ReadingSettings(sheet=table.sheet),
        data_name=table.name,
        data_fingerprint=table.fingerprint,
    )
    return Analysis.begin(plan, table.frame)


def sheets_of(name: str, content: bytes) -> tuple[str, ...]:
    """The sheets of a workbook, none for any other file."""
    return tuple(sheet_names(content, name=name)) if content else ()


def upload_box() -> None:
    """A place to drop a file; once it is read, the Data page shows it."""
    upload = st.file_uploader(
        formats_in_words(),
        help="One row for each person and time, or one row for each person with columns such as "
        "stress_1, stress_2, … The file is read on this computer and is not copied elsewhere.",
        key=f"upload-{st.session_state.get(Key.UPLOADS, 0)}",
    )
    if upload is not None:
        with errors_as_messages(), st.spinner("Reading the file …"):
            load(upload.name, upload.getvalue())
            new_upload_box()
            st.switch_page("views/data.py")


def new_upload_box() -> None:
    """A fresh box, so that the same file is not read again on the next visit."""
    st.session_state[Key.UPLOADS] = st.session_state.get(Key.UPLOADS, 0) + 1


def load_sample(path: Path) -> LoadedTable:
    return load(path.name, path.read_bytes())


def loaded() -> LoadedTable | None:
    table: LoadedTable | None = st.session_state.get(Key.TABLE)
    return table

"""Loading a file: the beginning of a work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.address import go_to
from dashboard.autosaving import set_aside
from dashboard.session import (
    Key,
    another_table,
    forget_choices,
    forget_results,
    start_visit_anew,
    tell,
)
from dashboard.show import errors_as_messages, literal
from dashboard.table import NOT_CHOSEN, LoadedTable, loaded, new_upload_box, sheets_of
from smdp.data.data_dictionary import is_dictionary
from smdp.data.files.registry import formats_in_words
from smdp.errors import ReadError

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis


def load(name: str, content: bytes, sheet: str | None = None) -> LoadedTable:
    """Read the file and make it the session's table; on an error the earlier one stays.

    Another file is another work, and the one before is set aside; another sheet of the same
    workbook, or the same table again, is not.
    """
    from smdp.data.read_table import read_table

    sheets = sheets_of(name, content)
    sheet = sheet or (sheets[0] if sheets else None)
    frame = read_table(content, name=name, sheet=sheet)
    if is_dictionary(frame):
        raise ReadError(
            f"'{name}' is a REDCap data dictionary: it describes data and holds none.",
            "Load the project's data first; the dictionary then goes into its own box on the page "
            "Data.",
        )
    table = LoadedTable(name, content, sheet, sheets, frame)
    current = loaded()
    same_table = current is not None and current.fingerprint == table.fingerprint
    if current is not None and not same_table and current.content != content:
        set_aside()
        tell(
            f"A new file is a new work. That of {literal(current.name)} was set aside as it was: "
            "Start has it among your last works."
        )
        forget_results()
    if not same_table:
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
            go_to("views/data.py")


def load_sample(path: Path) -> LoadedTable:
    return load(path.name, path.read_bytes())

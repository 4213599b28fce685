"""Opening a saved analysis."""

from __future__ import annotations

import streamlit as st

from dashboard import autosaving
from dashboard.address import go_to
from dashboard.navigation import last_page
from dashboard.session import Key, tell
from dashboard.show import errors_as_messages, literal
from dashboard.table import new_upload_box
from dashboard.work import put_into_session
from smdp.analysis.analysis import Analysis
from smdp.steps import DATA, step_named


def open_box() -> None:
    """A place to drop a saved analysis; if it has no data, one for the table too."""
    waiting: Analysis | None = st.session_state.get(Key.WAITING)
    if waiting is not None:
        _ask_for_the_table(waiting)
        return
    upload = st.file_uploader(
        "A file of this program (.smdp)",
        help="As the page Report or 'smdp run' saved it. What is loaded now stays among your last "
        "works.",
        key=f"open-{st.session_state.get(Key.UPLOADS, 0)}",
    )
    if upload is not None:
        from smdp.analysis.analysis import load_analysis
        from smdp.analysis.opened_apart import try_apart

        with errors_as_messages(), st.spinner("Opening the analysis …"):
            content = upload.getvalue()
            try_apart(content, upload.name)
            analysis = load_analysis(content, name=upload.name)
            if analysis.table is None:
                st.session_state[Key.WAITING] = analysis
                new_upload_box()
                st.rerun()
            _open(analysis)


def _ask_for_the_table(waiting: Analysis) -> None:
    source = waiting.source
    st.info(
        f"This analysis of **{literal(source.name)}** was saved without its data. Load the "
        f"table it was made with ({source.rows:,} rows, {source.columns} columns) to see it on the "
        "pages and to go on. It is compared with the table's fingerprint: with another one, the "
        "results are out of date.",
        icon=":material/table:",
    )
    summaries = [
        f"- {step_named(name).title}: {literal(record.summary)}"
        for name, record in waiting.records.items()
        if name in waiting.results
    ]
    if summaries:
        st.markdown("\n".join(["It holds these results:", "", *summaries]))
        st.caption("They can be put into a report without the data: smdp report analysis.smdp")
    upload = st.file_uploader(
        f"The table ({source.name})",
        key=f"open-table-{st.session_state.get(Key.UPLOADS, 0)}",
    )
    joined = {
        each: st.file_uploader(
            f"The table that is joined to it ({literal(waiting.tables[each.name].source.name)})",
            key=f"open-{each.name}-{st.session_state.get(Key.UPLOADS, 0)}",
        )
        for each in waiting.plan.reading.joined
        if each.name in waiting.tables
    }
    if st.button("Do not open it", type="tertiary", icon=":material/close:"):
        del st.session_state[Key.WAITING]
        st.rerun()
    if upload is not None and None not in joined.values():
        from smdp.data.read_table import read_table

        with errors_as_messages(), st.spinner("Preparing the data as the plan says …"):
            content, sheet = upload.getvalue(), waiting.plan.reading.sheet
            frame = read_table(content, name=upload.name, sheet=sheet)
            tables = {
                each.name: read_table(file.getvalue(), name=file.name, sheet=each.sheet)
                for each, file in joined.items()
                if file is not None
            }
            analysis = waiting.with_table(frame, tables)
            if analysis.inputs(DATA) == waiting.inputs(DATA):
                tell("This is the table that the analysis was made with: every cell is the same.")
            else:
                tell(
                    f"This is not the table that the analysis was made with ("
                    f"{literal(source.name)}, {source.rows:,} rows, {source.columns} columns): "
                    "a cell, a column or its type differs. The data were prepared anew as the "
                    "plan says; what follows is out of date where the prepared data differ."
                )
            _open(analysis, content)


def _open(analysis: Analysis, workbook: bytes = b"") -> None:
    """Go to the page of the last step that was done."""
    autosaving.set_aside()
    put_into_session(analysis, workbook)
    if not analysis.choices:
        tell(
            "This file has no choices of the pages in it (it was made by 'smdp run', or saved "
            "without its data): the controls show what its plan says. Settings of the plan that a "
            "page does not offer stay as they are."
        )
    st.session_state.pop(Key.WAITING, None)
    new_upload_box()
    go_to(last_page())

"""Opening a saved analysis."""

from __future__ import annotations

import streamlit as st

from dashboard.navigation import PAGES
from dashboard.saving import put_into_session
from dashboard.session import Key, done
from dashboard.show import errors_as_messages, literal
from dashboard.table import new_upload_box
from smdp.analysis.result import AnalysisResult


def open_box() -> None:
    """A place to drop a saved analysis; if it has no data, one for the table too."""
    waiting: AnalysisResult | None = st.session_state.get(Key.WAITING)
    if waiting is not None:
        _ask_for_the_table(waiting)
        return
    upload = st.file_uploader(
        "A saved analysis (.smdp)",
        type=["smdp"],
        help="As the page Report or 'smdp run' saved it. It takes the place of what is loaded now.",
        key=f"open-{st.session_state.get(Key.UPLOADS, 0)}",
    )
    if upload is not None:
        from smdp.analysis.saved_file import load_analysis

        with errors_as_messages(), st.spinner("Opening the analysis …"):
            analysis = load_analysis(upload.getvalue(), name=upload.name)
            if analysis.table is None:
                st.session_state[Key.WAITING] = analysis
                new_upload_box()
                st.rerun()
            _open(analysis)


def _ask_for_the_table(waiting: AnalysisResult) -> None:
    st.info(
        f"This analysis of **{literal(waiting.source.name)}** was saved without its data. Load the "
        "table it was made with to go on; with another one its results are out of date.",
        icon=":material/table:",
    )
    upload = st.file_uploader(
        f"The table ({waiting.source.name})",
        key=f"open-table-{st.session_state.get(Key.UPLOADS, 0)}",
    )
    if st.button("Do not open it", type="tertiary", icon=":material/close:"):
        del st.session_state[Key.WAITING]
        st.rerun()
    if upload is not None:
        from smdp.analysis.run import with_table
        from smdp.data.read_table import read_table

        with errors_as_messages(), st.spinner("Preparing the data as the plan says …"):
            sheet = waiting.plan.reading.sheet
            frame = read_table(upload.getvalue(), name=upload.name, sheet=sheet)
            _open(with_table(waiting, frame))


def _open(analysis: AnalysisResult) -> None:
    """Go to the page of the last step that was done."""
    put_into_session(analysis)
    st.session_state.pop(Key.WAITING, None)
    new_upload_box()
    last = [page for step, page in PAGES.items() if done(step) is not None]
    st.switch_page(f"views/{last[-1].view if last else 'data'}.py")

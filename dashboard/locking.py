"""Report: a plan that is locked before outcomes are seen, and what departs from it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import session
from dashboard.downloads import download, say_failures
from dashboard.report_widgets import WORD, file_name
from dashboard.show import errors_as_messages, literal, part, table
from smdp.analysis.analysis import Analysis
from smdp.analysis.deviations import deviation_table
from smdp.analysis.locked_plan import LockedPlan, locked_from_toml
from smdp.report.documents import document_bytes
from smdp.report.locked import build_preregistration
from smdp.report.word_format import Paper
from smdp.steps import DATA
from smdp.text import listing, moment, plural


def locked_plan(analysis: Analysis, author: str, paper: Paper) -> None:
    """Hide the outcome, lock the plan, register it; later see what departs from it."""
    part("Registered plan")
    st.caption(
        "Hide the outcome, set everything up, lock the plan, register it, and only then show the "
        "outcome. From then on the report lists every deviation from what was locked."
    )
    _hide(analysis)
    locked = analysis.locked
    if locked is None:
        _lock(analysis)
        return
    st.markdown(
        f"Locked on {literal(moment(locked.date))}, "
        f"fingerprint `{locked.fingerprint[:16]}…`, outcome "
        f"{'hidden' if locked.outcome_hidden else 'not hidden'} at that time."
    )
    if not locked.of_this_table(analysis.source):
        st.warning("It was locked with another table than this one.", icon=":material/warning:")
    _files(analysis, locked, author, paper)
    found = analysis.deviations
    if found:
        st.markdown(f"**{plural(len(found), 'deviation')} from the locked plan**")
        table(deviation_table(found), "deviations")
    else:
        st.markdown("Nothing departs from it.")


def _hide(analysis: Analysis) -> None:
    hidden = st.toggle(
        "Hide the outcome",
        analysis.outcome_hidden,
        key=session.control_key("report.hide-outcome"),
        help="Its values are shuffled among the rows, in everything that is done from now on, and "
        "every page says so. Columns that it was computed from are not shuffled. Results made "
        "before are then out of date.",
    )
    if hidden != analysis.outcome_hidden:
        with errors_as_messages():
            session.put(session.the_analysis().with_outcome_hidden(hidden))
            session.run(DATA)
            st.rerun()


def _lock(analysis: Analysis) -> None:
    planned = listing([step.title for step in analysis.plan.steps], 20)
    st.caption(
        f"In the plan so far: {literal(planned)}. A step is in it once its settings were put to "
        "use; what is done later without being in it will be listed as added."
    )
    if st.button("Lock the plan", icon=":material/lock:", key="report.lock"):
        _hold(analysis.lock())
    given = st.file_uploader("A plan that was locked before", ["toml"], key="report.locked-file")
    if given is not None:
        with errors_as_messages():
            _hold(locked_from_toml(given.getvalue().decode("utf-8-sig", "replace")))


def _hold(locked: LockedPlan | None) -> None:
    session.put(replace(session.the_analysis(), locked=locked))
    st.rerun()


def _files(analysis: Analysis, locked: LockedPlan, author: str, paper: Paper) -> None:
    def registration(ending: str) -> bytes:
        return document_bytes(build_preregistration(locked, author=author), ending, paper=paper)

    kinds = {
        ".docx": ("Word", WORD),
        ".html": ("HTML", "text/html"),
        ".md": ("Markdown", "text/markdown"),
    }
    with st.container(horizontal=True):
        download(
            "Locked plan",
            locked.to_toml,
            file_name=file_name(analysis, "locked-plan.toml"),
            mime="application/toml",
            icon=":material/lock:",
            key="locked-plan",
        )
        for ending, (label, mime) in kinds.items():
            download(
                f"Preregistration ({label})",
                lambda ending=ending: registration(ending),  # type: ignore[misc]
                file_name=file_name(analysis, f"preregistration{ending}"),
                mime=mime,
                icon=":material/assignment:",
                key=f"registration{ending}",
            )
        if st.button("Do not hold it against this any more", key="report.unlock"):
            _hold(None)
    say_failures("locked-plan", *(f"registration{ending}" for ending in kinds))

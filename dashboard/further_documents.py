"""Report: the summary on two pages, the checklists, and the tables of a paper."""

from __future__ import annotations

import streamlit as st

from dashboard import controls
from dashboard.autosaving import work_so_far
from dashboard.downloads import download, say_failures
from dashboard.report_widgets import WORD, file_name, make_then_download
from dashboard.show import literal, part
from smdp.analysis.analysis import Analysis
from smdp.blocks import Report
from smdp.progress import Progress
from smdp.report.checklist_document import answers_of, build_checklist, checklists_for
from smdp.report.documents import document_bytes
from smdp.report.figure_files import zipped
from smdp.report.figure_theme import FigureTheme
from smdp.report.journal_tables import journal_tables
from smdp.report.model_card import build_model_card
from smdp.report.results_text import RESULTS, results_file, results_text
from smdp.report.short import build_summary
from smdp.report.table_files import TABLE_FORMATS, table_files
from smdp.report.word_format import Paper
from smdp.steps.policies import policy_names
from smdp.text import capital

FORMAT_NAMES = {"docx": "Word", "csv": "CSV", "md": "Markdown", "tex": "LaTeX", "xlsx": "Excel"}


def summary_files(
    analysis: Analysis, title: str, author: str, paper: Paper, theme: FigureTheme | None
) -> None:
    """Two pages for people who will not read more."""
    part("Summary on two pages")
    st.caption(
        "What was asked, whom to treat and when, what that is worth and how sure it is, and what "
        "was checked."
    )

    def made() -> Report:
        return build_summary(analysis, title=title, author=author)

    with st.container(horizontal=True):
        download(
            "Summary (HTML)",
            lambda: document_bytes(made(), ".html", theme=theme),
            file_name=file_name(analysis, "summary.html"),
            mime="text/html",
            icon=":material/html:",
            key="summary-html",
        )
        make_then_download(
            "summary (Word)",
            (work_so_far(), title, author, paper, theme),
            lambda say: document_bytes(made(), ".docx", paper=paper, theme=theme, progress=say),
            file_name(analysis, "summary.docx"),
            WORD,
            ":material/description:",
        )
    say_failures("summary-html")


def checklist_files(analysis: Analysis, author: str, paper: Paper) -> None:
    """One checklist at a time, as far as the analysis can fill it."""
    part("Checklists")
    st.caption(
        "What journals ask to be handed in: each item with its answer from the analysis and the "
        "section of the report, or with what you have to write. The wording is ours, in short."
    )
    every = {each.key: each for each in checklists_for(analysis)}
    chosen = controls.select(
        "Checklist",
        "report.checklist",
        list(every),
        next(iter(every)),
        "Those that have something to ask of this analysis.",
        lambda key: every[key].title,
    )
    own = every[chosen]
    counts = [answer.status for _, answer in answers_of(analysis, own)]
    done, half = counts.count("answered"), counts.count("in part")
    st.markdown(
        f"{literal(own.about)} **{len(counts)} items: {done} answered, {half} in part, "
        f"{len(counts) - done - half} for you to write.**"
    )

    def make(ending: str) -> bytes:
        report = build_checklist(analysis, chosen, author=author)
        return document_bytes(report, ending, paper=paper)

    with st.container(horizontal=True):
        download(
            "Checklist (Word)",
            lambda: make(".docx"),
            file_name=file_name(analysis, f"{chosen}.docx"),
            mime=WORD,
            icon=":material/description:",
            key="checklist-docx",
        )
        download(
            "Checklist (HTML)",
            lambda: make(".html"),
            file_name=file_name(analysis, f"{chosen}.html"),
            mime="text/html",
            icon=":material/html:",
            key="checklist-html",
        )
    say_failures("checklist-docx", "checklist-html")


def table_box(analysis: Analysis, paper: Paper) -> None:
    """A paper's tables as files, and its results as sentences."""
    part("Tables and sentences")
    st.caption(
        "A paper's tables (participants, flow, effects, weights, values, rule card): each as CSV, "
        "Markdown and LaTeX, all of them in one Word document and one Excel workbook with a sheet "
        f"of contents; and the results as sentences ({RESULTS})."
    )
    names = controls.several(
        "Formats of the tables",
        "report.table-formats",
        list(FORMAT_NAMES.values()),
        "Cells are text or numbers; none is a formula.",
        ["Word", "Excel"],
    )
    formats = tuple(each for each in TABLE_FORMATS if FORMAT_NAMES[each] in names)
    if not formats:
        st.caption("Choose at least one format.")
        return

    def make(say: Progress) -> bytes:
        own = journal_tables(analysis)
        files = table_files(own, formats, synthetic=analysis.source.synthetic, paper=paper)
        return zipped({**files, **results_file(analysis)})

    make_then_download(
        "tables",
        (work_so_far(), formats, paper),
        make,
        file_name(analysis, "tables.zip"),
        "application/zip",
        ":material/table:",
    )
    sentences = results_text(analysis)
    if sentences:
        with st.expander("Results as sentences, in the style of the APA"):
            st.code(" ".join(sentences), language=None, wrap_lines=True)


def card_files(analysis: Analysis, author: str, paper: Paper) -> None:
    """A policy's card as a page; the policy's own file holds the same as values."""
    names = policy_names(analysis.policies)
    if not names:
        return
    part("Model card")
    st.caption(
        "What a policy is for, from whom it was learned, how good it is and what it cannot do. The "
        "policy's file (Policy, 'Take the policy with you') holds the same."
    )
    places, chosen = list(range(1, len(names) + 1)), 1
    if len(names) > 1:
        chosen = controls.select(
            "Policy of the card",
            "report.card",
            places,
            1,
            "Each policy has a card of its own.",
            lambda place: capital(names[place - 1]),
        )
    kinds = {".docx": ("Word", WORD), ".html": ("HTML", "text/html")}
    with st.container(horizontal=True):
        for ending, (label, mime) in kinds.items():
            download(
                f"Model card ({label})",
                lambda ending=ending: document_bytes(  # type: ignore[misc]
                    build_model_card(analysis, chosen, author=author), ending, paper=paper
                ),
                file_name=file_name(analysis, f"model-card-{chosen}{ending}"),
                mime=mime,
                icon=":material/badge:",
                key=f"card{ending}",
            )
    say_failures(*(f"card{ending}" for ending in kinds))

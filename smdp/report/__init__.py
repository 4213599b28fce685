"""What a researcher takes away: figures in files, and a report as HTML and Word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.lazy import lazily

_HOME = {
    "build_checklist": "smdp.report.checklist_document",
    "build_model_card": "smdp.report.model_card",
    "build_preregistration": "smdp.report.locked",
    "build_report": "smdp.report.collect",
    "build_summary": "smdp.report.short",
    "journal_tables": "smdp.report.journal_tables",
    "model_card": "smdp.report.model_card",
    "results_text": "smdp.report.results_text",
    "table_files": "smdp.report.table_files",
    "report_figures": "smdp.report.collect",
    "section_titles": "smdp.report.collect",
    "write_report": "smdp.report.collect",
    "export_figures": "smdp.report.figure_files",
    "to_html": "smdp.report.html",
    "to_docx": "smdp.report.word",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from smdp.report.checklist_document import build_checklist as build_checklist
    from smdp.report.collect import build_report as build_report
    from smdp.report.collect import report_figures as report_figures
    from smdp.report.collect import section_titles as section_titles
    from smdp.report.collect import write_report as write_report
    from smdp.report.figure_files import export_figures as export_figures
    from smdp.report.html import to_html as to_html
    from smdp.report.journal_tables import journal_tables as journal_tables
    from smdp.report.locked import build_preregistration as build_preregistration
    from smdp.report.model_card import build_model_card as build_model_card
    from smdp.report.model_card import model_card as model_card
    from smdp.report.results_text import results_text as results_text
    from smdp.report.short import build_summary as build_summary
    from smdp.report.table_files import table_files as table_files
    from smdp.report.word import to_docx as to_docx
else:
    __getattr__, __dir__ = lazily(__name__, _HOME)

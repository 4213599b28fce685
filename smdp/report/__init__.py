"""What a researcher takes away: figures in files, and a report as HTML and Word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.lazy import lazily

_HOME = {
    "build_report": "smdp.report.collect",
    "report_figures": "smdp.report.collect",
    "section_titles": "smdp.report.collect",
    "write_report": "smdp.report.collect",
    "export_figures": "smdp.report.figure_files",
    "to_html": "smdp.report.html",
    "to_docx": "smdp.report.word",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from smdp.report.collect import build_report as build_report
    from smdp.report.collect import report_figures as report_figures
    from smdp.report.collect import section_titles as section_titles
    from smdp.report.collect import write_report as write_report
    from smdp.report.figure_files import export_figures as export_figures
    from smdp.report.html import to_html as to_html
    from smdp.report.word import to_docx as to_docx
else:
    __getattr__, __dir__ = lazily(__name__, _HOME)

"""A document written into a file: what its name ends in says how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smdp.blocks import Report
from smdp.errors import SettingError
from smdp.progress import Progress
from smdp.report.word_format import Paper

if TYPE_CHECKING:
    from smdp.report.figure_theme import FigureTheme

HTML, WORD, MARKDOWN = (".html", ".htm"), (".docx",), (".md",)


def document_bytes(
    report: Report,
    ending: str,
    *,
    paper: Paper = "A4",
    theme: FigureTheme | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The file's content; `ending` such as ".docx". `theme`: of its figures."""
    kind = ending.lower()
    if kind in HTML:
        from smdp.report.html import to_html

        return to_html(report, theme=theme).encode()
    if kind in MARKDOWN:
        from smdp.report.markdown import to_markdown_document

        return to_markdown_document(report).encode()
    if kind in WORD:
        from smdp.report.word import to_docx

        return to_docx(report, paper=paper, theme=theme, progress=progress)
    raise SettingError(
        f"A document cannot be written as '{ending}'.",
        "Let its name end in .html, .docx or .md.",
    )


def check_ending(path: Path) -> None:
    """Find out before the work whether the file can be written so."""
    if path.suffix.lower() not in (*HTML, *WORD, *MARKDOWN):
        raise SettingError(
            f"A document cannot be written as '{path.name}'.",
            "Let its name end in .html, .docx or .md.",
        )

"""A report as a Word document: real tables, figures as pictures of 300 dpi.

Figures are drawn by Chrome; without one the document says so in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import singledispatchmethod
from io import BytesIO
from typing import Any

from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Mm, Pt, RGBColor

from smdp import __version__
from smdp.blocks import (
    AuthorNote,
    Block,
    Bullets,
    Heading,
    Listing,
    NamedFigure,
    Notice,
    Paragraph,
    References,
    Report,
    Table,
    column_texts,
    file_names,
    is_number,
    readable,
)
from smdp.progress import Progress
from smdp.report.browser import BrowserError
from smdp.report.figure_files import figure_files
from smdp.report.word_format import (
    add_page_number,
    add_rule,
    keep_rows_whole,
    repeat_on_every_page,
    set_widths,
    shade,
    styled_document,
)

WIDTH_MM = 170.0  # of the text on A4, and of a double column
WORDS = {"error": "Error", "warning": "Warning", "note": "Note"}
SHADES = {"error": "FDEEE4", "warning": "FFF7E3", "note": "EEF7FD"}
NO_PICTURE = (
    "This figure could not be drawn: there was no Chrome, or it did not work. The HTML report has "
    "the figure."
)


def to_docx(
    report: Report,
    *,
    dpi: int = 300,
    browser: str | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The document's bytes. `browser`: the Chrome that draws; by default the one found here."""
    document = styled_document(WIDTH_MM)
    writer = _WordWriter(document, _pictures(report, dpi, browser, progress))
    document.add_heading(readable(report.title), level=0)
    for line in (report.author, f"{report.date} · data: {report.source}"):
        if line:
            document.add_paragraph(readable(line), style="Subtitle")
    for banner in report.banners:
        writer.block(banner)
    for section in report.sections:
        document.add_heading(readable(section.title), level=1)
        for block in section.blocks:
            writer.block(block)
    _set_margins_text(document, report)
    _set_properties(document, report)
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _pictures(
    report: Report, dpi: int, browser: str | None, progress: Progress | None
) -> Mapping[int, bytes]:
    """By the place of the figure in the report; none without a Chrome."""
    # Titles and marks stand in the captions; a figure is marked in its picture all the same.
    try:
        files = figure_files(
            report.figures,
            preset="double",
            dpi=dpi,
            titles=False,
            data=False,
            browser=browser,
            progress=progress,
        )
    except BrowserError:
        return {}
    return {place: files[f"{name}.png"] for place, name in enumerate(file_names(report.figures))}


class _WordWriter:
    def __init__(self, document: Any, pictures: Mapping[int, bytes]) -> None:
        self.document, self.pictures = document, pictures
        self.figures = 0

    @singledispatchmethod
    def block(self, block: Block) -> None:
        raise TypeError(f"{type(block).__name__} cannot be written as Word")

    @block.register
    def _(self, block: Heading) -> None:
        self.document.add_heading(readable(block.text), level=2)

    @block.register
    def _(self, block: Paragraph) -> None:
        self.document.add_paragraph().add_run(readable(block.text)).bold = block.strong or None

    @block.register
    def _(self, block: Bullets) -> None:
        for item in block.items:
            self.document.add_paragraph(readable(item), style="List Bullet")

    @block.register
    def _(self, block: Notice) -> None:
        paragraph = self.document.add_paragraph()
        paragraph.add_run(f"{WORDS[block.severity]}: ").bold = True
        paragraph.add_run(readable(f"{block.text} {block.remedy}".strip()))
        shade(paragraph, SHADES[block.severity])

    @block.register
    def _(self, block: AuthorNote) -> None:
        paragraph = self.document.add_paragraph()
        paragraph.add_run("Author’s note: ").bold = True
        paragraph.add_run(readable(block.text.strip()))
        shade(paragraph, "F2F2F2")

    @block.register
    def _(self, block: References) -> None:
        if block.items:
            self.document.add_heading("References", level=2)
        for item in block.items:
            paragraph = self.document.add_paragraph(readable(item))
            paragraph.paragraph_format.left_indent = Mm(8)
            paragraph.paragraph_format.first_line_indent = Mm(-8)

    @block.register
    def _(self, block: Listing) -> None:
        self.document.add_heading(readable(block.title), level=2)
        run = self.document.add_paragraph().add_run(readable(block.text, len(block.text) + 1))
        run.font.name, run.font.size = "Consolas", Pt(7.5)

    @block.register
    def _(self, block: Table) -> None:
        caption = self.document.add_paragraph(readable(block.title), style="Caption")
        caption.paragraph_format.keep_with_next = True
        frame = block.frame
        columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
        right = [any(map(is_number, own)) for own in columns]
        table = self.document.add_table(len(frame) + 1, len(columns))
        table.style, table.autofit = "Report table", True
        cells = list(table._cells)  # asking for each cell by its place takes far longer
        texts = [[readable(name, 200) for name in frame.columns]]
        texts += [list(row) for row in zip(*map(column_texts, columns), strict=True)]
        for place, text in enumerate(text for row in texts for text in row):
            paragraph = cells[place].paragraphs[0]
            run = paragraph.add_run(text)
            run.font.bold = place < len(columns) or None
            if right[place % len(columns)]:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        set_widths(table, [max(map(len, own)) for own in zip(*texts, strict=True)], WIDTH_MM)
        repeat_on_every_page(table.rows[0])
        keep_rows_whole(table)
        for row, edge in ((0, "top"), (0, "bottom"), (-1, "bottom")):
            add_rule(table.rows[row], edge)
        below = self.document.add_paragraph(readable(block.note))
        below.paragraph_format.space_after = Pt(10)
        for run in below.runs:
            run.font.size, run.font.color.rgb = Pt(8.5), RGBColor(0x5B, 0x64, 0x70)

    @block.register
    def _(self, block: NamedFigure) -> None:
        picture = self.pictures.get(self.figures)
        self.figures += 1
        if picture is None:
            self.document.add_paragraph().add_run(NO_PICTURE).italic = True
        else:
            self.document.add_picture(BytesIO(picture), width=Mm(WIDTH_MM))
            drawn = self.document.paragraphs[-1]
            drawn.paragraph_format.keep_with_next = True
            _describe(self.document.inline_shapes[-1], block)
        caption = self.document.add_paragraph(style="Caption")
        caption.add_run(readable(f"Figure {self.figures}. {block.title}. "))
        if block.marks:
            caption.add_run(f"({'; '.join(block.marks)}) ").bold = True
        caption.add_run(readable(block.caption)).bold = False


def _describe(shape: Any, figure: NamedFigure) -> None:
    """What a screen reader says of a picture."""
    text = readable(f"{figure.title}. {figure.caption}".strip())
    shape._inline.docPr.set("descr", text)
    shape._inline.docPr.set("title", readable(figure.title))


def _set_margins_text(document: Any, report: Report) -> None:
    """Page numbers below; above, on every page, that the data are made up if they are."""
    section = document.sections[0]
    add_page_number(section.footer.paragraphs[0])
    if report.synthetic:
        run = section.header.paragraphs[0].add_run("SYNTHETIC DATA")
        run.bold, run.font.color.rgb = True, RGBColor(0xB3, 0x47, 0x00)


def _set_properties(document: Any, report: Report) -> None:
    own = document.core_properties
    own.title, own.author = readable(report.title, 255), readable(report.author, 255)
    own.comments = f"Made with smdp {__version__}"
    own.last_modified_by = own.author
    own.created = own.modified = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    own.revision = 1

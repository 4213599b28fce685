"""A report as a Word document: real tables, figures as pictures of 300 dpi, numbered captions.

Figures are drawn by Chrome; without one the document says so in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import singledispatchmethod
from io import BytesIO
from typing import Any

from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Emu, Mm, Pt, RGBColor

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
    Section,
    Table,
    column_texts,
    file_names,
    is_number,
    readable,
)
from smdp.progress import Progress
from smdp.report.browser import BrowserError
from smdp.report.figure_files import figure_files
from smdp.report.figure_theme import FigureTheme
from smdp.report.word_format import (
    KEPT_BLANK,
    MARGIN_MM,
    PAPERS,
    SIZES,
    Bookmark,
    Paper,
    TablePart,
    add_field,
    add_link,
    add_page_number,
    add_rule,
    add_text,
    cell_of_numbers,
    cell_style,
    describe_table,
    keep_rows_whole,
    repeat_on_every_page,
    set_widths,
    shade,
    styled_document,
    table_layout,
    unbroken,
)
from smdp.settings import require
from smdp.words.figures import figure_words, table_words

WIDTH_MM = 170.0  # of the text, and of a double column
CAPTION_MM = 34.0  # kept free below the tallest figure
TALLEST_IF_COMPACT_MM = 52.0
WORDS = {"error": "Error", "warning": "Warning", "note": "Note"}
SHADES = {"error": "FDEEE4", "warning": "FFF7E3", "note": "EEF7FD"}
#: Shorter documents do without contents, shorter sections without references.
LEAST_FOR_CONTENTS, LEAST_FOR_REFERENCES = 4, 2
#: Rows of a table that stay on the page of its head; shorter tables stay on one page.
KEPT_WITH_HEAD, SHORT_TABLE = 2, 10
NO_PICTURE = (
    "This figure could not be drawn: there was no Chrome, or it did not work. The HTML report has "
    "the figure."
)


def to_docx(
    report: Report,
    *,
    dpi: int = 300,
    paper: Paper = "A4",
    theme: FigureTheme | None = None,
    browser: str | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The document's bytes.

    `theme`: of its figures, which are as wide as the text whatever it says. `browser`: the Chrome
    that draws; by default the one found here.
    """
    require(paper in PAPERS, "paper", " or ".join(map(repr, PAPERS)), paper)
    document = styled_document(WIDTH_MM, paper, compact=report.compact)
    tallest = PAPERS[paper][1] - 2 * MARGIN_MM - CAPTION_MM
    tallest = min(tallest, TALLEST_IF_COMPACT_MM) if report.compact else tallest
    look = replace(theme or FigureTheme(), width_mm=WIDTH_MM)
    pictures = _pictures(report, look, dpi, browser, progress)
    writer = _WordWriter(document, pictures, tallest, report.compact)
    document.add_heading(readable(report.title), level=0)
    for line in (report.author, _made(report)):
        if line:
            document.add_paragraph(readable(line), style="Subtitle")
    for banner in report.banners:
        writer.block(banner)
    if not report.compact:
        writer.contents(report)
    for section in report.sections:
        writer.section(section)
    _set_margins_text(document, report)
    _set_properties(document, report)
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _made(report: Report) -> str:
    return " · ".join(filter(None, (report.date, report.source and f"data: {report.source}")))


def _pictures(
    report: Report, look: FigureTheme, dpi: int, browser: str | None, progress: Progress | None
) -> Mapping[int, bytes]:
    """By the place of the figure in the report; none without a Chrome."""
    # Titles and marks stand in the captions; a figure is marked in its picture all the same.
    try:
        files = figure_files(
            report.figures,
            preset=look,
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
    def __init__(
        self,
        document: Any,
        pictures: Mapping[int, bytes],
        tallest_mm: float,
        compact: bool,
    ) -> None:
        self.document, self.pictures = document, pictures
        self.tallest_mm, self.compact = tallest_mm, compact
        self.figures, self.tables, self.bookmarks = 0, 0, 0

    def contents(self, report: Report) -> None:
        """The sections as links; page numbers are the word processor's business."""
        if len(report.sections) < LEAST_FOR_CONTENTS:
            return
        for section in report.sections:
            paragraph = self.document.add_paragraph()
            paragraph.paragraph_format.space_after = Pt(1)
            add_link(paragraph, _anchor(section), readable(section.title))

    def section(self, section: Section) -> None:
        heading = self.document.add_heading(level=1)
        with self.bookmark(heading, _anchor(section)):
            add_text(heading, readable(section.title))
        if not self.compact:
            self._where(section)
        for block in section.blocks:
            self.block(block)

    def _where(self, section: Section) -> None:
        """Which tables and figures the section has, as references that can be followed."""
        kinds = [type(b) for b in section.blocks if isinstance(b, Table | NamedFigure)]
        if len(kinds) < LEAST_FOR_REFERENCES:
            return
        paragraph = self.document.add_paragraph("In this section: ")
        paragraph.paragraph_format.keep_with_next = True
        numbers = {Table: self.tables, NamedFigure: self.figures}
        for place, kind in enumerate(kinds):
            numbers[kind] += 1
            word = "Table" if kind is Table else "Figure"
            if place:
                paragraph.add_run(", ")
            text = f"{word}{KEPT_BLANK}{numbers[kind]}"
            add_field(paragraph, f"REF {word}_{numbers[kind]} \\h", text)
        paragraph.add_run(".")

    def bookmark(self, paragraph: Any, name: str) -> Bookmark:
        self.bookmarks += 1
        return Bookmark(paragraph, name, self.bookmarks)

    def caption(self, word: str, number: int) -> Any:
        """Its number is a field, so that it is counted anew when something is put in between."""
        paragraph = self.document.add_paragraph(style="Caption")
        with self.bookmark(paragraph, f"{word}_{number}"):
            paragraph.add_run(f"{word}{KEPT_BLANK}").bold = True
            add_field(paragraph, f"SEQ {word} \\* ARABIC", str(number), bold=True)
        return paragraph

    @singledispatchmethod
    def block(self, block: Block) -> None:
        raise TypeError(f"{type(block).__name__} cannot be written as Word")

    @block.register
    def _(self, block: Heading) -> None:
        add_text(self.document.add_heading(level=2), readable(block.text))

    @block.register
    def _(self, block: Paragraph) -> None:
        paragraph = self.document.add_paragraph()
        add_text(paragraph, unbroken(readable(block.text)), bold=block.strong or None)

    @block.register
    def _(self, block: Bullets) -> None:
        for item in block.items:
            paragraph = self.document.add_paragraph(style="List Bullet")
            add_text(paragraph, unbroken(readable(item)))

    @block.register
    def _(self, block: Notice) -> None:
        paragraph = self.document.add_paragraph()
        paragraph.add_run(f"{WORDS[block.severity]}: ").bold = True
        add_text(paragraph, unbroken(readable(f"{block.text} {block.remedy}".strip())))
        shade(paragraph, SHADES[block.severity])

    @block.register
    def _(self, block: AuthorNote) -> None:
        paragraph = self.document.add_paragraph()
        paragraph.add_run("Author’s note: ").bold = True
        add_text(paragraph, readable(block.text.strip()))
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
        self.tables += 1
        frame = block.frame
        columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
        right = [any(map(is_number, own)) for own in columns]
        texts = [
            [readable(name, 200), *map(cell_of_numbers, column_texts(own))]
            for name, own in zip(frame.columns, columns, strict=True)
        ]
        layout = table_layout(texts, WIDTH_MM)
        for place, part in enumerate(layout.parts):
            caption = self.caption("Table", self.tables) if not place else None
            if caption is None:
                caption = self.document.add_paragraph(style="Caption")
                add_text(caption, f"Table{KEPT_BLANK}{self.tables}, continued", bold=True)
            add_text(caption, f". {readable(block.title)}")
            caption.paragraph_format.keep_with_next = True
            self._columns(part, texts, right, layout.points, block)
        below = self.document.add_paragraph(style=cell_style(SIZES[0]))
        add_text(below, unbroken(readable(block.note)))
        below.paragraph_format.space_after = Pt(10)
        for run in below.runs:
            run.font.color.rgb = RGBColor(0x5B, 0x64, 0x70)

    def _columns(
        self,
        part: TablePart,
        texts: list[list[str]],
        right: list[bool],
        points: float,
        block: Table,
    ) -> None:
        count = len(part.columns)
        table = self.document.add_table(len(texts[0]), count)
        table.style, style = "Report table", self.document.styles[cell_style(points)]
        kept = len(texts[0]) - 1 if len(texts[0]) <= SHORT_TABLE + 1 else KEPT_WITH_HEAD
        cells = list(table._cells)  # asking for each cell by its place takes far longer
        for row in range(len(texts[0])):
            for place, column in enumerate(part.columns):
                paragraph = cells[row * count + place].paragraphs[0]
                paragraph.style = style
                add_text(paragraph, texts[column][row], bold=row == 0 or None)
                if right[column]:
                    paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
                if row < kept:
                    paragraph.paragraph_format.keep_with_next = True
        set_widths(table, part.widths)
        describe_table(table, readable(block.title), table_words(texts[c][0] for c in part.columns))
        repeat_on_every_page(table.rows[0])
        keep_rows_whole(table)
        for row, edge in ((0, "top"), (0, "bottom"), (-1, "bottom")):
            add_rule(table.rows[row], edge)

    @block.register
    def _(self, block: NamedFigure) -> None:
        picture = self.pictures.get(self.figures)
        self.figures += 1
        if picture is None:
            self.document.add_paragraph().add_run(NO_PICTURE).italic = True
        else:
            self.document.add_picture(BytesIO(picture), width=Mm(WIDTH_MM))
            shape = self.document.inline_shapes[-1]
            if shape.height > Mm(self.tallest_mm):  # with its caption it has to fit on a page
                shape.width = Emu(round(shape.width * Mm(self.tallest_mm) / shape.height))
                shape.height = Mm(self.tallest_mm)
            drawn = self.document.paragraphs[-1]
            drawn.paragraph_format.keep_with_next = True
            _describe(shape, block)
        caption = self.caption("Figure", self.figures)
        caption.paragraph_format.keep_together = True
        add_text(caption, f". {readable(block.title)}. ", bold=True)
        if block.marks:
            caption.add_run(f"({'; '.join(block.marks)}) ").bold = True
        add_text(caption, unbroken(readable(block.caption)), bold=False)


def _anchor(section: Section) -> str:
    """A bookmark's name has letters, digits and low lines, and at most 40 of them."""
    return f"section_{re.sub('[^A-Za-z0-9]+', '_', section.key)}"[:40]


def _describe(shape: Any, figure: NamedFigure) -> None:
    """What a screen reader says of a picture."""
    text = readable(f"{figure.title}. {figure_words(figure.figure)} {figure.caption}".strip())
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

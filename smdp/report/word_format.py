"""What python-docx has no words for: shades, rules, page numbers, and the document's styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

INK = RGBColor(0x1B, 0x1F, 0x24)
FONT = "Arial"
A4_MM = (210.0, 297.0)
#: Of a letter in a table, of a cell's padding, and of columns that need not, or may not, be wider.
LETTER_MM, PADDING_MM, NARROW_MM, WIDEST_MM = 1.65, 4.5, 28.0, 110.0


def styled_document(text_width_mm: float) -> Any:
    """An empty A4 document in the house's style."""
    document = Document()
    section = document.sections[0]
    section.page_width, section.page_height = (Mm(size) for size in A4_MM)
    section.left_margin = section.right_margin = Mm((A4_MM[0] - text_width_mm) / 2)
    section.top_margin = section.bottom_margin = Mm(20)
    styles = document.styles
    for name, size, before, after in (
        ("Normal", 10.5, 0, 6),
        ("Title", 22, 0, 6),
        ("Subtitle", 10.5, 0, 4),
        ("Heading 1", 16, 22, 8),
        ("Heading 2", 12.5, 14, 4),
        ("Caption", 9, 10, 4),
        ("List Bullet", 10.5, 0, 3),
    ):
        style = styles[name]
        style.font.name, style.font.size = FONT, Pt(size)
        _use_font_for_all_scripts(style, FONT)
        style.font.color.rgb, style.font.italic = INK, False
        style.paragraph_format.space_before, style.paragraph_format.space_after = (
            Pt(before),
            Pt(after),
        )
    _without_border(styles["Title"])
    tables = styles.add_style("Report table", WD_STYLE_TYPE.TABLE)
    tables.base_style = styles["Normal Table"]
    tables.font.name, tables.font.size = FONT, Pt(8.5)
    tables.paragraph_format.space_after = Pt(1)
    tables.paragraph_format.space_before = Pt(1)
    return document


def shade(paragraph: Any, colour: str) -> None:
    """A background for a paragraph."""
    own = OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", colour)):
        own.set(qn(f"w:{name}"), value)
    paragraph._p.get_or_add_pPr().append(own)


def add_rule(row: Any, place: str) -> None:
    """A line above or below a table's row."""
    for cell in row.cells:
        holder = cell._tc.get_or_add_tcPr()
        borders = holder.find(qn("w:tcBorders"))
        if borders is None:
            borders = OxmlElement("w:tcBorders")
            holder.append(borders)
        line = OxmlElement(f"w:{place}")
        for name, value in (("val", "single"), ("sz", "8"), ("space", "0"), ("color", "1B1F24")):
            line.set(qn(f"w:{name}"), value)
        borders.append(line)


def set_widths(table: Any, letters: Sequence[int], text_width_mm: float) -> None:
    """Columns as wide as their longest texts, within the page; long texts give way first."""
    widths = [min(LETTER_MM * count + PADDING_MM, WIDEST_MM) for count in letters]
    narrow = sum(min(width, NARROW_MM) for width in widths)
    rest = sum(widths) - narrow
    share = min(1.0, max(0.0, text_width_mm - narrow) / rest) if rest else 1.0
    shrink = min(1.0, text_width_mm / narrow)
    for place, width in enumerate(widths):
        own = shrink * min(width, NARROW_MM) + share * max(0.0, width - NARROW_MM)
        table.columns[place].width = Mm(own)
        for cell in table.columns[place].cells:
            cell.width = Mm(own)


def repeat_on_every_page(row: Any) -> None:
    row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def keep_rows_whole(table: Any) -> None:
    """A row does not break over two pages."""
    for row in table.rows:
        row._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))


def add_page_number(paragraph: Any) -> None:
    """The number of the page, as a field that Word keeps up to date."""
    run = paragraph.add_run()
    for kind, text in (("begin", ""), ("", "PAGE"), ("end", "")):
        if kind:
            part = OxmlElement("w:fldChar")
            part.set(qn("w:fldCharType"), kind)
        else:
            part = OxmlElement("w:instrText")
            part.set(qn("xml:space"), "preserve")
            part.text = text
        run._r.append(part)


def _use_font_for_all_scripts(style: Any, font: str) -> None:
    """Headings of the template ask for a theme's font, which would win."""
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for name in list(fonts.attrib):
        if name.lower().endswith("theme"):
            del fonts.attrib[name]
    for script in ("ascii", "hAnsi", "cs", "eastAsia"):
        fonts.set(qn(f"w:{script}"), font)


def _without_border(style: Any) -> None:
    own = style.element.pPr
    line = None if own is None else own.find(qn("w:pBdr"))
    if line is not None:
        own.remove(line)

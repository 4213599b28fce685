"""What python-docx has no words for: fields, rules, widths of columns, the document's styles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

Paper = Literal["A4", "Letter"]

INK = RGBColor(0x1B, 0x1F, 0x24)
FONT = "Arial"
#: Width and height in millimetres.
PAPERS: dict[Paper, tuple[float, float]] = {"A4": (210.0, 297.0), "Letter": (215.9, 279.4)}
MARGIN_MM = 20.0  # above and below

#: Of a table's text, the usual size first; smaller where numbers would not fit otherwise.
SIZES = (8.5, 7.5, 7.0, 6.5)
#: A cell's own margins and some air; more than a page, so that long texts get the room that is
#: left; of words that may break.
PADDING_MM, WIDEST_MM, LONGEST_WORD_MM = 4.6, 300.0, 42.0
#: Words of one cell stand beside each other in at least so much room.
COMFORT_MM = 26.0
#: How much wider letters may be where Arial is missing, as those of DejaVu Sans are: a column has
#: room for these, so that no number breaks whoever opens the document.
OTHER_FONT = 1.22
#: Of a character of Helvetica and Arial, in thousandths of the size, from the blank on.
WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
OTHER, WIDE = 620, 1000
BOLD = 1.09
MM_A_POINT = 25.4 / 72

NUMBER = r"[-−+]?[<>]?\s?\d[\d,]*(?:\.\d+)?|[-−+]?\.\d+"
#: What is read as one: a number with its interval, its share or its p-value.
SIZE = rf"(?:{NUMBER})(?: ?%)?"
ONE_PIECE = re.compile(rf"(?:p [=<>] )?{SIZE}(?: to {SIZE})?(?: \({SIZE}(?: to {SIZE})?\))?")
MINUS = re.compile(r"(?<![\w.\-−])-(?=\.?\d)")
MINUS_IN_TEXT = re.compile(r"(?<=[ (\[])-(?=\.?\d)")
P_VALUE = re.compile(r"\bp ([=<>]) (?=\.\d)")
SHARE = re.compile(r"(?<=\d) %")
DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
DIGEST = re.compile(r"\bSHA-256\b")
BREAKS = re.compile(r"[ ]+|(?<=[^\W\d]-)(?=[^\W\d])")
RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+(?:[\s\-]+[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+)*"
)
KEPT_BLANK, TRUE_MINUS = "\N{NO-BREAK SPACE}", "\N{MINUS SIGN}"
KEPT_HYPHEN = "\N{NON-BREAKING HYPHEN}"


def unbroken(text: str) -> str:
    """The text with numbers that no line end can break: true minus signs, blanks that hold."""
    return _with_kept_blanks(MINUS.sub(TRUE_MINUS, text))


def _with_kept_blanks(text: str) -> str:
    """No line ends within a p-value or a date, after a minus sign, or before a share's sign."""
    text = MINUS_IN_TEXT.sub(TRUE_MINUS, text)
    text = P_VALUE.sub(rf"p{KEPT_BLANK}\1{KEPT_BLANK}", text)
    text = DATE.sub(rf"\1{KEPT_HYPHEN}\2{KEPT_HYPHEN}\3", text)
    text = DIGEST.sub(f"SHA{KEPT_HYPHEN}256", text)
    return SHARE.sub(f"{KEPT_BLANK}%", text)


def cell_of_numbers(text: str) -> str:
    """A cell that is a number with its interval stays in one line; in others, each number does."""
    if DATE.fullmatch(text):
        return text  # its column is wide enough, and it can be copied as a date
    if not ONE_PIECE.fullmatch(text):
        return _with_kept_blanks(text)
    return unbroken(text).replace(" ", KEPT_BLANK)


def text_mm(text: str, points: float, *, bold: bool = False) -> float:
    """How wide it is in print."""
    units = sum(_units(letter) for letter in text)
    return units / 1000 * points * MM_A_POINT * (BOLD if bold else 1.0)


def _units(letter: str) -> int:
    code = ord(letter)
    if letter == KEPT_BLANK:
        return WIDTHS[0]
    if 32 <= code < 32 + len(WIDTHS):
        return WIDTHS[code - 32]
    return WIDE if code >= 0x1100 else OTHER


@dataclass(frozen=True)
class TablePart:
    """Some columns of a table beside each other: their places and widths."""

    columns: tuple[int, ...]
    widths: tuple[float, ...]  # mm


@dataclass(frozen=True)
class TableLayout:
    """How a table is set: its text's size, and its columns, in several parts if need be."""

    points: float
    parts: tuple[TablePart, ...]


def table_layout(columns: Sequence[Sequence[str]], width_mm: float) -> TableLayout:
    """Columns as wide as what may not break in them; smaller text, or parts, where they must.

    `columns`: their texts, the head first. In parts the first column stands in each, and the second
    too if only both tell the rows apart.
    """
    for points in SIZES:
        needs = _needs(columns, points)
        if sum(own.least for own in needs) <= width_mm:
            every = tuple(range(len(columns)))
            return TableLayout(points, (TablePart(every, _shared(needs, width_mm)),))
    third = width_mm / 3  # beside two columns that name the rows
    needs = [replace(own, least=min(own.least, third)) for own in _needs(columns, SIZES[1])]
    stub = _stub(columns)
    parts, taken = [], list(stub)
    for place in range(len(stub), len(columns)):
        if sum(needs[k].least for k in [*taken, place]) > width_mm and len(taken) > len(stub):
            parts.append(taken)
            taken = list(stub)
        taken.append(place)
    parts.append(taken)
    return TableLayout(
        SIZES[1],
        tuple(
            TablePart(tuple(part), _shared([needs[k] for k in part], width_mm)) for part in parts
        ),
    )


def _stub(columns: Sequence[Sequence[str]]) -> list[int]:
    """The columns that name the rows."""
    rows = len(columns[0])
    if len(set(columns[0])) == rows or len(columns) < 3:
        return [0]
    both = set(zip(columns[0], columns[1], strict=True))
    return [0, 1] if len(both) == rows else [0]


@dataclass(frozen=True)
class _Need:
    """Widths of a column: what no word or number breaks in, in any font; every cell in one line."""

    least: float
    wanted: float


def _needs(columns: Sequence[Sequence[str]], points: float) -> list[_Need]:
    found = []
    for head, *cells in columns:
        words = {word for text in set(cells) for word in BREAKS.split(text)}
        longest = max((text_mm(text, points) for text in set(cells)), default=0.0)
        narrow = max((_word_mm(word, points) for word in words), default=0.0)
        narrow = max(narrow, *(_word_mm(w, points, bold=True) for w in BREAKS.split(head)))
        narrow = max(narrow, min(OTHER_FONT * longest, COMFORT_MM))
        whole = max(longest, text_mm(head, points, bold=True))
        least = narrow + PADDING_MM
        wanted = max(min(OTHER_FONT * whole + PADDING_MM, WIDEST_MM), least)
        found.append(_Need(least, wanted))
    return found


def _word_mm(word: str, points: float, *, bold: bool = False) -> float:
    own = OTHER_FONT * text_mm(word, points, bold=bold)
    numbers = ONE_PIECE.fullmatch(word.replace(KEPT_BLANK, " "))
    return own if numbers else min(own, LONGEST_WORD_MM)


def _shared(needs: Sequence[_Need], width_mm: float) -> tuple[float, ...]:
    """What is left over goes to the columns that want more."""
    least = sum(own.least for own in needs)
    lacking = sum(own.wanted for own in needs) - least
    share = min(1.0, max(0.0, width_mm - least) / lacking) if lacking > 0 else 1.0
    return tuple(own.least + share * (own.wanted - own.least) for own in needs)


def styled_document(text_width_mm: float, paper: Paper, *, compact: bool = False) -> Any:
    """An empty document in the house's style."""
    document = Document()
    section = document.sections[0]
    width, height = PAPERS[paper]
    section.page_width, section.page_height = Mm(width), Mm(height)
    section.left_margin = section.right_margin = Mm((width - text_width_mm) / 2)
    section.top_margin = section.bottom_margin = Mm(MARGIN_MM)
    styles, scale, air = document.styles, 0.86 if compact else 1.0, 0.5 if compact else 1.0
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
        style.font.name = FONT
        _set_size(style, round(2 * size * scale) / 2)
        _use_font_for_all_scripts(style, FONT)
        _without_spacing(style)
        style.font.color.rgb, style.font.italic = INK, False
        style.paragraph_format.space_before, style.paragraph_format.space_after = (
            Pt(before * air),
            Pt(after * air),
        )
    _without_border(styles["Title"])
    tables = styles.add_style("Report table", WD_STYLE_TYPE.TABLE)
    tables.base_style = styles["Normal Table"]
    for size in SIZES:  # a table's style would not win against that of its paragraphs
        own = styles.add_style(cell_style(size), WD_STYLE_TYPE.PARAGRAPH)
        own.base_style = styles["Normal"]
        _set_size(own, size)
        own.paragraph_format.space_before, own.paragraph_format.space_after = Pt(1.5), Pt(1.5)
    return document


def cell_style(points: float) -> str:
    """The style of a table's text in that size."""
    return f"Table text {points:g}"


def add_text(paragraph: Any, text: str, *, bold: bool | None = None) -> None:
    """Text as runs; words that are written from right to left are marked as such."""
    place = 0
    for found in RIGHT_TO_LEFT.finditer(text):
        if found.start() > place:
            paragraph.add_run(text[place : found.start()]).bold = bold
        run = paragraph.add_run(found.group())
        run.bold, run.font.rtl = bold, True
        place = found.end()
    if place < len(text) or not text:
        paragraph.add_run(text[place:]).bold = bold


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


def set_widths(table: Any, widths: Sequence[float]) -> None:
    """Columns of these widths in millimetres, which no program changes by itself."""
    table.autofit = False
    sizes = [round(width * 1440 / 25.4) for width in widths]
    whole = table._tbl.tblPr.find(qn("w:tblW"))
    if whole is not None:
        whole.set(qn("w:w"), str(sum(sizes)))
        whole.set(qn("w:type"), "dxa")
    for own, size in zip(table._tbl.tblGrid.gridCol_lst, sizes, strict=True):
        own.set(qn("w:w"), str(size))
    for row in table._tbl.tr_lst:
        for cell, size in zip(row.tc_lst, sizes, strict=True):
            cell.width = size * 635  # twentieths of a point to English metric units


def describe_table(table: Any, title: str, text: str) -> None:
    """What a screen reader says of a table."""
    for name, said in (("tblCaption", title), ("tblDescription", text)):
        own = OxmlElement(f"w:{name}")
        own.set(qn("w:val"), said)
        table._tbl.tblPr.append(own)


def repeat_on_every_page(row: Any) -> None:
    row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def keep_rows_whole(table: Any) -> None:
    """A row does not break over two pages."""
    for row in table.rows:
        row._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))


def add_field(paragraph: Any, instruction: str, shown: str, *, bold: bool | None = None) -> None:
    """What the word processor can count or look up again; `shown` until it does."""
    for kind, text in (("begin", ""), ("", instruction), ("separate", ""), ("shown", shown),
                       ("end", "")):  # fmt: skip
        run = paragraph.add_run(text if kind == "shown" else "")
        run.bold = bold
        if kind == "shown":
            continue
        if kind:
            part = OxmlElement("w:fldChar")
            part.set(qn("w:fldCharType"), kind)
        else:
            part = OxmlElement("w:instrText")
            part.set(qn("xml:space"), "preserve")
            part.text = text
            for own in run._r.findall(qn("w:t")):
                run._r.remove(own)
        run._r.append(part)


class Bookmark:
    """The runs that are added within it can be referred to by its name."""

    def __init__(self, paragraph: Any, name: str, number: int) -> None:
        self.paragraph, self.name, self.number = paragraph, name, str(number)

    def __enter__(self) -> None:
        own = self._mark("w:bookmarkStart")
        own.set(qn("w:name"), self.name)

    def __exit__(self, *_: object) -> None:
        self._mark("w:bookmarkEnd")

    def _mark(self, kind: str) -> Any:
        own = OxmlElement(kind)
        own.set(qn("w:id"), self.number)
        self.paragraph._p.append(own)
        return own


def add_link(paragraph: Any, bookmark: str, text: str) -> None:
    """A link to a place of the same document."""
    link = OxmlElement("w:hyperlink")
    link.set(qn("w:anchor"), bookmark)
    before = list(paragraph._p)
    add_text(paragraph, text)
    for run in [each for each in paragraph._p if each not in before]:
        link.append(run)
    paragraph._p.append(link)


def add_page_number(paragraph: Any) -> None:
    add_field(paragraph, "PAGE", "1")


def _use_font_for_all_scripts(style: Any, font: str) -> None:
    """Headings of the template ask for a theme's font, which would win."""
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for name in list(fonts.attrib):
        if name.lower().endswith("theme"):
            del fonts.attrib[name]
    for script in ("ascii", "hAnsi", "cs", "eastAsia"):
        fonts.set(qn(f"w:{script}"), font)


def _set_size(style: Any, points: float) -> None:
    """In all scripts: letters from right to left have a size of their own."""
    style.font.size = Pt(points)
    own = style.element.get_or_add_rPr()
    for old in own.findall(qn("w:szCs")):
        own.remove(old)
    size = OxmlElement("w:szCs")
    size.set(qn("w:val"), str(round(2 * points)))
    own.find(qn("w:sz")).addnext(size)


def _without_spacing(style: Any) -> None:
    """The template sets titles with room between their letters."""
    own = style.element.rPr
    room = None if own is None else own.find(qn("w:spacing"))
    if room is not None:
        own.remove(room)


def _without_border(style: Any) -> None:
    own = style.element.pPr
    line = None if own is None else own.find(qn("w:pBdr"))
    if line is not None:
        own.remove(line)

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from docx import Document
from docx.oxml.ns import qn
from docx.shared import Mm
from hostile_study import ENDLESS, FORMULA, MARKDOWN, MARKUP
from PIL import Image

from smdp.blocks import NamedFigure, Paragraph, Report, Section, Table
from smdp.errors import SettingError
from smdp.report.collect import build_report, section_titles
from smdp.report.word import NO_PICTURE, WIDTH_MM, to_docx
from smdp.report.word_format import (
    KEPT_BLANK,
    KEPT_HYPHEN,
    OTHER_FONT,
    cell_of_numbers,
    table_layout,
    text_mm,
)
from smdp.text import p_text

NOWHERE = "/nowhere/chrome"


def opened(report: Report, browser: str | None = NOWHERE):
    return Document(BytesIO(to_docx(report, browser=browser)))


@pytest.fixture(scope="module")
def document(analysis):
    """As it is where there is no Chrome."""
    return opened(build_report(analysis, title="A <b>title</b>", author="An & author"))


def headings(document, level):
    return [p.text for p in document.paragraphs if p.style.name == f"Heading {level}"]


def cells(document):
    return [cell.text for table in document.tables for row in table.rows for cell in row.cells]


def test_every_section_is_a_heading(document):
    not_asked = ("deviations", "trade_off", "new_data")
    titles = {k: title for k, title in section_titles().items() if k not in not_asked}
    assert headings(document, 1) == list(titles.values())
    assert document.paragraphs[0].text == "A <b>title</b>"
    assert document.core_properties.title == "A <b>title</b>"
    assert document.core_properties.author == "An & author"


def test_tables_are_tables_with_the_numbers_of_the_results(document, analysis):
    screening = next(t for t in document.tables if "p alone" in (c.text for c in t.rows[0].cells))
    place = [cell.text for cell in screening.rows[0].cells].index("p alone")
    rows = {row.cells[0].text: row.cells[place].text for row in screening.rows[1:]}
    p = p_text(analysis.screening.table.loc[MARKDOWN, "p_value"])
    assert rows[MARKDOWN] == p.replace(" ", KEPT_BLANK)
    head = screening.rows[0]._tr.trPr
    assert head.find(qn("w:tblHeader")) is not None


def test_names_that_look_like_formulas_are_plain_text(document):
    found = cells(document)
    for name in (FORMULA, MARKUP, MARKDOWN):
        assert name in found
    assert "@subject02 <b>who7</b>" in found
    fields = {each.text.split()[0] for each in document.element.body.iter(qn("w:instrText"))}
    assert fields == {"SEQ", "REF"}, "captions and references, which the program writes itself"
    assert document.element.body.findall(f".//{qn('w:fldSimple')}") == []
    links = document.element.body.findall(f".//{qn('w:hyperlink')}")
    assert links
    assert all(link.get(qn("r:id")) is None for link in links), "to places of this document only"


def test_an_endless_name_is_cut(document):
    assert all(len(text) <= 600 for text in cells(document))
    assert any(text.startswith("nnnn") and "…" in text for text in cells(document))
    longest = max(len(p.text) for p in document.paragraphs)
    assert longest < len(ENDLESS), "the plan too: nobody types it from a Word document"


def test_notes_and_warnings_are_in_it(document):
    text = "\n".join(p.text for p in document.paragraphs)
    assert "Author’s note: Stress <u>note7</u> <was> expected.\nSo was craving." in text
    assert "Warning: Neural Q-function" in text
    assert "Lagoudakis, M. G." in text


def test_without_chrome_a_sentence_stands_for_each_figure(document, analysis):
    said = [p for p in document.paragraphs if p.text == NO_PICTURE]
    assert len(said) == len(build_report(analysis).figures)
    assert len(document.inline_shapes) == 0
    captions = [p.text for p in document.paragraphs if p.style.name == "Caption"]
    assert any(text.startswith(f"Figure{KEPT_BLANK}1. ") for text in captions)


def test_every_caption_has_a_number_and_every_reference_leads_to_one(document, analysis):
    report = build_report(analysis)
    captions = [p.text for p in document.paragraphs if p.style.name == "Caption"]
    for word, kind in (("Table", Table), ("Figure", NamedFigure)):
        count = sum(isinstance(b, kind) for s in report.sections for b in s.blocks)
        own = [text for text in captions if text.startswith(word) and "continued" not in text]
        assert [text.split(".")[0] for text in own] == [
            f"{word}{KEPT_BLANK}{number}" for number in range(1, count + 1)
        ]
    body = document.element.body
    marks = {each.get(qn("w:name")) for each in body.iter(qn("w:bookmarkStart"))}
    fields = [each.text.split() for each in body.iter(qn("w:instrText"))]
    aims = [field[1] for field in fields if field[0] == "REF"]
    aims += [each.get(qn("w:anchor")) for each in body.iter(qn("w:hyperlink"))]
    assert aims
    assert set(aims) <= marks
    numbers = [each.get(qn("w:id")) for each in body.iter(qn("w:bookmarkStart"))]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("0.42 (-0.18 to 0.66)", f"0.42{KEPT_BLANK}(−0.18{KEPT_BLANK}to{KEPT_BLANK}0.66)"),
        ("p = .034", f"p{KEPT_BLANK}={KEPT_BLANK}.034"),
        ("79 % to 102 %", f"79{KEPT_BLANK}%{KEPT_BLANK}to{KEPT_BLANK}102{KEPT_BLANK}%"),
        ("-9", "−9"),
        ("=-9", "=-9"),
        ("2026-11-18", "2026-11-18"),
        ("Locked on 2026-11-18.", f"Locked on 2026{KEPT_HYPHEN}11{KEPT_HYPHEN}18."),
        ("stress, urge", "stress, urge"),
    ],
)
def test_a_number_stays_in_one_line(text, kept):
    assert cell_of_numbers(text) == kept


def test_no_column_is_narrower_than_its_numbers():
    numbers = ["0.42 (-0.18 to 0.66)", "-1,234.5 (-2,345.6 to 12.3)", "p < .001"]
    columns = [["a name", "x" * 300]] + [["estimate", cell_of_numbers(n)] for n in numbers * 5]
    layout = table_layout(columns, WIDTH_MM)
    assert len(layout.parts) > 1
    for part in layout.parts:
        assert part.columns[0] == 0
        assert sum(part.widths) <= WIDTH_MM + 1e-6
        for column, width in list(zip(part.columns, part.widths, strict=True))[1:]:
            assert OTHER_FONT * text_mm(columns[column][1], layout.points) < width
    shown = {column for part in layout.parts for column in part.columns}
    assert shown == set(range(len(columns)))


def test_no_number_breaks_where_the_font_is_missing():
    """As on a computer without Arial, whose letters are wider by a fifth."""
    heads = ("Variable", "People", "Decisions", "Missing", "Mean (SD), or n (%)",
             "Median (range)", "SD between", "SD within", "ICC")  # fmt: skip
    row = ("outcome_walked", "30", "7,840", "14.6 %", "20.51 (8.36)", "20 (0 to 50)", "0.094",
           "0.500", "< 0.01")  # fmt: skip
    columns = [[head, cell_of_numbers(cell)] for head, cell in zip(heads, row, strict=True)]
    layout = table_layout(columns, WIDTH_MM)
    for part in layout.parts:
        for column, width in zip(part.columns, part.widths, strict=True):
            words = [(w, True) for w in columns[column][0].split()] + [(columns[column][1], False)]
            for word, bold in words:
                assert OTHER_FONT * text_mm(word, layout.points, bold=bold) < width, word


def test_a_short_table_stays_on_one_page():
    frame = pd.DataFrame({"policy": list("abcde"), "value": range(5)})
    longer = pd.DataFrame({"policy": range(40)})
    blocks = (Table("Short", frame), Table("Long", longer))
    made = opened(Report("T", "", "", "x", False, (), (Section("a", "A", blocks),)))
    kept = [
        [row.cells[0].paragraphs[0].paragraph_format.keep_with_next for row in own.rows]
        for own in made.tables
    ]
    assert kept[0] == [True] * 5 + [None], "all but the last row stay with the next"
    assert kept[1] == [True] * 2 + [None] * 39


def test_a_table_of_200_columns_is_set_in_parts():
    frame = pd.DataFrame({f"variable {k}": [k + 0.5, -k - 0.5] for k in range(200)})
    report = Report("T", "", "", "x", False, (), (Section("a", "A", (Table("Wide", frame),)),))
    made = opened(report)
    shown = [cell.text for table in made.tables for cell in table.rows[0].cells]
    assert set(shown) == set(frame.columns)
    assert len([p for p in made.paragraphs if "continued" in p.text]) == len(made.tables) - 1


def test_words_from_right_to_left_are_marked_as_such():
    blocks = (
        Paragraph("The variable 'שלום עולם' counts."),
        Table("T", pd.DataFrame({"שם": ["ערך"]})),
    )
    made = opened(Report("T", "", "", "x", False, (), (Section("a", "A", blocks),)))
    runs = [run for p in made.paragraphs for run in p.runs]
    assert [run.text for run in runs if run.font.rtl] == ["שלום עולם"]
    cell = made.tables[0].cell(1, 0).paragraphs[0]
    assert [run.font.rtl for run in cell.runs] == [True]
    for style in (cell.style, made.styles["Normal"], made.styles["Title"]):
        sizes = [
            style.element.rPr.find(qn(f"w:{name}")).get(qn("w:val")) for name in ("sz", "szCs")
        ]
        assert sizes[0] == sizes[1], "as large as the others"


@pytest.mark.parametrize(("paper", "height"), [("A4", 297), ("Letter", 279.4)])
def test_papers(analysis, paper, height):
    report = build_report(analysis, sections=["summary"])
    section = Document(BytesIO(to_docx(report, browser=NOWHERE, paper=paper))).sections[0]
    assert abs(section.page_height - Mm(height)) < Mm(0.1)
    width = section.page_width - section.left_margin - section.right_margin
    assert abs(width - Mm(WIDTH_MM)) < Mm(0.1)


def test_an_unknown_paper():
    with pytest.raises(SettingError, match="paper"):
        to_docx(Report("T", "", "", "x", False, (), ()), paper="A5")


def test_with_chrome_figures_are_pictures_of_300_dpi(analysis, chrome):
    source = replace(analysis.source, synthetic=True)
    report = build_report(replace(analysis, source=source), sections=["screening"])
    document = opened(report, chrome)
    assert len(document.inline_shapes) == len(report.figures) > 0
    for shape in document.inline_shapes:
        assert shape.width == Mm(170)
    parts = document.part.package.iter_parts()
    pictures = [part.blob for part in parts if part.partname.endswith(".png")]
    for picture in pictures:
        with Image.open(BytesIO(picture)) as image:
            assert image.width == round(170 / 25.4 * 300)
            assert image.info["dpi"][0] == pytest.approx(300, abs=0.1)
    assert document.sections[0].header.paragraphs[0].text == "SYNTHETIC DATA"
    assert NO_PICTURE not in [p.text for p in document.paragraphs]


def test_characters_that_xml_cannot_hold(tmp_path):
    blocks = (Paragraph("a\x00b\x0bc\ud800d"),)
    made = opened(Report("T\x01", "", "", "x", False, (), (Section("study", "S", blocks),)))
    assert "a�b�c�d" in [p.text for p in made.paragraphs]

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from docx import Document
from docx.oxml.ns import qn
from docx.shared import Mm
from hostile_study import ENDLESS, FORMULA, MARKDOWN, MARKUP
from PIL import Image

from smdp.blocks import Paragraph, Report, Section
from smdp.report.collect import build_report, section_titles
from smdp.report.word import NO_PICTURE, to_docx
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
    assert headings(document, 1) == list(section_titles().values())
    assert document.paragraphs[0].text == "A <b>title</b>"
    assert document.core_properties.title == "A <b>title</b>"
    assert document.core_properties.author == "An & author"


def test_tables_are_tables_with_the_numbers_of_the_results(document, analysis):
    screening = next(t for t in document.tables if t.cell(0, 1).text == "status")
    place = [cell.text for cell in screening.rows[0].cells].index("p alone")
    rows = {row.cells[0].text: row.cells[place].text for row in screening.rows[1:]}
    assert rows[MARKDOWN] == p_text(analysis.screening.table.loc[MARKDOWN, "p_value"])
    head = screening.rows[0]._tr.trPr
    assert head.find(qn("w:tblHeader")) is not None


def test_names_that_look_like_formulas_are_plain_text(document):
    found = cells(document)
    for name in (FORMULA, MARKUP, MARKDOWN):
        assert name in found
    assert "@subject02 <b>who7</b>" in found
    fields = document.element.body.findall(f".//{qn('w:instrText')}")
    fields += document.element.body.findall(f".//{qn('w:fldSimple')}")
    assert fields == []
    assert document.element.body.findall(f".//{qn('w:hyperlink')}") == []


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
    assert any(p.text.startswith("Figure 1. Treatments over time") for p in document.paragraphs)


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

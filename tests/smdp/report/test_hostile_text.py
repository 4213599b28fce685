"""Names that are markup or formulas are text in every figure, table and file name."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import zipfile

import pytest
from hostile_study import BEFORE

from smdp.analysis.tables import result_tables
from smdp.blocks import file_names
from smdp.data.export import FORMULA_STARTS, to_csv
from smdp.report.collect import build_report, report_figures
from smdp.report.figure_data import figure_data
from smdp.report.word import to_docx

#: As plotly would take them: markup, a formula, a place to fill in, a turn of direction.
LIVE = re.compile(r"<i>markup7|<i>message7|<b>who7|<script|<img|\$tex7|%\{x\}$|[\u202e\a]")
TAME = re.compile(r"[\w.-]+")


@pytest.fixture(scope="module")
def figures(analysis):
    return report_figures(analysis)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def test_no_figure_holds_a_live_name(figures):
    assert len(figures) > 15
    met = set()
    for each in figures:
        for text in strings(json.loads(each.figure.to_json())):
            assert not LIVE.search(text), (each.title, text[:200])
            met |= {word for word in BEFORE if word in text}
    assert {"markup7", "bold7", "message7"} <= met


def test_no_cell_of_an_exported_table_is_run_by_a_spreadsheet(analysis, figures):
    tables = [table.frame for table in result_tables(analysis)]
    tables += [figure_data(each.figure) for each in figures]
    number = re.compile(r"-?[0-9.e+-]+$|-inf$")
    for frame in tables:
        for row in csv.reader(io.StringIO(to_csv(frame).decode("utf-8-sig"), newline="")):
            for cell in row:
                assert not cell.startswith(FORMULA_STARTS) or number.match(cell), cell[:80]


def test_no_file_name_is_made_of_more_than_letters(analysis, figures):
    names = [*file_names(figures), *(table.file_name for table in result_tables(analysis))]
    for name in names:
        assert TAME.fullmatch(name), name
        assert len(name) < 120


#: Numbers of captions, references to them, and the contents.
OWN_FIELDS = re.compile(
    r"\s*(SEQ (Table|Figure)|REF|PAGEREF|TOC|PAGE|NUMPAGES)\b[^\"]*(\"[\d-]*\"[^\"]*)?"
)


def test_a_word_document_has_text_and_no_field_or_link_of_strangers(analysis):
    report = build_report(analysis, sections=["study", "screening", "policy"])
    with zipfile.ZipFile(io.BytesIO(to_docx(report))) as package:
        parts = {name: package.read(name).decode(errors="replace") for name in package.namelist()}
    body = parts["word/document.xml"]
    assert "&lt;i&gt;markup7" in body
    assert not re.search(r"<w:(fldSimple|object)\b", body)
    fields = re.findall(r"<w:instrText[^>]*>([^<]*)<", body)
    assert all(OWN_FIELDS.fullmatch(html.unescape(field)) for field in fields), fields
    assert all(" w:anchor=" in link for link in re.findall(r"<w:hyperlink\b[^>]*>", body))
    assert not re.search(r"[\u202e\x07]", body)
    links = [text for name, text in parts.items() if name.endswith(".rels")]
    assert not any('TargetMode="External"' in text for text in links)

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from docx import Document
from hostile_study import ENDLESS, FORMULA, MARKDOWN, MARKUP
from openpyxl import load_workbook

from smdp.blocks import Table
from smdp.errors import SettingError
from smdp.evaluation.trial_effects import AVERAGE
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED
from smdp.report.journal_tables import JournalTable, journal_tables
from smdp.report.results_text import results_text
from smdp.report.table_files import (
    CONTENTS,
    table_files,
    to_latex,
    to_markdown,
    to_workbook,
)
from smdp.steps.data import flow_of

HOSTILE = ["=1+1", "+1", "-1 is less", "@SUM(A1)", "a|b", "50 % & $x_1$ {y} \\cmd ~ ^", "שלום",
           "n" * 300, "<b>bold</b>", "[link](javascript:alert(1))"]  # fmt: skip


@pytest.fixture(scope="module")
def tables(analysis):
    return journal_tables(analysis)


@pytest.fixture
def hostile():
    frame = pd.DataFrame({"=name": HOSTILE, "number": [k - 4.5 for k in range(len(HOSTILE))]})
    return Table("=Title & <b>", frame, "A note of 5 %.")


def test_every_table_in_every_format(tables):
    files = table_files(tables)
    names = [each.file_name for each in tables]
    assert {"participants", "flow", "average-effects", "values-linear"} <= set(names)
    for name in names:
        assert {f"{name}.csv", f"{name}.md", f"{name}.tex"} <= set(files)
    assert {"tables.docx", "tables.xlsx"} <= set(files)
    assert len(files) == 3 * len(names) + 2
    assert all(
        name.startswith("synthetic-") for name in table_files(tables, ["md"], synthetic=True)
    )


def test_formats_that_are_none(tables):
    with pytest.raises(SettingError, match="formats"):
        table_files(tables, ["pdf"])


def test_the_workbook_has_contents_and_typed_cells(tables):
    book = load_workbook(BytesIO(to_workbook(tables)))
    assert book.sheetnames[0] == CONTENTS
    assert len(book.sheetnames) == len(tables) + 1
    listed = [row[1].value for row in book[CONTENTS].iter_rows(min_row=2)]
    assert listed == [each.table.title for each in tables]
    for own, name in zip(tables, book.sheetnames[1:], strict=True):
        sheet, frame = book[name], own.table.frame
        for i, row in enumerate(frame.itertuples(index=False, name=None)):
            for j, value in enumerate(row):
                cell = sheet.cell(i + 4, j + 1)
                assert cell.data_type in ("n", "s")
                plain = getattr(value, "item", lambda value=value: value)()
                number = isinstance(plain, int | float) and not isinstance(plain, bool)
                if number and math.isfinite(plain):
                    assert cell.value == pytest.approx(plain, rel=1e-15)
                    assert cell.data_type == "n"
    assert not any(link.target for s in book for link in s._hyperlinks), "none leads outside"


def test_no_cell_is_a_formula(hostile):
    own = JournalTable("=a: very/long*name?" + "x" * 60, hostile)
    book = load_workbook(BytesIO(to_workbook([own, own])))
    assert len({name.lower() for name in book.sheetnames}) == 3
    assert all(len(name) <= 31 for name in book.sheetnames)
    sheet = book[book.sheetnames[1]]
    for row, text in enumerate(HOSTILE, start=4):
        assert sheet.cell(row, 1).value == text
        assert sheet.cell(row, 1).data_type == "s"
    assert sheet.cell(4, 1).quotePrefix
    read = pd.read_csv(io.BytesIO(table_files([own], ["csv"])[f"{own.file_name}.csv"]))
    assert not any(text.startswith(("=", "+", "-", "@")) for text in read.iloc[:, 0])


def test_markdown_has_no_markup(hostile):
    lines = to_markdown(hostile).splitlines()
    rows = lines[4 : 4 + len(HOSTILE)]
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert r"\[link\]\(javascript:alert\(1\)\)" in rows[-1]
    assert r"\<b\>" in rows[-2]
    assert lines[-1].startswith("*Note.* ")


def test_latex_has_no_commands_but_its_own(hostile):
    text = to_latex(hostile, "a b")
    assert (
        r"50 \% \& \$x\_1\$ \{y\} \textbackslash{}cmd \textasciitilde{} \textasciicircum{}" in text
    )
    assert r"\label{tab:a-b}" in text
    assert text.count(r"\\") == len(HOSTILE) + 1
    assert "$-$4.5" in text
    opened = re.findall(r"(?<!\\)\{", text)
    closed = re.findall(r"(?<!\\)\}", text)
    assert len(opened) == len(closed)


def test_latex_breaks_long_texts_and_knows_signs_of_rules():
    frame = pd.DataFrame({"if": ["mood ≥ 4", "x" * 50], "then": ["none", "call"], "n": [1, 2]})
    text = to_latex(Table("Rules", frame))
    assert r"\begin{tabular}{p{0.75\linewidth}lr}" in text
    assert r"mood $\geq$ 4 & none & 1 \\" in text


def test_a_table_of_200_variables(tables):
    frame = pd.DataFrame({"variable": [f"v{k}" for k in range(200)], "mean": range(200)})
    own = JournalTable("wide", Table("Long", frame))
    turned = JournalTable("turned", Table("Wide", frame.T.reset_index(drop=True)))
    files = table_files([own, turned])
    document = Document(BytesIO(files["tables.docx"]))
    assert len(document.tables[0].rows) == 201
    latex = files["wide.tex"].decode()
    assert latex.count(r" \\") == 201
    assert r"\endhead" in latex, "it goes over several pages"
    shown = {cell.text for table in document.tables[1:] for cell in table.rows[0].cells}
    assert shown == {str(k) for k in range(200)}


def test_hostile_names_are_names(tables):
    files = table_files(tables)
    for name, content in files.items():
        if name.endswith(".md"):
            assert "](javascript" not in content.decode()
    document = Document(BytesIO(files["tables.docx"]))
    cells = {cell.text for table in document.tables for row in table.rows for cell in row.cells}
    assert {FORMULA, MARKUP, MARKDOWN} <= cells
    assert not any(len(text) > 700 for text in cells)
    assert ENDLESS not in cells


def test_nothing_done_gives_no_tables(analysis):
    assert journal_tables(replace(analysis, results={}, records={})) == ()
    assert results_text(replace(analysis, results={}, records={})) == []
    assert set(table_files([])) == {"tables.docx", "tables.xlsx"}


def numbers(text):
    return [float(found) for found in re.findall(r"-?\d+\.\d+", text)]


def test_sentences_have_the_numbers_of_the_results(analysis):
    text = results_text(analysis)
    effects = analysis.trial.effects
    row = effects[effects["term"] == AVERAGE].iloc[0]
    found = numbers(text[0])
    digits = len(re.search(r"b = -?\d+\.(\d+)", text[0]).group(1))
    for name, own in zip(("estimate", "lower", "upper"), found, strict=False):
        assert own == pytest.approx(row[name], abs=0.51 * 10**-digits)
    assert f"{100 * analysis.trial.coverage:g}% CI [" in text[0]
    value = analysis.values[0]
    own = next(each for each in text if "estimated value of the linear" in each)
    assert numbers(own)[0] == pytest.approx(value.estimate, abs=0.006)
    assert f"N = {value.subjects}" in own
    assert len(text) == 1 + sum(1 + len(v.differences) for v in analysis.values)


def test_each_number_on_values_stands_in_its_place(analysis):
    """Not only somewhere: of the policy, of what was done, and of each difference, in order."""
    text = iter(each for each in results_text(analysis) if " policy " in each)
    for value in analysis.values:
        rows = value.table[value.table["method"] == DOUBLY_ROBUST].set_index("policy")
        first = [rows.iloc[0], rows.loc[OBSERVED]]
        for wanted in (first, *([row] for _, row in value.differences.iterrows())):
            sentence = next(text).partition(" (")[0]
            ends = [row[name] for row in wanted for name in ("estimate", "lower", "upper")]
            found = re.findall(r"(?:= |was |\[|, )(-?\d+\.\d+)", sentence)
            wanted_ends = [end for end in ends if end == end]
            assert len(found) == len(wanted_ends), sentence
            for shown, end in zip(found, wanted_ends, strict=True):
                decimals = len(shown.partition(".")[2])
                assert float(shown) == pytest.approx(end, abs=0.51 * 10**-decimals), sentence
    assert next(text, None) is None


def test_a_value_that_was_judged_quickly_says_so(analysis):
    """Where it is copied alone, too."""
    words = "chosen with everybody, so too optimistic"
    assert words not in " ".join(results_text(analysis))
    quick = tuple(replace(v, whole_analysis=False, cross_fitted=True) for v in analysis.values)
    found = results_text(replace(analysis, results={**analysis.results, "evaluation": quick}))
    assert sum(words in text for text in found) == len(quick)
    assert sum("The estimated value" in text for text in found) == len(quick)


def test_the_flow_is_a_partition(analysis):
    flow = flow_of(analysis)
    study = analysis.completed.study
    assert flow.people == flow.kept_people + flow.people_left_out
    parts = (flow.without_row, flow.without_choice, flow.unknown_action, flow.with_choice)
    assert flow.kept_decisions == sum(parts) == int(study.on_grid.sum())
    trajectories = analysis.prepared.trajectories
    assert flow.analysed == int(trajectories.valid.sum())
    choice = trajectories.valid & trajectories.available
    assert flow.analysed_with_choice == int(choice.sum())
    assert all(0 <= each.analysed <= each.decisions for each in flow.treated)


def test_the_flow_figure_shows_the_counts(analysis):
    from smdp.figures.flow import flow_figure

    flow = flow_of(analysis)
    drawn = flow_figure(flow)
    said = " ".join(drawn.data[0].text)
    for count in (flow.people, flow.kept_people, flow.with_choice, flow.kept_decisions):
        assert f"{count:,}" in said
    for each in flow.treated:
        assert f"{each.decisions:,}" in said
        assert f"Analysed: {each.analysed:,}" in said
    for shape in drawn.layout.shapes:
        assert -0.01 <= shape.x0 < shape.x1 <= 1.01

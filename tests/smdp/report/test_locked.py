"""Locked plans in documents: the list of deviations, and the preregistration."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from docx import Document

from smdp.analysis.locked_plan import lock_plan
from smdp.blocks import Listing, Notice, Table
from smdp.cli import main
from smdp.report.collect import available_sections, build_report
from smdp.report.html import to_html
from smdp.report.locked import build_preregistration
from smdp.report.markdown import to_markdown_document
from smdp.report.word import to_docx


def deviations(analysis):
    report = build_report(analysis, sections=["deviations"])
    return report.sections[0].blocks


def test_without_a_locked_plan_there_is_no_section(analysis):
    assert "deviations" not in available_sections(analysis)


def test_the_report_lists_each_deviation(analysis):
    held = analysis.with_locked(analysis.lock())
    assert "deviations" in available_sections(held)
    assert "Nothing departs from it." in str(deviations(held))
    locked = lock_plan(analysis.plan.replace(placebo=None, stability=None), analysis.source)
    blocks = deviations(analysis.with_locked(locked))
    (listed,) = [block for block in blocks if isinstance(block, Table)]
    assert listed.frame["step"].tolist() == ["Stability of the weights", "Placebo check"]
    assert listed.frame["done"].tolist() == ["added", "added"]


def test_a_plan_of_another_file_is_said(analysis):
    other = replace(analysis.source, fingerprint="0" * 64, name="other.csv", rows=3)
    blocks = deviations(analysis.with_locked(lock_plan(analysis.plan, other)))
    (said,) = [block for block in blocks if isinstance(block, Notice)]
    assert "other.csv" in said.text
    assert "3 rows" in said.text


@pytest.mark.parametrize("with_data", [True, False])
def test_the_preregistration_says_what_is_known_and_what_is_to_be_written(analysis, with_data):
    locked = lock_plan(analysis.plan, analysis.source if with_data else None, outcome_hidden=True)
    report = build_preregistration(locked, author="A. U. Thor")
    text = to_markdown_document(report)
    assert text.count("You must write this") >= 6
    assert locked.fingerprint in text
    assert ("There was no table yet" in text) == (not with_data)
    plans = [b for s in report.sections for b in s.blocks if isinstance(b, Listing)]
    assert plans[0].text == analysis.plan.to_toml()
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    assert set(analysis.plan.roles.state_names) <= set(tables[0].frame["column"])
    assert Document(BytesIO(to_docx(report, browser="/nowhere"))).tables
    assert "Content-Security-Policy" in to_html(report)


def test_the_command(analysis, tmp_path, capsys):
    plan = tmp_path / "plan.toml"
    plan.write_text(analysis.plan.to_toml(), encoding="utf-8")
    out, text = tmp_path / "locked.toml", tmp_path / "plan.md"
    assert main(["lock", str(plan), "--out", str(out), "--registration", str(text)]) == 0
    assert "fingerprint" in capsys.readouterr().out
    assert "# Preregistration" in text.read_text(encoding="utf-8")
    assert main(["lock", str(plan), "--out", str(out)]) == 2
    saved = tmp_path / "a.smdp"
    analysis.save(saved)
    page = tmp_path / "r.html"
    asked = ["report", str(saved), "--out", str(page), "--locked", str(out), "--sections"]
    assert main([*asked, "deviations"]) == 0
    assert "Nothing departs from it." in page.read_text(encoding="utf-8")
    lists, tables, short = tmp_path / "lists", tmp_path / "tables", tmp_path / "short.html"
    further = ["--checklists", str(lists), "--tables", str(tables), "--summary", str(short)]
    assert main(["report", str(saved), *further]) == 0
    assert (lists / "consort.docx").exists()
    assert (tables / "tables.xlsx").exists()
    assert "What was checked" in short.read_text(encoding="utf-8")

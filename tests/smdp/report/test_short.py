"""The summary on two pages: its numbers are those of the analysis, and it stays short."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from io import BytesIO

import pytest
from docx import Document
from hostile_study import ENDLESS

from smdp.blocks import Bullets, Notice, Paragraph, Table
from smdp.evaluation.rule_value import CARD
from smdp.report.html import to_html
from smdp.report.short import LONGEST, NOT_DONE, build_summary
from smdp.report.word import to_docx
from smdp.words.policy_value import digits_of
from smdp.words.rule_card import digits_of_rules


def said(report):
    found = []
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Paragraph | Notice):
                found.append(block.text)
            elif isinstance(block, Bullets):
                found += block.items
            elif isinstance(block, Table):
                found += [str(cell) for row in block.frame.to_numpy() for cell in row]
    return found


@pytest.fixture(scope="module")
def summary(analysis):
    return build_summary(analysis, date="today")


def test_its_four_parts(summary):
    assert [each.key for each in summary.sections] == ["rule", "worth", "question", "checks"]
    assert summary.compact
    assert '<body class="compact">' in to_html(summary)


def test_the_numbers_are_those_of_the_analysis(analysis, summary):
    text = "\n".join(said(summary))
    study = analysis.completed.study
    assert f"{len(study.subjects)} people" in text
    assert f"{int(study.on_grid.sum()):,} decisions" in text
    for value in analysis.values[:2]:
        assert f"{abs(value.gain['estimate']):.{digits_of(value)}f}" in text
    value = analysis.values[0]
    (figure,) = summary.figures
    beside = " ".join(str(each.text) for each in figure.figure.layout.annotations)
    assert f"{value.estimate:.{digits_of(value)}f}" in beside
    least = 100 * value.positivity["smallest"].min()
    assert f"The smallest probability of a treatment was {least:.1f} %." in text
    effect = analysis.trial.effects.iloc[0]
    found = re.search(r"In the trial itself: .*? by (-?\d+\.?\d*)", text)
    assert found is None or float(found.group(1)) == pytest.approx(effect["estimate"], abs=0.05)


def test_whom_to_treat_stands_first_and_every_check_is_told(analysis, summary):
    parts = {each.key: each.blocks for each in summary.sections}
    whom, card, *_ = parts["rule"]
    assert isinstance(whom, Paragraph)
    assert whom.text.startswith("By the rule card: ")
    assert isinstance(card, Table)
    assert len(card.frame) == sum(1 for _ in analysis.rule.card.paths())
    assert sum(int(share.split()[0]) for share in card.frame["share of decisions"]) in (
        99,
        100,
        101,
    )
    told = next(text for text in said(summary) if text.startswith("The card: "))
    assert f"{analysis.rule.value(CARD)['estimate']:.{digits_of_rules(analysis.rule)}f}" in told
    checks = next(each for each in parts["checks"] if isinstance(each, Table)).frame
    found = dict(zip(checks["question"], checks["finding"], strict=True))
    doubts = [row.thing for row in analysis.passport.rows if row.verdict == "doubt"]
    assert len(found["What does something speak against?"].split("; ")) == max(1, len(doubts))


def test_shares_of_the_rule_add_up(summary):
    text = next(text for text in said(summary) if "recommends" in text)
    shares = [int(n) for n in re.findall(r"(\d+) %", text)]
    assert sum(shares) == pytest.approx(100, abs=len(shares))


def test_it_stays_short(summary):
    assert all(len(text) <= LONGEST + 100 for text in said(summary))
    assert ENDLESS not in "".join(said(summary))
    assert len(said(summary)) < 60


def test_it_is_two_pages_in_print(analysis, summary, chrome, tmp_path):
    """Whatever was done, and in a wide font: drawn by the browser, as people print it."""
    page, paper = tmp_path / "summary.html", tmp_path / "summary.pdf"
    page.write_text(to_html(summary), encoding="utf-8")
    subprocess.run(
        [chrome, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
         f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000",
         f"--print-to-pdf={paper}", page.as_uri()],
        check=True, timeout=120, capture_output=True,
    )  # fmt: skip
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) == 2


def test_before_anything_was_done(analysis):
    empty = build_summary(replace(analysis, results={}, records={}))
    parts = {each.key: each.blocks for each in empty.sections}
    for key in ("question", "rule", "worth"):
        assert parts[key] == (Paragraph(NOT_DONE),)
    Document(BytesIO(to_docx(empty, browser="/nowhere")))
    assert "This was not done." in to_html(empty)


def test_without_the_data(analysis):
    from smdp.analysis.saved_file import without_data

    text = "\n".join(said(build_summary(without_data(analysis))))
    assert "@subject" not in text
    assert "This was not done." in text


def test_hidden_outcomes_are_said_on_top(analysis):
    hidden = build_summary(analysis.with_outcome_hidden())
    assert any("outcome is hidden" in banner.text for banner in hidden.banners)

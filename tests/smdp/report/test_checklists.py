"""Checklists: every item stands once, has an answer or what is to be written, and true numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO

import pytest
from docx import Document

from smdp.blocks import LONGEST_CELL, Table
from smdp.errors import SettingError
from smdp.report.checklist_document import answers_of, build_checklist, checklists_for
from smdp.report.checklists import CHECKLISTS
from smdp.report.collect import section_titles
from smdp.report.html import to_html
from smdp.report.markdown import to_markdown_document
from smdp.report.word import to_docx
from smdp.steps.data import flow_of
from smdp.text import first_sentences

COUNTS = {"consort": 42, "cremas": 16, "tripod-ai": 52}


@pytest.fixture(scope="module")
def nothing_done(analysis):
    return replace(analysis, results={}, records={})


@pytest.mark.parametrize("checklist", CHECKLISTS.values(), ids=list(CHECKLISTS))
def test_numbers_stand_once_and_in_order(checklist):
    numbers = [item.number for item in checklist.items if item.number]
    assert len(numbers) == len(set(numbers))
    plain = [re.match(r"\d+", number) for number in numbers]
    places = [int(found.group()) for found in plain if found]
    assert places == sorted(places)
    assert set(places) == set(range(1, max(places) + 1)), "none is left out"
    assert len(numbers) == COUNTS.get(checklist.key, len(numbers))


@pytest.mark.parametrize("name", CHECKLISTS)
def test_each_item_is_answered_or_says_what_is_missing(analysis, nothing_done, name):
    for own in (analysis, nothing_done):
        for item, answer in answers_of(own, CHECKLISTS[name]):
            assert answer.text or answer.missing, item
            assert (answer.status == "answered") == (bool(answer.text) and not answer.missing)
            assert not answer.section or answer.section in section_titles()


def test_nothing_is_claimed_of_what_was_not_done(nothing_done):
    for checklist in CHECKLISTS.values():
        for item, answer in answers_of(nothing_done, checklist):
            about_roles = item.topic in (
                "Random sequence", "Kind of randomisation", "Poor or missing input",
            )  # fmt: skip
            assert about_roles or not answer.text, (checklist.key, item.topic, answer.text)


@pytest.mark.parametrize("name", CHECKLISTS)
def test_the_document_has_every_item_and_the_citation(analysis, name):
    report = build_checklist(analysis, name, date="today")
    document = Document(BytesIO(to_docx(report, browser="/nowhere")))
    rows = [row for table in document.tables for row in table.rows[1:]]
    assert len(rows) == len(CHECKLISTS[name].items)
    text = "\n".join(p.text for p in document.paragraphs)
    assert CHECKLISTS[name].citation[:40] in text
    assert "The words of the items are ours" in text
    page = to_html(report)
    assert page.count("You must") >= 3
    assert not re.search(r"(src|href|url)\s*[=(]\s*[\"']?(https?:)?//", page), "nothing is loaded"
    assert to_markdown_document(report).startswith("# ")


def test_the_numbers_are_those_of_the_analysis(analysis):
    flow = flow_of(analysis)
    given = {item.number: answer for item, answer in answers_of(analysis, CHECKLISTS["consort"])}
    numbers = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", given["22a"].text)]
    wanted = [flow.people, flow.decisions, flow.people_left_out, flow.kept_people,
              flow.kept_decisions, flow.with_choice, flow.analysed, flow.analysed_people,
              *(each.decisions for each in flow.treated)]  # fmt: skip
    assert set(wanted) <= set(numbers)
    missing = analysis.trial.effects.iloc[0]["estimate"]
    assert f"b = {missing:.1f}"[:6] in given["26"].text
    least = analysis.values[0].positivity["smallest"].min()
    tripod = {i.number: a for i, a in answers_of(analysis, CHECKLISTS["tripod-ai"])}
    assert f"{100 * least:.1f} %" in tripod["13"].text
    assert f"{analysis.feature_map.dimension} feature" in tripod["22"].text


def test_what_only_a_later_study_can_say_is_not_claimed(analysis):
    given = {item.number: answer for item, answer in answers_of(analysis, CHECKLISTS["decide-ai"])}
    assert given["9"].status == "to write", "the trial's people are not those of the first use"
    for number in ("8", "15"):
        assert given[number].status == "in part"
    tripod = {item.number: a for item, a in answers_of(analysis, CHECKLISTS["tripod-ai"])}
    assert "same study" in tripod["16"].text
    assert tripod["24"].text == "It was not refitted with more data."
    consort = {item.number: a for item, a in answers_of(analysis, CHECKLISTS["consort"])}
    for count in (analysis.trial.decisions, flow_of(analysis).analysed):
        assert f"{count:,}" in consort["21b"].text
    cremas = {item.number: a for item, a in answers_of(analysis, CHECKLISTS["cremas"])}
    assert cremas["14"].section == "passport"
    untested = replace(
        analysis, results={k: v for k, v in analysis.results.items() if k != "passport"}
    )
    (again,) = [a for item, a in answers_of(untested, CHECKLISTS["cremas"]) if item.number == "14"]
    assert (again.status, again.section) == ("in part", "missing")


def test_what_an_item_asks_beyond_the_analysis_is_owed(analysis):
    """Rows are not adherence, people in a table no target population, our columns no system."""
    owed = {"cremas": ["13"], "tidier": ["2-4", "9", "12"], "tripod-ai": ["9a", "20b"],
            "consort": ["25"], "decide-ai": ["4"]}  # fmt: skip
    locked = analysis.with_locked(analysis.lock())
    for key, numbers in owed.items():
        given = {item.number: answer for item, answer in answers_of(locked, CHECKLISTS[key])}
        assert [given[number].status for number in numbers] == ["in part"] * len(numbers), key
    tidier = {item.number: a for item, a in answers_of(locked, CHECKLISTS["tidier"])}
    assert tidier["10"].status == "to write", "a plan says nothing of the intervention"
    decide = {item.number: a for item, a in answers_of(locked, CHECKLISTS["decide-ai"])}
    for number in ("III", "IV", "V", "VII", "16"):
        assert decide[number].status == "to write", "of the first use, not of this trial"


@pytest.mark.parametrize(
    ("probability", "available", "said"),
    [
        (0.5, None, "at each decision with constant, known probabilities"),
        ("chance", None, "at each decision with the probabilities in the column 'chance'"),
        (
            {"0": "p0", "1": "p1"},
            "free",
            "at each decision that had a choice with the probabilities in the columns 'p0', 'p1'",
        ),
        ({"0": 0.4, "1": 0.6}, None, "at each decision with constant, known probabilities"),
    ],
)
def test_how_chance_decided(nothing_done, probability, available, said):
    roles = replace(nothing_done.plan.roles, probability=probability, available=available)
    own = replace(nothing_done, plan=nothing_done.plan.replace(roles=roles))
    given = {item.number: answer for item, answer in answers_of(own, CHECKLISTS["consort"])}
    assert given["17a"].text == f"Randomised {said}."


def test_no_answer_loses_the_end_of_a_number(analysis):
    """A cell holds so many letters; what does not fit is left out by whole sentences."""
    for checklist in CHECKLISTS.values():
        report = build_checklist(analysis, checklist.key)
        frames = [b.frame for s in report.sections for b in s.blocks if isinstance(b, Table)]
        answers = [text for frame in frames for text in frame["answer"]]
        assert all(len(text) <= LONGEST_CELL for text in answers)
    sentences = "It was 0.5, 95% CI [0.1, 0.9]. Then 12.5. " * 3
    assert first_sentences(sentences, 60) == "It was 0.5, 95% CI [0.1, 0.9]. Then 12.5."
    assert first_sentences("One 0.123456 two", 9) == "One…"


def test_which_apply(analysis, nothing_done):
    keys = [each.key for each in checklists_for(analysis)]
    assert keys == list(CHECKLISTS)
    observed = replace(analysis.plan.roles, assignment="observed")
    own = replace(nothing_done, plan=analysis.plan.replace(roles=observed))
    assert [each.key for each in checklists_for(own)] == ["cremas", "tidier"]


def test_an_unknown_checklist(analysis):
    with pytest.raises(SettingError, match="prisma") as caught:
        build_checklist(analysis, "prisma")
    assert "consort" in caught.value.remedy


def test_sections_that_the_report_has_not_are_not_cited(nothing_done):
    report = build_checklist(nothing_done, "consort")
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    cited = {text for t in tables for text in t.frame["where"] if text}
    assert cited <= {"Report: Methods", "Report: Warnings"}

"""A checklist of an analysis as a document: each item with its answer, or what is to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from smdp.blocks import LONGEST_CELL, Block, Paragraph, References, Report, Section, Table
from smdp.errors import SettingError
from smdp.report.checklists import CHECKLISTS
from smdp.report.checklists.checklist import STATUS_WORDS, Answer, Checklist, Item
from smdp.report.collect import available_sections, banners, section_titles, today
from smdp.text import first_sentences, listing, plural, shorten

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

OURS = (
    "The words of the items are ours, in short; the authority is the publication that is cited "
    "below. What is answered comes from the analysis; the rest only its authors can know. Read "
    "every answer before you hand this in."
)
MORE = "More is in the report."
COLUMNS = ("no.", "item", "answer", "where")


def checklist_named(name: str) -> Checklist:
    """The checklist of that key."""
    if name not in CHECKLISTS:
        raise SettingError(
            f"There is no checklist called '{shorten(name)}'.",
            f"The checklists are: {listing(CHECKLISTS, len(CHECKLISTS))}.",
        )
    return CHECKLISTS[name]


def checklists_for(analysis: Analysis) -> tuple[Checklist, ...]:
    """Those that have something to ask of this analysis."""
    return tuple(each for each in CHECKLISTS.values() if each.applies(analysis))


def answers_of(analysis: Analysis, checklist: Checklist) -> list[tuple[Item, Answer]]:
    """Each item with its answer."""
    return [(item, item.answer(analysis)) for item in checklist.items]


def build_checklist(analysis: Analysis, name: str, *, author: str = "", date: str = "") -> Report:
    """The document, for `to_html` and `to_docx`."""
    checklist = checklist_named(name)
    given = dict(answers_of(analysis, checklist))
    titles, there = section_titles(), available_sections(analysis)

    def row(item: Item) -> tuple[str, str, str, str]:
        answer = given[item]
        where = f"Report: {titles[answer.section]}" if answer.section in there else ""
        return item.number, f"{item.topic}. {item.wording}.", _said(answer), where

    done = sum(answer.status == "answered" for answer in given.values())
    part = sum(answer.status == "in part" for answer in given.values())
    head: list[Block] = [
        Paragraph(checklist.about),
        Paragraph(
            f"{plural(len(given), 'item')}: {done} answered, {part} in part, "
            f"{len(given) - done - part} to be written.",
            strong=True,
        ),
        Paragraph(OURS),
        References((checklist.citation,)),
    ]
    sections = [Section("about", "About this checklist", tuple(head))]
    for place, (part_title, items) in enumerate(checklist.parts):
        frame = pd.DataFrame([row(item) for item in items], columns=list(COLUMNS))
        if not frame["no."].any():
            frame = frame.drop(columns="no.")
        sections.append(Section(f"part-{place + 1}", part_title, (Table(part_title, frame),)))
    return Report(
        title=f"{checklist.title}: {shorten(analysis.source.name, 80)}",
        author=shorten(author, 120),
        date=date or today(),
        source=analysis.source.name,
        synthetic=analysis.source.synthetic,
        banners=tuple(banners(analysis)),
        sections=tuple(sections),
    )


def _said(answer: Answer) -> str:
    """As much as a cell holds, in whole sentences: none may lose its numbers."""
    due = f"{STATUS_WORDS[answer.status]}: {answer.missing}" if answer.missing else ""
    room = LONGEST_CELL - len(due) - len(MORE) - 2
    text = first_sentences(answer.text, room)
    more = MORE if text != " ".join(answer.text.split()) else ""
    return " ".join(filter(None, (text, more, due)))

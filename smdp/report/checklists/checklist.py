"""What a checklist is: items in our own words, each answered from the analysis or by its author."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

Status = Literal["answered", "in part", "to write", "not done"]
#: As they stand in the document.
STATUS_WORDS: dict[Status, str] = {
    "answered": "",
    "in part": "You must add",
    "to write": "You must write this",
    "not done": "Not done in this analysis",
}


@dataclass(frozen=True)
class Answer:
    """`text`: what the analysis says. `section`: of the report. `missing`: what the author owes."""

    status: Status
    text: str = ""
    section: str = ""
    missing: str = ""


Answering: TypeAlias = "Callable[[Analysis], Answer]"


@dataclass(frozen=True)
class Item:
    """`number`: as published, "" where we cite the part only. `wording`: ours."""

    number: str
    topic: str
    wording: str
    answer: Answering


@dataclass(frozen=True)
class Checklist:
    """`parts`: the guideline's sections, in order, each with its items."""

    key: str
    title: str
    about: str
    citation: str
    parts: tuple[tuple[str, tuple[Item, ...]], ...]
    applies: Callable[[Analysis], bool] = lambda analysis: True

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for _, items in self.parts for item in items)


def to_write(missing: str) -> Answering:
    """An item about which an analysis cannot know anything."""
    return lambda analysis: Answer("to write", missing=missing)


def answered(text: str, section: str = "", *, missing: str = "") -> Answer:
    """An answer; in part where something is `missing`; without a text, to be written."""
    if not text:
        return Answer("to write", missing=missing)
    return Answer("in part" if missing else "answered", text, section, missing)


def not_done(what: str) -> Answer:
    return Answer("not done", missing=what)

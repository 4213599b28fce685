"""What a column's name says of when it was measured: before the decision, or only after it."""

from __future__ import annotations

import re
from collections.abc import Iterable

BEFORE = frozenset((
    "pre", "before", "baseline", "bl", "dec", "decision", "prior", "previous", "prev", "last",
    "lag", "lagged", "past", "earlier", "yesterday", "history", "since", "vorher", "vor", "avant",
))  # fmt: skip
AFTER = frozenset((
    "post", "after", "afterwards", "later", "next", "following", "subsequent", "followup",
    "response", "responses", "responded", "reply", "replied", "reaction", "returned",
    "interaction", "interactions", "outcome", "outcomes", "reward", "utility", "proximal",
    "result", "results", "clicked", "opened", "viewed", "acknowledged", "dismissed",
    "antwort", "reaktion", "nach", "nachher", "danach", "ergebnis",
))  # fmt: skip
#: Of these, a column of the same name without them is the one that was measured after.
PAIRED = frozenset(("pre", "before", "prior"))

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def name_parts(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: split at signs, at numbers and at capitals."""
    return tuple(part.lower() for part in _PARTS.findall(name))


def says_before(name: str) -> bool:
    """Whether the name says that the decision came later; also 'last_response' does."""
    return bool(word_for_before(name))


def word_for_before(name: str) -> str:
    """The word by which the name says that the decision came later, else ''."""
    return next((p for p in name_parts(name) if p in BEFORE), "")


def word_for_after(name: str) -> str:
    """The word by which the name says that the decision came earlier, else ''."""
    return "" if says_before(name) else next((p for p in name_parts(name) if p in AFTER), "")


def counterparts(names: Iterable[str]) -> dict[str, str]:
    """Names that stand beside the same with 'pre': 'steps30' beside 'steps30pre' or 'steps60pre'.

    Numbers may differ: they are the length of the time that was looked at.
    """
    listed = list(names)
    paired = {_stem(n): n for n in reversed(listed) if not PAIRED.isdisjoint(name_parts(n))}
    return {n: paired[_stem(n)] for n in listed if not says_before(n) and _stem(n) in paired}


def _stem(name: str) -> tuple[str, ...]:
    return tuple(p for p in name_parts(name) if not p.isdigit() and p not in PAIRED)

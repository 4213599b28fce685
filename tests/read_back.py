"""Numbers as a reader finds them in a document, and whether the analysis has them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

NUMBER = re.compile(
    r"(?<![\w.,:/-])(?P<p>p [<>] )?(?P<n>-?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)"
    r"(?![\w:/]|,\d|\.\d)"
)
NOT_NUMBERS = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:]+(?:\+00:00| UTC)?|\d{1,2} [A-Z][a-z]+ \d{4}|[0-9a-f]{12,}…?"
    r"|SHA-256|smdp \d+\.\d+\.\d+|[(,] ?(?:19|20)\d\d\b"
)


def plain(text: str) -> str:
    """As it was before it was made fit for print."""
    hyphens = str.maketrans({"\N{MINUS SIGN}": "-", "\N{NON-BREAKING HYPHEN}": "-"})
    return text.replace("\N{NO-BREAK SPACE}", " ").translate(hyphens)


def shown_numbers(text: str, names: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Each with its sign, and '<' or '>' before it; not those in names, dates, fingerprints."""
    text = plain(text)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ")
    found = NUMBER.finditer(NOT_NUMBERS.sub(" ", text))
    return [
        (m["n"].replace(",", ""), (m["p"] or "")[2:3]) for m in found if m["n"] not in ("", "-")
    ]


def rounds_to(shown: tuple[str, str], value: float) -> bool:
    """Whether the value is written so, with as many decimals."""
    text, bound = shown
    if bound:
        return value < float(text) if bound == "<" else value > float(text)
    decimals = len(text.partition(".")[2])
    return abs(float(text) - value) <= 0.5 * 10**-decimals * (1 + 1e-9) + 1e-12


def check_cell(text: str, values: Sequence[float]) -> None:
    """The cell has these numbers and no other; an interval is left out as a whole."""
    numbers = shown_numbers(text)
    wanted = [v for v in values if not math.isnan(v)]
    assert len(numbers) == len(wanted), (text, values)
    for shown, value in zip(numbers, wanted, strict=True):
        assert rounds_to(shown, value), (text, values)


class Facts:
    """Numbers that an analysis has, to be asked for one as it is written."""

    def __init__(self, *parts: Any) -> None:
        own = np.array([v for part in parts for v in _numbers(part) if math.isfinite(v)])
        own = np.concatenate([own, 100 * own])  # shares are written in percent
        self._sorted = np.unique(np.concatenate([own, -own]))

    def has(self, shown: tuple[str, str]) -> bool:
        text, bound = shown
        if bound:
            return rounds_to(shown, self._sorted[0 if bound == "<" else -1])
        decimals, value = len(text.partition(".")[2]), float(text)
        half = 0.5 * 10**-decimals * (1 + 1e-9) + 1e-12
        place = np.searchsorted(self._sorted, value - half)
        return bool(place < len(self._sorted) and self._sorted[place] <= value + half)


def _numbers(part: Any) -> Iterator[float]:
    if isinstance(part, bool | str) or part is None:
        return
    if isinstance(part, int | float | np.integer | np.floating):
        yield float(part)
    elif isinstance(part, pd.DataFrame):
        for _, column in part.items():
            yield from _numbers(column)
        yield float(len(part))
    elif isinstance(part, pd.Series):
        yield from (v for own in part for v in _numbers(own))
    elif isinstance(part, np.ndarray):
        yield from part.astype(float).ravel() if part.dtype.kind in "iuf" else ()
    elif isinstance(part, dict):
        yield from (v for own in part.values() for v in _numbers(own))
    elif isinstance(part, tuple | list):
        yield float(len(part))
        yield from (v for own in part for v in _numbers(own))
    elif is_dataclass(part):
        yield from (v for each in fields(part) for v in _numbers(getattr(part, each.name)))

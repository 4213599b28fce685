"""Workbooks keep each text once, and cells point at it: a small file can hold texts without end."""

from __future__ import annotations

import re
import zipfile

# Every tag may carry a prefix, and blanks where XML allows them.
_TEXT_ENDS = re.compile(rb"</(?:\w+:)?si\s*>")
_CELL_BEGINS = re.compile(rb"<(?:\w+:)?c(?=[\s>])")
_IS_SHARED = re.compile(rb"""^[^>]*\st\s*=\s*["']s["']""")
_PLACE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>\s*([0-9]{1,9})\s*<")
_SURELY_SMALL = 100_000_000


def text_size(package: zipfile.ZipFile) -> int:
    """The bytes of shared text that the cells of the largest sheet point at, at most."""
    lengths: list[int] = []
    for part in package.infolist():
        lengths = max(lengths, _lengths(package.read(part)), key=lambda each: max(each, default=0))
    longest = max(lengths, default=0)
    sizes = (_sheet_size(package.read(part), lengths, longest) for part in package.infolist())
    return max(sizes, default=0) if longest else 0


def _lengths(content: bytes) -> list[int]:
    """Of each text in a list of shared texts, with the markup around it."""
    ends = [found.start() for found in _TEXT_ENDS.finditer(content)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _sheet_size(content: bytes, lengths: list[int], longest: int) -> int:
    cells = sum(1 for _ in _CELL_BEGINS.finditer(content))
    if cells * longest < _SURELY_SMALL:
        return cells * longest
    size = 0
    for cell in _CELL_BEGINS.split(content)[1:]:
        if _IS_SHARED.search(cell):
            place = _PLACE.search(cell)
            known = place is not None and int(place[1]) < len(lengths)
            size += lengths[int(place[1])] if place and known else longest
    return size

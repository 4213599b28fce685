"""What a page or a report consists of, whatever it is written as: texts, tables, figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from smdp.data.problem import Problem, Severity
from smdp.text import number, visible

if TYPE_CHECKING:
    import plotly.graph_objects as go

LONG_WORD = re.compile(r"\S{90,}")
#: The longest text of a paragraph and of a cell; nobody's name needs to be longer.
LONGEST_TEXT, LONGEST_CELL = 3000, 600
#: What a figure may have to say of itself, and how its file's name says it.
SYNTHETIC, OUT_OF_DATE = "synthetic data", "out of date"
MAX_NAME = 80
MOST_ROWS = 60
MOST_DECIMALS = 5


@dataclass(frozen=True)
class Heading:
    """Within a section."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    text: str
    strong: bool = False


@dataclass(frozen=True)
class Bullets:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """`frame`: as it is to be read, numbers as numbers."""

    title: str
    frame: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Notice:
    """What a reader must not overlook, and what to do about it."""

    severity: Severity
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class AuthorNote:
    """The author's own words."""

    text: str


@dataclass(frozen=True)
class References:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Text to be kept to the letter."""

    title: str
    text: str


@dataclass(frozen=True)
class NamedFigure:
    """`marks`: such as "synthetic data"; they are in the file's name, and in the figure itself."""

    name: str
    title: str
    figure: go.Figure
    caption: str = ""
    marks: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """Without an ending; safe on every system."""
        text = "-".join([*(mark.replace(" data", "") for mark in self.marks), self.name])
        text = re.sub(r"[^A-Za-z0-9._]+", "-", text)[:MAX_NAME].strip("-.")
        return text or "figure"


@dataclass(frozen=True)
class Draw:
    """Names the figures of a section after it, and marks them as synthetic or out of date."""

    section: str
    marks: tuple[str, ...] = ()

    def __call__(self, name: str, title: str, figure: go.Figure, caption: str = "") -> NamedFigure:
        return NamedFigure(f"{self.section}-{name}", title, figure, caption, self.marks)


Block: TypeAlias = (
    Heading | Paragraph | Bullets | Table | Notice | AuthorNote | References | Listing | NamedFigure
)


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """`banners`: what stands on top whichever sections were chosen. `source`: the data's name.

    `compact`: set closely, without contents, where it has to stay short.
    """

    title: str
    author: str
    date: str
    source: str
    synthetic: bool
    banners: tuple[Notice, ...]
    sections: tuple[Section, ...]
    compact: bool = False

    @property
    def figures(self) -> tuple[NamedFigure, ...]:
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(block for block in blocks if isinstance(block, NamedFigure))


def bullets(items: Iterable[str]) -> list[Block]:
    """A list, or nothing if there is nothing to list."""
    found = tuple(item for item in items if item.strip())
    return [Bullets(found)] if found else []


def table(title: str, frame: pd.DataFrame, note: str = "", most: int = MOST_ROWS) -> list[Block]:
    """A table, or nothing if it has no rows; of a long one the first rows, which is said."""
    if frame.empty:
        return []
    left = len(frame) - most
    if left > 0:
        note = f"{note} The first {most} of {len(frame)} rows; all are in the exported table."
    return [Table(title, frame.iloc[:most], note.strip())]


def notice(problem: Problem) -> Notice:
    return Notice(problem.severity, problem.message, problem.remedy)


def readable(text: object, longest: int = LONGEST_TEXT) -> str:
    """Text that can be printed: no control characters, no word wider than a page, no endless one.

    What is cut loses its middle, for names often differ at the end.
    """
    clean = LONG_WORD.sub(lambda word: _cut(word.group(), 72), visible(text))
    return _cut(clean, longest)


def column_texts(values: pd.Series) -> list[str]:
    """A table's column: parts of numbers with the same decimals all the way down."""
    cells = list(values)
    parts = [float(v) for v in cells if isinstance(v, float) and math.isfinite(v)]
    sizes = sorted(abs(v) for v in parts if v)
    whole = all(v == int(v) for v in parts)
    if not parts or whole or sizes[-1] >= 10_000:
        return [cell_text(int(v) if whole and _is_finite_float(v) else v) for v in cells]
    middle = sizes[(len(sizes) - 1) // 2]
    decimals = min(max(2 - math.floor(math.log10(middle)), 0), MOST_DECIMALS)
    texts = [f"{v:.{decimals}f}" for v in parts]
    while decimals and all(text.endswith("0") for text in texts):
        decimals -= 1
        texts = [text[:-1].rstrip(".") for text in texts]
    return [f"{v:.{decimals}f}" if _is_finite_float(v) else cell_text(v) for v in cells]


def cell_text(value: object) -> str:
    """A table's cell: numbers with four figures, nothing where there is nothing."""
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return number(value)
    item = getattr(value, "item", None)
    if item is not None:
        return cell_text(item())
    return readable(value, LONGEST_CELL)


def _is_finite_float(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def is_number(value: object) -> bool:
    kind = getattr(value, "item", lambda: value)()
    return isinstance(kind, int | float) and not isinstance(kind, bool)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"


def named_figures(
    figures: Mapping[str, go.Figure] | Iterable[NamedFigure],
) -> list[NamedFigure]:
    """Figures by their names, as they are wanted here."""
    if isinstance(figures, Mapping):
        return [
            NamedFigure(name, figure.layout.title.text or name, figure)
            for name, figure in figures.items()
        ]
    return list(figures)


def file_names(figures: Iterable[NamedFigure]) -> list[str]:
    """A file name for each, no two the same, on systems that do not mind capitals either."""
    found: list[str] = []
    taken: set[str] = set()
    for each in figures:
        name, copy = each.file_name, 1
        while name.lower() in taken:
            copy += 1
            name = f"{each.file_name}-{copy}"
        taken.add(name.lower())
        found.append(name)
    return found

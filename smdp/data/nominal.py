"""Nominal variables: levels in the order of how often they occur, the rare ones as one level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.columns import levels_as_text, sorted_levels
from smdp.data.problem import Problem
from smdp.data.variables import Variable
from smdp.text import listing, percent, plural, shorten

#: A level with a smaller share of the values, or of fewer people, is rare.
RARE_SHARE = 0.02
RARE_PEOPLE = 3
#: No more levels than these keep a column of their own.
MOST_KEPT = 20
#: With more, a column is no nominal variable that anybody could read.
MOST_LEVELS = 200
OTHER = "other"
LONGEST_LEVEL = 60

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """The levels of a nominal variable, the most frequent first, and what became of the others."""

    names: tuple[str, ...]  # of the codes 0, 1, ..
    rare: tuple[str, ...]  # joined as `OTHER`, which is the last level then
    rare_values: int  # in so many rows
    values: int  # rows with a value
    different: int  # levels in the table

    def codes(self, column: pd.Series) -> Floats:
        """(rows,): the place of each cell's level, NaN where it is missing."""
        place = {name: float(k) for k, name in enumerate(self.names)}
        other = place.get(OTHER, np.nan)
        codes, texts = pd.factorize(levels_as_text(column))
        found = [place.get(shorten(text, LONGEST_LEVEL), other) for text in texts]
        return np.array([*found, np.nan])[codes]

    @property
    def named(self) -> tuple[tuple[float, str], ...]:
        return tuple((float(k), name) for k, name in enumerate(self.names))


def nominal_levels(column: pd.Series, people: pd.Series) -> Levels:
    """The levels of a column; which are rare is told from how often and by whom they occur."""
    codes, texts = pd.factorize(levels_as_text(column))
    seen = codes >= 0
    short = np.array([shorten(text, LONGEST_LEVEL) for text in texts], object)
    cells = pd.DataFrame({"level": short[codes[seen]], "person": people.to_numpy()[seen]})
    by_level = cells.groupby("level")["person"].agg(["size", "nunique"])
    natural = {level: k for k, level in enumerate(sorted_levels(set(by_level.index)))}
    order = sorted(by_level.index, key=lambda level: (-by_level.at[level, "size"], natural[level]))
    needed = min(RARE_PEOPLE, people.nunique())
    kept = [
        level
        for level in order
        if by_level.at[level, "size"] >= RARE_SHARE * len(cells)
        and by_level.at[level, "nunique"] >= needed
        and level != OTHER
    ][:MOST_KEPT]
    rare = [level for level in order if level not in kept]
    joined = int(by_level.loc[rare, "size"].sum()) if rare else 0
    if len(rare) == 1:  # one alone would only lose its name
        kept, rare, joined = [*kept, *rare], [], 0
    names = [*kept, OTHER] if rare else kept
    return Levels(tuple(names), tuple(rare), joined, len(cells), len(by_level))


def known_levels(variable: Variable) -> Levels:
    """Those that a nominal variable has already, for another column of the same variable."""
    names = tuple(name for _, name in variable.levels)
    return Levels(names, (), 0, 0, len(names))


def nominal_findings(name: str, column: pd.Series, people: pd.Series) -> Iterator[Problem]:
    """What is wrong or remarkable in a nominal variable."""
    different = column.nunique()
    group = "Group its levels (Shape the table: group rare levels, or recode)"
    if different == 0:
        yield Problem("error", name, f"The state variable '{name}' has no value.", "Leave it out.")
        return
    if different == 1:
        yield Problem(
            "warning",
            name,
            f"The state variable '{name}' is the same everywhere: it cannot help to choose a "
            "treatment.",
            "Leave it out.",
        )
        return
    if different > MOST_LEVELS:
        yield Problem(
            "error",
            name,
            f"The nominal variable '{name}' has {different:,} different levels, such as "
            f"{_examples(column)}; at most {MOST_LEVELS} can be told apart.",
            f"{group}, make it a text if people wrote it in their own words, or leave it out.",
        )
        return
    found = nominal_levels(column, people)
    if len(found.names) < 2:
        yield Problem(
            "error",
            name,
            f"All {different:,} levels of '{name}' are rare: none has {percent(RARE_SHARE)} of the "
            f"values and {RARE_PEOPLE} people.",
            f"{group}, or leave it out.",
        )
        return
    beside = f" apart from '{OTHER}'" if OTHER in found.names else ""
    first = f"'{found.names[0]}', the most frequent one{beside}"
    text = f"'{name}': its levels are compared with {first}."
    if found.rare:
        text += (
            f" {plural(len(found.rare), 'rare level')} ({listing(found.rare, 3, 20)}; "
            f"{found.rare_values:,} of {found.values:,} values) count as '{OTHER}'."
        )
    yield Problem("note", name, text)


def _examples(column: pd.Series) -> str:
    return listing([f"'{shorten(value, 30)}'" for value in column.dropna().unique()[:3]])


def filled_level(series: Floats, at: int) -> float:
    """A person's level at a decision without one: her last one before it.

    Before her first one, the level that she has most often (of several, the first in order of the
    levels). NaN if she has none.
    """
    before = series[:at][~np.isnan(series[:at])]
    if before.size:
        return float(before[-1])
    seen = series[~np.isnan(series)]
    return float(np.bincount(seen.astype(np.int64)).argmax()) if seen.size else np.nan

"""What a variable of the state is: the one object that data, maps, figures and words share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.text import plain_number

Kind = Literal["continuous", "ordinal", "binary", "nominal", "text"]
KINDS: tuple[Kind, ...] = ("continuous", "ordinal", "binary", "nominal", "text")
#: What a variable of several columns is: named levels, numbers that belong together, words.
WholeKind = Literal["", "nominal", "vector", "text"]

BACKGROUND = "background"  # the same at every decision of a subject: tells subjects apart
CHANGING = "changing"  # from one decision to the next
EARLIER = "earlier values"  # of a state variable or the action, added by a look-back
GROUPS = (BACKGROUND, CHANGING, EARLIER)

Numbers = TypeVar("Numbers", float, NDArray[np.float64], pd.Series)


@dataclass(frozen=True)
class Variable:
    """One variable of the state, as it was measured and as it now stands in the data.

    Range, unit and levels are its own; where the data hold it rescaled, `rescaled_from` says what
    became 0 and 1, and `own` turns a number of the data back.

    A variable of several columns (a nominal one, a vector, a text) has an object for each of them,
    all with the same `whole`: it enters and leaves with all of them. In a study a nominal variable
    is one column of codes, the places of its `levels`, and its first level, the most frequent one,
    is what the others are compared with; in trajectories it has a column of 0 and 1 for each other
    level.
    """

    name: str
    label: str = ""  # what the table's file calls it; "" if nothing
    kind: Kind = "continuous"
    levels: tuple[tuple[float, str], ...] = ()  # values that have a name of their own, in order
    low: float | None = None  # the range that it may have; None where it is that of the data
    high: float | None = None
    unit: str = ""  # such as "hours"
    source: str = ""  # the column of the table that it comes from; "": the one of its name
    lag: int = 0  # how many decisions back; 0 is now
    comes_from: Literal["column", "decision number", "action"] = "column"
    action: str = ""  # of an earlier action: the one whose being taken is 1
    changes: bool = True  # within a subject, from decision to decision
    rescaled_from: tuple[float, float] | None = None  # None: the data hold it in its own units
    whole: str = ""  # the variable of several columns that this is one of; "": it is one alone
    whole_kind: WholeKind = ""
    part: str = ""  # which of them: the level, the vector's column, "words 1"
    words: tuple[str, ...] = ()  # of a text: what raises this number, with a minus what lowers it

    @property
    def belongs_to(self) -> str:
        """The name of the variable that enters and leaves as one: its own or the whole's."""
        return self.whole or self.name

    @property
    def in_words(self) -> str:
        """Its name, and for numbers made of a text the words that they stand for."""
        return f"{self.name} ({', '.join(self.words)})" if self.words else self.name

    def level_columns(self) -> tuple[Variable, ...]:
        """Of a nominal variable: the column of each level but the first, in trajectories."""
        return tuple(
            replace(
                self,
                name=f"{self.name}: {level}",
                kind="binary",
                levels=((0.0, "no"), (1.0, "yes")),
                low=0.0,
                high=1.0,
                source=self.column,
                whole=self.name,
                whole_kind="nominal",
                part=level,
            )
            for _, level in self.levels[1:]
        )

    @property
    def column(self) -> str:
        """The column of the table that it comes from."""
        return self.source or self.name

    @property
    def group(self) -> str:
        """One of `GROUPS`: what it can tell a feature."""
        return EARLIER if self.lag else CHANGING if self.changes else BACKGROUND

    @property
    def title(self) -> str:
        """For an axis: 'sleep (hours)'; no unit where the numbers are not in it."""
        return f"{self.name} ({self.unit})" if self.unit and not self.rescaled_from else self.name

    @property
    def width(self) -> float:
        """How much of its own units one unit of the data is."""
        low, high = self.rescaled_from or (0.0, 1.0)
        return high - low

    def own(self, values: Numbers) -> Numbers:
        """Numbers of the data in the variable's own units."""
        if self.rescaled_from is None:
            return values
        return self.rescaled_from[0] + values * self.width

    def in_own_units(self) -> Variable:
        """The same variable, for numbers that have gone through `own`."""
        return replace(self, rescaled_from=None)

    def as_held(self) -> Variable:
        """What somebody knows of it who has only the numbers of the data."""
        if self.rescaled_from is None:
            return self
        return replace(self, levels=(), low=0.0, high=1.0, unit="", rescaled_from=None)

    def text(self, value: float, figures: int = 4) -> str:
        """A number of the data for a sentence: '7.5 hours', 'yes', or the number alone."""
        named = {} if self.rescaled_from else dict(self.levels)
        return named.get(value) or self.amount(value, figures)

    def amount(self, value: float, figures: int = 4) -> str:
        """So much of it: '7.5 hours'; no unit where the numbers are not in it."""
        unit = "" if self.rescaled_from else self.unit
        text = f"{value:.{figures}g}"
        return f"{plain_number(value) if 'e' in text else text} {unit}".rstrip()

    def back(self, lag: int) -> Variable:
        """What it was `lag` decisions ago, as a variable of its own."""
        earlier = replace(self, source=self.column, lag=lag, changes=True)
        if not self.whole:
            return replace(earlier, name=f"{self.name}_lag{lag}")
        whole = f"{self.whole}_lag{lag}"
        own = f"{self.name}_lag{lag}" if self.whole_kind == "vector" else f"{whole}: {self.part}"
        return replace(earlier, name=own, whole=whole)


def earlier_action(column: str, action: str, lag: int, *, named: bool) -> Variable:
    """Whether the action was taken `lag` decisions ago; `named` where there are several to tell."""
    return Variable(
        name=f"{column}{f'={action}' if named else ''}_lag{lag}",
        kind="binary",
        low=0.0,
        high=1.0,
        source=column,
        lag=lag,
        comes_from="action",
        action=action,
    )


def described(
    names: Iterable[str], known: Sequence[Variable], changes: Sequence[bool] | None = None
) -> tuple[Variable, ...]:
    """The variable of each name; one that is not known is continuous, in its own units."""
    listed = list(names)
    by_name = {variable.name: variable for variable in known}
    moving = [True] * len(listed) if changes is None else changes
    return tuple(
        by_name.get(name) or Variable(name, changes=bool(moves))
        for name, moves in zip(listed, moving, strict=True)
    )


def wholes(about: Iterable[Variable]) -> dict[str, tuple[int, ...]]:
    """The places of each variable's columns, by the name with which it enters and leaves."""
    places: dict[str, list[int]] = {}
    for place, variable in enumerate(about):
        places.setdefault(variable.belongs_to, []).append(place)
    return {name: tuple(own) for name, own in places.items()}


def variable_of(known: Sequence[Variable], name: str) -> Variable:
    """The variable of this name; continuous, in its own units, if it is not known."""
    return described([name], known)[0]


def table_in_own_units(
    table: pd.DataFrame,
    about: Sequence[Variable],
    values: Sequence[str],
    spreads: Sequence[str] = (),
) -> pd.DataFrame:
    """A table with a row for each `variable`, these columns of numbers in the variables' units."""
    own = [variable_of(about, name) for name in table["variable"]]
    low = pd.Series([v.own(0.0) for v in own], index=table.index, dtype=float)
    width = pd.Series([v.width for v in own], index=table.index, dtype=float)
    moved = {name: low + table[name] * width for name in values}
    return table.assign(**moved, **{name: table[name] * width for name in spreads})


def changing(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(p,): which variables of (n, R, p) change within some subject, gaps or not between."""
    seen = np.isfinite(values)
    low = np.where(seen, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(seen, values, -np.inf).max(axis=1, initial=-np.inf)
    return np.asarray((high > low).any(axis=0))

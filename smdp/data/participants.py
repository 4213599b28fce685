"""Participants and variables: the table that a paper begins its results with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.measured import MeasuredAs, Measurement, every_measurement
from smdp.data.spread import Spread, spread
from smdp.data.study import Study
from smdp.data.variables import Variable
from smdp.text import decimals_for, percent, plain_number

#: With more levels, a variable is told by its median and range.
MOST_LEVELS = 5
NOTE = (
    "Over all observed decisions; what does not change within people is described over people. "
    "Missing: of the decisions of each person from the first to the last, gaps included, and of "
    "the action of those at which one could be taken. SD between: standard deviation of the "
    "people's own means. SD within: around the own mean, pooled over people. ICC: intraclass "
    "correlation, from the one-way analysis of variance with unequal numbers of values; near 1, "
    "people differ much from each other and little from one decision to the next."
)


@dataclass(frozen=True)
class VariableDescription:
    """What was observed of one variable; NaN where the observations do not tell."""

    role: MeasuredAs
    variable: Variable
    people: int  # with a value
    observed: int  # decisions, or people where it does not change
    expected: int
    mean: float
    deviation: float
    median: float
    lowest: float
    highest: float
    spread: Spread
    levels: tuple[tuple[str, int], ...]  # with their counts, none where there are many

    @property
    def of_people(self) -> bool:
        return self.role == "background"

    @property
    def type(self) -> str:
        if self.role == "action":
            return "nominal"
        return self.variable.whole_kind or self.variable.kind

    @property
    def missing_share(self) -> float:
        return 1 - self.observed / self.expected if self.expected else math.nan


def describe_variables(study: Study) -> tuple[VariableDescription, ...]:
    """Each state, the action and the outcome."""
    return tuple(map(_described, every_measurement(study)))


def _described(found: Measurement) -> VariableDescription:
    seen = found.observed & found.expected
    values = found.values[seen]
    numbers = values if not found.named else values[:0]  # its codes are names
    some = len(numbers) > 0
    return VariableDescription(
        role=found.role,
        variable=found.variable,
        people=int(seen.any(axis=1).sum()),
        observed=len(values),
        expected=int(found.expected.sum()),
        mean=float(numbers.mean()) if some else math.nan,
        deviation=float(numbers.std(ddof=1)) if len(numbers) > 1 else math.nan,
        median=float(np.median(numbers)) if some else math.nan,
        lowest=float(numbers.min()) if some else math.nan,
        highest=float(numbers.max()) if some else math.nan,
        spread=spread(found.values) if _means_tell(found) else Spread(*[math.nan] * 3),
        levels=_levels(found, values),
    )


def _means_tell(found: Measurement) -> bool:
    """Whether a person's mean says something: of two actions, how often the second was taken."""
    return not found.of_people and (not found.named or len(found.variable.levels) == 2)


def _levels(found: Measurement, values: NDArray[np.float64]) -> tuple[tuple[str, int], ...]:
    named = dict(found.variable.levels)
    if found.named:
        counts = np.bincount(values.astype(np.int64), minlength=len(named))
        return tuple(zip(named.values(), counts.tolist(), strict=True))
    if found.variable.kind == "continuous" or len(np.unique(values[:1000])) > MOST_LEVELS:
        return ()
    ordered, ends = np.sort(values), [0]
    while ends[-1] < len(ordered):
        if len(ends) > MOST_LEVELS:
            return ()
        ends.append(int(np.searchsorted(ordered, ordered[ends[-1]], side="right")))
    levels = [named.get(level) or plain_number(level) for level in ordered[ends[:-1]].tolist()]
    return tuple(zip(levels, np.diff(ends).tolist(), strict=True))


def participants_table(found: Iterable[VariableDescription]) -> pd.DataFrame:
    """A row for each variable, with all figures."""
    rows = [
        {
            "role": each.role,
            "variable": each.variable.in_words,
            "label": each.variable.label,
            "unit": each.variable.unit,
            "type": each.type,
            "people": each.people,
            "decisions": pd.NA if each.of_people else each.observed,
            "missing": each.expected - each.observed,
            "missing (%)": 100 * each.missing_share,
            "mean": each.mean,
            "SD": each.deviation,
            "median": each.median,
            "lowest": each.lowest,
            "highest": each.highest,
            "SD between people": each.spread.between,
            "SD within people": each.spread.within,
            "intraclass correlation": each.spread.intraclass,
            "levels": "; ".join(f"{level}: {count}" for level, count in each.levels),
        }
        for each in found
    ]
    silent = [name for name in ("label", "unit") if not any(row[name] for row in rows)]
    return pd.DataFrame(rows).astype({"decisions": "Int64"}).drop(columns=silent)


def as_in_papers(found: Iterable[VariableDescription]) -> pd.DataFrame:
    """The same as text: the digits that the spread allows, and a row for each level."""
    rows = [row for each in found for row in (_row(each), *_level_rows(each))]
    table = pd.DataFrame(rows).fillna("")
    return table if table["Label"].any() else table.drop(columns="Label")


def _row(each: VariableDescription) -> dict[str, str]:
    decimals = decimals_for(each.deviation if each.deviation > 0 else each.spread.within)
    named = bool(each.levels) and (
        each.role == "action" or each.variable.kind in ("binary", "nominal")
    )
    deviation = f" ({plain_number(each.deviation, decimals)})" if each.deviation >= 0 else ""
    return {
        "Variable": each.variable.in_words if each.variable.words else each.variable.title,
        "Label": each.variable.label,
        "Role": each.role,
        "People": f"{each.people:,}",
        "Decisions": "" if each.of_people else f"{each.observed:,}",
        "Missing": percent(each.missing_share, 1) if each.expected else "",
        "Mean (SD), or n (%)": "" if named else _number(each.mean, decimals) + deviation,
        "Median (range)": "" if named else _middle(each, decimals),
        "SD between": _number(each.spread.between, decimals),
        "SD within": _number(each.spread.within, decimals),
        "ICC": _correlation(each.spread.intraclass),
    }


def _level_rows(each: VariableDescription) -> list[dict[str, str]]:
    total = max(each.observed, 1)
    return [
        {
            "Variable": f"{each.variable.name}: {level}",
            "Mean (SD), or n (%)": f"{count:,} ({percent(count / total)})",
        }
        for level, count in each.levels
    ]


def _middle(each: VariableDescription, decimals: int) -> str:
    """Values of the data, as they are where they are levels."""
    own = decimals if each.variable.kind == "continuous" else None
    median, low, high = (_number(v, own) for v in (each.median, each.lowest, each.highest))
    return f"{median} ({low} to {high})" if median else ""


def _number(value: float, decimals: int | None) -> str:
    return "" if math.isnan(value) else plain_number(value, decimals)


def _correlation(value: float) -> str:
    if math.isnan(value):
        return ""
    return "< 0.01" if abs(value) < 0.005 else f"{value:.2f}"

"""How a measurement goes over time: the people's mean, their spread, and a few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.measured import Measurement

#: Of longer studies, several decisions are taken together.
MOST_POINTS = 120
#: The share of the people who are above, and below, the band.
OUTSIDE = 0.1
NORMAL_95 = 1.959964


@dataclass(frozen=True, eq=False)
class Spans:
    """Decisions taken together, numbered from 1."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def width(self) -> int:
        return int(self.last[0] - self.first[0] + 1)

    @property
    def middle(self) -> NDArray[np.float64]:
        return (self.first + self.last) / 2


def spans(decisions: int) -> Spans:
    width = -(-decisions // MOST_POINTS)
    first = np.arange(1, decisions + 1, width)
    return Spans(first, np.minimum(first + width - 1, decisions))


def by_span(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, S): each person's mean of (n, R) values within each span, NaN where there is none."""
    starts = spans(values.shape[1]).first - 1
    seen = np.isfinite(values)
    count = np.add.reduceat(seen, starts, axis=1, dtype=np.int64)
    total = np.add.reduceat(np.where(seen, values, 0.0), starts, axis=1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


@dataclass(frozen=True, eq=False)
class Course:
    """Of one measurement, at each span of decisions.

    The band holds the middle 80 % of the people; of a measurement with two values, where that says
    nothing, it is a 95 % interval of the share (Wilson 1927).
    """

    spans: Spans
    people: NDArray[np.int64]  # with a value
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    each: NDArray[np.float64]  # (n, S)


def course(found: Measurement) -> Course:
    each = by_span(found.values)
    people = np.isfinite(each).sum(axis=0)
    nobody = people == 0
    mean = np.where(nobody, np.nan, np.nansum(each, axis=0) / np.maximum(people, 1))
    if found.variable.kind == "binary":
        low, high = _share_interval(found.values, mean, people)
    else:
        ordered = np.sort(each, axis=0)  # what is missing comes last
        low, high = (_quantile(ordered, people, share) for share in (OUTSIDE, 1 - OUTSIDE))
    return Course(spans(found.values.shape[1]), people, mean, low, high, each)


def _quantile(
    ordered: NDArray[np.float64], people: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    place = share * np.maximum(people - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.ceil(place).astype(np.int64)
    columns = np.arange(ordered.shape[1])
    start = ordered[below, columns]
    found = start + (place - below) * (ordered[above, columns] - start)
    return np.where(people > 0, found, np.nan)


def _share_interval(
    values: NDArray[np.float64], mean: NDArray[np.float64], people: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """In the numbers of the measurement, whose two values need not be 0 and 1."""
    least, most = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    if not most > least:
        return mean, mean
    share, n = (mean - least) / (most - least), np.maximum(people, 1)
    middle = (share + NORMAL_95**2 / (2 * n)) / (1 + NORMAL_95**2 / n)
    inner = share * (1 - share) / n + NORMAL_95**2 / (4 * n**2)
    half = NORMAL_95 * np.sqrt(np.maximum(inner, 0)) / (1 + NORMAL_95**2 / n)
    return least + (middle - half) * (most - least), least + (middle + half) * (most - least)


def few_people(each: NDArray[np.float64], most: int) -> list[int]:
    """Some who have many values, from those with a low mean to those with a high one."""
    count = np.isfinite(each).sum(axis=1)
    if not count.any():
        return []
    often = np.flatnonzero(count >= max(count.max() / 2, 1))
    means = np.nansum(each[often], axis=1) / count[often]
    order = often[np.argsort(means, kind="stable")]
    taken = np.linspace(OUTSIDE, 1 - OUTSIDE, most) * (len(order) - 1)
    return list(dict.fromkeys(int(order[round(place)]) for place in taken))

"""How much of a measurement differs between people, and how much within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Means of the same numbers in another order differ by so much of the numbers.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Spread:
    """NaN where the observations do not tell: fewer than two people, or one value from each."""

    between: float  # standard deviation of the people's own means
    within: float  # standard deviation around the own mean, pooled over people
    intraclass: float  # correlation of two values of one person; may come out below zero


def spread(values: NDArray[np.float64]) -> Spread:
    """Of (n, R) values, NaN where missing; people without a value do not count.

    One-way analysis of variance with k people, n_i values of person i and N in all: with

        MSB = sum_i n_i (mean_i - mean)^2 / (k - 1),   MSW = sum_ij (x_ij - mean_i)^2 / (N - k),
        n_0 = (N - sum_i n_i^2 / N) / (k - 1),

    the pooled deviation within people is the root of MSW, and the intraclass correlation
    (MSB - MSW) / (MSB + (n_0 - 1) MSW). Reference: Donner (1986), International Statistical
    Review 54, 67-82.
    """
    seen = np.isfinite(values)
    counts = seen.sum(axis=1)
    someone = counts > 0
    if not someone.all():
        values, seen, counts = values[someone], seen[someone], counts[someone]
    people, total = len(counts), int(counts.sum())
    if people == 0:
        return Spread(np.nan, np.nan, np.nan)
    # Around a value of the data itself, so that large numbers keep their digits.
    centred = values - values[0, int(seen[0].argmax())]
    np.copyto(centred, 0.0, where=~seen)
    means = centred.sum(axis=1) / counts
    between = float((means - means[0]).std(ddof=1)) if people > 1 else np.nan
    if total == people:
        return Spread(between, np.nan, np.nan)
    centred -= means[:, None]
    np.copyto(centred, 0.0, where=~seen)
    mean_square_within = float(np.vdot(centred, centred)) / (total - people)
    within = float(np.sqrt(mean_square_within))
    if people < 2:
        return Spread(between, within, np.nan)
    if between < ROUNDING * within:
        between = 0.0
    mean = float(counts @ means) / total
    mean_square_between = float(counts @ (means - mean) ** 2) / (people - 1)
    size = (total - float(counts @ counts) / total) / (people - 1)
    whole = mean_square_between + (size - 1) * mean_square_within
    intraclass = (mean_square_between - mean_square_within) / whole if whole > 0 else np.nan
    return Spread(between, within, intraclass)

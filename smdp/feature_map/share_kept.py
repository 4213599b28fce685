"""How much of what the state says of the outcome do q features keep?

Whether a dimension is exactly right and whether it is good enough are two questions: with many
people every loss is found, however small. With squared residuals of the utility out of fold, summed
over each person's decisions - M_i of the map, F_i of a network that has the full state, N_i of the
mean of each action -

    share kept = sum of (N_i - M_i) / sum of (N_i - F_i) = 1 - sum of d_i / sum of e_i,

d_i = M_i - F_i being what she loses by the map and e_i = N_i - F_i what the state explains. People
are the sample: a loss rho is compatible with the data if the mean of d_i - rho e_i is less than
t_{n-1} standard errors from 0 (Fieller's interval for a ratio, which needs no large sample of e).
If the state explains nothing for certain, no bound on the ratio exists, and none is given. The
networks count as given: how they would vary with other people is not in the interval.

The features are *practically sufficient* if the one-sided bound leaves a loss that is negligible
(the setting `negligible`, 5 % by default).

Reference: Fieller (1954), "Some problems in interval estimation".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ShareKept:
    """Of the utility's variance that the state explains, the share that the features explain.

    It can exceed 1: a network that has the full state can predict worse than a map of it.
    """

    share: float
    at_least: float  # one-sided; minus infinity where the state explains nothing for certain
    low: float  # two-sided
    high: float
    explained: float  # by the map, of the variance about the mean of the action
    explained_by_state: float


def share_kept(
    person: NDArray[np.int64],  # (R,)
    residuals: Floats,  # (R,): of the utility, out of fold
    of_full_state: Floats,  # (R,)
    without_state: Floats,  # (R,): from the mean of the action
    *,
    level: float = 0.05,
) -> ShareKept:
    """The share kept, with bounds over people at 1 - `level`."""
    own, full, none = (
        np.bincount(person, np.square(each)).astype(np.float64)
        for each in (residuals, of_full_state, without_state)
    )
    lost, explained = own - full, none - full
    one_sided, _ = ratio_bounds(lost, explained, 1 - level)
    upper, lower = ratio_bounds(lost, explained, 1 - level / 2)
    total = explained.sum()
    return ShareKept(
        share=float(1 - lost.sum() / total) if total > 0 else np.nan,
        at_least=1 - one_sided,
        low=1 - upper,
        high=1 - lower,
        explained=float(1 - own.sum() / none.sum()),
        explained_by_state=float(1 - full.sum() / none.sum()),
    )


def ratio_bounds(top: Floats, bottom: Floats, confidence: float) -> tuple[float, float]:
    """The largest and the smallest ratio of people's sums that Fieller's test does not reject.

    `confidence`: of each of the two.
    """
    people = len(top)
    if people < 2:
        return np.inf, -np.inf
    spread = stdtrit(people - 1, confidence) ** 2 * people * np.cov(top, bottom)
    sums = np.array([top.sum(), bottom.sum()])
    c, b, a = (
        sums[0] ** 2 - spread[0, 0],
        sums[0] * sums[1] - spread[0, 1],
        sums[1] ** 2 - spread[1, 1],
    )
    if a <= 0 or sums[1] <= 0:
        return np.inf, -np.inf
    root = np.sqrt(max(b * b - a * c, 0.0))
    return float((b + root) / a), float((b - root) / a)

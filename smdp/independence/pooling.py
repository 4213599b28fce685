"""One p-value from those of many times, and how many permutations that takes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from smdp.errors import DataError, SettingError


def default_rank(times: int) -> int:
    """u = floor(T / 20 + 1), the paper's choice of order statistic."""
    return times // 20 + 1


def check_rank(rank: int | None, times: int) -> int:
    """The rank to use for this many p-values; refuses one that is not among them."""
    if rank is None:
        return default_rank(times)
    if not isinstance(rank, int | np.integer) or not 1 <= rank <= times:
        raise SettingError(
            f"The setting 'rank' must be a whole number from 1 to {times}, the number of p-values "
            f"to pool. Got {rank!r} instead.",
            f"Leave it empty for the paper's choice, {default_rank(times)}.",
        )
    return int(rank)


def pool_p_values(p_values: ArrayLike, rank: int | None = None) -> float:
    """Rüger's pooled p-value, min(1, T p_(u) / u), p_(u) being the u-th smallest of T.

    Valid whatever the dependence between the p-values; u = 1 is Bonferroni's correction. `rank` is
    u; without it, u = floor(T / 20 + 1).

    Reference: Rüger (1978), "Das maximale Signifikanzniveau des Tests 'Lehne H0 ab, wenn k unter n
    gegebenen Tests zur Ablehnung führen'", Metrika 25.

    >>> round(pool_p_values([0.01, 0.2, 0.9]), 6)
    0.03
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise DataError(
            f"p-values of shape {values.shape} cannot be pooled.",
            "Give a list with at least one p-value.",
        )
    wrong = values[~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise DataError(
            f"p-values must lie between 0 and 1, but {len(wrong)} do not (the first: {wrong[0]}).",
            "Leave out the times that could not be tested.",
        )
    u = check_rank(rank, len(values))
    return min(1.0, len(values) * float(np.partition(values, u - 1)[u - 1]) / u)


def minimum_permutations(times: int, rank: int, level: float) -> int:
    """ceil(T / (u tau)) - 1: with fewer, the pooled p-value can never be as small as tau."""
    return max(1, _ceil(times / (rank * level)) - 1)


def default_permutations(times: int, rank: int, level: float) -> int:
    """ceil(10 T / (u tau)) - 1, ten times as fine as the minimum, and at least 999."""
    return max(999, _ceil(10 * times / (rank * level)) - 1)


def at_most(p_value: float, level: float) -> bool:
    """p <= tau, forgiving the rounding of T * p / u: the minimum above must be able to reject."""
    return bool(p_value <= level * (1 + 1e-9))


def _ceil(value: float) -> int:
    return math.ceil(value * (1 - 1e-12))

"""The statistics and tests written down as plainly as possible, to compare with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

Statistic = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def n_dcov_squared(x: np.ndarray, y: np.ndarray) -> float:
    """n dCov^2 (V-statistic) of rows."""
    centred = []
    for values in (x, y):
        rows = np.asarray(values, dtype=float).reshape(len(values), -1)
        d = np.linalg.norm(rows[:, None] - rows[None], axis=2)
        centred.append(d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean())
    return float((centred[0] * centred[1]).sum() / len(x))


def n_unbiased_dcov_squared(x: np.ndarray, y: np.ndarray) -> float:
    """n times the U-statistic of dCov^2, from the definition with U-centred distances."""
    n = len(x)
    centred = []
    for values in (x, y):
        rows = np.asarray(values, dtype=float).reshape(n, -1)
        d = np.linalg.norm(rows[:, None] - rows[None], axis=2)
        row = d.sum(axis=0) / (n - 2)
        d = d - row - row[:, None] + d.sum() / ((n - 1) * (n - 2))
        centred.append(d * (1 - np.eye(n)))
    return float((centred[0] * centred[1]).sum() / (n - 3))


def g_statistic(x: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for a in np.unique(x):
        for b in np.unique(y):
            seen = np.sum((x == a) & (y == b))
            if seen:
                total += 2 * seen * math.log(seen * len(x) / (np.sum(x == a) * np.sum(y == b)))
    return total


def over_strata(statistic: Callable[[np.ndarray, np.ndarray], float]) -> Statistic:
    """The sum over strata with 4 subjects or more."""

    def summed(x: np.ndarray, y: np.ndarray, strata: np.ndarray) -> float:
        levels = [a for a in np.unique(strata) if a >= 0 and np.sum(strata == a) >= 4]
        return sum(statistic(x[strata == a], y[strata == a]) for a in levels)

    return summed


def rearrangements(groups: np.ndarray) -> Iterator[np.ndarray]:
    """Every permutation of 0 .. n-1 that stays within groups."""
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    for choice in itertools.product(*(itertools.permutations(m.tolist()) for m in members)):
        order = np.arange(len(groups))
        for m, chosen in zip(members, choice, strict=True):
            order[m] = chosen
        yield order


def enumerated_p(statistic: Callable[[np.ndarray], float], groups: np.ndarray) -> float:
    """The share of all rearrangements whose statistic reaches that of the observed order."""
    observed = statistic(np.arange(len(groups)))
    values = np.array([statistic(order) for order in rearrangements(groups)])
    return float(np.mean(values >= observed - 1e-9))


@pytest.fixture(scope="session")
def naive() -> SimpleNamespace:
    """The functions above, for the test modules (which cannot import one another)."""
    return SimpleNamespace(
        n_dcov_squared=n_dcov_squared,
        n_unbiased_dcov_squared=n_unbiased_dcov_squared,
        g_statistic=g_statistic,
        over_strata=over_strata,
        enumerated_p=enumerated_p,
    )

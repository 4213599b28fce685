"""Values as points whose squared distances are the distances of the values.

Distance covariance is a sum over pairs of rows. With points f(x), |f(x) - f(y)|^2 = |x - y|, the
double-centred distances are inner products of centred points, and the sum over pairs is a square of
a sum over rows: as many operations as there are rows, where pairs would be their square.

A single column has such points without loss: |x - y| is the measure of what lies between x and y,
so f has one coordinate for each step from a knot to the next, 0 before it and the root of its width
after. Knots are the values themselves where there are few, else quantiles; between two knots a
value is on the straight line. Several columns together: the coordinates that distances to a few of
the rows give (Nyström).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

#: Steps between knots, and rows that stand for all where there are several columns.
STEPS = 9
LANDMARKS = 24


def points(values: NDArray[np.float64], steps: int = STEPS) -> NDArray[np.float64]:
    """(R, steps): one column (R,) as points; coordinates that are not needed are zero."""
    knots = np.unique(values)
    if len(knots) > steps + 1:
        knots = np.unique(np.quantile(values, np.linspace(0, 1, steps + 1)))
    found = np.zeros((len(values), steps))
    width = np.diff(knots)
    share = np.clip((values[:, None] - knots[:-1]) / width, 0, 1)
    found[:, : len(width)] = share * np.sqrt(width)
    return found


def points_of_several(
    values: NDArray[np.float64], random: np.random.Generator, landmarks: int = LANDMARKS
) -> NDArray[np.float64]:
    """(R, d): several columns (R, c) as points that keep the distances to some of the rows."""
    different = np.unique(values, axis=0)
    if len(different) > landmarks + 1:
        different = different[np.sort(random.permutation(len(different))[: landmarks + 1])]
    origin, chosen = different[:1], different[1:]
    if not len(chosen):
        return np.zeros((len(values), 1))
    from_origin = cdist(chosen, origin)
    among = (from_origin + from_origin.T - cdist(chosen, chosen)) / 2
    size, axes = np.linalg.eigh(among)
    kept = size > 1e-9 * size.max()
    to = (cdist(values, origin) + from_origin.T - cdist(values, chosen)) / 2
    return np.asarray(to @ (axes[:, kept] / np.sqrt(size[kept])))


def standardised_by_time(
    values: NDArray[np.float64], time: NDArray[np.int64], *, ranks: bool = False
) -> NDArray[np.float64]:
    """(R,): mean 0 and standard deviation 1 at each time; 0 where all values of a time are equal.

    `ranks`: of the ranks at that time, ties sharing theirs.
    """
    if ranks:
        values = _ranks_by_time(values, time)
    count = np.maximum(np.bincount(time), 1)
    gap = values - (np.bincount(time, values) / count)[time]
    spread = np.sqrt(np.bincount(time, gap**2) / count)[time]
    size = np.sqrt(np.bincount(time, values**2) / count)[time]
    return np.asarray(np.where(spread > 1e-9 * size, gap / np.where(spread > 0, spread, 1), 0.0))


def _ranks_by_time(values: NDArray[np.float64], time: NDArray[np.int64]) -> NDArray[np.float64]:
    order = np.lexsort((values, time))
    ordered_time, ordered = time[order], values[order]
    starts = np.flatnonzero(np.append(True, ordered_time[1:] != ordered_time[:-1]))
    place = np.arange(len(values)) - np.repeat(starts, np.diff(np.append(starts, len(values))))
    new = np.append(True, (ordered[1:] != ordered[:-1]) | (ordered_time[1:] != ordered_time[:-1]))
    tie = np.cumsum(new) - 1
    mean_place = np.bincount(tie, place) / np.bincount(tie)
    ranks = np.empty(len(values))
    ranks[order] = mean_place[tie]
    return ranks

"""How far one series determines another at the same row, beyond what is known from the row before.

Arrays in, shares out: 0 says nothing, 1 says all. Series are rows of people in the order of time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

FEWEST_ROWS = 30
MOST_LEVELS = 60  # with more, a series is taken in classes of equal size
CLASSES = 30


def _ranks(values: Numbers) -> Numbers:
    """From 1 on; equal values share the mean of theirs."""
    _, found, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[found]


def _in_order(values: Numbers) -> Codes:
    """From 0 on, each value another; of equal ones the first is the lower."""
    found = np.empty(len(values), np.int64)
    found[np.argsort(values, kind="stable")] = np.arange(len(values))
    return found


def explained(target: Numbers, series: Numbers, given: list[Numbers]) -> tuple[float, int]:
    """The squared partial correlation of two series given others, and the rows that it is from."""
    used = np.isfinite(target) & np.isfinite(series)
    for each in given:
        used &= np.isfinite(each)
    rows = int(used.sum())
    if rows < FEWEST_ROWS + 2 * len(given):
        return 0.0, rows
    left = np.column_stack([_scaled(target[used]), _scaled(series[used])])
    if given:
        design = np.column_stack([np.ones(rows), *(_scaled(each[used]) for each in given)])
        left = left - design @ np.linalg.lstsq(design, left, rcond=None)[0]
    size = (left**2).mean(axis=0)
    if size.min() < 1e-9:  # nothing is left of one of them
        return 0.0, rows
    return float((left[:, 0] @ left[:, 1] / rows) ** 2 / size.prod()), rows


def explained_in_ranks(target: Numbers, series: Numbers, given: list[Numbers]) -> tuple[float, int]:
    """The same of their ranks, which logarithms and the like leave as they are."""
    used = np.isfinite(target) & np.isfinite(series)
    for each in given:
        used &= np.isfinite(each)
    if used.sum() < FEWEST_ROWS:
        return 0.0, int(used.sum())
    ranked = [_ranks(each[used]) for each in (target, series, *given)]
    return explained(ranked[0], ranked[1], ranked[2:])


def correlations(series: Numbers) -> Numbers:
    """(p, p): of the columns of (rows, p), each pair by the rows that have both; 0 where few do."""
    seen = np.isfinite(series)
    with np.errstate(invalid="ignore", divide="ignore"):
        count = np.maximum(seen.sum(axis=0), 1)
        mean = np.where(seen, series, 0.0).sum(axis=0) / count
        centred = np.where(seen, series - mean, 0.0)
        spread = np.sqrt((centred**2).sum(axis=0) / count)
        scaled = centred / np.where(spread > 0, spread, 1.0)
        there = seen.astype(float)
        rows, total, square = there.T @ there, scaled.T @ there, (scaled**2).T @ there
        left = square / rows - (total / rows) ** 2
        together = scaled.T @ scaled / rows - total * total.T / rows**2
        found = together / np.sqrt(left * left.T)
    nothing = (rows < FEWEST_ROWS) | (np.minimum(left, left.T) < 1e-9)
    return np.where(nothing | ~np.isfinite(found), 0.0, found)


def equal_share(target: Numbers, series: Numbers) -> tuple[float, int]:
    """In which share of the rows that have both the two are the same, up to scale and origin."""
    used = np.isfinite(target) & np.isfinite(series)
    rows = int(used.sum())
    if rows < FEWEST_ROWS or np.ptp(series[used]) == 0 or np.ptp(target[used]) == 0:
        return 0.0, rows
    a, b = target[used], series[used]
    tolerance = 1e-6 * float(np.ptp(a))
    share = float(np.mean(np.abs(a - b) <= tolerance))
    linear = abs(float(np.corrcoef(a, b)[0, 1])) > 1 - 1e-9
    # Two yes/no columns agree often, and opposite ones never: those are left to `determined`.
    return (1.0 if linear else share), rows


def in_classes(series: Numbers) -> Codes:
    """Each row's level, or class of equal size where there are many levels; -1 where missing."""
    codes = np.full(len(series), -1, np.int64)
    used = np.isfinite(series)
    levels, found = np.unique(series[used], return_inverse=True)
    if len(levels) > MOST_LEVELS:
        found = _in_order(series[used]) * CLASSES // max(int(used.sum()), 1)
    codes[used] = found
    return codes


def mean_explained(target: Numbers, classes: Codes) -> float:
    """R² of a number predicted by the mean of the *other* rows of its class."""
    used = np.isfinite(target) & (classes >= 0)
    if used.sum() < FEWEST_ROWS:
        return 0.0
    y, c = target[used], classes[used]
    count, total = np.bincount(c), np.bincount(c, y)
    alone = count[c] < 2
    others = np.where(alone, y.mean(), (total[c] - y) / np.maximum(count[c] - 1, 1))
    spread = float(((y - y.mean()) ** 2).sum())
    return max(0.0, 1 - float(((y - others) ** 2).sum()) / spread) if spread > 0 else 0.0


def level_explained(target: Codes, classes: Codes) -> float:
    """How many of the errors of always guessing the commonest level are saved by the classes.

    A row's level is guessed as the commonest among the *other* rows of its class.
    """
    used = (target >= 0) & (classes >= 0)
    if used.sum() < FEWEST_ROWS:
        return 0.0
    a, c = target[used], classes[used]
    shape = (int(c.max()) + 1, int(a.max()) + 1)
    cells = np.bincount(c * shape[1] + a, minlength=shape[0] * shape[1])
    table = cells.reshape(shape).astype(float)
    wrong = 1 - table.sum(axis=0).max() / len(a)
    if wrong == 0:
        return 0.0
    seen = table[c]
    seen[np.arange(len(a)), a] -= 1
    alone = seen.sum(axis=1) == 0
    guess = np.where(alone, table.sum(axis=0).argmax(), seen.argmax(axis=1))
    return max(0.0, 1 - float((guess != a).mean()) / wrong)


def untouched(target: Numbers, series: Numbers, given: list[Numbers], action: Codes) -> bool:
    """Whether the action moves the target clearly, and the series clearly less than a copy of it.

    If the series were the target with noise, S = b Y + e, the action would not move S - b Y; what
    was measured before the action it does not move at all. In ranks, by the level of the action
    that moves the target most.
    """
    used = np.isfinite(target) & np.isfinite(series) & (action >= 0)
    for each in given:
        used &= np.isfinite(each)
    rows = int(used.sum())
    if rows < 2 * FEWEST_ROWS:
        return False
    y, s = (_scaled(_ranks(each[used])) for each in (target, series))
    known = [np.ones(rows), *(_scaled(_ranks(each[used])) for each in given)]
    slope = float(np.linalg.lstsq(np.column_stack([y, *known]), s, rcond=None)[0][0])
    best: tuple[float, ...] = (0.0, 0.0, 0.0)  # of the target, of the rest, of the series
    for level in np.unique(action[used]):
        taken = (action[used] == level).astype(float)
        if min(taken.sum(), rows - taken.sum()) < 10:
            continue
        moved = tuple(abs(_by_error(each, taken, known)) for each in (y, s - slope * y, s))
        best = max(best, moved)
    return best[0] >= 4 and best[1] >= 3 and best[2] < 2.5


def _by_error(values: Numbers, taken: Numbers, known: list[Numbers]) -> float:
    """The effect of an action divided by its standard error."""
    design = np.column_stack([taken, *known])
    found = np.linalg.lstsq(design, values, rcond=None)[0]
    noise = float(((values - design @ found) ** 2).sum() / max(len(values) - len(design.T), 1))
    spread = float(np.linalg.pinv(design.T @ design)[0, 0])
    return float(found[0]) / float(np.sqrt(max(noise * spread, 1e-300)))


def beyond(found: float, before: float) -> float:
    """What is explained of that which the row before leaves open."""
    return max(0.0, (found - before) / (1 - before)) if before < 1 - 1e-9 else 0.0


def _scaled(values: Numbers) -> Numbers:
    spread = float(values.std())
    return (values - values.mean()) / (spread if spread > 0 else 1.0)

"""Distance covariance of variables and an outcome within strata, with people as the sample.

Each column is standardised at each time over the people observed there (a trend or a drifting
spread that variable and outcome share is no dependence), and becomes points (see `distances`) that
are centred within time and stratum: what merely follows earlier actions is gone. Then all rows with
the same present action are compared, whatever their time and the actions before: the process is
homogeneous, and that is where the power comes from. A person's score is

    g_i = sum over her rows r of x_r (outer) y_r / sqrt(rows of the action),

one block for each action, so that <g_i, g_k> is the distance covariance of her rows with those of
another person under the same actions. `signs` does the rest. (A block for each stratum would ask
whether the dependence differs by what was done two decisions ago, and pay for it: of effects of
0.2 standard deviations, .78 were found instead of .97.)

Two components are one test: the outcome as it is, which sees what differs between people, and the
outcome without each person's own mean, which sees what changes within them; the larger counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smdp.independence.distances import points, points_of_several, standardised_by_time
from smdp.independence.people import Cells, PeopleRows, centred
from smdp.independence.signs import PersonScores, largest_of

#: Of a residual that has hidden nearly all of itself, no more than this is restored.
LARGEST_SHARE = 0.95


@dataclass(frozen=True)
class Strength:
    """A bias-corrected distance correlation with a 95 % interval over people; 0 is none."""

    value: float
    low: float
    high: float


class Outcome:
    """What variables are tested against: one or several columns (R, c) of the rows."""

    def __init__(
        self,
        columns: NDArray[np.float64],
        rows: PeopleRows,
        random: np.random.Generator,
        *,
        ranks: bool = False,
        weights: NDArray[np.float64] | None = None,  # (c,): how much each column counts
    ) -> None:
        self.rows = rows
        plain = _standardised(columns, rows, ranks)
        if weights is not None:
            plain = plain * weights
        own = plain - rows.of_person.means(plain)[rows.of_person.group]
        around = (rows.at_time, rows.in_stratum)
        self.plain = centred(_points(plain, random), *around)
        self.within = centred(_points(own, random), *around, rows.of_person)
        # Nothing but rounding is left of an outcome that never changes within a person.
        self.changes = bool(np.abs(own).max() > 1e-9)
        hidden = np.minimum(rows.leverage, LARGEST_SHARE)
        self.restoring = 1 / np.sqrt(1 - hidden)[:, None]

    def test(self, x: NDArray[np.float64], flips: NDArray[np.float64]) -> NDArray[np.float64]:
        """(1 + B,): deviates of a variable's points, as observed and flipped."""
        components = [self.plain, self.within] if self.changes else [self.plain]
        return largest_of([self._scores(x, y) for y in components], flips)

    def strength(self, x: NDArray[np.float64]) -> Strength:
        """How strongly the variable depends on the outcome as it is."""
        of_pair = _left_out(self._scores(x, self.plain))
        scale = _left_out(self._scores(x, x)) * self._own
        if not (scale > 0).all():
            return Strength(np.nan, np.nan, np.nan)
        squares = of_pair / np.sqrt(scale)
        people, square, without = self.rows.people, squares[0], squares[1:]
        error = np.sqrt((people - 1) / people * ((without - without.mean()) ** 2).sum())
        ends = np.clip([square, square - 1.96 * error, square + 1.96 * error], 0, 1)
        value, low, high = np.sqrt(ends)
        return Strength(float(value), float(low), float(high))

    @cached_property
    def _own(self) -> NDArray[np.float64]:
        return _left_out(self._scores(self.plain, self.plain))

    def _scores(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> PersonScores:
        return scores(x, y, y * self.restoring, self.rows.by_action, self.rows.people)


def same_for_everybody(column: NDArray[np.float64], rows: PeopleRows) -> bool:
    """Whether a variable has one value at each time, so that it cannot tell people apart."""
    return not standardised_by_time(column, rows.time).any()


def variable_points(
    values: NDArray[np.float64],  # (R,) or, of a variable with several columns, (R, c)
    rows: PeopleRows,
    random: np.random.Generator,
    *,
    ranks: bool = False,
) -> NDArray[np.float64]:
    """(R, d): a variable's points, centred."""
    columns = values if values.ndim == 2 else values[:, None]
    return centred(
        _points(_standardised(columns, rows, ranks), random), rows.at_time, rows.in_stratum
    )


def level_points(
    indicators: NDArray[np.float64],  # (R, levels - 1): 1 where the row has the level
    rows: PeopleRows,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """(R, d): the points of a nominal variable, two levels being as far apart as any other two."""
    every = np.column_stack([1 - indicators.sum(axis=1), indicators])
    return centred(points_of_several(every, random), rows.at_time, rows.in_stratum)


def _standardised(
    columns: NDArray[np.float64], rows: PeopleRows, ranks: bool
) -> NDArray[np.float64]:
    return np.column_stack(
        [standardised_by_time(each, rows.time, ranks=ranks) for each in columns.T]
    )


def _points(columns: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    return points(columns[:, 0]) if columns.shape[1] == 1 else points_of_several(columns, random)


def scores(
    x: NDArray[np.float64],  # (R, a)
    y: NDArray[np.float64],  # (R, b)
    restored: NDArray[np.float64],  # (R, b): y of the size of its errors
    cells: Cells,
    people: int,
) -> PersonScores:
    """Sums of x (outer) y over each person's rows, a block for each level."""
    both = np.concatenate([y, restored], axis=1)
    sums = np.zeros((people, cells.levels, x.shape[1], both.shape[1]))
    turned = x.T
    for person, level, own in cells.spans:
        np.dot(turned[:, own], both[own], out=sums[person, level])
    sums /= np.sqrt(np.maximum(cells.size, 1))[:, None, None]
    width = y.shape[1]
    return PersonScores(
        restored=sums[..., width:].reshape(people, -1),
        total=sums[..., :width].sum(axis=0).ravel(),
    )


def _left_out(found: PersonScores) -> NDArray[np.float64]:
    """(1 + n,): V of all people, and without each of them."""
    own = np.einsum("ij,ij->i", found.restored, found.restored)
    others = found.total - found.restored
    without = np.einsum("ij,ij->i", others, others) - (own.sum() - own)
    return np.append(found.total @ found.total - own.sum(), without)

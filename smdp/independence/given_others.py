"""Does an outcome depend on a variable once others are known? By person, with signs.

For each action, a flexible regression on the known variables (themselves, their squares, cosines
and sines, and cosines of random combinations, beside the actions taken before) is taken out of the
outcome and out of six functions of the variable. What is left of both is centred within time, and

    g_i = sum over person i's rows of psi_r (outer) e_r / sqrt(rows of the action),

a block for each action. What the regressions get wrong enters as the product of two errors.

Residuals are of the very rows that the regression was fitted to. Out-of-fold residuals share the
errors of their regression within a fold, people's signs cannot flip those together, and noise is
"found" (.17 to .27 of it at .05 with 100 cosines and 2,700 rows). The residuals of a fit to all are
too small instead, which is known exactly: those of one person and action are multiplied by
(I - H)^(-1/2), H being her block of the hat matrix (Bell & McCaffrey's correction).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from smdp.data.trajectories import Trajectories
from smdp.independence.by_person import scores
from smdp.independence.distances import points, points_of_several
from smdp.independence.people import PeopleRows, centred
from smdp.independence.signs import deviates, largest_of

FUNCTIONS = 6
RANDOM_COSINES = 100
#: A regression has no more columns than the rows of its action divided by this.
ROWS_A_COLUMN = 6
#: Steps between knots in a variable's range where the regressions have to follow kinks.
FINE_STEPS = 16
RIDGE = 1e-6  # a share of the rows, columns being standardised
#: Two columns whose correlation is this near to 1 say the same.
SAME = 1 - 1e-6
#: Functions of variables that are taken in hand at once.
AT_ONCE_BYTES = 64 * 2**20

#: Rows whose products are summed at once.
ROWS_AT_ONCE = 20_000

#: (1 - h)^(-1/2) on 0 <= h <= .96 as a polynomial: off by less than 1 %.
LARGEST_LEVERAGE = 0.96
_ROOT = np.asarray(
    chebyshev.Chebyshev.interpolate(
        lambda h: (1 - h) ** -0.5, 14, domain=[0, LARGEST_LEVERAGE]
    ).coef
)


class GivenOthers:
    """The rows of a study, and what tests that hold other variables fixed share."""

    def __init__(
        self,
        trajectories: Trajectories,
        rows: PeopleRows,
        flips: NDArray[np.float64],
        random: np.random.Generator,
        earlier: Sequence[int] = (),
        columns: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """`earlier`: variables of the state that are actions which the strata hold fixed.

        `columns`: those of each variable; None where each variable is a column.
        """
        self.rows, self.flips, self.earlier = rows, flips, tuple(earlier)
        count = trajectories.states.shape[2]
        self.columns = [(j,) for j in range(count)] if columns is None else columns
        self.about = trajectories.about
        here = trajectories.states[rows.row, rows.time]
        after = trajectories.states[rows.row, rows.time + 1]
        centre, scale = here.mean(axis=0), here.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(centre), scale, 1.0)
        for values in (here, after):  # in place: of a large study each is a good part of a GB
            values -= centre
            values /= scale
        self.states, self.following = here, after
        self.utility = trajectories.utilities[rows.row, rows.time]
        self.frequencies = random.normal(size=(here.shape[1], RANDOM_COSINES))
        self.phases = random.uniform(0, 2 * np.pi, RANDOM_COSINES)

    def test(
        self,
        candidates: Sequence[int],
        known: Sequence[int],
        outcome: Sequence[int],
    ) -> Iterator[NDArray[np.float64]]:
        """Deviates (1 + B,) of each candidate, given the same known variables.

        The outcome is the utility, which counts as much as all the next values together, and the
        next values of the variables `outcome`.
        """
        regression = Regression(self._columns(known), self.rows)
        left = self._outcome(regression, outcome)
        cells, people = self.rows.by_action, self.rows.people
        own = centred(left, self.rows.of_person)
        components = [(each, regression.restored(each)) for each in (left, own)]
        for psi in self._functions(regression, candidates):
            tests = [scores(psi, e, restored, cells, people) for e, restored in components]
            yield largest_of(tests, self.flips)

    def paths(
        self, candidate: int, known: Sequence[int], outcomes: Sequence[int]
    ) -> list[NDArray[np.float64]]:
        """Deviates (1 + B,) of one candidate with the utility, then each next value on its own."""
        held = candidate not in self.earlier
        columns = self._columns(known) if held else self._states_alone(known)
        regression = Regression(columns, self.rows)
        left = self._outcome(regression, outcomes)
        restored = regression.restored(left)
        psi = next(iter(self._functions(regression, [candidate])))
        cells, people = self.rows.by_action, self.rows.people
        ends = np.cumsum([1, *(len(self.columns[k]) for k in outcomes)]).tolist()
        return [
            deviates(scores(psi, left[:, a:b], restored[:, a:b], cells, people), self.flips)
            for a, b in pairwise([0, *ends])
        ]

    def _outcome(self, regression: Regression, outcome: Sequence[int]) -> NDArray[np.float64]:
        """(R, 1 + next values): what is left of the utility and of the next values."""
        columns = [self.utility, *(self.following[:, k] for k in self._all(outcome))]
        left = regression.residuals(np.column_stack(columns))
        size = left.std(axis=0)
        before = np.array([each.std() for each in columns])
        # What is known without error says nothing: its residuals are rounding.
        left = np.where(size > 1e-7 * before, left / np.where(size > 0, size, 1), 0.0)
        left[:, 1:] /= np.sqrt(max(len(outcome), 1))
        sizes = [len(self.columns[k]) for k in outcome for _ in self.columns[k]]
        if max(sizes, default=1) > 1:
            left[:, 1:] /= np.sqrt(sizes)
        return np.asarray(left)

    def _all(self, variables: Sequence[int]) -> list[int]:
        """All columns of these variables."""
        return [column for j in variables for column in self.columns[j]]

    def _functions(
        self, regression: Regression, candidates: Sequence[int]
    ) -> Iterator[NDArray[np.float64]]:
        """For each candidate: its functions (R, 6), or more, without what is known."""
        at_once = max(1, AT_ONCE_BYTES // (8 * FUNCTIONS * len(self.utility)))
        for start in range(0, len(candidates), at_once):
            some = candidates[start : start + at_once]
            each = [self._raw(j) for j in some]
            raw = np.concatenate(each, axis=1)
            left = regression.residuals(raw)
            ends = np.cumsum([values.shape[1] for values in each]).tolist()
            for own in (slice(a, b) for a, b in pairwise([0, *ends])):
                size, before = left[:, own].std(axis=0), raw[:, own].std(axis=0)
                yield np.where(size > 1e-7 * before, left[:, own], 0.0)

    def _raw(self, j: int) -> NDArray[np.float64]:
        """(R, d): functions of the variable that keep the distances of its values."""
        columns = list(self.columns[j])
        if len(columns) == 1:
            return points(self.states[:, columns[0]], FUNCTIONS)
        values = self.states[:, columns]
        if self.about[columns[0]].whole_kind == "nominal":
            # Two levels are as far apart as any other two, however rare they are.
            there = (values > 0).astype(np.float64)
            values = np.column_stack([1 - there.sum(axis=1), there])
        return points_of_several(values, np.random.default_rng(columns[0]))

    def is_utility(self, j: int) -> bool:
        """Whether the variable's next value is the utility itself, on some scale."""
        if len(self.columns[j]) > 1:
            return False
        following = self.following[:, self.columns[j][0]]
        return bool(says_the_same(np.column_stack([self.utility, following]))[0, 1])

    def earlier_actions(
        self, known: Sequence[int], outcome: Sequence[int], which: int | None = None
    ) -> NDArray[np.float64]:
        """Deviates (1 + B,) of the actions taken before, given the known variables.

        `which`: of one variable of the state that is an earlier action, not of all.
        """
        regression = Regression(self._states_alone(known), self.rows)
        left = self._outcome(regression, outcome)
        raw = self._actions_before() if which is None else self.states[:, self._all([which])]
        psi = regression.residuals(raw)
        psi = np.where(psi.std(axis=0) > 1e-7 * raw.std(axis=0), psi, 0.0)
        cells, people = self.rows.by_action, self.rows.people
        found = scores(psi, left, regression.restored(left), cells, people)
        return deviates(found, self.flips)

    def _actions_before(self) -> NDArray[np.float64]:
        """(R, strata)"""
        earlier = np.zeros((len(self.utility), self.rows.strata))
        earlier[np.arange(len(earlier)), self.rows.stratum] = 1.0
        return earlier

    def _columns(self, known: Sequence[int]) -> NDArray[np.float64]:
        """What the regressions are on, in the order in which it is kept if rows are few."""
        own = self._all(known)
        z = self.states[:, own]
        columns = [self._actions_before(), z, z * z, np.cos(z), np.sin(z)]
        if len(known):
            combined = z @ (self.frequencies[own] / np.sqrt(max(len(own), 1)))
            combined += self.phases
            columns.append(np.cos(combined, out=combined))
        return np.concatenate(columns, axis=1)

    def _states_alone(self, known: Sequence[int]) -> NDArray[np.float64]:
        """What regressions are on that leave the actions before free.

        States follow these actions, so whatever a regression misses goes with them: where an
        outcome has kinks and little noise, .67 of tests at .05 rejected without the steps.
        """
        own = self._all(known)
        fine = [points(self.states[:, j], FINE_STEPS) for j in own]
        return np.concatenate(
            [self.states[:, own], *fine, self._columns(known)[:, self.rows.strata :]],
            axis=1,
        )


def says_the_same(columns: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(c, c): which columns are straight lines of each other."""
    mean = columns.mean(axis=0)
    products = np.zeros((len(mean), len(mean)))
    for start in range(0, len(columns), ROWS_AT_ONCE):
        some = columns[start : start + ROWS_AT_ONCE] - mean
        products += some.T @ some
    size = np.sqrt(products.diagonal())
    return np.asarray(np.abs(products) > SAME * np.outer(size, size))


@dataclass(frozen=True)
class _Block:
    """The rows of one action, and an orthonormal basis of what they are regressed on."""

    rows: NDArray[np.int64]
    basis: NDArray[np.float64]


class Regression:
    """A ridge regression for each action, then centring within time if `within_time`."""

    def __init__(
        self, columns: NDArray[np.float64], rows: PeopleRows, *, within_time: bool = True
    ) -> None:
        self.rows, self.within_time = rows, within_time
        self.blocks = [
            _Block(own, _orthonormal(columns[own])) for own in rows.by_action.rows if len(own)
        ]

    def residuals(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        left = values.astype(np.float64, copy=True)
        for block in self.blocks:
            own = left[block.rows]
            left[block.rows] = own - block.basis @ (block.basis.T @ own)
        return centred(left, self.rows.at_time) if self.within_time else left

    def restored(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Residuals of the size of their errors, for each person and action."""
        found = residuals.copy()
        if self.within_time:
            company = self.rows.at_time.size[self.rows.at_time.group]
            found /= np.sqrt(1 - np.minimum(1 / company, LARGEST_LEVERAGE))[:, None]
        for block in self.blocks:
            person = self.rows.person[block.rows]
            for some in _people_at_once(person, block.basis.shape[1]):
                own = block.rows[some]
                found[own] = _restored(found[own], block.basis[some], person[some])
        return found


def _orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Q with QQ' = the hat matrix of a ridge regression with intercept."""
    spread = columns.std(axis=0)
    kept = np.flatnonzero(spread > 1e-9)[: len(columns) // ROWS_A_COLUMN]
    z = columns[:, kept]
    z -= z.mean(axis=0)
    z /= spread[kept]
    z = np.column_stack([np.ones(len(columns)), z])
    gram = z.T @ z
    gram[np.diag_indices_from(gram)] += RIDGE * len(z)
    return np.asarray(solve_triangular(np.linalg.cholesky(gram), z.T, lower=True).T)


def _people_at_once(person: NDArray[np.int64], width: int) -> list[slice]:
    """Rows of one action in parts of whole people, so that their blocks fit into memory."""
    start = np.flatnonzero(np.append(True, person[1:] != person[:-1]))
    length = np.diff(np.append(start, len(person)))
    longest = int(length.max())
    at_once = max(1, AT_ONCE_BYTES // (8 * longest * (longest + width)))
    ends = [*start[::at_once], len(person)]
    return [slice(a, b) for a, b in pairwise(ends)]


def _restored(
    residuals: NDArray[np.float64],
    basis: NDArray[np.float64],
    person: NDArray[np.int64],
) -> NDArray[np.float64]:
    start = np.flatnonzero(np.append(True, person[1:] != person[:-1]))
    length = np.diff(np.append(start, len(person)))
    who = np.repeat(np.arange(len(start)), length)
    place = np.arange(len(person)) - np.repeat(start, length)
    shape = (len(start), int(length.max()))
    q = np.zeros((*shape, basis.shape[1]))
    q[who, place] = basis
    hat = q @ q.transpose(0, 2, 1)
    value = np.zeros((*shape, residuals.shape[1]))
    value[who, place] = residuals
    # Clenshaw's rule for the polynomial in 2 H / LARGEST - I.
    after, later = np.zeros_like(value), np.zeros_like(value)
    for coefficient in _ROOT[:0:-1]:
        turned = (2 / LARGEST_LEVERAGE) * (hat @ after) - after
        after, later = coefficient * value + 2 * turned - later, after
    turned = (2 / LARGEST_LEVERAGE) * (hat @ after) - after
    return np.asarray((_ROOT[0] * value + turned - later)[who, place])

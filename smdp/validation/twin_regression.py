"""A flexible regression on the state, one surface for each action, that is shrunk as people demand.

    E(Y | s, a) = b_0 + sum_j {b_j s_j + f_j(s_j)} + c_a + sum_j {c_aj s_j + h_aj(s_j)}

over the columns of the state (and the features of a map), f and h being cubic splines. Straight
lines and curves, common and by action, of what changes and of what only tells people apart, are
groups of coefficients with a ridge of their own each, found by coordinate descent on the error for
people who are left out. Rows are partly freed of people's means, as for random intercepts:

    y_it - theta_i mean_i(y),    theta_i = 1 - sqrt{s_e^2 / (s_e^2 + T_i s_u^2)},

so that a variable in which people differ does not take the credit of their own levels.

References: Hastie, Tibshirani & Friedman (2009), "The elements of statistical learning", chapter 5;
Swamy & Arora (1972) for the quasi-demeaning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from smdp.data.rows import numbered

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Ridges, as a share of the rows, columns being standardised; the last is as good as no column.
RIDGES = np.array([1e-5, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 100.0])
START = 2  # the place among them where the search begins
SWEEPS = 2
FOLDS = 10
#: There are at most as many columns as rows divided by this; else curves get fewer knots.
ROWS_A_COLUMN = 2.5
KNOTS = (5, 3, 1)
#: Common lines of what changes and of what does not, their curves; by action: means, lines, curves.
GROUPS = 7
#: Steps of quasi-demeaning.
ROUNDS = 2


@dataclass(frozen=True)
class ActionBasis:
    """Functions of a state, and the same for each level of the action.

    Within the range that was seen: beyond it, as at its end.
    """

    centre: Floats  # (c,)
    scale: Floats  # (c,)
    low: Floats  # (c,), standardised
    high: Floats  # (c,)
    knots: tuple[Floats, ...]  # (c,): the whole knot vector of each column, empty for no curve
    still: NDArray[np.bool_]  # (c,): tells people apart only
    levels: int  # of the action

    @classmethod
    def of(cls, states: Floats, still: NDArray[np.bool_], levels: int) -> ActionBasis:
        """For rows of states (R, c)."""
        centre, scale = states.mean(axis=0), states.std(axis=0)
        scale = np.where(scale > 1e-12 * np.maximum(np.abs(centre), 1), scale, 1.0)
        own = (states - centre) / scale
        low, high = own.min(axis=0), own.max(axis=0)
        for inner in (*KNOTS, 0):
            knots = tuple(_knots(column, inner) for column in own.T)
            found = cls(centre, scale, low, high, knots, still, levels)
            if found.columns <= len(states) / ROWS_A_COLUMN:
                break
        return found

    @property
    def width(self) -> int:
        """Functions of the state alone."""
        return len(self.knots) + sum(_curved(knots) for knots in self.knots)

    @property
    def columns(self) -> int:
        return self.width + self.levels * (1 + self.width)

    @property
    def groups(self) -> Codes:
        """(columns,): which of them share a ridge."""
        straight = np.where(self.still, 1, 0)
        curves = [
            np.full(_curved(k), 3 if s else 2) for k, s in zip(self.knots, self.still, strict=True)
        ]
        of_state = np.concatenate([straight, *curves]).astype(np.int64)
        by_action = np.concatenate([[4], np.where(of_state < 2, 5, 6)])
        return np.concatenate([of_state, *[by_action] * self.levels]).astype(np.int64)

    def of_state(self, states: Floats) -> Floats:
        """(.., width)"""
        own = np.clip((states - self.centre) / self.scale, self.low, self.high)
        curves = [_spline(own[..., j], knots) for j, knots in enumerate(self.knots) if len(knots)]
        return np.concatenate([own, *curves], axis=-1)

    def __call__(self, states: Floats, level: Codes) -> Floats:
        """(R, columns)"""
        alone = self.of_state(states)
        full = np.concatenate([np.ones((len(alone), 1)), alone], axis=1)
        own = [np.where((level == a)[:, None], full, 0.0) for a in range(self.levels)]
        return np.concatenate([alone, *own], axis=1)


def _knots(column: Floats, inner: int) -> Floats:
    different = np.unique(column)
    inner = min(inner, len(different) - 3)
    if inner < 1:
        return np.empty(0)
    at = np.unique(np.quantile(different if len(different) < 30 else column,
                               np.arange(1, inner + 1) / (inner + 1)))  # fmt: skip
    at = at[(at > different[0]) & (at < different[-1])]
    return np.concatenate([[different[0]] * 4, at, [different[-1]] * 4])


def _curved(knots: Floats) -> int:
    """Without two of them: the intercept and the straight line are there already."""
    return max(len(knots) - 6, 0)


def _spline(values: Floats, knots: Floats) -> Floats:
    """(.., functions): cubic B-splines, without the first and the last."""
    flat = BSpline.design_matrix(values.ravel(), knots, 3, extrapolate=True).toarray()
    return flat[:, 1:-1].reshape(*values.shape, flat.shape[1] - 2)


@dataclass(frozen=True)
class Surfaces:
    """The regressions of several targets on the same basis."""

    basis: ActionBasis
    weights: Floats  # (columns, targets)
    intercept: Floats  # (targets,)
    ridges: Floats  # (groups,): what was chosen

    def by_action(self, states: Floats) -> Floats:
        """(R, levels, targets): what is expected after each action."""
        alone, width = self.basis.of_state(states), self.basis.width
        common = self.intercept + alone @ self.weights[:width]
        own = self.weights[width:].reshape(self.basis.levels, 1 + width, -1)
        return np.asarray(
            common[:, None, :] + own[:, 0] + np.einsum("rw,awt->rat", alone, own[:, 1:])
        )


@dataclass(frozen=True)
class Fitted:
    surfaces: Surfaces
    left: Floats  # (R, targets): what they leave of people who were left out


def fitted_surfaces(
    states: Floats,  # (R, c)
    level: Codes,  # (R,)
    targets: Floats,  # (R, d)
    person: Codes,  # (R,)
    still: NDArray[np.bool_],
    levels: int,
    random: np.random.Generator,
) -> Fitted:
    """All targets share their ridges, each counting by its own variance."""
    basis = ActionBasis.of(states, still, levels)
    design = basis(states, level)
    mean, size = design.mean(axis=0), design.std(axis=0)
    useful = size > 1e-9
    size = np.where(useful, size, 1.0)
    x = np.where(useful, (design - mean) / size, 0.0)
    centre, spread = targets.mean(axis=0), targets.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    y = (targets - centre) / spread
    person = numbered(person)
    people = int(person.max()) + 1
    fold = random.permutation(np.arange(people) % min(FOLDS, people))[person]
    places = np.full(GROUPS, START)
    search = RidgeSearch(x, y, fold, basis.groups)
    for _ in range(ROUNDS):
        places = search.descend(places)
        share = _own_share(search.left(x, y, places), person)
        search = RidgeSearch(*_demeaned(x, y, share, person), fold, basis.groups)
    left = search.left(x, y, places)
    beta = search.weights(places)
    raw = beta / size[:, None] * spread
    intercept = centre + (y - x @ beta).mean(axis=0) * spread - mean @ raw
    return Fitted(Surfaces(basis, raw, intercept, RIDGES[places]), left * spread)


class RidgeSearch:
    """Ridge regressions with a penalty for each group of columns, with and without each fold."""

    def __init__(self, x: Floats, y: Floats, fold: Codes, groups: Codes) -> None:
        self.x, self.y, self.fold, self.groups = x, y, fold, groups
        self.parts = int(fold.max()) + 1
        of_part = [self._products(fold == k) for k in range(self.parts)]
        self.whole = tuple(sum(each) for each in zip(*of_part, strict=True))
        self.without = [
            tuple(a - b for a, b in zip(self.whole, each, strict=True)) for each in of_part
        ]

    def _products(self, own: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        x = self.x[own]
        return x.T @ x, x.T @ self.y[own]

    def _solved(self, products: tuple[Floats, Floats], rows: int, places: Codes) -> Floats:
        gram, moments = products
        penalised = gram + np.diag(rows * RIDGES[places][self.groups])
        return np.asarray(cho_solve(cho_factor(penalised), moments))

    def weights(self, places: Codes) -> Floats:
        return self._solved(self.whole, len(self.y), places)

    def _without(self, k: int, places: Codes) -> Floats:
        return self._solved(self.without[k], int((self.fold != k).sum()), places)

    def left(self, x: Floats, y: Floats, places: Codes) -> Floats:
        """What is left of these rows, each by the regression without its fold."""
        found = np.empty_like(y)
        for k in range(self.parts):
            own, beta = self.fold == k, self._without(k, places)
            others = (y[~own] - x[~own] @ beta).mean(axis=0)
            found[own] = y[own] - others - x[own] @ beta
        return found

    def error(self, places: Codes) -> float:
        return float((self.left(self.x, self.y, places) ** 2).sum())

    def descend(self, places: Codes) -> Codes:
        """The places of the ridges with the least error for people left out, one at a time."""
        best, least = places.copy(), self.error(places)
        for _ in range(SWEEPS):
            before = best.copy()
            for group in np.unique(self.groups):
                tried = best.copy()
                for place in range(len(RIDGES)):
                    if place == best[group]:
                        continue
                    tried[group] = place
                    error = self.error(tried)
                    if error < least * (1 - 1e-9):
                        best, least = tried.copy(), error
            if (best == before).all():
                break
        return best


def _own_share(left: Floats, person: Codes) -> Floats:
    """(people,): theta of each, by the mean over targets of the variance between people."""
    count = np.bincount(person)
    means = np.stack([np.bincount(person, column) for column in left.T], axis=1) / count[:, None]
    within = float(((left - means[person]) ** 2).sum()) / max(len(left) - len(count), 1)
    between = float((means.var(axis=0, ddof=1) if len(count) > 1 else np.zeros(1)).sum())
    usual = len(count) / (1 / count).sum()
    own = max(between - within / usual, 0.0)
    if within <= 0:
        return np.zeros(len(count))
    return np.asarray(1 - np.sqrt(1 / (1 + count * own / within)))


def _demeaned(x: Floats, y: Floats, share: Floats, person: Codes) -> tuple[Floats, Floats]:
    if not share.any():
        return x, y
    people = csr_array((np.ones(len(person)), (person, np.arange(len(person)))))
    weight = (share / np.bincount(person))[:, None]
    return tuple(each - (weight * (people @ each))[person] for each in (x, y))

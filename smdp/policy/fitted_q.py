"""Fitted-Q evaluation: the Q-function of a given policy by repeated regression.

    Q(s, a) = E{U + gamma Q(S', pi(S')) | S = s, A = a}

by piecewise linear functions of each variable for each action, with a ridge. Values are clipped to
[min U, max U] / (1 - gamma), outside of which none can be. Its error over samples of subjects is
that of one regression more: with the clipped values held, the equation is linear.

Reference: Le, Voloshin & Yue (2019), "Batch policy learning under constraints"; Hao et al. (2021),
"Bootstrapping fitted Q-evaluation for off-policy inference".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.policy.target import Target
from smdp.policy.value_rows import ValueRows

#: Tried as the ridge, for each decision; the one that predicts held-out subjects best is taken.
RIDGES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
PILOT_RIDGE = 1e-3
MOST_ITERATIONS = 1000
#: Of the possible range of values: a smaller change ends the iteration.
TOLERANCE = 1e-4
#: On everything, intercepts too: a level that a sample lacks has the mean value.
SMALLEST_RIDGE = 1e-8
#: Numbers in the matrices of samples that are solved at once: bounds the memory.
NUMBERS_AT_ONCE = 4_000_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Basis:
    """The basis functions at the rows' states, their next states and the first states."""

    now: Floats  # (R, d)
    following: Floats  # (R, d)
    first: Floats  # (N, d)


@dataclass(frozen=True)
class QModel:
    """One Q-function, fitted without one fold."""

    weights: Floats  # (levels * d,)
    ridge: float


class QRegression:
    """The regressions for one target, from sums of products for each trajectory."""

    def __init__(self, rows: ValueRows, basis: Basis, target: Target, discount: float) -> None:
        self.discount = discount
        # The mean is what a value of 0 stands for.
        self.centre = float(rows.utility.mean())
        self.utility = rows.utility - self.centre
        self.lowest = float(self.utility.min()) / (1 - discount)
        self.highest = float(self.utility.max()) / (1 - discount)
        self.unit, self.units = rows.unit, rows.units
        self.now = _blocks(basis.now, np.eye(target.levels)[target.level])
        self.following = _blocks(basis.following, target.following)
        self.first = _blocks(basis.first, target.first)
        self.shrunk = np.tile(np.arange(basis.now.shape[1]) > 0, target.levels).astype(float)
        self.products = summed_products(self.now, self.now, self.unit, self.units)
        self.decisions = np.bincount(self.unit, minlength=self.units).astype(float)

    def clipped(self, values: Floats) -> Floats:
        return np.asarray(np.clip(values, self.lowest, self.highest))

    def penalised(self, products: Floats, decisions: Floats, ridge: float) -> Floats:
        """The normal matrices (.., D, D), with the ridge for so many decisions (..,)."""
        diagonal = ridge * self.shrunk + SMALLEST_RIDGE
        return np.asarray(products + np.maximum(1, decisions)[..., None, None] * np.diag(diagonal))

    def fit(self, training: NDArray[np.bool_], ridge: float) -> QModel:
        """`training`: (N,), the trajectories that are used."""
        from scipy.linalg import cho_factor, cho_solve

        used = training[self.unit]
        now, following = self.now[used], self.following[used]
        matrix = self.penalised(self.products[training].sum(axis=0), used.sum(), ridge)
        factor = cho_factor(matrix)
        immediate = now.T @ self.utility[used]
        values = np.zeros(len(now))
        weights = cho_solve(factor, immediate)
        span = self.highest - self.lowest
        for _ in range(MOST_ITERATIONS):
            updated = self.clipped(following @ weights)
            change = np.abs(updated - values).max(initial=0.0)
            values = updated
            if change <= TOLERANCE * span or self.discount == 0:
                break
            weights = cho_solve(factor, immediate + self.discount * (now.T @ values))
        return QModel(weights, ridge)

    def best_ridge(self, fold: NDArray[np.int64]) -> float:
        """By the squared error of held-out subjects' U + gamma V(S'), V from a pilot fit."""
        errors = np.zeros(len(RIDGES))
        for k in range(int(fold.max()) + 1):
            training = fold != k
            pilot = self.fit(training, PILOT_RIDGE)
            aim = self.utility + self.discount * self.clipped(self.following @ pilot.weights)
            used = training[self.unit]
            right = self.now[used].T @ aim[used]
            products = self.products[training].sum(axis=0)
            for r, ridge in enumerate(RIDGES):
                matrix = self.penalised(products, used.sum(), ridge)
                weights = np.linalg.solve(matrix, right)
                errors[r] += np.square(aim[~used] - self.now[~used] @ weights).sum()
        return RIDGES[int(errors.argmin())]

    def resampled(self, model: QModel, counts: Floats) -> Floats:
        """(B, N): each trajectory's first value when trajectories count (B, N) times."""
        ahead = self.following @ model.weights
        free = (ahead >= self.lowest) & (ahead <= self.highest)
        onward = self.following * free[:, None]
        held = np.where(free, 0.0, self.clipped(ahead))
        links = summed_products(self.now, onward, self.unit, self.units)
        products = self.products - self.discount * links
        right = np.zeros((self.units, self.now.shape[1]))
        aim = self.utility + self.discount * held
        np.add.at(right, self.unit, self.now * aim[:, None])
        size = self.now.shape[1]
        step = max(1, NUMBERS_AT_ONCE // size**2)
        found = np.empty((len(counts), self.units))
        for start in range(0, len(counts), step):
            drawn = counts[start : start + step]
            sums = (drawn @ products.reshape(self.units, -1)).reshape(len(drawn), size, size)
            matrix = self.penalised(sums, drawn @ self.decisions, model.ridge)
            weights = np.linalg.solve(matrix, (drawn @ right)[:, :, None])[:, :, 0]
            found[start : start + step] = self.clipped(weights @ self.first.T)
        return found


def summed_products(left: Floats, right: Floats, unit: NDArray[np.int64], units: int) -> Floats:
    """(N, .., ..): left' right over the rows of each trajectory."""
    edges = np.searchsorted(unit, np.arange(units + 1))
    found = np.empty((units, left.shape[1], right.shape[1]))
    for i in range(units):
        rows = slice(edges[i], edges[i + 1])
        found[i] = left[rows].T @ right[rows]
    return found


def _blocks(basis: Floats, mix: Floats) -> Floats:
    """(rows, levels * d): each level's copy of the basis, weighted."""
    return np.asarray((mix[:, :, None] * basis[:, None, :]).reshape(len(basis), -1))

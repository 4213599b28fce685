"""How much more often a policy would visit a state than the trial did.

    w(s) = (1 - gamma) sum over t of gamma^(t-1) P_pi(S^t = s) / P_trial(S = s)

is the function for which, for every f,

    E{w(S) [f(S) - gamma ratio f(S')]} = (1 - gamma) E f(S^1),

ratio being that of the action's probabilities. With w and f from the same piecewise linear
functions this is a linear system. Unlike products of ratios over time, w does not explode.

Reference: Liu, Li, Tang & Zhou (2018), "Breaking the curse of horizon"; Uehara, Huang & Jiang
(2020), "Minimax weight and Q-function learning for off-policy evaluation".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.policy.fitted_q import Basis, summed_products
from smdp.policy.target import Target
from smdp.policy.value_rows import ValueRows

#: Tried as the ridge; the one that balances held-out subjects best is taken.
RIDGES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
SMALLEST_RIDGE = 1e-8

Floats = NDArray[np.float64]


class WeightEquation:
    """The linear system for one target, from sums for each trajectory."""

    def __init__(self, rows: ValueRows, basis: Basis, target: Target, discount: float) -> None:
        self.now, self.unit = basis.now, rows.unit
        onward = basis.now - discount * target.ratio[:, None] * basis.following
        self.products = summed_products(onward, basis.now, rows.unit, rows.units)
        self.start = (1 - discount) * basis.first  # (N, d)
        self.decisions = np.bincount(rows.unit, minlength=rows.units).astype(float)
        self.shrunk = (np.arange(basis.now.shape[1]) > 0).astype(float)
        self.scale = basis.now.std(axis=0)
        self.scale[self.scale == 0] = 1.0

    def solve(self, training: NDArray[np.bool_], ridge: float) -> Floats:
        matrix = self.products[training].sum(axis=0) / self.decisions[training].sum()
        matrix = matrix + np.diag(ridge * self.shrunk + SMALLEST_RIDGE)
        return np.asarray(np.linalg.solve(matrix, self.start[training].mean(axis=0)))

    def best_ridge(self, fold: NDArray[np.int64]) -> float:
        """By how far held-out subjects are from the equation, in standardised functions f."""
        errors = np.zeros(len(RIDGES))
        for k in range(int(fold.max()) + 1):
            held_out = fold == k
            products = self.products[held_out].sum(axis=0) / self.decisions[held_out].sum()
            start = self.start[held_out].mean(axis=0)
            for r, ridge in enumerate(RIDGES):
                apart = products @ self.solve(~held_out, ridge) - start
                errors[r] += np.square(apart / self.scale).sum()
        return RIDGES[int(errors.argmin())]

    def weights(
        self, solution: Floats, training: NDArray[np.bool_], limit: float
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """(R,): from 0 to the limit, then divided by their mean over the training rows.

        Also (R,): whether the limit was reached.
        """
        raw = self.now @ solution
        found = np.clip(raw, 0, limit)
        mean = found[training[self.unit]].mean()
        return (found / mean if mean > 0 else np.ones_like(found)), raw >= limit

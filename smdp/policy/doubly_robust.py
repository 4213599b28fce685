"""The doubly robust estimate of a policy's value, cross-fitted over folds of subjects.

    V = (1 - gamma) mean V(S^1) + sum w ratio (U + gamma V(S') - Q(S, A)) / sum w ratio

with Q from fitted-Q evaluation and w the marginal weights, both from the other folds. It is right
if either is. The influence of each subject gives a standard error; it misses that Q itself was
estimated, so the bootstrap spread of the fitted-Q estimate is added, se^2 = influence^2 + spread^2.
On the paper's model 95 % intervals cover in 92 % of 60 replications, without that addition in 80 to
83 % of the same (in 97 to 98 % of 100 others: bench/policy_value.md).

Reference: Kallus & Uehara (2020), "Double reinforcement learning for efficient off-policy
evaluation in Markov decision processes"; Tang et al. (2020), "Doubly robust bias reduction in
infinite horizon off-policy estimation".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.policy.fitted_q import Basis, QRegression
from smdp.policy.marginal_weights import WeightEquation
from smdp.policy.target import Target
from smdp.policy.value_rows import ValueRows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """One policy's value, a decision; what its errors and those of differences come from."""

    value: float
    influence: Floats  # (C,): each subject's, in sum over subjects 0
    fitted_q: float
    fitted_q_draws: Floats  # (B,): over samples of subjects
    weights: Floats  # (R,): w times ratio
    clipped: float  # the share of decisions whose weight reached the limit

    @property
    def error(self) -> float:
        return standard_error(self.influence, self.fitted_q_draws)


def standard_error(influence: Floats, draws: Floats) -> float:
    subjects = len(influence)
    of_subjects = np.square(influence).sum() * subjects / max(1, subjects - 1)
    return float(np.sqrt(of_subjects + spread(draws) ** 2))


def spread(draws: Floats) -> float:
    """The standard deviation, by the middle 68 %: a sample that has no answer is no error."""
    finite = draws[np.isfinite(draws)]
    if len(finite) < 2:
        return float("nan")
    lower, upper = np.quantile(finite, [0.1587, 0.8413])
    return float(upper - lower) / 2


def estimate(
    rows: ValueRows,
    basis: Basis,
    targets: Sequence[Target],  # one for each fold: that of the policy learned without it
    fold: NDArray[np.int64],  # (N,)
    counts: Floats,  # (B, N): how often each trajectory is in each sample
    *,
    discount: float,
    weight_limit: float,
) -> Estimate:
    """Folds may share one target, which is then worked out once."""
    reach = _with_choice(basis, rows)
    held_rows = fold[rows.unit]
    weights, gap = np.empty(len(rows.level)), np.empty(len(rows.level))
    first, draws = np.empty(rows.units), np.empty((len(counts), rows.units))
    at_limit = np.zeros(len(rows.level), dtype=bool)
    regression = equation = None
    ridges = (0.0, 0.0)
    for k, target in enumerate(targets):
        if regression is None or equation is None or target is not targets[k - 1]:
            regression = QRegression(rows, basis, target, discount)
            equation = WeightEquation(rows, reach, target, discount)
            if k == 0:
                ridges = regression.best_ridge(fold), equation.best_ridge(fold)
        training, out, units = fold != k, held_rows == k, fold == k
        model = regression.fit(training, ridges[0])
        ahead = regression.clipped(regression.following[out] @ model.weights)
        here = regression.clipped(regression.now[out] @ model.weights)
        gap[out] = regression.utility[out] + discount * ahead - here
        first[units] = regression.clipped(regression.first[units] @ model.weights)
        draws[:, units] = regression.resampled(model, counts * training)[:, units]
        solution = equation.solve(training, ridges[1])
        visits, reached = equation.weights(solution, training, weight_limit)
        weights[out] = visits[out] * target.ratio[out]
        at_limit[out] = reached[out]
    assert regression is not None
    return _combined(
        rows, regression.centre, weights, gap, (1 - discount) * first, (1 - discount) * draws,
        counts, float(at_limit.mean()),
    )  # fmt: skip


def _combined(
    rows: ValueRows,
    centre: float,
    weights: Floats,
    gap: Floats,
    first: Floats,
    draws: Floats,
    counts: Floats,
    clipped: float,
) -> Estimate:
    total = weights.sum()
    correction = float((weights * gap).sum() / total) if total > 0 else 0.0
    fitted_q = float(first.mean())
    of_unit = (first - fitted_q) / rows.units
    if total > 0:
        own = np.bincount(rows.unit, weights * (gap - correction), minlength=rows.units)
        of_unit = of_unit + own / total
    drawn = (draws * counts).sum(axis=1) / np.maximum(1.0, counts.sum(axis=1))
    return Estimate(
        value=centre + fitted_q + correction,
        influence=np.asarray(np.bincount(rows.cluster, of_unit, rows.clusters), dtype=np.float64),
        fitted_q=centre + fitted_q,
        fitted_q_draws=centre + drawn,
        weights=weights,
        clipped=clipped,
    )


def _with_choice(basis: Basis, rows: ValueRows) -> Basis:
    """With a function more, of whether there is a choice, if there is not always one."""
    here, ahead = rows.available.astype(float), rows.open_next
    if here.all() and (ahead == 1).all():
        return basis
    mean = here.mean()
    return Basis(
        np.column_stack([basis.now, here - mean]),
        np.column_stack([basis.following, ahead - mean]),
        np.column_stack([basis.first, here[rows.first] - mean]),
    )

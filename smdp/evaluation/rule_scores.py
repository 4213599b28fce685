"""What each action would be worth at each decision, whatever was done there.

By the model, Q(s_r, a) alone, from fitted-Q evaluation; or doubly robust,

    Gamma[r, a] = Q(s_r, a) + 1{A_r = a} / p(a | s_r) * (U_r + gamma V(s'_r) - Q(s_r, A_r))

with Q from the other folds of people. Q and V are those of a policy that is followed from the next
decision on. With known probabilities the mean of Gamma is right for the next decision whatever Q
is; the Q only takes noise away.

Reference: Athey & Wager (2021), "Policy learning with observational data"; Kallus & Uehara (2020).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from smdp.evaluation.estimators import Basis, QRegression
from smdp.evaluation.evaluation_study import EvaluationStudy
from smdp.evaluation.target import Target

Floats = NDArray[np.float64]


class DecisionScores:
    """(R, K) each: for every decision and action, with the policy of `target` followed afterwards.

    An action that may not be chosen has the score of the first that may, which a rule gives there;
    without a choice scores are 0.
    """

    def __init__(self, study: EvaluationStudy, target: Target) -> None:
        assert isinstance(study.basis, Basis)  # one for all folds
        self.study, self.basis, self.levels = study, study.basis, target.levels
        self.regression = QRegression(study.rows, self.basis, target, study.discount)
        self.ridge = self.regression.best_ridge(study.fold)

    def by_model(self, training: NDArray[np.bool_] | None = None) -> Floats:
        """From these trajectories (N,); None: from all."""
        used = np.ones(len(self.study.fold), dtype=bool) if training is None else training
        return self._allowed(self._values(self.regression.fit(used, self.ridge).weights))

    def by_model_resampled(self, counts: Floats) -> Iterator[Floats]:
        """For each row of counts (B, N), how often each trajectory counts."""
        everybody = np.ones(len(self.study.fold), dtype=bool)
        model = self.regression.fit(everybody, self.ridge)
        for weights in self.regression.resampled_weights(model, counts):
            yield self._allowed(self._values(weights))

    def doubly_robust(self) -> Floats:
        study, regression = self.study, self.regression
        rows, fold = study.rows, study.fold[study.rows.unit]
        found = np.zeros((len(rows.level), rows.actions))
        for k in range(study.folds):
            out = fold == k
            model = regression.fit(study.fold != k, self.ridge)
            every = self._values(model.weights, out)
            ahead = regression.clipped(regression.following[out] @ model.weights)
            taken = rows.level[out]
            gap = regression.utility[out] + study.discount * ahead
            gap -= every[np.arange(len(taken)), taken]
            own = every[:, : rows.actions]
            here = np.flatnonzero(taken < rows.actions)
            own[here, taken[here]] += gap[here] / study.taken[out][here]
            found[out] = own
        return self._allowed(found)

    def _values(self, weights: Floats, rows: NDArray[np.bool_] | None = None) -> Floats:
        """(rows, levels)"""
        now = self.basis.now if rows is None else self.basis.now[rows]
        return self.regression.clipped(now @ weights.reshape(self.levels, -1).T)

    def _allowed(self, scores: Floats) -> Floats:
        rows = self.study.rows
        return given_what_is_allowed(scores[:, : rows.actions], rows.allowed)


def given_what_is_allowed(scores: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """(R, K): what a rule's action is worth where another has to be given in its place."""
    first = np.take_along_axis(scores, allowed.argmax(axis=1)[:, None], axis=1)
    found = np.where(allowed, scores, first)
    found[~allowed.any(axis=1)] = 0.0
    return np.asarray(found)

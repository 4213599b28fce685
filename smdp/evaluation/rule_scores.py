"""What each action would be worth at each decision, whatever was done there.

    Gamma[r, a] = Q(s_r, a) + 1{A_r = a} / p(a | s_r) * (U_r + gamma V(s'_r) - Q(s_r, A_r))

Q and V are those of a policy that is followed from the next decision on, from fitted-Q evaluation
in the other folds of people. With known probabilities its mean is right for the next decision
whatever Q is; the Q only takes noise away.

Reference: Athey & Wager (2021), "Policy learning with observational data"; Kallus & Uehara (2020).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.evaluation.estimators import Basis, QRegression
from smdp.evaluation.evaluation_study import EvaluationStudy
from smdp.evaluation.target import Target

Floats = NDArray[np.float64]


def doubly_robust_scores(study: EvaluationStudy, target: Target) -> Floats:
    """(R, K): for every decision and action, with the policy of `target` followed afterwards.

    An action that may not be chosen has the score of the first that may, which a rule gives there;
    without a choice scores are 0.
    """
    rows, actions = study.rows, study.rows.actions
    basis = study.basis
    assert isinstance(basis, Basis)  # one for all folds
    regression = QRegression(rows, basis, target, study.discount)
    ridge = regression.best_ridge(study.fold)
    fold = study.fold[rows.unit]
    found = np.zeros((len(rows.level), actions))
    for k in range(int(study.fold.max()) + 1):
        out = fold == k
        model = regression.fit(study.fold != k, ridge)
        of_levels = model.weights.reshape(target.levels, -1)
        every = regression.clipped(basis.now[out] @ of_levels.T)
        ahead = regression.clipped(regression.following[out] @ model.weights)
        taken = rows.level[out]
        place = np.arange(len(taken))
        gap = regression.utility[out] + study.discount * ahead - every[place, taken]
        own = every[:, :actions]
        here = np.flatnonzero(taken < actions)
        own[here, taken[here]] += gap[here] / study.taken[out][here]
        found[out] = own
    return given_what_is_allowed(found, rows.allowed)


def given_what_is_allowed(scores: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """(R, K): what a rule's action is worth where another has to be given in its place."""
    first = np.take_along_axis(scores, allowed.argmax(axis=1)[:, None], axis=1)
    found = np.where(allowed, scores, first)
    found[~allowed.any(axis=1)] = 0.0
    return np.asarray(found)

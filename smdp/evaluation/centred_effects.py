"""Weighted and centred estimating equations: the effects of actions, linear or as ratios.

At R decisions with a choice, with g the controls (q columns with the intercept), f the moderators
(p columns with the intercept), a_k = 1{A = k}, c_k = a_k - p~_k for a numerator p~, and weights
w = p~_A / p_A, the estimate solves sum of D r = 0, where

    linear:  r = Y - g'alpha - sum over k of c_k f'beta_k,           D = w (g, c_k f)
    ratio:   r = Y - exp(g'alpha + sum over k of a_k f'beta_k),
             D = w exp(-sum over k of a_k f'beta_k) (g, c_k f)
    always centred (a_k replaced by c_k throughout):
             r = Y exp(-sum over k of c_k f'beta_k) - exp(g'alpha),  D = w (g, c_k f)

(k = 2 .. K; weighted and centred least squares, and the estimator of the marginal excursion effect,
EMEE). Centring makes beta right whatever the controls miss. Errors are robust within subjects, with
the correction of Mancl & DeRouen (2001) for few subjects, and Student's t with n - p (K - 1) - q
degrees of freedom.

References: Boruvka, Almirall, Witkiewitz & Murphy (2018), "Assessing time-varying causal effect
moderation in mobile health"; Qian, Yoo, Klasnja, Almirall & Murphy (2021), "Estimating time-varying
causal excursion effects in mobile health with binary outcomes".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError

Scale = Literal["linear", "ratio"]

MOST_STEPS = 100
#: Of the mean estimating function, in units of the outcome's mean.
SETTLED = 1e-12
#: Of the condition of Newton's steps: beyond it the outcome never came under some action and state.
HARDLY_TOLD = 1e10
NO_RATIO = (
    "The ratio of outcomes could not be estimated: its equations have no answer here.",
    "Use fewer controls and moderators, or treat the outcome as continuous.",
)
#: A subject who decides a coefficient alone to this share leaves no error to be estimated.
ALONE = 1 - 1e-8


@dataclass(frozen=True)
class CentredRows:
    """R decisions with a choice, and what was done at each."""

    taken: NDArray[np.int64]  # (R,): 0 .. K-1
    weight: NDArray[np.float64]  # (R,): p~ of what was done, by its probability
    numerator: NDArray[np.float64]  # (R, K): p~
    subject: NDArray[np.int64]  # (R,): 0 .. C-1

    @property
    def subjects(self) -> int:
        return len(np.unique(self.subject))


@dataclass(frozen=True)
class CentredFit:
    """`estimate`: (K - 1, p), the effect of each action but the first on each column of f."""

    estimate: NDArray[np.float64]
    covariance: NDArray[np.float64]  # of the estimate, raveled
    freedom: int

    def along(self, action: int, points: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        """The effect of one of these actions at rows of f (G, p), and its standard error."""
        p = self.estimate.shape[1]
        own = slice(action * p, (action + 1) * p)
        part = self.covariance[own, own]
        return points @ self.estimate[action], np.sqrt(
            np.einsum("gi,ij,gj->g", points, part, points)
        )


def fit_centred(
    outcome: NDArray[np.float64],
    controls: NDArray[np.float64],
    moderators: NDArray[np.float64],
    rows: CentredRows,
    scale: Scale = "linear",
    *,
    always_centred: bool = False,
) -> CentredFit:
    """`controls` (R, q) and `moderators` (R, p) have the intercept as a column.

    `always_centred`: of ratios; with the probabilities themselves as numerator it is what sample
    sizes are computed for (Cohn, Hao & Qian, 2023).
    """
    others = np.arange(1, rows.numerator.shape[1])
    given = (rows.taken[:, None] == others).astype(float)
    centred = given - rows.numerator[:, 1:]
    instrument = np.hstack([controls, _products(centred, moderators)])
    q = controls.shape[1]
    if scale == "linear":
        found = _linear(outcome, instrument, rows.weight)
    else:
        shifted = _products(centred if always_centred else given, moderators)
        design = np.hstack([controls, shifted])
        found = _ratio(outcome, instrument, design, q, rows.weight, always_centred)
    covariance = _covariance(found, rows.subject)[q:, q:]
    freedom = rows.subjects - instrument.shape[1]
    return CentredFit(found.estimate[q:].reshape(len(others), -1), covariance, freedom)


def _products(actions: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, (K - 1) p): every column times every action, action by action."""
    return (actions[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)


@dataclass(frozen=True)
class _Solved:
    """Where the estimating equations are solved, with d coefficients."""

    estimate: NDArray[np.float64]  # (d,)
    score: NDArray[np.float64]  # (R, d): D
    slope: NDArray[np.float64]  # (R, d): how r changes with the coefficients
    residual: NDArray[np.float64]  # (R,): r
    bread: NDArray[np.float64]  # (d, d): how the sum of D r changes with them


def _linear(
    outcome: NDArray[np.float64], instrument: NDArray[np.float64], weight: NDArray[np.float64]
) -> _Solved:
    score = weight[:, None] * instrument
    bread = score.T @ instrument
    estimate = np.asarray(np.linalg.solve(bread, score.T @ outcome), dtype=np.float64)
    return _Solved(estimate, score, -instrument, outcome - instrument @ estimate, -bread)


def _ratio(
    outcome: NDArray[np.float64],
    instrument: NDArray[np.float64],
    design: NDArray[np.float64],
    q: int,
    weight: NDArray[np.float64],
    always_centred: bool,
) -> _Solved:
    """Newton's method, with steps halved until the estimating function shrinks."""
    controls, shifted = design[:, :q], design[:, q:]
    mean = float(np.average(outcome, weights=weight))
    estimate = np.zeros(design.shape[1])
    estimate[0] = np.log(mean)
    tolerance = SETTLED * mean * len(outcome)

    def function(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            back = np.exp(-shifted @ theta[q:])
            return instrument.T @ (weight * (outcome * back - np.exp(controls @ theta[:q])))

    size = np.abs(instrument).max(axis=0)
    value = function(estimate)
    for _ in range(MOST_STEPS):
        back = np.exp(-shifted @ estimate[q:])
        base = np.exp(controls @ estimate[:q])
        slopes = np.hstack([base[:, None] * controls, (outcome * back)[:, None] * shifted])
        bread = -(weight[:, None] * instrument).T @ slopes
        if (np.abs(value) <= tolerance * size).all():
            break
        if np.linalg.cond(bread / np.outer(size, size)) > HARDLY_TOLD:
            raise DataError(*NO_RATIO)
        move = np.linalg.solve(bread, value)
        for _ in range(40):
            candidate = function(estimate - move)
            if np.abs(candidate / size).max() < np.abs(value / size).max():
                break
            move = move / 2
        else:
            break  # as near as rounding lets it come
        estimate, value = estimate - move, candidate
    if not np.isfinite(estimate).all() or (np.abs(value) > 1e-6 * mean * len(outcome) * size).any():
        raise DataError(*NO_RATIO)
    if always_centred:
        score = weight[:, None] * instrument
        return _Solved(estimate, score, -slopes, outcome * back - base, bread)
    expected = base / back
    score = (weight * back)[:, None] * instrument
    return _Solved(estimate, score, -expected[:, None] * design, outcome - expected, bread)


def _covariance(solved: _Solved, subject: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each subject's residuals are divided by I - H_ii, by way of matrices of the coefficients.

    D (I - P M^-1 D)^-1 = (I - D P M^-1)^-1 D, so that no matrix has the size of a subject's rows.
    """
    order = np.argsort(subject, kind="stable")
    starts = np.flatnonzero(np.diff(subject[order], prepend=-1))
    score, slope = solved.score[order], solved.slope[order]
    ends = [*starts[1:], len(order)]
    inverse = np.linalg.inv(solved.bread)
    hats = np.stack([score[a:b].T @ slope[a:b] for a, b in zip(starts, ends, strict=True)])
    hats = hats @ inverse
    if np.abs(np.linalg.eigvals(hats)).max() > ALONE:
        raise DataError(
            "One subject alone decides an effect or a control, so that no error can be given.",
            "Leave out controls and moderators that only one subject differs in.",
        )
    sums = np.add.reduceat(score * solved.residual[order][:, None], starts, axis=0)
    own = np.linalg.solve(np.eye(len(inverse)) - hats, sums[:, :, None])[:, :, 0]
    return np.asarray(inverse @ (own.T @ own) @ inverse.T)

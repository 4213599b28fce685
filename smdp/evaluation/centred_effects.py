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
from functools import cached_property
from itertools import pairwise
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
    "The ratio of outcomes could not be estimated: with these controls and moderators it would be "
    "0 or infinite somewhere, as where the outcome was always no under a treatment.",
    "Use fewer controls and moderators, or have differences by taking the outcome as a number.",
)
#: A subject who decides a coefficient alone to this share leaves no error to be estimated.
ALONE = 1 - 1e-8


@dataclass(frozen=True)
class CentredRows:
    """R decisions, and what was done at each.

    Decisions without a choice have a weight of 0. They matter only for errors that are always
    centred, whose correction for few subjects looks at them too, as that of R's `emee2` does.
    """

    taken: NDArray[np.int64]  # (R,): 0 .. K-1
    weight: NDArray[np.float64]  # (R,): p~ of what was done, by its probability
    numerator: NDArray[np.float64]  # (R, K): p~
    subject: NDArray[np.int64]  # (R,)

    @cached_property
    def choice(self) -> NDArray[np.bool_]:
        """(R,)"""
        return self.weight > 0

    def of_choice(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those of R rows that have a choice."""
        return columns if self.choice.all() else columns[self.choice]

    @cached_property
    def subjects(self) -> int:
        return len(np.unique(self.subject[self.choice]))

    @cached_property
    def order(self) -> NDArray[np.int64] | slice:
        """What brings each subject's rows together."""
        stretches = 1 + int((np.diff(self.subject) != 0).sum())
        together = stretches == len(np.unique(self.subject))
        return slice(None) if together else np.argsort(self.subject, kind="stable")

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(C + 1,): where each subject's rows begin in that order, and the end."""
        changes = np.flatnonzero(np.diff(self.subject[self.order])) + 1
        return np.concatenate([[0], changes, [len(self.subject)]])

    def take(self, kept: NDArray[np.bool_]) -> CentredRows:
        return CentredRows(
            self.taken[kept], self.weight[kept], self.numerator[kept], self.subject[kept]
        )


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
    given, centred = given_and_centred(rows)
    instrument = np.hstack([controls, products(centred, moderators)])
    q = controls.shape[1]
    if scale == "linear":
        found = _linear(outcome, instrument, rows.weight)
    else:
        shifted = products(centred if always_centred else given, moderators)
        found = _ratio(outcome, controls, shifted, instrument, rows.weight, always_centred)
    covariance = _covariance(found, rows)[q:, q:]
    freedom = rows.subjects - instrument.shape[1]
    return CentredFit(found.estimate[q:].reshape(given.shape[1], -1), covariance, freedom)


def given_and_centred(rows: CentredRows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """a and c of the actions but the first, (R, K - 1) each."""
    others = np.arange(1, rows.numerator.shape[1])
    given = np.asfortranarray(rows.taken[:, None] == others, dtype=np.float64)
    return given, given - np.asfortranarray(rows.numerator[:, 1:])


def products(actions: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, (K - 1) p): every column times every action, action by action."""
    wide = np.empty((len(columns), actions.shape[1] * columns.shape[1]), order="F")
    p = columns.shape[1]
    for k in range(actions.shape[1]):
        np.multiply(actions[:, [k]], columns, out=wide[:, k * p : (k + 1) * p])
    return wide


@dataclass(frozen=True)
class _Solved:
    """Where the estimating equations are solved, with d coefficients."""

    estimate: NDArray[np.float64]  # (d,)
    score: NDArray[np.float64]  # (R, d): D
    slope: NDArray[np.float64]  # (R, d): how r changes with the coefficients
    residual: NDArray[np.float64]  # (R,): r
    bread: NDArray[np.float64]  # (d, d): how the sum of D r changes with them
    #: (R, d): D at the decisions without a choice as well, if they are looked at.
    everywhere: NDArray[np.float64] | None = None


def _linear(
    outcome: NDArray[np.float64], instrument: NDArray[np.float64], weight: NDArray[np.float64]
) -> _Solved:
    score = weight[:, None] * instrument
    bread = score.T @ instrument
    estimate = np.asarray(np.linalg.solve(bread, score.T @ outcome), dtype=np.float64)
    return _Solved(estimate, score, -instrument, outcome - instrument @ estimate, -bread)


def _ratio(
    outcome: NDArray[np.float64],
    controls: NDArray[np.float64],
    shifted: NDArray[np.float64],
    instrument: NDArray[np.float64],
    weight: NDArray[np.float64],
    always_centred: bool,
) -> _Solved:
    """Newton's method, with steps halved until the estimating function shrinks."""
    q = controls.shape[1]
    mean = float(np.average(outcome, weights=weight))
    estimate = np.zeros(instrument.shape[1])
    estimate[0] = np.log(mean)
    tolerance = SETTLED * mean * len(outcome)
    weighted = weight[:, None] * instrument
    size = np.abs(instrument).max(axis=0)

    def at(theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        with np.errstate(over="ignore", invalid="ignore"):
            back, base = np.exp(-(shifted @ theta[q:])), np.exp(controls @ theta[:q])
            blipped = outcome * back
            return weighted.T @ (blipped - base), back, base, blipped

    value, back, base, blipped = at(estimate)
    for _ in range(MOST_STEPS):
        parts = weighted.T @ (base[:, None] * controls), weighted.T @ (blipped[:, None] * shifted)
        bread = -np.hstack(parts)
        if (np.abs(value) <= tolerance * size).all():
            break
        if np.linalg.cond(bread / np.outer(size, size)) > HARDLY_TOLD:
            raise DataError(*NO_RATIO)
        move = np.linalg.solve(bread, value)
        for _ in range(40):
            candidate = at(estimate - move)
            if np.abs(candidate[0] / size).max() < np.abs(value / size).max():
                break
            move = move / 2
        else:
            break  # as near as rounding lets it come
        estimate = estimate - move
        value, back, base, blipped = candidate
    if not np.isfinite(estimate).all() or (np.abs(value) > 1e-6 * mean * len(outcome) * size).any():
        raise DataError(*NO_RATIO)
    if always_centred:
        slopes = -np.hstack([base[:, None] * controls, blipped[:, None] * shifted])
        return _Solved(estimate, weighted, slopes, blipped - base, bread, instrument)
    expected = base / back
    slope = -expected[:, None] * np.hstack([controls, shifted])
    return _Solved(estimate, back[:, None] * weighted, slope, outcome - expected, bread)


def _covariance(solved: _Solved, rows: CentredRows) -> NDArray[np.float64]:
    """Each subject's residuals are divided by I - H_ii, by way of matrices of the coefficients.

    With D of all decisions and J D of those with a choice, the residuals are multiplied by
    D'J (I - P M^-1 D')^-1 = D'J + D'J P M^-1 (I - D'P M^-1)^-1 D', so that no matrix has the size
    of a subject's rows; where all have a choice, that is (I - D'P M^-1)^-1 D'.
    """
    inverse = np.linalg.inv(solved.bread)
    hats = _of_each(solved.score, solved.slope, rows) @ inverse
    if np.linalg.norm(hats, axis=(1, 2)).max() > ALONE:  # no eigenvalue is larger than that
        _refuse_alone(hats)
    sums = _of_each(solved.score, solved.residual[:, None], rows)
    unit = np.eye(len(inverse))
    if solved.everywhere is None or rows.choice.all():
        own = np.linalg.solve(unit - hats, sums)
    else:
        every = _of_each(solved.everywhere, solved.slope, rows) @ inverse
        _refuse_alone(every)
        everything = _of_each(solved.everywhere, solved.residual[:, None], rows)
        own = sums + hats @ np.linalg.solve(unit - every, everything)
    return np.asarray(inverse @ (own[:, :, 0].T @ own[:, :, 0]) @ inverse.T)


def _of_each(
    left: NDArray[np.float64], right: NDArray[np.float64], rows: CentredRows
) -> NDArray[np.float64]:
    """(C, d, e): of each subject the products of two columns (R, d) and (R, e), added up."""
    left, right, starts = left[rows.order], right[rows.order], rows.starts
    return np.stack([left[a:b].T @ right[a:b] for a, b in pairwise(starts)])


def _refuse_alone(hats: NDArray[np.float64]) -> None:
    if np.abs(np.linalg.eigvals(hats)).max() > ALONE:
        raise DataError(
            "One subject alone decides an effect or a control, so that no error can be given.",
            "Join an action that only one subject got with another, and leave out controls and "
            "moderators that only one subject differs in.",
        )

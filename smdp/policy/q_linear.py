"""A linear Q-function and its refits, by policy iteration or by the paper's update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.layers import Layer
from smdp.policy.decision_rows import DecisionRows
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import FittedQ, q_function
from smdp.progress import Progress

#: More iterations than ever needed: usually five to ten.
MOST_ITERATIONS = 100
#: Keeps the system solvable where a level was never seen: its weights become 0.
TINY = 1e-10


@dataclass(frozen=True)
class LinearFit:
    """Weights of each level: the intercept first."""

    weights: NDArray[np.float64]  # (levels, 1 + q)
    change: tuple[float, ...]  # by iteration: root mean square change of Q at the next states
    switched: tuple[float, ...]  # by iteration: the share of next decisions that changed
    converged: bool
    cycle: int = 0  # the number of policies in the cycle, 0 without one
    cycle_switched: float = 0.0  # the largest share of decisions in which two of them differ


def policy_iteration(
    rows: DecisionRows,
    discount: float,
    ridge: float,
    *,
    counts: NDArray[np.int64] | None = None,
    start: NDArray[np.float64] | None = None,
) -> LinearFit:
    """Least-squares policy iteration.

    With z(s, a) the features and an intercept in the place of action a, and pi the greedy policy of
    the current weights, each iteration solves for theta

        { sum z(s, a) [z(s, a) - gamma z(s', pi(s'))]' / R + ridge D } theta = sum z(s, a) u / R

    with D = 1 for features and 0 for intercepts, until the policy no longer changes. If it comes
    back to an earlier policy instead (a cycle), the mean of the cycle's weights is taken.

    `counts`: (subjects,), how often each subject is in the sample. `start`: earlier weights.

    Reference: Lagoudakis & Parr (2003), "Least-squares policy iteration", JMLR 4.
    """
    weight = np.ones(len(rows.level)) if counts is None else counts[rows.subject].astype(float)
    before, after = with_intercept(rows.features), with_intercept(rows.following)
    system = _System(rows, before, after, weight, discount, ridge)
    following = rows.even_weights if start is None else rows.next_weights(after @ start.T)
    values = np.zeros((len(after), rows.levels)) if start is None else after @ start.T
    seen: dict[bytes, int] = {}
    path: list[NDArray[np.float64]] = []
    change: list[float] = []
    switched: list[float] = []
    used = weight > 0
    for _ in range(MOST_ITERATIONS):
        path.append(system.solve(following))
        if not np.isfinite(path[-1]).all():
            break
        new_values = after @ path[-1].T
        new = rows.next_weights(new_values)
        differ = (new != following).any(axis=1)[used]
        switched.append(float(differ.mean()))
        change.append(float(np.sqrt(np.mean((new_values - values)[used] ** 2))))
        following, values = new, new_values
        if not differ.any() or discount == 0:
            return LinearFit(path[-1], tuple(change), tuple(switched), True)
        key = np.packbits(following[used] > 0.5).tobytes()
        if key in seen:
            cycle = path[seen[key] + 1 :]
            policies = [rows.next_weights(after @ each.T)[used] for each in cycle]
            apart = max(float((p != policies[-1]).any(axis=1).mean()) for p in policies)
            mean = np.mean(cycle, axis=0)
            return LinearFit(mean, tuple(change), tuple(switched), False, len(cycle), apart)
        seen[key] = len(path) - 1
    return LinearFit(path[-1], tuple(change), tuple(switched), False)


def with_intercept(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, 1 + q): a 1 before the features."""
    return np.hstack([np.ones((len(features), 1)), features])


class _System:
    """The equations of one sample; only the policy changes between iterations."""

    def __init__(
        self,
        rows: DecisionRows,
        before: NDArray[np.float64],
        after: NDArray[np.float64],
        weight: NDArray[np.float64],
        discount: float,
        ridge: float,
    ) -> None:
        self._levels, self._size = rows.levels, before.shape[1]
        self._own = [np.flatnonzero((rows.level == a) & (weight > 0)) for a in range(rows.levels)]
        total = weight.sum()
        self._weighted = [(weight[own] / total)[:, None] * before[own] for own in self._own]
        self._after, self._discount = after, discount
        size = rows.levels * self._size
        penalty = np.full(self._size, ridge)
        penalty[0] = TINY
        self._fixed = np.diag(np.tile(penalty, rows.levels))
        self._right = np.zeros(size)
        for a, own in enumerate(self._own):
            at = slice(a * self._size, (a + 1) * self._size)
            self._fixed[at, at] += self._weighted[a].T @ before[own]
            self._right[at] = self._weighted[a].T @ rows.utility[own]

    def solve(self, following: NDArray[np.float64]) -> NDArray[np.float64]:
        """(levels, 1 + q): the Q-function of the policy `following`; NaN if there is none."""
        matrix = self._fixed.copy()
        for a, own in enumerate(self._own):
            share = following[own]
            for b in range(self._levels):
                to = np.flatnonzero(share[:, b])
                if len(to):
                    matrix[
                        a * self._size : (a + 1) * self._size, b * self._size : (b + 1) * self._size
                    ] -= self._discount * (
                        self._weighted[a][to].T @ (share[to, b][:, None] * self._after[own[to]])
                    )
        try:
            found = np.linalg.solve(matrix, self._right)
        except np.linalg.LinAlgError:
            found = np.full(len(matrix), np.nan)
        return np.asarray(found.reshape(self._levels, self._size))


UPDATES = 100_000
FIRST_STEP = 0.3
#: K_0: the number of updates after which steps become clearly smaller.
SLOWER_AFTER = 2_000
#: Steps of the path of which the history is shown, and progress reported.
REPORTS = 50
#: Settled: over the last tenth of the updates, the mean path moves Q by less than this share of
#: the standard deviation of Q.
SETTLED = 0.02


def stochastic_updates(
    rows: DecisionRows,
    discount: float,
    samples: NDArray[np.int64],  # (M, subjects): how often each subject is in each sample
    seed: int,
    report: Callable[[float], None] = lambda share: None,
) -> list[LinearFit]:
    """The paper's update of a linear Q-function: one transition at a time.

        theta_a <- theta_a + alpha {u + gamma max_b Q(s', b) - Q(s, a)} x(s),   x = (1, features)

    Transitions are drawn at random, with step sizes alpha_k = alpha_1 / (1 + k / K_0)^(2/3) over
    the mean of |x|^2, which go to 0 slowly enough to converge; the result is the mean of the second
    half of the path. It needs no linear system, and takes far longer than policy iteration. One fit
    for each sample, all moving at once; the history is that of the first.

    Reference: Wang, Laber & Witkiewitz, supplement, "Q-learning"; Polyak & Juditsky (1992),
    "Acceleration of stochastic approximation by averaging".
    """
    before, after = with_intercept(rows.features), with_intercept(rows.following)
    drawn = [np.repeat(np.arange(len(before)), counts[rows.subject]) for counts in samples]
    randoms = [
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3, m)))
        for m in range(len(samples))
    ]
    models = np.arange(len(samples))
    # Utilities centred, so that the intercepts need not travel u / (1 - gamma) first.
    shift = rows.utility.mean()
    utility = rows.utility - shift
    length = np.square(before).sum(axis=1).mean()
    # What the next state's Q-values are weighted with if there is no choice; else the best counts.
    ruled_out = np.where(rows.choices, 0.0, -np.inf)
    without = rows.even_weights
    forced = rows.forced
    theta = np.zeros((len(samples), rows.levels, before.shape[1]))
    total = np.zeros_like(theta)
    shown: list[NDArray[np.float64]] = [theta[0].copy()]
    every = UPDATES // REPORTS
    half = UPDATES // 2
    for k in range(UPDATES):
        at = k % every
        if at == 0:
            report(k / UPDATES)
            order = np.stack(
                [own[r.integers(0, len(own), every)] for own, r in zip(drawn, randoms, strict=True)]
            )
        i = order[:, at]
        values = np.einsum("mlj,mj->ml", theta, after[i])
        following = (values[:, : rows.actions] + ruled_out[i]).max(axis=1)
        if forced[i].any():
            following = np.where(forced[i], (without[i] * values).sum(axis=1), following)
        level, x = rows.level[i], before[i]
        error = utility[i] + discount * following - (theta[models, level] * x).sum(axis=1)
        alpha = FIRST_STEP / length / (1 + k / SLOWER_AFTER) ** (2 / 3)
        theta[models, level] += (alpha * error)[:, None] * x
        if k >= half:
            total += theta
        if at == every - 1:
            shown.append(total[0] / (k + 1 - half) if k >= half else theta[0].copy())
    weights = total / (UPDATES - half)
    weights[:, :, 0] += shift / (1 - discount)
    q = [after @ each.T for each in shown]
    chosen = [rows.next_weights(each) for each in q]
    change = [float(np.sqrt(np.mean((b - a) ** 2))) for a, b in pairwise(q)]
    switched = [float((a != b).any(axis=1).mean()) for a, b in pairwise(chosen)]
    late = np.sqrt(np.mean((q[-1] - q[-1 - REPORTS // 10]) ** 2))
    settled = bool(np.isfinite(weights[0]).all() and late <= SETTLED * q[-1].std())
    first = LinearFit(weights[0], tuple(change), tuple(switched), settled)
    return [first, *(LinearFit(each, (), (), settled) for each in weights[1:])]


#: Q-values beyond the possible by more than this share of the possible range are worth a word.
BEYOND = 0.1


def linear_q(
    rows: DecisionRows,
    samples: NDArray[np.int64],  # (B, subjects): how often each subject is in each resample
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> FittedQ:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    fit_all = _by_updates if settings.update == "stochastic" else _by_iteration
    with threadpool_limits(1, user_api="blas"):
        fits = fit_all(rows, samples, settings, seed, progress)
    usable = [fit for fit in fits if np.isfinite(fit.weights).all()]
    if not np.isfinite(fits[0].weights).all():
        raise DataError(
            "The linear Q-function has no solution: its weights grow without bound.",
            "Choose a smaller discount, a larger ridge, or fewer features.",
        )
    return FittedQ(
        functions=tuple(
            q_function(rows, [Layer(fit.weights[:, 1:], fit.weights[:, 0])]) for fit in usable
        ),
        change=fits[0].change,
        switched=fits[0].switched,
        converged=fits[0].converged,
        notes=tuple(_notes(rows, fits, len(usable), settings)),
    )


def _by_iteration(
    rows: DecisionRows,
    samples: NDArray[np.int64],
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> list[LinearFit]:
    """The refits start from the policy of the trial itself."""
    fits = [policy_iteration(rows, settings.discount, settings.ridge)]
    for b, counts in enumerate(samples):
        progress((b + 1) / (len(samples) + 1), f"Refit {b + 1} of {len(samples)}")
        start = fits[0].weights
        fits.append(
            policy_iteration(rows, settings.discount, settings.ridge, counts=counts, start=start)
        )
    return fits


def _by_updates(
    rows: DecisionRows,
    samples: NDArray[np.int64],
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> list[LinearFit]:
    every = np.ones((1, rows.subjects), dtype=np.int64)
    return stochastic_updates(
        rows,
        settings.discount,
        np.concatenate([every, samples]),
        seed,
        lambda share: progress(share, "Updating the Q-function"),
    )


def _notes(
    rows: DecisionRows, fits: list[LinearFit], usable: int, settings: PolicySettings
) -> list[str]:
    fit, notes = fits[0], []
    if fit.cycle:
        notes.append(
            f"Policy iteration alternates between {fit.cycle} policies, which differ in up to "
            f"{fit.cycle_switched:.1%} of the decisions; the mean of their Q-functions is used."
        )
    elif not fit.converged:
        how = "The updates" if settings.update == "stochastic" else "Policy iteration"
        notes.append(f"{how} did not settle: the Q-function was still changing at the end.")
    if usable < len(fits):
        notes.append(f"{len(fits) - usable} refits had no solution and were left out.")
    q = with_intercept(rows.features) @ fit.weights.T
    lowest, highest = (
        v / (1 - settings.discount) for v in (rows.utility.min(), rows.utility.max())
    )
    slack = BEYOND * (highest - lowest)
    if q.min() < lowest - slack or q.max() > highest + slack:
        notes.append(
            f"Some Q-values ({q.min():.3g} to {q.max():.3g}) are beyond what the utilities make "
            f"possible ({lowest:.3g} to {highest:.3g}): a linear Q-function does not fit well. "
            "A smaller discount or a neural Q-function may."
        )
    return notes

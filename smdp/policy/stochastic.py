"""The paper's update of a linear Q-function: one transition at a time.

    theta_a <- theta_a + alpha {u + gamma max_b Q(s', b) - Q(s, a)} x(s),   x = (1, features)

Transitions are drawn at random, with step sizes alpha_k = alpha_1 / (1 + k / K_0)^(2/3) over the
mean of |x|^2, which go to 0 slowly enough to converge; the result is the mean of the second half of
the path. It needs no linear system, and takes far longer than policy iteration.

Reference: Wang, Laber & Witkiewitz, supplement, "Q-learning"; Polyak & Juditsky (1992),
"Acceleration of stochastic approximation by averaging".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from smdp.policy.least_squares import LinearFit, with_intercept
from smdp.policy.rows import DecisionRows

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
    """One fit for each sample, all moving at once; the history is that of the first."""
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

"""A linear Q-function and its refits, by policy iteration or by the paper's update."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.layers import Layer
from smdp.policy.decision_rows import DecisionRows
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import FittedQ, q_function
from smdp.policy_iteration import LinearFit, policy_iteration, with_intercept
from smdp.progress import Progress

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

"""A linear Q-function and its refits, by policy iteration or by the paper's update."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.layers import Layer
from smdp.policy.fitted import FittedQ, q_function
from smdp.policy.least_squares import LinearFit, policy_iteration, with_intercept
from smdp.policy.rows import DecisionRows
from smdp.policy.settings import PolicySettings
from smdp.policy.stochastic import stochastic_updates
from smdp.progress import Progress

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

"""Step-wise weighted importance sampling: a diagnostic.

    V = sum over t of gamma^(t-1) [sum_i p_it U_it / sum_i p_it] / sum over t of gamma^(t-1),

p_it being the product of subject i's ratios up to t. It needs no model, but after a few decisions
hardly anybody has done what the policy would do: the effective number of subjects at t is
(sum_i p_it)^2 / sum_i p_it^2, and its mean over t (with the same discounts) is reported.

Reference: Precup, Sutton & Singh (2000), "Eligibility traces for off-policy policy evaluation".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.policy.value_rows import ValueRows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StepwiseEstimate:
    value: float
    draws: Floats  # (B,): over samples of subjects
    effective: float


def stepwise(
    rows: ValueRows,
    ratio: Floats,  # (R,)
    counts: Floats,  # (B, N)
    *,
    discount: float,
) -> StepwiseEstimate:
    """Decisions that cannot be used count as followed."""
    times = rows.shape[1]
    row, time = rows.unit, rows.place[1]
    logs = np.zeros((rows.units, times))
    with np.errstate(divide="ignore"):
        logs[row, time] = np.log(ratio)
    used = np.zeros((rows.units, times), dtype=bool)
    used[row, time] = True
    logs = np.where(used, np.cumsum(logs, axis=1), -np.inf)
    # Only their proportions matter: each time's largest becomes 1, and nothing overflows.
    largest = logs.max(axis=0)
    products = np.exp(logs - np.where(np.isfinite(largest), largest, 0.0))
    earned = np.zeros((rows.units, times))
    earned[row, time] = rows.utility
    worth = discount ** np.arange(times, dtype=float)

    def value(counted: Floats) -> Floats:
        """(..,) from (.., N)."""
        total, sums = counted @ products, counted @ (products * earned)
        reached = total > 0
        each = np.divide(sums, total, out=np.zeros_like(total), where=reached)
        shares = (reached * worth).sum(-1)
        with np.errstate(invalid="ignore"):  # NaN where nobody ever did what the policy would do
            return np.asarray((each * worth).sum(-1) / shares)

    everybody = np.ones(rows.units)
    total = products.sum(axis=0)
    effective = np.divide(total**2, (products**2).sum(axis=0), out=np.zeros(times), where=total > 0)
    offered = used.any(axis=0)
    return StepwiseEstimate(
        value=float(value(everybody)),
        draws=value(counts),
        effective=float((effective * worth)[offered].sum() / worth[offered].sum()),
    )

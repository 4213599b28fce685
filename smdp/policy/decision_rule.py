"""The rule that recommends an action, or abstains and says why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.result import Result

NO_ACTION = -1


class Reason(IntEnum):
    """Why a state has a recommendation or none; the first that applies, in this order."""

    UNAVAILABLE = 1  # nothing can be chosen
    MISSING = 2  # a value that the features need is missing
    OUTSIDE = 3  # far from every decision of the trial
    HARDLY_TRIED = 4  # one of the possible actions was hardly ever tried in such states
    UNCERTAIN = 5  # the margin is within its error
    RECOMMENDED = 0


#: For a reader, to follow "No recommendation: ".
REASONS: dict[int, str] = {
    Reason.RECOMMENDED: "",
    Reason.UNAVAILABLE: "no treatment can be chosen now",
    Reason.MISSING: "a value that the policy needs is missing",
    Reason.OUTSIDE: "this state lies outside what was seen in the trial",
    Reason.HARDLY_TRIED: "in states like this one, a treatment was hardly ever tried",
    Reason.UNCERTAIN: "the treatments differ by less than the error of the estimate",
}


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """One for each state; the arrays have the states' shape."""

    recommended: NDArray[np.int64]  # the action, -1 where there is no recommendation
    best: NDArray[np.int64]  # the action with the largest Q-value all the same, -1 if there is none
    margin: NDArray[np.float64]  # best minus second best Q-value; NaN without a second action
    margin_lower: NDArray[np.float64]  # one-sided bounds from the bootstrap; NaN without one
    margin_upper: NDArray[np.float64]
    least_tried: NDArray[np.float64]  # among the neighbours: the share of the rarest possible one
    distance: NDArray[np.float64]  # of the neighbours; above 1 is outside the trial
    supported: NDArray[np.bool_]  # neither outside nor hardly tried
    abstains: NDArray[np.bool_]  # an action could be chosen, but none is recommended
    in_doubt: NDArray[np.bool_]  # recommended by a pessimistic policy, though not clearly better
    reason: NDArray[np.int64]  # see `Reason`


def allowed_actions(
    available: NDArray[np.bool_] | None, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """(.., K): from whether there is a choice (..,), or which actions may be chosen (.., K)."""
    if available is None:
        return np.ones(shape, dtype=bool)
    given = np.asarray(available, dtype=bool)
    if given.shape == shape:
        return given
    if given.shape == shape[:-1]:
        return np.broadcast_to(given[..., None], shape)
    raise DataError(
        f"'available' has shape {given.shape}, but the states have shape {shape[:-1]}.",
        f"Give one value for each state, or one for each state and each of {shape[-1]} actions.",
    )


def best_actions(values: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(..,): the allowed action with the largest Q-value; -1 without one, or if it is missing."""
    possible = allowed.any(axis=-1) & np.isfinite(values).all(axis=-1)
    best = np.where(allowed & np.isfinite(values), values, -np.inf).argmax(axis=-1)
    return np.where(possible, best, NO_ACTION)


def cautious_values(
    values: NDArray[np.float64],  # (.., K)
    refitted: NDArray[np.float64],  # (B, .., K)
    reference: int,
    pessimism: float,
) -> NDArray[np.float64]:
    """(.., K): what each action is sure to be ahead of the reference by.

        L(s, a) = Q(s, a) - Q(s, r) - z sd_b{Q_b(s, a) - Q_b(s, r)},    L(s, r) = 0,

    the deviation being over the refits on resampled people. The action with the largest L that is
    possible is the pessimistic one. The error is that of the difference, not of Q: errors that the
    actions share are no reason to prefer one of them, and with two actions that were equally often
    tried Q minus its own error would hardly differ from Q. So pessimism is about deviating from
    the reference. Where it is not possible, the others are compared as they stand. Q is the same
    as of the linear policy: its backups are those of the greedy policy, not made pessimistic.

    Reference: Jin, Yang & Wang (2021), "Is pessimism provably efficient for offline RL?" (lower
    bounds of Q in place of Q); Thomas, Theocharous & Ghavamzadeh (2015), "High confidence policy
    improvement" (to deviate from what is known only where that is surely better).
    """
    ahead = values - values[..., [reference]]
    error = (refitted - refitted[..., [reference]]).std(axis=0, ddof=1)
    return np.asarray(ahead - pessimism * error)


def decide(
    values: NDArray[np.float64],  # (.., K)
    refitted: NDArray[np.float64],  # (B, .., K)
    allowed: NDArray[np.bool_],  # (.., K)
    shares: NDArray[np.float64],  # (.., K): of the neighbours
    distance: NDArray[np.float64],  # (..,)
    *,
    level: float,
    least_share: float,
    preferred: NDArray[np.float64] | None = None,  # (.., K): of a pessimistic policy
) -> Advice:
    """The action with the largest Q-value, unless one of the reasons above speaks against it.

    With d_b = Q(best) - Q(b) and e_b the standard deviation of the same difference over the refits,
    the bounds of the margin are the smallest of d_b -+ z e_b over the other possible actions b, z
    being the normal quantile of 1 - level. Without refits margins count as certain. With values
    that are `preferred`, their largest decides in place of Q's: the margin can be below 0 then, and
    being uncertain is no reason to abstain, for it was reckoned with.
    """
    best = best_actions(values if preferred is None else preferred, allowed)
    known = np.isfinite(values).all(axis=-1)
    chosen = np.maximum(best, 0)[..., None]
    others = allowed & (np.arange(values.shape[-1]) != chosen)
    ahead = np.take_along_axis(values, chosen, axis=-1) - values
    error = np.full(values.shape, np.nan)
    if len(refitted) > 1:
        again = np.take_along_axis(
            refitted, np.broadcast_to(chosen, (len(refitted), *chosen.shape)), -1
        )
        error = (again - refitted).std(axis=0, ddof=1)
    spread = NormalDist().inv_cdf(1 - level) * error
    margin, lower, upper = (
        _smallest(each, others) for each in (ahead, ahead - spread, ahead + spread)
    )
    least = _smallest(shares, allowed)
    outside = distance > 1
    hardly = others.any(axis=-1) & (least < least_share)
    unclear = np.asarray(lower <= 0)
    reason = np.select(
        [~allowed.any(axis=-1), ~known, outside, hardly, unclear & (preferred is None)],
        [
            Reason.UNAVAILABLE,
            Reason.MISSING,
            Reason.OUTSIDE,
            Reason.HARDLY_TRIED,
            Reason.UNCERTAIN,
        ],
        Reason.RECOMMENDED,
    ).astype(np.int64)
    return Advice(
        recommended=np.where(reason == Reason.RECOMMENDED, best, NO_ACTION),
        best=best,
        margin=margin,
        margin_lower=lower,
        margin_upper=upper,
        least_tried=least,
        distance=distance,
        supported=known & ~outside & ~hardly,
        abstains=(reason != Reason.RECOMMENDED) & (reason != Reason.UNAVAILABLE),
        in_doubt=(reason == Reason.RECOMMENDED) & unclear,
        reason=reason,
    )


def _smallest(values: NDArray[np.float64], of: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(..,): the smallest of those marked; NaN if none is, or if one of them is NaN."""
    found = np.where(of, values, np.inf).min(axis=-1)
    return np.where(of.any(axis=-1), found, np.nan)

"""Why a policy says what it says to one person at one time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from smdp.data.problem import Problem
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable, described, table_in_own_units, variable_of
from smdp.errors import DataError, SettingError
from smdp.explanation.policy_explanation import observed_states
from smdp.policy.decision_rule import REASONS, Reason
from smdp.policy.learned_policy import LearnedPolicy
from smdp.result import Result
from smdp.text import listing

Floats = NDArray[np.float64]
State: TypeAlias = Mapping[str, float] | pd.Series | ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class PatientExplanation(Result):
    """One state: its features, each action's Q, what is recommended, and what speaks for it.

    `best`: the action with the largest Q, or the one that a pessimistic policy prefers; with that,
    the margin can be below 0. Contributions split `margin - average_margin`, where the margin is
    Q(best) - Q(second) here and the average margin the same difference at the mean state of the
    study: they add up to it.
    """

    variables: pd.DataFrame  # variable, value, average, low, high (range seen), used, contribution
    features: pd.DataFrame  # feature, value, average (at the mean state)
    q_values: pd.DataFrame  # action, q, possible
    best: str
    second: str
    margin: float
    margin_error: float  # bootstrap standard error; NaN without refits
    margin_lower: float  # the bounds of `LearnedPolicy.decide`; NaN with less than two actions
    margin_upper: float
    average_margin: float
    recommendation: str | None
    reason: str  # why there is none; "" if there is one
    exact: bool  # contributions over all orders of the variables, not over a sample of orders
    warnings: tuple[Problem, ...]
    about: tuple[Variable, ...] = ()  # what the variables are
    in_doubt: bool = False  # recommended by a pessimistic policy, though not clearly better

    def variable(self, name: str) -> Variable:
        """What the variable of this name is."""
        return variable_of(self.about, name)

    def in_own_units(self) -> PatientExplanation:
        """The same person, with her values, the averages and the ranges seen in their own units."""
        columns = ("value", "average", "low", "high")
        own = replace(
            self,
            variables=table_in_own_units(self.variables, self.about, columns),
            about=tuple(v.in_own_units() for v in self.about),
        )
        return replace(own, warnings=own.outside_range())

    def outside_range(self) -> tuple[Problem, ...]:
        """A warning for each value outside the range seen; none where no range is known."""
        columns = (self.variables[c] for c in ("variable", "value", "low", "high"))
        return tuple(
            Problem(
                "warning",
                name,
                f"'{name}' is {self.variable(name).text(value, 6)}, outside the range seen in the "
                f"study, {least:g} to {self.variable(name).amount(most, 6)}.",
                "Check the value; what the policy says beyond that range is guesswork.",
            )
            for name, value, least, most in zip(*columns, strict=True)
            if value < least or value > most
        )


def explain_patient(
    policy: LearnedPolicy,
    state: State,
    *,
    available: bool | Sequence[str] = True,
    trajectories: Trajectories | None = None,
) -> PatientExplanation:
    """What the policy recommends in one state, and each variable's part in it.

    `state`: values by variable, or all of the policy's variables in its order, in the policy's
    units. `available`: whether there is a choice, or the labels of the actions that may be chosen.
    `trajectories`: the study, against whose range the values are checked. Contributions are
    Shapley values with the study's mean state as their reference (see `shapley`).
    """
    values = _values(policy, state)
    allowed = _allowed(policy, available)
    decided = policy.decide(values[None], allowed[None])
    q = policy.q_values(values[None])[0]
    best, second = _compared(q, allowed, int(decided.best[0]))

    def ahead(states: Floats) -> Floats:
        found = policy.q_values(states)
        return found[:, best] - found[:, second]

    centre = policy.feature_map.centre
    parts, exact = shapley(ahead, np.where(_used(policy), values, centre), centre)
    refits = [refit(policy.feature_map.transform(values[None]))[0] for refit in policy.resampled]
    error = np.std([r[best] - r[second] for r in refits], ddof=1) if len(refits) > 1 else np.nan
    low, high = _range(policy, trajectories)
    reason = Reason(int(decided.reason[0]))
    chosen = int(decided.recommended[0])
    patient = PatientExplanation(
        variables=pd.DataFrame(
            {
                "variable": policy.variables,
                "value": values,
                "average": centre,
                "low": low,
                "high": high,
                "used": _used(policy),
                "contribution": parts,
            }
        ),
        features=pd.DataFrame(
            {
                "feature": policy.feature_map.features,
                "value": policy.feature_map.transform(values[None])[0],
                "average": policy.feature_map.transform(centre[None])[0],
            }
        ),
        q_values=pd.DataFrame({"action": policy.action_labels, "q": q, "possible": allowed}),
        best=policy.action_labels[best],
        second=policy.action_labels[second],
        margin=float(q[best] - q[second]),
        margin_error=float(error),
        margin_lower=float(decided.margin_lower[0]),
        margin_upper=float(decided.margin_upper[0]),
        average_margin=float(ahead(centre[None])[0]),
        recommendation=policy.action_labels[chosen] if chosen >= 0 else None,
        reason=REASONS[reason],
        exact=exact,
        warnings=(),
        about=described(policy.variables, (trajectories or policy.feature_map).about),
        in_doubt=bool(decided.in_doubt[0]),
    )
    return replace(patient, warnings=patient.outside_range())


def _compared(q: Floats, allowed: NDArray[np.bool_], decided: int) -> tuple[int, int]:
    """The action that the policy prefers, and the best of the other possible ones.

    With one possible action or none there still is something to explain: all are compared.
    """
    first = allowed if allowed.any() else np.ones_like(allowed)
    best = decided if decided >= 0 else int(np.where(first, q, -np.inf).argmax())
    others = (allowed if allowed.sum() > 1 else np.ones_like(allowed)) & (np.arange(len(q)) != best)
    return best, int(np.where(others, q, -np.inf).argmax())


def _used(policy: LearnedPolicy) -> NDArray[np.bool_]:
    return np.isin(policy.variables, policy.feature_map.variables_used)


def _values(policy: LearnedPolicy, state: State) -> Floats:
    """(p,): the state in the policy's order; NaN for variables that it does not use."""
    names = policy.variables
    if isinstance(state, pd.Series):
        state = {str(name): value for name, value in state.items()}
    if isinstance(state, Mapping):
        unknown = [str(name) for name in state if name not in names]
        if unknown:
            raise DataError(
                f"The policy does not know the variable {listing(unknown)}.",
                f"Its variables are: {listing(names, 20)}.",
            )
        values = np.array([state.get(name, np.nan) for name in names], dtype=np.float64)
    else:
        values = np.asarray(state, dtype=np.float64)
        if values.shape != (len(names),):
            raise DataError(
                f"A state of this policy has {len(names)} values ({listing(names, 20)}), but the "
                f"one given has shape {values.shape}.",
                "Give one value for each variable, in this order, or values by name.",
            )
    missing = [
        name
        for name, value, used in zip(names, values, _used(policy), strict=True)
        if used and not np.isfinite(value)
    ]
    if missing:
        raise DataError(
            f"The state has no value of {listing(missing, 20)}, which the policy uses.",
            "Give a value, or fill it in from earlier reports with smdp.policy.point_of_use.",
        )
    return values


def _allowed(policy: LearnedPolicy, available: bool | Sequence[str]) -> NDArray[np.bool_]:
    labels = policy.action_labels
    if isinstance(available, bool | np.bool_):
        return np.full(len(labels), bool(available))
    unknown = [label for label in available if label not in labels]
    if unknown or isinstance(available, str):
        raise SettingError(
            f"The setting 'available' names {listing(unknown)}, which is no action.",
            f"Give True, False or a list of some of: {listing(labels, 20)}.",
        )
    return np.isin(labels, list(available))


def _range(policy: LearnedPolicy, trajectories: Trajectories | None) -> tuple[Floats, Floats]:
    if trajectories is None:
        unknown = np.full(len(policy.variables), np.nan)
        return unknown, unknown
    seen = observed_states(policy, trajectories)
    return seen.min(axis=0), seen.max(axis=0)


ValueOf = Callable[[Floats], Floats]  # states (m, p) -> (m,)

MOST_FOR_EXACT = 10  # variables: 1024 states are computed
ORDERS = 250  # random orders for more variables, and as many reversed ones


def shapley(value_of: ValueOf, state: Floats, baseline: Floats) -> tuple[Floats, bool]:
    """(p,): each variable's part in value_of(state) - value_of(baseline), and whether it is exact.

    A variable's part is the mean, over all orders in which the variables can be changed from the
    baseline's to the state's values, of what its change brings. The parts add up to the whole
    difference, a variable that changes nothing has part 0, and variables that act alike have equal
    parts; only these do. Up to 10 variables that differ, all orders are taken; with more, 500
    random ones (the same in each call), which add up to the whole difference too.

    Reference: Shapley (1953), "A value for n-person games"; Lundberg & Lee (2017), "A unified
    approach to interpreting model predictions" (single-reference form).
    """
    differ = np.flatnonzero(state != baseline)
    parts = np.zeros(len(state))
    if not len(differ):
        return parts, True
    exact = len(differ) <= MOST_FOR_EXACT
    split = _over_all_orders if exact else _over_some_orders
    parts[differ] = split(value_of, state, baseline, differ)
    return parts, exact


def _over_all_orders(
    value_of: ValueOf, state: Floats, baseline: Floats, differ: NDArray[np.intp]
) -> Floats:
    count = len(differ)
    subset = np.arange(2**count)
    changed = (subset[:, None] >> np.arange(count)) & 1 == 1  # (2^m, m)
    states = np.tile(baseline, (len(subset), 1))
    states[:, differ] = np.where(changed, state[differ], baseline[differ])
    values = value_of(states)
    size = changed.sum(axis=1)
    share = np.array(
        [factorial(k) * factorial(count - k - 1) / factorial(count) for k in range(count)]
    )
    parts = np.empty(count)
    for j in range(count):
        without = subset[~changed[:, j]]
        gained = values[without | (1 << j)] - values[without]
        parts[j] = share[size[without]] @ gained
    return parts


def _over_some_orders(
    value_of: ValueOf, state: Floats, baseline: Floats, differ: NDArray[np.intp]
) -> Floats:
    random = np.random.default_rng(0)
    count = len(differ)
    parts = np.zeros(count)
    for _ in range(ORDERS):
        order = random.permutation(count)
        # An order and its reverse: interactions of two variables are then split exactly.
        for each in (order, order[::-1]):
            states = np.tile(baseline, (count + 1, 1))
            for step, j in enumerate(each, start=1):
                states[step:, differ[j]] = state[differ[j]]
            parts[each] += np.diff(value_of(states))
    return parts / (2 * ORDERS)

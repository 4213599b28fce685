"""How much more one action is worth than another: at the trial's decisions, over features, over
variables, and in two policies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import SettingError
from smdp.explanation.policy_explanation import FEWEST_RESAMPLES, NORMAL_QUANTILE, observed_states
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.q_function import QFunction
from smdp.result import Content
from smdp.text import listing

Floats = NDArray[np.float64]

#: Values of a variable or feature at which a curve or a plane is computed.
CURVE_POINTS, PLANE_POINTS = 25, 31
#: Decisions averaged over, evenly spaced over the trial: more would only smooth the last digit.
MOST_FOR_CURVE, MOST_FOR_PLANE = 1000, 200
#: A place of a plane counts as seen if this many decisions lie within so many standard deviations.
FEWEST_NEAR, NEAR = 5, 0.5


@dataclass(frozen=True, eq=False, repr=False)
class ObservedDifferences(Content):
    """Q(action) - Q(reference) at each of the R decisions at which there was a choice.

    `certain`: the difference exceeds its bootstrap error at the policy's level for abstaining;
    everywhere without refits.
    """

    action: str
    reference: str
    difference: Floats  # (R,)
    error: Floats  # (R,): standard deviation over the refits; NaN without them
    certain: NDArray[np.bool_]  # (R,)
    level: float


@dataclass(frozen=True, eq=False, repr=False)
class DifferenceCurve(Content):
    """The average of Q(action) - Q(reference) with one variable or feature set to each value.

    95 % intervals, the estimate plus or minus 1.96 standard deviations over the refits; NaN without
    enough of them. `seen`: the values of the decisions.
    """

    name: str
    action: str
    reference: str
    at: Floats  # (m,), increasing
    estimate: Floats  # (m,)
    lower: Floats  # (m,)
    upper: Floats  # (m,)
    seen: Floats  # (R,)
    variable: Variable | None = None  # None: a feature


@dataclass(frozen=True, eq=False, repr=False)
class DifferencePlane(Content):
    """The average of Q(action) - Q(reference) with two features set to each pair of values."""

    across: str
    up: str
    action: str
    reference: str
    x: Floats  # (m,)
    y: Floats  # (m,)
    difference: Floats  # (m, m): a row for each y; NaN where hardly any decision was near
    seen: Floats  # (R, 2)
    taken: NDArray[np.int64]  # (R,): the action


@dataclass(frozen=True, eq=False, repr=False)
class PolicyComparison(Content):
    """Two policies at the same decisions."""

    action: str
    reference: str
    first: Floats  # (R,): Q(action) - Q(reference)
    second: Floats  # (R,)
    correlation: float  # NaN if one of them is constant
    same_best: float  # the share of decisions with the same best action
    both_recommend: float  # the share at which neither abstains
    same_recommended: float  # of these, the share with the same recommendation; NaN if none


def observed_differences(
    policy: LearnedPolicy, trajectories: Trajectories, action: str, reference: str
) -> ObservedDifferences:
    """At every decision of the trial at which there was a choice."""
    pair = _pair(policy, action, reference)
    features = policy.feature_map.transform(observed_states(policy, trajectories))
    difference = _difference(policy.q, features, pair)
    level = policy.settings.abstain_level
    error = np.full(len(difference), np.nan)
    certain = np.ones(len(difference), dtype=bool)
    if len(policy.resampled) > 1:
        again = np.stack([_difference(q, features, pair) for q in policy.resampled])
        error = again.std(axis=0, ddof=1)
        certain = np.abs(difference) > NormalDist().inv_cdf(1 - level) * error
    return ObservedDifferences(action, reference, difference, error, certain, level)


def average_difference(
    policy: LearnedPolicy, trajectories: Trajectories, action: str, reference: str
) -> tuple[float, float]:
    """Over these decisions, and its standard error by the refits; NaN without them."""
    pair = _pair(policy, action, reference)
    features = policy.feature_map.transform(observed_states(policy, trajectories))
    again = [float(_difference(q, features, pair).mean()) for q in policy.resampled]
    error = float(np.std(again, ddof=1)) if len(again) > 1 else float("nan")
    return float(_difference(policy.q, features, pair).mean()), error


def over_variable(
    policy: LearnedPolicy, trajectories: Trajectories, variable: str, action: str, reference: str
) -> DifferenceCurve:
    """The partial dependence on one original variable, everything else as observed.

    Reference: Friedman (2001), "Greedy function approximation", section 8.2.
    """
    pair = _pair(policy, action, reference)
    if variable not in policy.variables:
        raise SettingError(
            f"The policy has no variable '{variable}'.",
            f"Its variables are: {listing(policy.variables, 20)}.",
        )
    column = policy.variables.index(variable)
    states = observed_states(policy, trajectories)
    at = _grid(states[:, column])
    some = _evenly(states, MOST_FOR_CURVE)
    draws = np.empty((1 + len(policy.resampled), len(at)))
    # Who has one level of a nominal variable has none of the others.
    about = trajectories.variable(variable)
    others = [
        policy.variables.index(name)
        for name in (trajectories.variables[j] for j in trajectories.wholes[about.belongs_to])
        if about.whole_kind == "nominal" and name != variable and name in policy.variables
    ]
    for k, value in enumerate(at):
        changed = some.copy()
        changed[:, column] = value
        if others and value == 1:
            changed[:, others] = 0.0
        features = policy.feature_map.transform(changed)
        draws[:, k] = _averages(policy, features, pair)
    curve = _curve(variable, action, reference, at, draws, states[:, column])
    return replace(curve, variable=trajectories.variable(variable))


def over_feature(
    policy: LearnedPolicy, trajectories: Trajectories, feature: str, action: str, reference: str
) -> DifferenceCurve:
    """The partial dependence on one feature, the other features as observed."""
    pair = _pair(policy, action, reference)
    column = _feature(policy, feature)
    features = policy.feature_map.transform(observed_states(policy, trajectories))
    at = _grid(features[:, column])
    some = _evenly(features, MOST_FOR_CURVE)
    draws = np.empty((1 + len(policy.resampled), len(at)))
    for k, value in enumerate(at):
        changed = some.copy()
        changed[:, column] = value
        draws[:, k] = _averages(policy, changed, pair)
    return _curve(feature, action, reference, at, draws, features[:, column])


def over_two_features(
    policy: LearnedPolicy,
    trajectories: Trajectories,
    across: str,
    up: str,
    action: str,
    reference: str,
) -> DifferencePlane:
    """The partial dependence on two features, the others as observed.

    Places with fewer than 5 decisions within half a standard deviation of both features are left
    empty: what the Q-function says there is extrapolated.
    """
    pair = _pair(policy, action, reference)
    columns = [_feature(policy, across), _feature(policy, up)]
    if columns[0] == columns[1]:
        raise SettingError(f"Both features are '{across}'.", "Choose two different ones.")
    features = policy.feature_map.transform(observed_states(policy, trajectories))
    seen = features[:, columns]
    x, y = (np.linspace(v.min(), v.max(), PLANE_POINTS) for v in seen.T)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    near = _near(places, seen)
    some = features[:1] if features.shape[1] == 2 else _evenly(features, MOST_FOR_PLANE)
    found = np.full(len(places), np.nan)
    for k in np.flatnonzero(near):
        changed = some.copy()
        changed[:, columns] = places[k]
        found[k] = _difference(policy.q, changed, pair).mean()
    chosen = trajectories.valid & trajectories.available
    return DifferencePlane(
        across=across,
        up=up,
        action=action,
        reference=reference,
        x=x,
        y=y,
        difference=found.reshape(len(y), len(x)),
        seen=seen,
        taken=trajectories.actions[chosen],
    )


def compare_policies(
    first: LearnedPolicy,
    second: LearnedPolicy,
    trajectories: Trajectories,
    action: str,
    reference: str,
) -> PolicyComparison:
    """At every decision with a choice; the two may use different features and variables."""
    chosen = trajectories.valid & trajectories.available
    possible = trajectories.possible[chosen]
    differences: list[Floats] = []
    decisions = []
    for policy in (first, second):
        states = observed_states(policy, trajectories)
        pair = _pair(policy, action, reference)
        differences.append(_difference(policy.q, policy.feature_map.transform(states), pair))
        decisions.append(policy.decide(states, possible))
    both = (decisions[0].recommended >= 0) & (decisions[1].recommended >= 0)
    same = decisions[0].recommended == decisions[1].recommended
    varied = all(np.ptp(each) > 0 for each in differences)
    return PolicyComparison(
        action=action,
        reference=reference,
        first=differences[0],
        second=differences[1],
        correlation=float(np.corrcoef(differences[0], differences[1])[0, 1])
        if varied
        else float("nan"),
        same_best=float((decisions[0].best == decisions[1].best).mean()),
        both_recommend=float(both.mean()),
        same_recommended=float(same[both].mean()) if both.any() else float("nan"),
    )


def _pair(policy: LearnedPolicy, action: str, reference: str) -> tuple[int, int]:
    labels = policy.action_labels
    for name in (action, reference):
        if name not in labels:
            raise SettingError(
                f"'{name}' is no action of the policy.", f"The actions are: {listing(labels, 20)}."
            )
    if action == reference:
        raise SettingError(
            f"'{action}' cannot be compared with itself.", "Choose two different actions."
        )
    return labels.index(action), labels.index(reference)


def _feature(policy: LearnedPolicy, name: str) -> int:
    names = policy.feature_map.features
    if name not in names:
        raise SettingError(
            f"The policy has no feature '{name}'.", f"Its features are: {listing(names, 20)}."
        )
    return names.index(name)


def _difference(q: QFunction, features: Floats, pair: tuple[int, int]) -> Floats:
    values = q(features)
    return np.asarray(values[:, pair[0]] - values[:, pair[1]])


def _averages(policy: LearnedPolicy, features: Floats, pair: tuple[int, int]) -> Floats:
    """(1 + B,): the mean difference over the rows, by the Q-function and by each refit."""
    every = (policy.q, *policy.resampled)
    return np.array([_difference(q, features, pair).mean() for q in every])


def _grid(values: Floats) -> Floats:
    """The values themselves where they are few, else evenly spaced ones from end to end."""
    distinct = np.unique(values)
    if len(distinct) <= CURVE_POINTS:
        return distinct
    return np.linspace(distinct[0], distinct[-1], CURVE_POINTS)


def _evenly(rows: Floats, most: int) -> Floats:
    count = min(most, len(rows))
    return rows[np.linspace(0, len(rows) - 1, count).astype(np.int64)]


def _near(places: Floats, seen: Floats) -> NDArray[np.bool_]:
    sd = seen.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    apart = sum(
        np.square((places[:, j, None] - seen[None, :, j]) / scale[j]) for j in range(seen.shape[1])
    )
    return np.asarray((apart <= NEAR**2).sum(axis=1) >= min(FEWEST_NEAR, len(seen)))


def _curve(
    name: str, action: str, reference: str, at: Floats, draws: Floats, seen: Floats
) -> DifferenceCurve:
    error = np.full(len(at), np.nan)
    if len(draws) - 1 >= FEWEST_RESAMPLES:
        error = draws[1:].std(axis=0, ddof=1)
    estimate, width = draws[0], NORMAL_QUANTILE * error
    return DifferenceCurve(
        name, action, reference, at, estimate, estimate - width, estimate + width, seen
    )

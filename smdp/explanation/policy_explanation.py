"""Why a policy says what it says, on average: from actions to features to original variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable, described, table_in_own_units, variable_of
from smdp.errors import DataError, SettingError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.layers import ACTIVATIONS, ROWS_NEAR, SLOPES, Layer
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.q_function import QFunction
from smdp.result import Result
from smdp.text import listing

Floats = NDArray[np.float64]
Contrasts = Sequence[tuple[int, int]]  # (action, reference): Q(action) - Q(reference)

NORMAL_QUANTILE = 1.959964  # of 97.5 %
FEWEST_RESAMPLES = 10


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """What speaks for each action rather than the reference, in units of the discounted utility.

    Estimates have 95 % intervals, the estimate plus or minus 1.96 bootstrap standard errors (the
    spread over Q-functions refitted on resampled subjects, the feature map held fixed); NaN without
    refits. `established`: the interval excludes 0. `agreement`: the share of observed states at
    which the sign is that of the average; near 1 for an effect that is monotone.
    """

    reference: str
    actions: tuple[str, ...]  # those compared with the reference
    average: pd.DataFrame  # action, estimate, lower, upper, established, ahead (share of states)
    features: pd.DataFrame  # action, feature, estimate, lower, upper, established, agreement
    weights: pd.DataFrame  # feature x variable: what drives the features
    weights_are: Literal["first layer", "average gradient"]
    variables: pd.DataFrame  # action, variable, kind, low, high, sd, used, estimate, .., agreement
    states: int  # decisions averaged over
    resamples: int  # refits that the intervals come from; 0 if there are fewer than 10
    about: tuple[Variable, ...] = ()  # what the variables are

    def variable(self, name: str) -> Variable:
        """What the variable of this name is."""
        return variable_of(self.about, name)

    def in_own_units(self) -> Explanation:
        """The same effects, with each variable's low, high and sd in its own units."""
        table = table_in_own_units(self.variables, self.about, ("low", "high"), ("sd",))
        return replace(self, variables=table, about=tuple(v.in_own_units() for v in self.about))


def explain_policy(
    policy: LearnedPolicy,
    trajectories: Trajectories,
    *,
    action: str | None = None,
    reference: str | None = None,
) -> Explanation:
    """Which features, and hence which variables, favour an action rather than the reference.

    With D(s) = Q(s, action) - Q(s, reference) and averages over the observed decisions at which
    there was a choice:

    - a feature's effect is the average of dD / d feature, times the feature's standard deviation;
      for the linear model that is the difference between the actions' parameters;
    - a variable's effect is the average of dD / d variable, by the chain rule through the feature
      map, times the variable's standard deviation;
    - for a variable with two values, the average of D with the higher value minus D with the
      lower, everything else as observed.

    `action=None` explains every action but the reference, which is the first one by default.
    """
    contrasts = _contrasts(policy, action, reference)
    states = observed_states(policy, trajectories)
    features = policy.feature_map.transform(states)
    every = (policy.q, *policy.resampled)
    labels = policy.action_labels

    ahead = [_difference(policy.q(features), [c])[:, 0] for c in contrasts]
    average = np.stack([_difference(q(features), contrasts).mean(axis=0) for q in every])
    of_features = [by_feature(q, features, contrasts).mean(axis=0) * policy.q.scale for q in every]
    same = _agreement(by_feature(policy.q, features, contrasts))
    names = [labels[a] for a, _ in contrasts]
    return Explanation(
        reference=labels[contrasts[0][1]],
        actions=tuple(names),
        average=pd.DataFrame(
            {
                "action": names,
                **_estimates(average),
                "ahead": [float((d > 0).mean()) for d in ahead],
            }
        ),
        features=pd.DataFrame(
            {
                "action": np.repeat(names, features.shape[1]),
                "feature": list(policy.feature_map.features) * len(names),
                **_estimates(np.stack(of_features)),
                "agreement": same.ravel(),
            }
        ),
        weights=policy.feature_map.weights,
        weights_are=policy.feature_map.weights_are,
        variables=_variable_table(policy, states, contrasts),
        states=len(states),
        resamples=len(policy.resampled) if len(policy.resampled) >= FEWEST_RESAMPLES else 0,
        about=described(policy.variables, trajectories.about),
    )


def observed_states(policy: LearnedPolicy, trajectories: Trajectories) -> Floats:
    """(rows, p): the states of the decisions at which there was a choice, in the policy's order."""
    absent = [name for name in policy.variables if name not in trajectories.variables]
    if absent:
        raise DataError(
            f"The policy was learned with the variable {listing(absent)}, which these data do not "
            "have.",
            f"Give the data that it was learned from; it expects: {listing(policy.variables, 20)}.",
        )
    chosen = trajectories.select(policy.variables)
    rows = chosen.states[:, :-1][chosen.valid & chosen.available]
    if not len(rows):
        raise DataError(
            "There is no valid decision at which an action could be chosen.",
            "Check the roles of the columns, the availability and the exclusions.",
        )
    return rows


def _contrasts(policy: LearnedPolicy, action: str | None, reference: str | None) -> Contrasts:
    labels = policy.action_labels
    for name, value in (("action", action), ("reference", reference)):
        if value is not None and value not in labels:
            raise SettingError(
                f"The setting '{name}' names '{value}', which is no action.",
                f"The actions are: {listing(labels, 20)}.",
            )
    if reference is None:
        reference = next(label for label in labels if label != action)
    if action == reference:
        raise SettingError(
            f"The settings 'action' and 'reference' are both '{action}'.",
            "Compare an action with another one.",
        )
    others = [action] if action is not None else [label for label in labels if label != reference]
    return [(labels.index(other), labels.index(reference)) for other in others]


def _variable_table(policy: LearnedPolicy, states: Floats, contrasts: Contrasts) -> pd.DataFrame:
    fitted = policy.feature_map
    used = np.isin(fitted.variables, fitted.variables_used)
    sd = states.std(axis=0)
    # A variable with two values has no derivative worth the name; only their difference is asked.
    two_valued = {
        j: (float(values[0]), float(values[1]))
        for j in np.flatnonzero(used).tolist()
        if len(values := np.unique(states[:, j])) == 2
    }
    every = (policy.q, *policy.resampled)
    effects = np.stack([by_variable(fitted, q, states, contrasts).mean(axis=0) * sd for q in every])
    agreement = _agreement(by_variable(fitted, policy.q, states, contrasts) * sd)
    for j, ends in two_valued.items():
        lower, higher = (fitted.transform(_with_value(states, j, end)) for end in ends)
        own = [_difference(q(higher) - q(lower), contrasts) for q in every]
        effects[:, :, j] = [each.mean(axis=0) for each in own]
        agreement[:, j] = _agreement(own[0])
    count = len(contrasts)
    low, high = states.min(axis=0), states.max(axis=0)
    return pd.DataFrame(
        {
            "action": np.repeat([policy.action_labels[a] for a, _ in contrasts], len(sd)),
            "variable": list(fitted.variables) * count,
            "kind": ["two values" if j in two_valued else "scale" for j in range(len(sd))] * count,
            "low": np.tile(low, count),
            "high": np.tile(high, count),
            "sd": np.tile(sd, count),
            "used": np.tile(used, count),
            **_estimates(effects),
            "agreement": agreement.ravel(),
        }
    )


def _with_value(states: Floats, column: int, value: float) -> Floats:
    changed = states.copy()
    changed[:, column] = value
    return changed


def _difference(values: Floats, contrasts: Contrasts) -> Floats:
    """(rows, contrasts): Q(action) - Q(reference) from Q-values (rows, K)."""
    return np.stack([values[:, a] - values[:, b] for a, b in contrasts], axis=1)


def _agreement(effects: Floats) -> Floats:
    """The share of rows whose sign is that of the mean over the rows; 1 if all are 0."""
    same = np.sign(effects) == np.sign(effects.mean(axis=0))
    return np.asarray(same.mean(axis=0))


def _estimates(draws: Floats) -> dict[str, NDArray]:
    """Estimates and intervals, flat, from (1 + B, ..): what was found, then in each refit."""
    estimate = draws[0].ravel()
    error = np.full(estimate.shape, np.nan)
    if len(draws) - 1 >= FEWEST_RESAMPLES:
        error = draws[1:].std(axis=0, ddof=1).ravel()
    lower, upper = estimate - NORMAL_QUANTILE * error, estimate + NORMAL_QUANTILE * error
    return {
        "estimate": estimate,
        "lower": lower,
        "upper": upper,
        "established": (lower > 0) | (upper < 0),
    }


def by_feature(q: QFunction, features: Floats, contrasts: Contrasts) -> Floats:
    """(rows, contrasts, q): d {Q(a) - Q(b)} / d feature, at each row of features (rows, q)."""
    last = q.layers[-1].weights
    outer = np.stack([last[a] - last[b] for a, b in contrasts])
    outer = np.broadcast_to(outer, (len(features), *outer.shape))
    inputs = (features - q.centre) / q.scale
    return pulled_back(q.layers[:-1], "relu", inputs, outer) / q.scale


def by_variable(
    feature_map: FittedFeatureMap, q: QFunction, states: Floats, contrasts: Contrasts
) -> Floats:
    """(rows, contrasts, p): d {Q(a) - Q(b)} / d variable, by the chain rule through the features.

    Zero for variables that the map does not use.
    """
    outer = by_feature(q, feature_map.transform(states), contrasts)
    used = np.array([feature_map.variables.index(name) for name in feature_map.variables_used], int)
    inputs = (states[:, used] - feature_map.centre[used]) / feature_map.scale[used]
    first = feature_map.layers[0]
    layers = (Layer(first.weights[:, used], first.bias), *feature_map.layers[1:])
    found = np.zeros((*outer.shape[:2], len(feature_map.variables)))
    found[:, :, used] = (
        pulled_back(layers, feature_map.activation, inputs, outer) / feature_map.scale[used]
    )
    return found


def pulled_back(layers: Sequence[Layer], activation: str, inputs: Floats, outer: Floats) -> Floats:
    """(rows, m, in): derivatives `outer` (rows, m, out) by the outputs, turned into ones by inputs.

    Backwards, as m is small where the numbers of features and variables need not be.
    """
    if layers and len(inputs) > ROWS_NEAR:
        parts = [slice(k, k + ROWS_NEAR) for k in range(0, len(inputs), ROWS_NEAR)]
        return np.concatenate(
            [pulled_back(layers, activation, inputs[some], outer[some]) for some in parts]
        )
    before = []
    for layer in layers:
        before.append(inputs @ layer.weights.T + layer.bias)
        inputs = ACTIVATIONS[activation](before[-1])
    for layer, values in zip(reversed(layers), reversed(before), strict=True):
        outer = (outer * SLOPES[activation](values)[:, None, :]) @ layer.weights
    return outer

"""Derivatives of differences between Q-values, by features and by original variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smdp.feature_map.layers import ACTIVATIONS, SLOPES, Layer
from smdp.feature_map.result import FittedFeatureMap
from smdp.policy.q_function import QFunction

Floats = NDArray[np.float64]
Contrasts = Sequence[tuple[int, int]]  # (action, reference): Q(action) - Q(reference)


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
    before = []
    for layer in layers:
        before.append(inputs @ layer.weights.T + layer.bias)
        inputs = ACTIVATIONS[activation](before[-1])
    for layer, values in zip(reversed(layers), reversed(before), strict=True):
        outer = (outer * SLOPES[activation](values)[:, None, :]) @ layer.weights
    return outer

"""Signs and order of the features, which a network leaves open, made the same for every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.feature_map.layers import ODD, Layer, apply, average_gradient

#: Ridge for the utility's regression on the features: features may be collinear.
RIDGE = 1e-3


def identified(
    layers: tuple[Layer, ...],
    activation: str,
    inputs: NDArray[np.float64],  # (R, p), standardised
    utilities: NDArray[np.float64],  # (R,)
    head: NDArray[np.int64],  # (R,): the action
) -> tuple[Layer, ...]:
    """The same map with its features signed and ordered.

    Each feature's weight of largest size is made positive. Features are ordered by what they add to
    the difference between the actions: the spread over actions of the coefficients in a regression
    of the utility on the standardised features (the Q-functions at discount 0).
    """
    last = layers[-1]
    weights = shown_weights(layers, activation, inputs)
    if activation in ODD:
        largest = weights[np.arange(len(weights)), np.abs(weights).argmax(axis=1)]
        sign = np.where(largest < 0, -1.0, 1.0)
        last = Layer(sign[:, None] * last.weights, sign * last.bias)
    features = apply((*layers[:-1], last), activation, inputs)
    order = np.argsort(-_action_effects(features, utilities, head), kind="stable")
    return (*layers[:-1], Layer(last.weights[order], last.bias[order]))


def shown_weights(
    layers: tuple[Layer, ...], activation: str, inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(q, p): the weights of a map of one layer, average gradients of a deeper one."""
    if len(layers) == 1:
        return layers[0].weights
    return average_gradient(layers, activation, inputs)


def _action_effects(
    features: NDArray[np.float64], utilities: NDArray[np.float64], head: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(q,): the standard deviation over actions of each feature's coefficient."""
    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    coefficients = []
    for a in np.unique(head):
        x = standard[head == a]
        x = x - x.mean(axis=0)
        y = utilities[head == a]
        gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        coefficients.append(np.linalg.solve(gram, x.T @ (y - y.mean())))
    return np.asarray(np.std(coefficients, axis=0))

"""A network as plain arrays, and what it computes: everything but the training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.memory_layout import in_c_order
from smdp.result import Content

Elementwise = Callable[[NDArray[np.float64]], NDArray[np.float64]]

ACTIVATIONS: dict[str, Elementwise] = {
    "arctan": np.arctan,
    "tanh": np.tanh,
    "relu": lambda values: np.maximum(values, 0.0),
    "identity": lambda values: values,
}

SLOPES: dict[str, Elementwise] = {
    "arctan": lambda values: 1 / (1 + values * values),
    "tanh": lambda values: 1 - np.tanh(values) ** 2,
    "relu": lambda values: (values > 0).astype(np.float64),
    "identity": np.ones_like,
}

#: Flipping the sign of the input flips that of the output.
ODD = ("arctan", "tanh", "identity")


#: As many rows as stay near the processor on their way through a network.
ROWS_NEAR = 8192
#: Derivatives are (rows, out, in): this many rows at once bound the memory.
ROWS_AT_ONCE = 2000


@dataclass(frozen=True, eq=False, repr=False)
class Layer(Content):
    """x -> weights x + bias, before the activation."""

    weights: NDArray[np.float64]  # (out, in)
    bias: NDArray[np.float64]  # (out,)

    def __post_init__(self) -> None:
        in_c_order(self)


@dataclass(frozen=True, eq=False, repr=False)
class Network(Content):
    """A feature map and one head for each action, all on standardised values."""

    features: tuple[Layer, ...]  # an activation after each
    heads: tuple[tuple[Layer, ...], ...]  # an activation after each but the last
    activation: str

    @property
    def finite(self) -> bool:
        every = [*self.features, *(layer for head in self.heads for layer in head)]
        return all(np.isfinite(a).all() for each in every for a in (each.weights, each.bias))

    @property
    def selected(self) -> tuple[int, ...]:
        """The inputs whose column of the first layer is not exactly zero."""
        return tuple(np.flatnonzero(self.features[0].weights.any(axis=0)).tolist())

    def predict(self, inputs: NDArray[np.float64], head: NDArray[np.int64]) -> NDArray[np.float64]:
        """(rows, outputs): each row's prediction by the head of its action."""
        features = apply(self.features, self.activation, inputs)
        found = np.empty((len(inputs), len(self.heads[0][-1].bias)))
        for a, layers in enumerate(self.heads):
            rows = np.flatnonzero(head == a)
            hidden = apply(layers[:-1], self.activation, features[rows])
            found[rows] = hidden @ layers[-1].weights.T + layers[-1].bias
        return found


def apply(
    layers: Sequence[Layer], activation: str, inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(..., out): the layers one after the other, with the activation after each."""
    if layers and inputs.ndim == 2 and len(inputs) > ROWS_NEAR:
        parts = range(0, len(inputs), ROWS_NEAR)
        return np.concatenate([apply(layers, activation, inputs[k : k + ROWS_NEAR]) for k in parts])
    for layer in layers:
        inputs = ACTIVATIONS[activation](inputs @ layer.weights.T + layer.bias)
    return inputs


def average_gradient(
    layers: Sequence[Layer], activation: str, inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(out, in): the mean over the rows of the derivative of each feature by each input."""
    total = np.zeros((len(layers[-1].bias), inputs.shape[1]))
    for start in range(0, len(inputs), ROWS_AT_ONCE):
        values = inputs[start : start + ROWS_AT_ONCE]
        gradient = np.eye(inputs.shape[1])  # becomes (rows, out, in)
        for layer in layers:
            before = values @ layer.weights.T + layer.bias
            gradient = SLOPES[activation](before)[:, :, None] * (layer.weights @ gradient)
            values = ACTIVATIONS[activation](before)
        total += gradient.sum(axis=0)
    return total / len(inputs)

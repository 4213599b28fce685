"""Many networks as one: a leading axis for the model, and one batched product for each layer.

Networks of fewer features or narrower layers are padded to the size of the largest. A padded unit
has no outgoing weight and its gradient is masked, so a network computes and learns the same
whatever it is batched with.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.layers import Layer, Network

ACTIVATIONS = {"arctan": torch.atan, "tanh": torch.tanh, "relu": torch.relu}


def initial_network(
    spec: ModelSpec,
    columns: int,
    outputs: int,
    heads: int,
    *,
    interpretable: bool,
    activation: str,
    seed: np.random.SeedSequence,
) -> Network:
    """Random weights with variance 1 / (number of inputs), zero for the inputs not allowed."""
    key = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *spec.key))
    random = np.random.default_rng(key)
    hidden = [spec.width] * spec.depth

    def layers(sizes: list[int]) -> tuple[Layer, ...]:
        return tuple(
            Layer(random.standard_normal((out, into)) / np.sqrt(into), np.zeros(out))
            for into, out in pairwise(sizes)
        )

    features = layers([columns, *([] if interpretable else hidden), spec.dimension])
    if spec.inputs is not None:
        first = features[0].weights
        allowed = np.isin(np.arange(columns), spec.inputs)
        # As large as if the inputs that are not allowed were not there.
        first *= allowed * np.sqrt(columns / max(1, len(spec.inputs)))
    return Network(
        features=features,
        heads=tuple(layers([spec.dimension, *hidden, outputs]) for _ in range(heads)),
        activation=activation,
    )


class BatchedLayer:
    """x (M, rows, in) -> x W + b (M, rows, out), with W (M, in, out) and b (M, 1, out)."""

    def __init__(self, layers: Sequence[Layer], allowed: Sequence[Sequence[int] | None]) -> None:
        into = max(layer.weights.shape[1] for layer in layers)
        out = max(layer.weights.shape[0] for layer in layers)
        weights = np.zeros((len(layers), into, out), dtype=np.float32)
        bias = np.zeros((len(layers), 1, out), dtype=np.float32)
        mask = np.zeros((len(layers), into, 1), dtype=np.float32)
        for m, (layer, inputs) in enumerate(zip(layers, allowed, strict=True)):
            rows, columns = layer.weights.shape
            weights[m, :columns, :rows] = layer.weights.T
            bias[m, 0, :rows] = layer.bias
            mask[m, list(range(columns) if inputs is None else inputs)] = 1
        self.sizes = [layer.weights.shape for layer in layers]
        self.weights = torch.from_numpy(weights).requires_grad_()
        self.bias = torch.from_numpy(bias).requires_grad_()
        self.mask = None if mask.all() else torch.from_numpy(mask)

    def __call__(self, inputs: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, inputs, self.weights)

    def mask_gradient(self) -> None:
        if self.mask is not None and self.weights.grad is not None:
            self.weights.grad.mul_(self.mask)

    def unpack(self, m: int) -> Layer:
        rows, columns = self.sizes[m]
        weights = self.weights.detach()[m, :columns, :rows].numpy().T
        bias = self.bias.detach()[m, 0, :rows].numpy()
        return Layer(weights.astype(np.float64), bias.astype(np.float64))


class BatchedNetwork:
    """M networks of the same depth; `allowed` are the inputs each may use, None for all."""

    def __init__(
        self, networks: Sequence[Network], allowed: Sequence[Sequence[int] | None]
    ) -> None:
        self._names = [network.activation for network in networks]
        self._activation = ACTIVATIONS[networks[0].activation]
        free: list[Sequence[int] | None] = [None] * len(networks)
        self.features = [
            BatchedLayer([network.features[k] for network in networks], free if k else allowed)
            for k in range(len(networks[0].features))
        ]
        self.heads = [
            [
                BatchedLayer([network.heads[a][k] for network in networks], free)
                for k in range(len(networks[0].heads[a]))
            ]
            for a in range(len(networks[0].heads))
        ]

    def map(self, inputs: Tensor) -> Tensor:
        """(M, rows, q): the features of (M, rows, p)."""
        for layer in self.features:
            inputs = self._activation(layer(inputs))
        return inputs

    def predict(self, features: Tensor, head: int) -> Tensor:
        """(M, rows, outputs) from features and the head of an action."""
        *hidden, last = self.heads[head]
        for layer in hidden:
            features = self._activation(layer(features))
        result: Tensor = last(features)
        return result

    def unpack(self) -> list[Network]:
        """The networks as plain arrays, without the padding."""
        return [
            Network(
                features=tuple(layer.unpack(m) for layer in self.features),
                heads=tuple(tuple(layer.unpack(m) for layer in head) for head in self.heads),
                activation=self._names[m],
            )
            for m in range(len(self._names))
        ]

"""Where the training of a network begins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.layers import Layer, Network


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

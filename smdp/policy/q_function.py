"""A Q-function on features, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.feature_map.layers import Layer, apply


@dataclass(frozen=True)
class QFunction:
    """features (..., q) -> Q-values (..., K): linear with one layer, else a relu network."""

    centre: NDArray[np.float64]  # (q,), of the features
    scale: NDArray[np.float64]  # (q,)
    layers: tuple[Layer, ...]  # on standardised features; relu after each but the last

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        hidden = apply(self.layers[:-1], "relu", (features - self.centre) / self.scale)
        last = self.layers[-1]
        return np.asarray(hidden @ last.weights.T + last.bias)

"""A Q-function on features as plain arrays, and what learning one gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.feature_map.layers import Layer, apply
from smdp.policy.decision_rows import DecisionRows
from smdp.result import Content


@dataclass(frozen=True, eq=False, repr=False)
class QFunction(Content):
    """features (..., q) -> Q-values (..., K): linear with one layer, else a relu network."""

    centre: NDArray[np.float64]  # (q,), of the features
    scale: NDArray[np.float64]  # (q,)
    layers: tuple[Layer, ...]  # on standardised features; relu after each but the last

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        hidden = apply(self.layers[:-1], "relu", (features - self.centre) / self.scale)
        last = self.layers[-1]
        return np.asarray(hidden @ last.weights.T + last.bias)


@dataclass(frozen=True)
class FittedQ:
    """The Q-function of the trial, then those of the resampled trials."""

    functions: tuple[QFunction, ...]
    change: tuple[float, ...]  # by iteration: root mean square change of Q at the next states
    switched: tuple[float, ...]  # by iteration: the share of those with another best action
    converged: bool
    notes: tuple[str, ...] = ()

    @property
    def history(self) -> pd.DataFrame:
        iteration = np.arange(1, len(self.change) + 1)
        return pd.DataFrame(
            {"iteration": iteration, "change": self.change, "switched": self.switched}
        )


def q_function(rows: DecisionRows, layers: Sequence[Layer]) -> QFunction:
    """From layers with an output for each level: without that of those who had no choice."""
    last = layers[-1]
    own = Layer(last.weights[: rows.actions], last.bias[: rows.actions])
    return QFunction(rows.scale.mean, rows.scale.sd, (*layers[:-1], own))

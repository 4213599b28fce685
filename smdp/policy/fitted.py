"""What learning a Q-function gives, whichever way it was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.feature_map.layers import Layer
from smdp.policy.q_function import QFunction
from smdp.policy.rows import DecisionRows


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

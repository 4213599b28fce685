"""The rows that each step of training takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from smdp.feature_map.adnn.specification import HowToTrain
from smdp.feature_map.transitions import TrainingSets


class Minibatches:
    """The standardised rows of the training sets in use, and which of them each step takes."""

    def __init__(
        self,
        sets: TrainingSets,
        datasets: Sequence[int],
        how: HowToTrain,
        seed: np.random.SeedSequence,
    ) -> None:
        used = sorted(set(datasets))
        place = [used.index(d) for d in datasets]
        self._states = _stacked([sets.states(d) for d in used])
        self._outcomes = _stacked([sets.outcomes(d) for d in used])
        count = len(sets.rows.head)
        self._model = torch.tensor(place)
        orders = [
            np.stack([_order(sets, d, a, how, seed) + count * i for i, d in enumerate(used)])
            for a in range(sets.rows.heads)
        ]
        self._orders = [torch.from_numpy(order) for order in orders]
        self._batch = how.batch

    def rows(self, head: int, step: int) -> Tensor:
        """(M, rows): where the rows of this step are, for each network."""
        order = self._orders[head]
        if self._batch is not None:
            order = order[:, step * self._batch : (step + 1) * self._batch]
        return order[self._model]

    def states(self, rows: Tensor) -> Tensor:
        return self._states[rows]

    def outcomes(self, rows: Tensor) -> Tensor:
        return self._outcomes[rows]


def _stacked(values: list[NDArray[np.float64]]) -> Tensor:
    return torch.from_numpy(np.concatenate(values).astype(np.float32))


def _order(
    sets: TrainingSets, dataset: int, head: int, how: HowToTrain, seed: np.random.SeedSequence
) -> NDArray[np.int64]:
    """The training rows of an action, shuffled anew each time all have been used."""
    rows = np.flatnonzero(sets.training(dataset) & (sets.rows.head == head))
    if how.batch is None:
        return rows
    # 2**32 - 1: a key that no network's random start has.
    key = (*seed.spawn_key, 2**32 - 1, dataset, head)
    random = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))
    needed = how.steps * how.batch
    shuffled = [random.permutation(rows) for _ in range(-(-needed // len(rows)))]
    return np.concatenate(shuffled)[:needed]

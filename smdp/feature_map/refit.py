"""The unpenalised refit on the selected variables: the map that is used, and its residuals.

A penalised fit is biased where the signal is steep. So the penalty only selects; then networks on
the selected variables are trained without it, from several random starts, on all rows and without
each fold. The best start is the one with the lowest loss on its own training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.layers import Network
from smdp.feature_map.specification import HowToTrain, ModelSpec, failures
from smdp.feature_map.training import train
from smdp.feature_map.transitions import TrainingSets
from smdp.settings import FeatureMapSettings


@dataclass(frozen=True)
class Architecture:
    """What is refitted: so many features of these inputs, with hidden layers of this size."""

    dimension: int
    width: int
    depth: int
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Refitted:
    """A map without penalty."""

    network: Network  # trained on all rows
    folds: tuple[Network, ...]  # trained without each fold
    residuals: NDArray[np.float64]  # (R, 1 + p): out of fold, in the units of the outcomes


def how_to_refit(settings: FeatureMapSettings) -> HowToTrain:
    """Unpenalised training."""
    return HowToTrain(
        interpretable=settings.interpretable,
        activation=settings.activation,
        steps=settings.refit_steps,
        batch=settings.batch,
        learning_rate=settings.learning_rate,
        weight_decay=settings.refit_weight_decay,
        penalised=False,
        updates=settings.updates,
    )


def refit(
    sets: TrainingSets,
    architectures: Sequence[Architecture],
    settings: FeatureMapSettings,
    *,
    seed: np.random.SeedSequence,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[dict[Architecture, Refitted], list[str]]:
    """Every architecture refitted, and notes on starts that had to be left out."""
    datasets = range(sets.rows.folds + 1)
    specs = [
        ModelSpec(d, each.dimension, each.width, each.depth, 0.0, restart, each.inputs)
        for each in dict.fromkeys(architectures)
        for d in datasets
        for restart in range(settings.restarts)
    ]
    networks = train(sets, specs, how_to_refit(settings), seed=seed, report=report)
    failed = [s for s, n in zip(specs, networks, strict=True) if not n.finite]
    notes = [failures(failed, settings.activation)] if failed else []
    tried: dict[tuple[Architecture, int], list[Network]] = {}
    for spec, network in zip(specs, networks, strict=True):
        each = Architecture(spec.dimension, spec.width, spec.depth, spec.inputs or ())
        tried.setdefault((each, spec.dataset), []).append(network)
    found = {}
    for each in dict.fromkeys(architectures):
        best = [_best(sets, d, tried[each, d], notes) for d in datasets]
        folds = tuple(best[:-1])
        found[each] = Refitted(best[-1], folds, out_of_fold_residuals(sets, folds))
    return found, notes


def _best(
    sets: TrainingSets, dataset: int, networks: Sequence[Network], notes: list[str]
) -> Network:
    usable = [network for network in networks if network.finite]
    if not usable:
        raise DataError("No start of the refit could be trained.", notes[0])
    rows = sets.training(dataset)
    states, outcomes = sets.states(dataset, rows), sets.outcomes(dataset, rows)
    head = sets.rows.head[rows]
    losses = [np.square(each.predict(states, head) - outcomes).mean() for each in usable]
    return usable[int(np.argmin(losses))]


def out_of_fold_residuals(sets: TrainingSets, networks: Sequence[Network]) -> NDArray[np.float64]:
    """(R, 1 + p): outcome minus its prediction by the network that never saw its subject."""
    rows = sets.rows
    residuals = np.empty_like(rows.outcomes)
    for dataset, network in enumerate(networks):
        held_out = ~sets.training(dataset)
        predicted = network.predict(sets.states(dataset, held_out), rows.head[held_out])
        error = sets.outcomes(dataset, held_out) - predicted
        residuals[held_out] = error * sets.scales[dataset][1].sd
    return residuals


def residuals_without_state(sets: TrainingSets) -> NDArray[np.float64]:
    """(R, 1 + p): out of fold, with the mean of the action as the prediction."""
    rows = sets.rows
    residuals = np.empty_like(rows.outcomes)
    for fold in range(rows.folds):
        training = sets.training(fold)
        for a in range(rows.heads):
            own = rows.head == a
            mean = rows.outcomes[own & training].mean(axis=0)
            residuals[own & ~training] = rows.outcomes[own & ~training] - mean
    return residuals

"""The unpenalised refit on the selected variables: the map that is used, and its residuals.

A penalised fit is biased where the signal is steep. So the penalty only selects; then networks on
the selected variables are trained without it, from several random starts, on all rows and without
each fold. The best start is the one with the lowest loss on its own training rows.

How strongly weights decay is chosen for each architecture by the loss on held-out subjects. Noisy
studies of few rows need much: without it a network of many features overfits so badly that the full
state seems to predict worse than two features of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.adnn.specification import HowToTrain, ModelSpec, failures
from smdp.feature_map.adnn.training import train
from smdp.feature_map.adnn.tuning import held_out_loss
from smdp.feature_map.layers import Network
from smdp.feature_map.network_settings import NetworkSettings
from smdp.feature_map.transitions import TrainingSets, Transitions


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
    weight_decay: float  # the one with the lowest loss out of fold


def how_to_refit(settings: NetworkSettings) -> HowToTrain:
    """Unpenalised training."""
    return HowToTrain(
        interpretable=settings.interpretable,
        activation=settings.activation,
        steps=settings.refit_steps,
        batch=settings.batch,
        learning_rate=settings.learning_rate,
        penalised=False,
        updates=settings.turns,
    )


def refit(
    sets: TrainingSets,
    architectures: Sequence[Architecture],
    settings: NetworkSettings,
    *,
    seed: np.random.SeedSequence,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[dict[Architecture, Refitted], list[str]]:
    """Every architecture refitted, and notes on starts that had to be left out."""
    different = list(dict.fromkeys(architectures))
    folds, how = range(sets.rows.folds), how_to_refit(settings)
    trained: dict[ModelSpec, Network] = {}

    def train_more(specs: list[ModelSpec], done: float) -> None:
        networks = train(
            sets, specs, how, seed=seed, report=lambda share: report(done + 0.5 * share)
        )
        trained.update(zip(specs, networks, strict=True))

    # The first start of each fold tells which decay to take, and the others have only that one.
    decays = settings.refit_weight_decays
    train_more([_spec(each, d, 0, w) for each in different for w in decays for d in folds], 0.0)
    chosen = {}
    for each in different:
        losses = [_loss(sets, [trained[_spec(each, d, 0, w)] for d in folds]) for w in decays]
        chosen[each] = decays[int(np.argmin(losses))]
    wanted = {
        (each, d): [_spec(each, d, restart, chosen[each]) for restart in range(settings.restarts)]
        for each in different
        for d in (*folds, sets.everything)
    }
    train_more([spec for specs in wanted.values() for spec in specs if spec not in trained], 0.5)
    failed = [spec for spec, network in trained.items() if not network.finite]
    notes = [failures(failed, settings.activation)] if failed else []
    best = {
        (each, d): _best(sets, d, [trained[spec] for spec in specs], notes)
        for (each, d), specs in wanted.items()
    }
    found = {}
    for each in different:
        own = tuple(best[each, d] for d in folds)
        residuals = out_of_fold_residuals(sets, own)
        found[each] = Refitted(best[each, sets.everything], own, residuals, chosen[each])
    return found, notes


def _spec(each: Architecture, dataset: int, restart: int, decay: float) -> ModelSpec:
    size = (each.dimension, each.width, each.depth)
    return ModelSpec(dataset, *size, 0.0, restart, each.inputs, decay)


def _loss(sets: TrainingSets, networks: Sequence[Network]) -> float:
    """On held-out subjects; infinite if a network is not finite."""
    loss = float(np.mean([held_out_loss(sets, d, network) for d, network in enumerate(networks)]))
    return loss if np.isfinite(loss) else float("inf")


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
    """(R, outputs): outcome minus its prediction by the network that never saw its subject."""
    rows = sets.rows
    residuals = np.empty((len(rows.head), sets.outputs))
    for dataset, network in enumerate(networks):
        held_out = ~sets.training(dataset)
        predicted = network.predict(sets.states(dataset, held_out), rows.head[held_out])
        error = sets.outcomes(dataset, held_out) - predicted
        residuals[held_out] = error * sets.scales[dataset][1].sd
    return residuals


def utility_residuals(
    sets: TrainingSets, networks: Sequence[Network], rows: Transitions
) -> NDArray[np.float64]:
    """(R,): of rows that the sets may lack, by the network without each row's fold.

    Whoever is not in the sets was not seen by any of the networks.
    """
    residuals = np.empty(len(rows.head))
    for k, network in enumerate(networks):
        own = rows.fold == k
        of_states, of_targets = sets.scales[k]
        states = of_states.standardise(rows.states[own])
        predicted = network.predict(states, rows.head[own])[:, 0]
        expected = of_targets.mean[0] + of_targets.sd[0] * predicted
        residuals[own] = rows.outcomes[own, 0] - expected
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


def trained_without_each(
    sets: TrainingSets,
    size: Architecture,
    weight_decay: float,
    settings: NetworkSettings,
    *,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> list[Network]:
    """For each fold, the best of the starts that are trained without it."""
    rows = sets.rows
    for k in range(rows.folds):
        if len(np.unique(rows.head[rows.fold != k])) < rows.heads:
            raise _cannot_be_left_out()
    inputs = None if len(size.inputs) == rows.columns else size.inputs
    specs = [
        ModelSpec(
            k,
            size.dimension,
            size.width,
            size.depth,
            restart=restart,
            inputs=inputs,
            weight_decay=weight_decay,
        )
        for k in range(rows.folds)
        for restart in range(settings.restarts)
    ]
    networks = train(sets, specs, how_to_refit(settings), seed=seed, report=report)
    found = []
    for k in range(rows.folds):
        own = [n for s, n in zip(specs, networks, strict=True) if s.dataset == k and n.finite]
        if not own:
            raise _cannot_be_left_out()
        found.append(_best(sets, k, own, []))
    return found


def _cannot_be_left_out() -> DataError:
    return DataError(
        "The feature map could not be fitted without some of the subjects.",
        "Set 'refit_map' to False, so that the map stays as it is.",
    )

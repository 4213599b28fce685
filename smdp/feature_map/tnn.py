"""A sparse network for each action on its own, and the features of all side by side.

Reference: Wang, Laber & Witkiewitz, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.adnn.iterate import check_dimensions
from smdp.feature_map.adnn.without_each import REFITTING
from smdp.feature_map.base import (
    PAPER,
    MapKind,
    check_asked,
    features_of_variables,
    tuned_words,
)
from smdp.feature_map.fitted_map import FittedFeatureMap, NetworkSize
from smdp.feature_map.from_layers import assembled
from smdp.feature_map.layers import Layer
from smdp.feature_map.network_settings import NetworkSettings
from smdp.feature_map.transitions import Scale, TrainingSets, Transitions, transitions
from smdp.progress import Progress, silent

if TYPE_CHECKING:
    from smdp.feature_map.adnn.refit import Refitted  # numba comes along
    from smdp.feature_map.adnn.tuning import Tuned


@dataclass(frozen=True)
class TnnSettings(NetworkSettings):
    """Of a sparse network for each action on its own; all are those of `NetworkSettings`.

    `dimensions`: of each network, by default 1, 2, 4, ..
    """


def tnn_feature_map(
    trajectories: Trajectories,
    settings: TnnSettings = TnnSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FittedFeatureMap:
    """A sparse network for each action on its own, and the features of all side by side.

    Width and penalty are tuned by cross-validation as for `fit_feature_map`, and so is the
    dimension: the smallest whose loss is not clearly worse than the lowest. The depth with the
    lowest loss is taken for all actions, so that their layers fit together. Each map is refitted
    without penalty, as for `fit_feature_map`.
    """
    check_asked(trajectories, settings, TnnSettings, seed)
    check_dimensions(trajectories, settings)
    progress = progress or silent
    random = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    rows = transitions(trajectories, settings.folds, random)
    total = len(settings.depths) * rows.heads
    best: list[_OneAction] = []
    for d, depth in enumerate(settings.depths):
        own = replace(settings, depths=(depth,))
        found = []
        for a in range(rows.heads):
            done = (d * rows.heads + a) / total

            def report(share: float, done: float = done, a: int = a) -> None:
                progress(done + share / total, f"Network of action {a + 1} of {rows.heads}")

            found.append(_one_action(rows, a, own, seed, report))
        if not best or sum(each.tuned.loss for each in found) < sum(e.tuned.loss for e in best):
            best = found
    progress(1.0, "The networks are fitted")
    return assembled(
        "tnn",
        trajectories.about,
        side_by_side([each.layers for each in best]),
        settings.activation,
        rows.states,
        settings,
        seed,
        identify_by=rows,
        networks=[_size(each, trajectories.variables) for each in best],
        notes=tuple(dict.fromkeys(note for each in best for note in each.notes)),
    )


@dataclass(frozen=True)
class _OneAction:
    """The network of one action."""

    tuned: Tuned
    refitted: Refitted
    layers: tuple[Layer, ...]  # on states standardised over the rows of all actions
    notes: list[str]


def _one_action(
    rows: Transitions,
    action: int,
    settings: TnnSettings,
    seed: int,
    report: Callable[[float], None],
) -> _OneAction:
    from smdp.feature_map.adnn.refit import Architecture, refit
    from smdp.feature_map.adnn.tuning import smallest_dimension, tune

    sets = TrainingSets(_of_action(rows, action))
    tuning, refitting = np.random.SeedSequence(seed, spawn_key=(1, action)).spawn(2)
    (best,), notes = tune(
        sets,
        settings.dimensions or tuple(2**k for k in range(rows.columns.bit_length())),
        settings,
        seed=tuning,
        keep=lambda tuned: [smallest_dimension(tuned)],
        report=lambda share: report(0.7 * share),
    )
    wanted = Architecture(best.dimension, best.width, best.depth, best.network.selected)
    refitted, more = refit(
        sets, [wanted], settings, seed=refitting, report=lambda share: report(0.7 + 0.3 * share)
    )
    layers = _rescaled(
        refitted[wanted].network.features,
        sets.scales[sets.everything][0],
        Scale.of(rows.states),
    )
    return _OneAction(best, refitted[wanted], layers, notes + more)


def _of_action(rows: Transitions, action: int) -> Transitions:
    own = rows.take(rows.head == action)
    return replace(own, head=np.zeros_like(own.head), heads=1)


def _size(network: _OneAction, variables: tuple[str, ...]) -> NetworkSize:
    tuned = network.tuned
    used = tuple(variables[j] for j in tuned.network.selected)
    decay = network.refitted.weight_decay
    return NetworkSize(used, tuned.dimension, tuned.width, tuned.depth, decay)


def _refit_without_each(
    trajectories: Trajectories,
    fitted: FittedFeatureMap,
    fold: NDArray[np.int64],
    *,
    progress: Progress,
) -> list[FittedFeatureMap]:
    """The network of each action with the same variables and size, without penalty."""
    from smdp.feature_map.adnn.refit import Architecture, trained_without_each
    from smdp.pools import one_thread

    sizes = fitted.networks
    if not sizes:
        raise DataError(
            "The feature map was fitted by an earlier version of smdp, which did not note the "
            "sizes of its networks: it cannot be fitted anew without some of the subjects.",
            "Fit the feature map again, or set 'refit_map' to False.",
        )
    used = fitted.variables_used
    about = tuple(trajectories.variable(name) for name in used)
    random = np.random.SeedSequence(fitted.seed, spawn_key=(7,))
    whole = transitions(trajectories.select(used), 1, np.random.default_rng(random))
    rows = whole.take(whole.head < len(sizes))
    rows = replace(rows, fold=fold[rows.row], folds=int(fold.max()) + 1, heads=len(sizes))
    scales = [Scale.of(rows.states[rows.fold != k]) for k in range(rows.folds)]
    found: list[list[tuple[Layer, ...]]] = [[] for _ in range(rows.folds)]
    for a, size in enumerate(sizes):
        sets = TrainingSets(_of_action(rows, a))
        inputs = tuple(used.index(name) for name in size.variables)
        with one_thread():
            networks = trained_without_each(
                sets,
                Architecture(size.dimension, size.width, size.depth, inputs),
                size.weight_decay,
                fitted.settings,
                seed=np.random.SeedSequence(fitted.seed, spawn_key=(7, a)),
                report=lambda share, a=a: progress((a + share) / len(sizes), REFITTING),  # type: ignore[misc]
            )
        for k, network in enumerate(networks):
            found[k].append(_rescaled(network.features, sets.scales[k][0], scales[k]))
    maps = []
    for k, networks_of_fold in enumerate(found):
        own = rows.take(rows.fold != k)
        maps.append(
            assembled(
                fitted.kind,
                about,
                side_by_side(networks_of_fold),
                fitted.activation,
                own.states,
                fitted.settings,
                fitted.seed,
                identify_by=own,
                networks=sizes,
            )
        )
    return maps


def _rescaled(layers: tuple[Layer, ...], own: Scale, common: Scale) -> tuple[Layer, ...]:
    """A map of states standardised over one action's rows as one over all rows."""
    first = layers[0]
    bias = first.bias + first.weights @ ((common.mean - own.mean) / own.sd)
    return (Layer(first.weights * (common.sd / own.sd), bias), *layers[1:])


def side_by_side(maps: Sequence[tuple[Layer, ...]]) -> tuple[Layer, ...]:
    """Several maps as one with the features of all."""
    return tuple(_beside([each[k] for each in maps], k) for k in range(len(maps[0])))


def _beside(layers: list[Layer], k: int) -> Layer:
    """The k-th layers of several maps: the first share their inputs, later ones do not."""
    bias = np.concatenate([layer.bias for layer in layers])
    if k == 0:
        return Layer(np.vstack([layer.weights for layer in layers]), bias)
    weights = np.zeros((len(bias), sum(layer.weights.shape[1] for layer in layers)))
    row = column = 0
    for layer in layers:
        out, into = layer.weights.shape
        weights[row : row + out, column : column + into] = layer.weights
        row, column = row + out, column + into
    return Layer(weights, bias)


def _methods(settings: TnnSettings, inputs: str) -> str:
    penalty = tuned_words("The penalty", settings.penalties, settings.folds)
    return (
        f"The features came from a separate sparse network for each action, fitted to {inputs} "
        f"{PAPER}; they were put side by side. {penalty}"
    )


def _in_words(fitted: FittedFeatureMap) -> str:
    return f"{features_of_variables(fitted)} by separate networks"


TNN = MapKind(
    name="tnn",
    title="A separate network for each action",
    settings=TnnSettings,
    fit=tnn_feature_map,
    methods=_methods,
    refit=_refit_without_each,
    in_words=_in_words,
)

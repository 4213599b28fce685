"""What feature maps are compared with: all states, principal components, one network an action.

All have the signature and the result of `fit_feature_map`.

Reference: Wang, Laber & Witkiewitz, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.feature_map.assemble import assembled
from smdp.feature_map.iterate import check_variables
from smdp.feature_map.layers import Layer
from smdp.feature_map.refit import Architecture, refit
from smdp.feature_map.result import FittedFeatureMap
from smdp.feature_map.transitions import Scale, TrainingSets, Transitions, transitions
from smdp.feature_map.tuning import Tuned, smallest_dimension, tune
from smdp.independence.inputs import check_seed
from smdp.progress import Progress, silent
from smdp.settings import FeatureMapSettings, require


def identity_feature_map(
    trajectories: Trajectories,
    settings: FeatureMapSettings = FeatureMapSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FittedFeatureMap:
    """phi(s) = s, standardised: nothing is reduced."""
    rows = _rows(trajectories, settings, seed)
    layer = Layer(np.eye(rows.columns), np.zeros(rows.columns))
    names = trajectories.variables
    return assembled(
        "identity", names, (layer,), "identity", rows, settings, seed,
        feature_names=names, identify=False,
    )  # fmt: skip


def pca_feature_map(
    trajectories: Trajectories,
    settings: FeatureMapSettings = FeatureMapSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
    variance: float = 0.9,
) -> FittedFeatureMap:
    """The first principal components that together explain the given share of the variance.

    Of the standardised states (variables may have different units), with the mean over subjects
    taken out at each time. In the order of the variance; each one's largest weight is positive.
    """
    require(0 < variance <= 1, "variance", "a share above 0, at most 1", variance)
    rows = _rows(trajectories, settings, seed)
    states = Scale.of(rows.states).standardise(rows.states)
    centred = _without_time(states, rows.time)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    values, vectors = values[::-1].clip(min=0), vectors[:, ::-1]
    explained = np.cumsum(values) / max(values.sum(), np.finfo(float).tiny)
    count = min(int(np.searchsorted(explained, variance - 1e-12)) + 1, rows.columns)
    weights = vectors[:, :count].T
    largest = weights[np.arange(count), np.abs(weights).argmax(axis=1)]
    layer = Layer(weights * np.where(largest < 0, -1.0, 1.0)[:, None], np.zeros(count))
    return assembled(
        "pca", trajectories.variables, (layer,), "identity", rows, settings, seed, identify=False
    )


def tnn_feature_map(
    trajectories: Trajectories,
    settings: FeatureMapSettings = FeatureMapSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FittedFeatureMap:
    """A sparse network for each action on its own, and the features of all side by side.

    Width and penalty are tuned by cross-validation as for `fit_feature_map`, and so is the
    dimension: the smallest whose loss is not clearly worse than the lowest. The depth with the
    lowest loss is taken for all actions, so that their layers fit together. Candidate dimensions
    are 1, 2, 4, .. unless the settings name them. Each map is refitted without penalty, as for
    `fit_feature_map`.
    """
    progress = progress or silent
    rows = _rows(trajectories, settings, seed)
    count = rows.columns
    dimensions = settings.dimensions or tuple(2**k for k in range(count.bit_length()))
    total = len(settings.depths) * rows.heads
    best: tuple[float, list[tuple[Layer, ...]], list[str]] | None = None
    for d, depth in enumerate(settings.depths):
        maps, notes, loss = [], [], 0.0
        for a in range(rows.heads):
            sets = TrainingSets(_of_action(rows, a))
            done = (d * rows.heads + a) / total

            def report(share: float, done: float = done, a: int = a) -> None:
                progress(done + share / total, f"Network of action {a + 1} of {rows.heads}")

            own = replace(settings, depths=(depth,))
            tuned, layers, found = _one_action(sets, dimensions, own, seed, a, report)
            maps.append(_rescaled(layers, sets, rows))
            notes += found
            loss += tuned.loss
        if best is None or loss < best[0]:
            best = (loss, maps, notes)
    assert best is not None
    progress(1.0, "The networks are fitted")
    layers = tuple(_side_by_side([each[k] for each in best[1]], k) for k in range(len(best[1][0])))
    return assembled(
        "tnn", trajectories.variables, layers, settings.activation, rows, settings, seed,
        notes=tuple(dict.fromkeys(best[2])),
    )  # fmt: skip


def _rows(trajectories: Trajectories, settings: FeatureMapSettings, seed: int) -> Transitions:
    check_seed(seed)
    check_variables(trajectories, settings)
    folds = np.random.SeedSequence(seed).spawn(1)[0]
    return transitions(trajectories, settings.folds, np.random.default_rng(folds))


def _without_time(states: NDArray[np.float64], time: NDArray[np.int64]) -> NDArray[np.float64]:
    sums = np.zeros((time.max() + 1, states.shape[1]))
    np.add.at(sums, time, states)
    return np.asarray(states - (sums / np.bincount(time).clip(min=1)[:, None])[time])


def _of_action(rows: Transitions, action: int) -> Transitions:
    own = rows.head == action
    return replace(
        rows,
        states=rows.states[own],
        outcomes=rows.outcomes[own],
        head=np.zeros(own.sum(), dtype=np.int64),
        row=rows.row[own],
        time=rows.time[own],
        subject=rows.subject[own],
        fold=rows.fold[own],
        heads=1,
    )


def _one_action(
    sets: TrainingSets,
    dimensions: tuple[int, ...],
    settings: FeatureMapSettings,
    seed: int,
    action: int,
    report: Callable[[float], None],
) -> tuple[Tuned, tuple[Layer, ...], list[str]]:
    tuning, refitting = np.random.SeedSequence(seed, spawn_key=(1, action)).spawn(2)
    (best,), notes = tune(
        sets,
        dimensions,
        settings,
        seed=tuning,
        keep=lambda tuned: [smallest_dimension(tuned)],
        report=lambda share: report(0.7 * share),
    )
    wanted = Architecture(best.dimension, best.width, best.depth, best.network.selected)
    refitted, more = refit(
        sets, [wanted], settings, seed=refitting, report=lambda share: report(0.7 + 0.3 * share)
    )
    return best, refitted[wanted].network.features, notes + more


def _rescaled(
    layers: tuple[Layer, ...], sets: TrainingSets, rows: Transitions
) -> tuple[Layer, ...]:
    """A map of states standardised over one action's rows as one over all rows."""
    own, common = sets.scales[sets.everything][0], Scale.of(rows.states)
    first = layers[0]
    bias = first.bias + first.weights @ ((common.mean - own.mean) / own.sd)
    return (Layer(first.weights * (common.sd / own.sd), bias), *layers[1:])


def _side_by_side(layers: list[Layer], k: int) -> Layer:
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

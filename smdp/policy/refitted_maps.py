"""A feature map fitted anew without each fold of subjects, its variables and size held fixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.assemble import assembled
from smdp.feature_map.layers import Network
from smdp.feature_map.result import FittedFeatureMap
from smdp.feature_map.specification import ModelSpec
from smdp.feature_map.transitions import TrainingSets, Transitions, transitions
from smdp.progress import Progress


def refitted_maps(
    trajectories: Trajectories,
    feature_map: FittedFeatureMap,
    fold: NDArray[np.int64],
    progress: Progress,
) -> list[FittedFeatureMap]:
    """For each fold, the map fitted to the others: same variables, same size, without penalty.

    Maps that are not made of outcomes (all states, principal components) stay as they are.
    """
    from smdp.feature_map.refit import how_to_refit
    from smdp.feature_map.training import one_thread, train

    used = feature_map.variables_used
    if feature_map.kind != "adnn" or not used:
        return [feature_map] * (int(fold.max()) + 1)
    settings = feature_map.settings
    random = np.random.SeedSequence(feature_map.seed, spawn_key=(7,))
    divided = transitions(trajectories.select(used), 2, np.random.default_rng(random))
    rows = replace(divided, fold=fold[divided.row], folds=int(fold.max()) + 1)
    sets = TrainingSets(rows)
    last = feature_map.steps.iloc[-1]
    specs = [
        ModelSpec(
            k,
            feature_map.dimension,
            int(last["width"]),
            int(last["depth"]),
            restart=restart,
            weight_decay=float(last["refit_weight_decay"]),
        )
        for k in range(rows.folds)
        for restart in range(settings.restarts)
    ]
    with one_thread():
        networks = train(
            sets,
            specs,
            how_to_refit(settings),
            seed=random,
            report=lambda share: progress(share, "Fitting the feature map without each fold"),
        )
    found = []
    for k in range(rows.folds):
        own = [n for s, n in zip(specs, networks, strict=True) if s.dataset == k and n.finite]
        if not own:
            raise DataError(
                "The feature map could not be fitted without some of the subjects.",
                "Set 'refit_map' to False, so that the map stays as it is.",
            )
        best = min(own, key=lambda network: _training_loss(sets, k, network))
        found.append(
            assembled(
                "adnn",
                used,
                best.features,
                best.activation,
                _rows_of(rows, rows.fold != k),
                settings,
                feature_map.seed,
            )
        )
    return found


def _training_loss(sets: TrainingSets, k: int, network: Network) -> float:
    used = sets.training(k)
    predicted = network.predict(sets.states(k, used), sets.rows.head[used])
    return float(np.square(predicted - sets.outcomes(k, used)).mean())


def _rows_of(rows: Transitions, kept: NDArray[np.bool_]) -> Transitions:
    return replace(
        rows,
        states=rows.states[kept],
        outcomes=rows.outcomes[kept],
        head=rows.head[kept],
        row=rows.row[kept],
        time=rows.time[kept],
        subject=rows.subject[kept],
        fold=rows.fold[kept],
    )

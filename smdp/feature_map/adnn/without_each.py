"""The map fitted anew without each fold of subjects, its variables and size held fixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.from_layers import assembled
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.progress import Progress

REFITTING = "Fitting the feature map without each fold"


def refit_without_each(
    trajectories: Trajectories,
    fitted: FittedFeatureMap,
    fold: NDArray[np.int64],
    *,
    progress: Progress,
) -> list[FittedFeatureMap]:
    """Same variables, same size, without penalty."""
    from smdp.feature_map.adnn.closed import UtilitySets, closed_features
    from smdp.feature_map.adnn.polish import polished
    from smdp.feature_map.adnn.refit import Architecture, trained_without_each
    from smdp.pools import one_thread

    used = fitted.variables_used
    about = tuple(trajectories.variable(name) for name in used)
    random = np.random.SeedSequence(fitted.seed, spawn_key=(7,))
    divided = transitions(trajectories.select(used), 2, np.random.default_rng(random))
    rows = replace(divided, fold=fold[divided.row], folds=int(fold.max()) + 1)
    last = fitted.steps.iloc[-1]
    every = tuple(range(len(used)))
    size = Architecture(fitted.dimension, int(last["width"]), int(last["depth"]), every)
    closed, decay = fitted.settings.test == "closed", float(last["refit_weight_decay"])
    sets = UtilitySets(rows) if closed else TrainingSets(rows)
    with one_thread():
        networks = trained_without_each(
            sets,
            size,
            decay,
            fitted.settings,
            seed=random,
            report=lambda share: progress(share * (0.5 if closed else 1.0), REFITTING),
        )
        if closed:
            networks = list(
                closed_features(
                    sets,
                    networks,
                    size,
                    decay,
                    fitted.settings,
                    seed=random,
                    report=lambda share: progress(0.5 + 0.5 * share, REFITTING),
                ).networks
            )
        elif fitted.settings.two_questions:
            networks = list(polished(sets, networks, decay))
    found = []
    for k, best in enumerate(networks):
        own = rows.take(rows.fold != k)
        found.append(
            assembled(
                fitted.kind,
                about,
                best.features,
                best.activation,
                own.states,
                fitted.settings,
                fitted.seed,
                identify_by=own,
            )
        )
    return found

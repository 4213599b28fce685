"""Principal components of the states, which look at no outcome.

Reference: Wang, Laber & Witkiewitz, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.feature_map.base import MapKind, check_asked
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.from_layers import assembled, valid_states
from smdp.feature_map.layers import Layer
from smdp.feature_map.transitions import Scale
from smdp.progress import Progress, silent
from smdp.settings import Settings, setting
from smdp.text import percent, plural


@dataclass(frozen=True)
class PcaSettings(Settings):
    """`variance`: the share of it that the components together explain."""

    variance: float = setting(
        0.9,
        "Share of the variance",
        help="As many components are taken as explain this share. The paper takes 90 %.",
        what="a share",
        above=0,
        most=1,
        given=(0.05, 1.0),
        step=0.05,
        percent=True,
    )


def pca_feature_map(
    trajectories: Trajectories,
    settings: PcaSettings = PcaSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FittedFeatureMap:
    """The first principal components that together explain the given share of the variance.

    Of the standardised states (variables may have different units), with the mean over subjects
    taken out at each time. In the order of the variance; each one's largest weight is positive.
    """
    check_asked(trajectories, settings, PcaSettings, seed)
    (progress or silent)(0.0, "Finding the principal components")
    states, time = valid_states(trajectories)
    centred = _without_time(Scale.of(states).standardise(states), time)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    values, vectors = values[::-1].clip(min=0), vectors[:, ::-1]
    explained = np.cumsum(values) / max(values.sum(), np.finfo(float).tiny)
    enough = int(np.searchsorted(explained, settings.variance - 1e-12)) + 1
    count = min(enough, states.shape[1])
    weights = vectors[:, :count].T
    largest = weights[np.arange(count), np.abs(weights).argmax(axis=1)]
    layer = Layer(weights * np.where(largest < 0, -1.0, 1.0)[:, None], np.zeros(count))
    return assembled("pca", trajectories.about, (layer,), "identity", states, settings, seed)


def _without_time(states: NDArray[np.float64], time: NDArray[np.int64]) -> NDArray[np.float64]:
    sums = np.zeros((time.max() + 1, states.shape[1]))
    np.add.at(sums, time, states)
    return np.asarray(states - (sums / np.bincount(time).clip(min=1)[:, None])[time])


def _methods(settings: PcaSettings, inputs: str) -> str:
    return (
        f"The features were the first principal components of {inputs} (standardised, the mean "
        f"over subjects taken out at each decision) that together explained "
        f"{percent(settings.variance)} of the variance."
    )


def _in_words(fitted: FittedFeatureMap) -> str:
    used = plural(len(fitted.wholes_used), "variable")
    return f"{plural(fitted.dimension, 'principal component')} of {used}"


PCA = MapKind(
    name="pca",
    title="Principal components",
    settings=PcaSettings,
    fit=pca_feature_map,
    methods=_methods,
    in_words=_in_words,
)

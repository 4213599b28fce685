"""All state variables as they are: nothing is reduced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smdp.data.trajectories import Trajectories
from smdp.feature_map.base import MapKind, check_asked
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.from_layers import assembled, valid_states
from smdp.feature_map.layers import Layer
from smdp.progress import Progress, silent
from smdp.settings import Settings
from smdp.text import plural


@dataclass(frozen=True)
class IdentitySettings(Settings):
    """The states themselves have no settings."""


def identity_feature_map(
    trajectories: Trajectories,
    settings: IdentitySettings = IdentitySettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FittedFeatureMap:
    """phi(s) = s, standardised."""
    check_asked(trajectories, settings, IdentitySettings, seed)
    (progress or silent)(0.0, "Standardising the variables")
    states, _ = valid_states(trajectories)
    names = trajectories.variables
    layer = Layer(np.eye(len(names)), np.zeros(len(names)))
    return assembled(
        "identity",
        trajectories.about,
        (layer,),
        "identity",
        states,
        settings,
        seed,
        feature_names=names,
    )


def no_features() -> FittedFeatureMap:
    """The map of no variable: a Q-function on it is a number for each action."""
    layer = Layer(np.empty((0, 0)), np.empty(0))
    nothing = np.empty((2, 0))
    return assembled("identity", (), (layer,), "identity", nothing, IdentitySettings(), 0)


def _methods(settings: IdentitySettings, inputs: str) -> str:
    return f"The features were {inputs}, standardised."


def _in_words(fitted: FittedFeatureMap) -> str:
    return f"{plural(len(fitted.wholes_used), 'variable')} as they are"


IDENTITY = MapKind(
    name="identity",
    title="All variables as they are",
    settings=IdentitySettings,
    fit=identity_feature_map,
    methods=_methods,
    in_words=_in_words,
)

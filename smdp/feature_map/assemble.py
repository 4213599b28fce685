"""A network and its history as a `FittedFeatureMap`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from smdp.feature_map.identify import identified, shown_weights
from smdp.feature_map.layers import Layer
from smdp.feature_map.result import FittedFeatureMap, Kind
from smdp.feature_map.transitions import Scale, Transitions
from smdp.settings import FeatureMapSettings


def widened(layers: tuple[Layer, ...], columns: Sequence[int], count: int) -> tuple[Layer, ...]:
    """The map as one of all `count` variables, with zero weights for those not in `columns`."""
    first = layers[0]
    weights = np.zeros((len(first.bias), count))
    weights[:, list(columns)] = first.weights
    return (Layer(weights, first.bias), *layers[1:])


def assembled(
    kind: Kind,
    variables: tuple[str, ...],
    layers: tuple[Layer, ...],  # of all variables, standardised over all rows
    activation: str,
    rows: Transitions,  # with all variables
    settings: FeatureMapSettings,
    seed: int,
    *,
    steps: pd.DataFrame | None = None,
    candidates: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
    feature_names: Sequence[str] | None = None,
    identify: bool = True,
) -> FittedFeatureMap:
    """The map with its features signed and ordered, unless their order has a meaning already."""
    scale = Scale.of(rows.states)
    inputs = scale.standardise(rows.states)
    if identify:
        layers = identified(layers, activation, inputs, rows.outcomes[:, 0], rows.head)
    names = list(variables)
    shown = shown_weights(layers, activation, inputs)
    features = list(feature_names or [f"feature {k + 1}" for k in range(len(shown))])
    norms = np.linalg.norm(layers[0].weights, axis=0)
    return FittedFeatureMap(
        kind=kind,
        variables=variables,
        layers=layers,
        activation=activation,
        centre=scale.mean,
        scale=scale.sd,
        weights=pd.DataFrame(shown, index=features, columns=names),
        column_norms=pd.Series(norms, index=names, name="norm"),
        steps=pd.DataFrame() if steps is None else steps,
        candidates=pd.DataFrame() if candidates is None else candidates,
        settings=settings,
        seed=seed,
        notes=tuple(notes),
    )

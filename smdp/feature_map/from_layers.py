"""Layers and their history as a `FittedFeatureMap`, its features signed and ordered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.feature_map.fitted_map import FittedFeatureMap, NetworkSize
from smdp.feature_map.layers import ODD, Layer, apply, average_gradient
from smdp.feature_map.transitions import Scale, Transitions
from smdp.settings import Settings


def valid_states(
    trajectories: Trajectories,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(R, p) and (R,): the states of all valid transitions, and their times."""
    row, time = np.nonzero(trajectories.valid)
    states = trajectories.states[row, time]
    if not np.isfinite(states).all():
        raise DataError(
            "States are missing in transitions that are marked as valid.",
            "Prepare the data first, so that missing values are imputed.",
        )
    return states, time


def widened(layers: tuple[Layer, ...], columns: Sequence[int], count: int) -> tuple[Layer, ...]:
    """The map as one of all `count` variables, with zero weights for those not in `columns`."""
    first = layers[0]
    weights = np.zeros((len(first.bias), count))
    weights[:, list(columns)] = first.weights
    return (Layer(weights, first.bias), *layers[1:])


def assembled(
    kind: str,
    about: tuple[Variable, ...],  # the variables, p
    layers: tuple[Layer, ...],  # of all variables, standardised over all rows
    activation: str,
    states: NDArray[np.float64],  # (R, p): of all variables
    settings: Settings,
    seed: int,
    *,
    identify_by: Transitions | None = None,
    steps: pd.DataFrame | None = None,
    candidates: pd.DataFrame | None = None,
    networks: Sequence[NetworkSize] = (),
    notes: Sequence[str] = (),
    feature_names: Sequence[str] | None = None,
) -> FittedFeatureMap:
    """The map; with rows to identify it by (those of the states), its features signed and ordered.

    Otherwise their order has a meaning already.
    """
    scale = Scale.of(states)
    inputs = scale.standardise(states)
    if identify_by is not None:
        utilities, head = identify_by.outcomes[:, 0], identify_by.head
        layers = identified(layers, activation, inputs, utilities, head)
    names = [variable.name for variable in about]
    shown = shown_weights(layers, activation, inputs)
    features = list(feature_names or [f"feature {k + 1}" for k in range(len(shown))])
    norms = np.linalg.norm(layers[0].weights, axis=0)
    return FittedFeatureMap(
        kind=kind,
        variables=tuple(names),
        layers=layers,
        activation=activation,
        centre=scale.mean,
        scale=scale.sd,
        weights=pd.DataFrame(shown, index=features, columns=names),
        column_norms=pd.Series(norms, index=names, name="norm"),
        steps=pd.DataFrame() if steps is None else steps,
        candidates=pd.DataFrame() if candidates is None else candidates,
        networks=tuple(networks),
        settings=settings,
        seed=seed,
        notes=tuple(notes),
        about=about,
    )


#: Ridge for the utility's regression on the features: features may be collinear.
RIDGE = 1e-3


def identified(
    layers: tuple[Layer, ...],
    activation: str,
    inputs: NDArray[np.float64],  # (R, p), standardised
    utilities: NDArray[np.float64],  # (R,)
    head: NDArray[np.int64],  # (R,): the action
) -> tuple[Layer, ...]:
    """The same map with its features signed and ordered.

    Each feature's weight of largest size is made positive. Features are ordered by what they add to
    the difference between the actions: the spread over actions of the coefficients in a regression
    of the utility on the standardised features (the Q-functions at discount 0).
    """
    last = layers[-1]
    weights = shown_weights(layers, activation, inputs)
    if activation in ODD:
        largest = weights[np.arange(len(weights)), np.abs(weights).argmax(axis=1)]
        sign = np.where(largest < 0, -1.0, 1.0)
        last = Layer(sign[:, None] * last.weights, sign * last.bias)
    features = apply((*layers[:-1], last), activation, inputs)
    order = np.argsort(-_action_effects(features, utilities, head), kind="stable")
    return (*layers[:-1], Layer(last.weights[order], last.bias[order]))


def shown_weights(
    layers: tuple[Layer, ...], activation: str, inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(q, p): the weights of a map of one layer, average gradients of a deeper one."""
    if len(layers) == 1:
        return layers[0].weights
    return average_gradient(layers, activation, inputs)


def _action_effects(
    features: NDArray[np.float64], utilities: NDArray[np.float64], head: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(q,): the standard deviation over actions of each feature's coefficient."""
    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    coefficients = []
    for a in np.unique(head):
        x = standard[head == a]
        x = x - x.mean(axis=0)
        y = utilities[head == a]
        gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        coefficients.append(np.linalg.solve(gram, x.T @ (y - y.mean())))
    return np.asarray(np.std(coefficients, axis=0))

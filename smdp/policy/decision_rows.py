"""The decisions of a trial as rows on features: what every way to learn a Q-function works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import Rows, require_complete, require_every_action
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.transitions import Scale
from smdp.text import listing

#: Decisions without a choice have a Q-function of their own from this many for each parameter on.
LEAST_FOR_EACH_PARAMETER = 5


@dataclass(frozen=True)
class DecisionRows(Rows):
    """R decisions (x, level, u, x') with standardised features x and those of the next state, x'.

    The level is the action, or K where none could be taken ("unavailable"). Such decisions have a
    Q-function of their own, learned like the others but never chosen, if there are enough of them;
    with fewer (`levels` = K) they are left out, and the value of a state in which nothing can be
    chosen is the mean over the actions.
    """

    features: NDArray[np.float64]  # (R, q), standardised
    level: NDArray[np.int64]  # (R,), below `levels`
    utility: NDArray[np.float64]  # (R,)
    following: NDArray[np.float64]  # (R, q), standardised like `features`
    choices: NDArray[np.bool_]  # (R, K): the actions that could be chosen next; none if unavailable
    actions: int  # K
    levels: int  # K, or K + 1 with the level "unavailable"
    scale: Scale  # of the features
    notes: tuple[str, ...]

    def next_weights(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(.., R, levels): the levels whose Q is the value of the next state; each sums to 1.

        From Q-values (.., R, levels) at the next states: the best of the possible actions.
        """
        best = np.where(self.choices, values[..., : self.actions], -np.inf).argmax(axis=-1)
        weights = np.zeros(values.shape)
        np.put_along_axis(weights, best[..., None], 1.0, axis=-1)
        weights[..., self.forced, :] = self._without_choice
        return weights

    @property
    def even_weights(self) -> NDArray[np.float64]:
        """(R, levels): as `next_weights`, with the actions chosen at random."""
        weights = np.zeros((len(self.level), self.levels))
        weights[:, : self.actions] = self.choices / np.maximum(1, self.choices.sum(1))[:, None]
        weights[self.forced] = self._without_choice
        return weights

    @property
    def forced(self) -> NDArray[np.bool_]:
        """(R,): nothing can be chosen at the next decision."""
        return np.asarray(~self.choices.any(axis=1))

    @property
    def _without_choice(self) -> NDArray[np.float64]:
        if self.levels > self.actions:
            return np.eye(self.levels)[-1]
        return np.full(self.levels, 1 / self.levels)


def decision_rows(
    trajectories: Trajectories, feature_map: FittedFeatureMap, discount: float
) -> DecisionRows:
    """The valid decisions, with the features of their states.

    At the end of a trajectory the next state is assumed to offer every action. A decision whose
    next state is missing serves only if the discount is 0.
    """
    trajectories = _with_variables_of(trajectories, feature_map)
    labels, count = trajectories.action_labels, len(trajectories.action_labels)
    if len(set(trajectories.subjects)) < 2:
        raise DataError(
            "A policy cannot be learned from one subject.",
            "Add subjects: at least 2 are needed, and many more are useful.",
        )
    rows, strata = trajectories.rows(), trajectories.strata
    _check_taken(strata, labels)
    features = feature_map.transform(trajectories.states)
    require_complete(rows.at(features), rows.at(trajectories.utilities))
    notes: list[str] = []
    seen = np.isfinite(rows.after(features)).all(axis=1)
    if discount > 0 and not seen.all():
        notes.append(f"{(~seen).sum()} decisions whose next state is missing were left out.")
        rows = rows.take(seen)
    without = rows.at(strata) == count
    few = without.sum() < LEAST_FOR_EACH_PARAMETER * (features.shape[-1] + 1)
    few |= len(np.unique(rows.subject[without])) < 2
    if few and without.any():
        notes.append(
            f"Only {without.sum()} decisions had no choice, too few to learn from; they were left "
            "out, and the value of a state without a choice is the mean over the actions."
        )
        rows = rows.take(~without)
    level, before, after = rows.at(strata), rows.at(features), rows.after(features)
    _check_taken(level, labels)
    scale = Scale.of(before)
    return DecisionRows(
        row=rows.row,
        time=rows.time,
        subject=rows.subject,
        shape=rows.shape,
        features=scale.standardise(before),
        level=level,
        utility=rows.at(trajectories.utilities),
        following=scale.standardise(np.where(np.isfinite(after), after, scale.mean)),
        choices=rows.at(_choices(trajectories)),
        actions=count,
        levels=count if few else count + 1,
        scale=scale,
        notes=tuple(notes),
    )


def _choices(trajectories: Trajectories) -> NDArray[np.bool_]:
    """(n, T, K): which actions could be chosen after the transition at t."""
    n, times = trajectories.actions.shape
    last = times - 1 - trajectories.valid[:, ::-1].argmax(axis=1)
    inside = np.arange(1, times)[None, :] <= last[:, None]
    found = np.ones((n, times, len(trajectories.action_labels)), dtype=bool)
    found[:, :-1] = np.where(inside[:, :, None], trajectories.possible[:, 1:], True)
    return found


def _with_variables_of(trajectories: Trajectories, feature_map: FittedFeatureMap) -> Trajectories:
    absent = [name for name in feature_map.variables if name not in trajectories.variables]
    if absent:
        raise DataError(
            f"The feature map was fitted with the variable {listing(absent)}, which these data do "
            f"not have. Their variables are: {listing(trajectories.variables, 20)}.",
            "Fit the feature map to these data, or bring the data that it was fitted to.",
        )
    return trajectories.select(feature_map.variables)


def _check_taken(level: NDArray[np.int64], labels: tuple[str, ...]) -> None:
    if len(labels) < 2:
        raise DataError(
            f"There is only one action, {listing(labels)}, so there is nothing to choose.",
            "Check the action column; at least two actions are needed.",
        )
    require_every_action(level, labels, "so nothing can be learned about it")

"""A learned policy: what it recommends, by which margin, and where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from smdp.errors import SettingError
from smdp.feature_map.result import FittedFeatureMap
from smdp.policy.decision_rule import NO_ACTION, Decisions, allowed_actions, best_actions, decide
from smdp.policy.q_function import QFunction
from smdp.policy.settings import PolicySettings
from smdp.policy.support import Support

States: TypeAlias = ArrayLike | pd.DataFrame
UNAVAILABLE = NO_ACTION

#: Of the intervals of parameters.
COVERAGE = 0.95


@dataclass(frozen=True)
class LearnedPolicy:
    """The greedy policy of a Q-function on a feature map. Plain data; computed with numpy alone.

    `convergence` has a row for each iteration: `change`, the root mean square change of the
    Q-values at the trial's next states, in the utility's units, and `switched`, the share of those
    states in which another action became the best.
    """

    feature_map: FittedFeatureMap
    q: QFunction
    resampled: tuple[QFunction, ...]  # refitted on resampled subjects; the errors come from these
    action_labels: tuple[str, ...]  # K
    settings: PolicySettings
    seed: int
    convergence: pd.DataFrame  # iteration, change, switched
    converged: bool
    notes: tuple[str, ...] = ()
    support: Support | None = None  # where the actions were tried; None: not known, not checked

    @property
    def kind(self) -> Literal["linear", "neural"]:
        return self.settings.model

    @property
    def variables(self) -> tuple[str, ...]:
        """The state variables, in the order in which arrays of states have them."""
        return self.feature_map.variables

    def q_values(self, states: States) -> NDArray[np.float64]:
        """(..., K)."""
        return self.q(self.feature_map.transform(states))

    def recommend(
        self, states: States, available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """(...,): the action with the largest Q-value, -1 where none may be chosen.

        Also -1 where a variable that the features need is missing. `available`: (...,) whether
        there is a choice, or (..., K) which actions may be chosen. See `decide` for the rule that
        abstains where the trial does not say enough.
        """
        values = self.q_values(states)
        return best_actions(values, allowed_actions(available, values.shape))

    def margin(self, states: States) -> NDArray[np.float64]:
        """(...,): best minus second best Q-value."""
        ordered = np.sort(self.q_values(states), axis=-1)
        return np.asarray(ordered[..., -1] - ordered[..., -2])

    def decide(self, states: States, available: NDArray[np.bool_] | None = None) -> Decisions:
        """Recommendations with their margins and errors, and where there is none, the reason."""
        features = self.feature_map.transform(states)
        values = self.q(features)
        refitted = np.empty((len(self.resampled), *values.shape))
        for b, q in enumerate(self.resampled):
            refitted[b] = q(features)
        if self.support is None:
            shares, distance = np.full(values.shape, np.nan), np.full(values.shape[:-1], np.nan)
        else:
            shares, distance = self.support((features - self.q.centre) / self.q.scale)
        return decide(
            values,
            refitted,
            allowed_actions(available, values.shape),
            shares,
            distance,
            level=self.settings.abstain_level,
            least_share=self.settings.least_share,
        )

    @property
    def parameters(self) -> pd.DataFrame:
        """action x (intercept, features) of a linear Q-function, in units of standardised features.

        A weight is what Q gains with one standard deviation of the feature (over the trial's
        decisions); the intercept is Q at the mean features.
        """
        return pd.DataFrame(
            self.parameter_draws[0],
            index=pd.Index(self.action_labels, name="action"),
            columns=["intercept", *self.feature_map.features],
        )

    @property
    def parameter_draws(self) -> NDArray[np.float64]:
        """(1 + B, K, 1 + q): the parameters, then those of the refits."""
        if self.kind != "linear":
            raise SettingError(
                "A neural Q-function has no parameters for each feature.",
                "Learn a policy with the setting 'model' at 'linear', or look at its Q-values.",
            )
        every = [q.layers[0] for q in (self.q, *self.resampled)]
        return np.stack([np.column_stack([each.bias, each.weights]) for each in every])

    @property
    def parameter_intervals(self) -> pd.DataFrame:
        """action, parameter, estimate, lower, upper: 95 % by the bootstrap's standard error.

        NaN without refits.
        """
        draws = self.parameter_draws
        estimate = self.parameters
        error = np.full(estimate.shape, np.nan)
        if len(draws) > 2:
            error = draws[1:].std(axis=0, ddof=1)
        width = NormalDist().inv_cdf(0.5 + COVERAGE / 2) * error
        return pd.DataFrame(
            {
                "action": np.repeat(self.action_labels, estimate.shape[1]),
                "parameter": np.tile(list(estimate.columns), len(estimate)),
                "estimate": estimate.to_numpy().ravel(),
                "lower": (estimate.to_numpy() - width).ravel(),
                "upper": (estimate.to_numpy() + width).ravel(),
            }
        )

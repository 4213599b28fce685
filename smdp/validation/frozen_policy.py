"""A policy as it stands, for people that nobody learned it from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.evaluation.target import AnyPolicy
from smdp.policy.learned_policy import LearnedPolicy


@dataclass(frozen=True, eq=False)
class FrozenPolicy:
    """Any policy as one that was given: it is not learned anew, and nobody need be left out.

    `columns`: of the trajectories, which the policy's own variables are taken from.
    """

    policy: AnyPolicy

    @property
    def variables(self) -> tuple[str, ...]:
        """Those that it cannot do without."""
        if isinstance(self.policy, LearnedPolicy):
            return self.policy.feature_map.variables_used
        return tuple(self.policy.variables)

    def recommend(
        self, states: NDArray[np.float64], available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        return np.asarray(self.policy.recommend(self.whole(states), available))

    def q_values(self, states: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(.., K), None of a policy that has none."""
        if not isinstance(self.policy, LearnedPolicy):
            return None
        return self.policy.q_values(self.whole(states))

    def features(self, states: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(.., q), None of a policy that has no map, or whose features are its variables."""
        if not isinstance(self.policy, LearnedPolicy) or self.policy.feature_map.kind == "identity":
            return None
        return self.policy.feature_map.transform(self.whole(states))

    def whole(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        """States in all the policy's variables; those that it does not use are NaN."""
        if not isinstance(self.policy, LearnedPolicy):
            return states
        every = self.policy.variables
        places = [every.index(name) for name in self.variables]
        found = np.full((*states.shape[:-1], len(every)), np.nan)
        found[..., places] = states
        return found


def with_features(
    trajectories: Trajectories, policy: FrozenPolicy
) -> tuple[Trajectories, tuple[str, ...]]:
    """The trajectories in what the value of a policy is modelled with, and its names.

    As where policies are judged on their own people: the variables that it uses, and its features.
    """
    own = trajectories.select(policy.variables)
    features = policy.features(own.states)
    if features is None:
        return own, own.variables
    names = tuple(f"feature {k + 1} of the policy" for k in range(features.shape[-1]))
    extended = replace(
        own,
        states=np.concatenate([own.states, features], axis=2),
        variables=(*own.variables, *names),
        about=(*own.about, *map(Variable, names)),
    )
    return extended, extended.variables

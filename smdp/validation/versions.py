"""Versions of an analysis: what was known before it was refitted with more people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.policy.learned_policy import LearnedPolicy
from smdp.result import Content


@dataclass(frozen=True, eq=False, repr=False)
class Version(Content):
    """`fingerprint`: of the table; `finished`: when its policies were learned, UTC. `values`: by
    policy, estimate, lower, upper of value and gain (NaN where not known).
    """

    fingerprint: str
    data_name: str
    finished: str
    people: int
    decisions: int
    variables: tuple[str, ...]
    weights: pd.DataFrame  # feature x variable
    policies: tuple[LearnedPolicy, ...]
    values: pd.DataFrame  # value, lower, upper, gain, gain_lower, gain_upper: a row a policy
    why: tuple[str, ...]  # it was refitted: the verdicts on its policies

    @property
    def dimension(self) -> int:
        return len(self.weights)


def agreement(old: LearnedPolicy, new: LearnedPolicy, trajectories: Trajectories) -> float:
    """The share of decisions with a choice at which both have the same best action.

    `trajectories`: in the units of the new policy; the old one is given states in its own.
    """
    at = trajectories.valid & trajectories.available
    possible = trajectories.possible[at]
    best = [
        policy.recommend(_states(policy, trajectories)[:, :-1][at], possible)
        for policy in (old, new)
    ]
    known = (best[0] >= 0) & (best[1] >= 0)
    return float((best[0] == best[1])[known].mean()) if known.any() else np.nan


def _states(policy: LearnedPolicy, trajectories: Trajectories) -> NDArray[np.float64]:
    """(n, T + 1, p): in the variables and units of the policy; NaN where they are not there."""
    n, times, _ = trajectories.states.shape
    states = np.full((n, times, len(policy.variables)), np.nan)
    places = {name: j for j, name in enumerate(trajectories.variables)}
    for j, name in enumerate(policy.variables):
        if name not in places:
            continue
        values = trajectories.states[:, :, places[name]]
        there, here = policy.feature_map.variable(name), trajectories.about[places[name]]
        if there.rescaled_from != here.rescaled_from:
            low, high = there.rescaled_from or (0.0, 1.0)
            values = (here.own(values) - low) / ((high - low) or 1.0)
            values = np.clip(values, 0, 1) if there.rescaled_from else values
        states[:, :, j] = values
    return states

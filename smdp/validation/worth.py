"""What a frozen policy is worth on new people, beside what the first study predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.value import PolicyValue, evaluate_policy
from smdp.evaluation.value_tables import DOUBLY_ROBUST, quantile
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress
from smdp.validation.frozen_policy import FrozenPolicy, with_features

#: The mean probability of an action may differ by so much between two trials before "what was done"
#: is something else in each, and a gain over it cannot be compared.
SAME_ASSIGNMENT = 0.1
VALUE, GAIN = "value", "gain"


def worth(
    new: Trajectories,
    policy: FrozenPolicy,
    settings: EvaluationSettings,
    predicted: PolicyValue | None,
    *,
    seed: int,
    progress: Progress,
) -> PolicyValue:
    """Of the policy, of what was done, and of each action always; nobody taught the policy."""
    own, variables = with_features(new, policy)
    asked = replace(settings, discount=_discount(policy, predicted), variables=variables)
    return evaluate_policy(own, policy, asked, seed=seed, progress=progress)


def _discount(policy: FrozenPolicy, predicted: PolicyValue | None) -> float:
    if predicted is not None:
        return predicted.discount
    own = policy.policy
    return (own.settings if isinstance(own, LearnedPolicy) else PolicySettings()).discount


def beside_predicted(
    predicted: PolicyValue, observed: PolicyValue, coverage: float
) -> pd.DataFrame:
    """What (value, gain), predicted, observed, and their difference with intervals.

    Columns: what, predicted, predicted_lower, predicted_upper, observed, observed_lower,
    observed_upper, difference, lower, upper, standard_error, effective.
    """
    rows = []
    pairs = {
        VALUE: (_value_row(predicted), _value_row(observed)),
        GAIN: (predicted.gain, observed.gain),
    }
    for what, (before, here) in pairs.items():
        error = float(np.hypot(before["standard_error"], here["standard_error"]))
        effective = float(min(before["effective"], here["effective"]))
        width = quantile(effective, coverage) * error
        difference = float(here["estimate"] - before["estimate"])
        rows.append(
            {
                "what": what,
                "predicted": float(before["estimate"]),
                "predicted_lower": float(before["lower"]),
                "predicted_upper": float(before["upper"]),
                "observed": float(here["estimate"]),
                "observed_lower": float(here["lower"]),
                "observed_upper": float(here["upper"]),
                "difference": difference,
                "lower": difference - width,
                "upper": difference + width,
                "standard_error": error,
                "effective": effective,
            }
        )
    return pd.DataFrame(rows)


def _value_row(value: PolicyValue) -> pd.Series:
    own = value.table[value.table["method"] == DOUBLY_ROBUST]
    return own.iloc[0]


def same_assignment(first: PolicyValue, new: PolicyValue) -> bool:
    """Whether treatment was given about as often in both, so that a gain over it is one thing."""
    shares = [value.positivity.set_index("action")["taken"] for value in (first, new)]
    both = pd.concat(shares, axis=1).fillna(0.0)
    return bool((both.iloc[:, 0] - both.iloc[:, 1]).abs().max() <= SAME_ASSIGNMENT)

"""A policy's value where treatment moves something that the policy does not look at."""

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.value import evaluate_policy
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings

PEOPLE, TIMES = 60, 40
DISCOUNT = 0.9


def wearing_off(seed: int, *, moved: bool = True, always: bool = False, people: int = PEOPLE):
    """Treatment helps, but each one adds to a burden that takes its help away."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(people, TIMES + 1))
    idle = random.normal(size=(people, TIMES + 1))
    burden = np.zeros((people, TIMES + 1))
    actions = np.ones((people, TIMES), dtype=np.int64)
    if not always:
        actions = random.integers(0, 2, (people, TIMES))
    utilities = np.zeros((people, TIMES))
    for t in range(TIMES):
        helped = 1.0 - 0.5 * burden[:, t]
        utilities[:, t] = x[:, t] + actions[:, t] * helped + random.normal(size=people)
        burden[:, t + 1] = 0.6 * burden[:, t] + moved * actions[:, t]
        burden[:, t + 1] += 0.3 * random.normal(size=people)
    return Trajectories(
        states=np.stack([x, burden, idle], axis=2),
        actions=actions,
        utilities=utilities,
        valid=np.ones((people, TIMES), dtype=bool),
        available=np.ones((people, TIMES), dtype=bool),
        probabilities=np.full((people, TIMES, 2), 0.5),
        variables=("x", "burden", "idle"),
        subjects=tuple(f"P{i}" for i in range(people)),
        action_labels=("0", "1"),
    )


def always_in_truth() -> float:
    utilities = wearing_off(99, always=True, people=20_000).utilities
    weights = (1 - DISCOUNT) * DISCOUNT ** np.arange(TIMES)
    return float(utilities.mean(axis=0) @ weights)


def value_of(study, **settings):
    only_x = identity_feature_map(study.select(("x",)))
    policy = learn_policy(study, only_x, PolicySettings(discount=DISCOUNT, bootstraps=0))
    return evaluate_policy(study, policy, EvaluationSettings(bootstraps=50, **settings))


def estimate_of(value, policy):
    return value.table.set_index("policy").loc[policy]


def test_the_value_of_always_knows_that_treatment_wears_off():
    study, truth = wearing_off(1), always_in_truth()
    with_it = estimate_of(value_of(study), "always 1")
    without = estimate_of(value_of(study, moved=False), "always 1")
    assert with_it["lower"].iloc[0] <= truth <= with_it["upper"].iloc[0]
    assert without["lower"].iloc[0] > truth + 0.1


def test_what_joined_is_said():
    notes = " ".join(value_of(wearing_off(1)).notes)
    assert "what treatment moves" in notes
    assert "burden (in each fold)" in notes
    assert "idle" not in notes


@pytest.mark.parametrize("settings", [{"moved": False}, {"variables": ("x",)}])
def test_nothing_joins_unasked(settings):
    assert "what treatment moves" not in " ".join(value_of(wearing_off(1), **settings).notes)


def test_what_treatment_does_not_move_rarely_joins():
    joined = [
        "what treatment moves" in " ".join(value_of(wearing_off(s, moved=False)).notes)
        for s in range(20)
    ]
    assert sum(joined) <= 6  # two variables, each with .05: more in 3 of 1,000 such rows

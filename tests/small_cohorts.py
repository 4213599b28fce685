"""Cohorts of a small made-up trial: one study, and new people like it or not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import smdp
from smdp.data.prepare import PreparedData
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.value import PolicyValue
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.policy_settings import PolicySettings

ROLES = smdp.ColumnRoles(
    "person",
    "day",
    "treated",
    ["mood", "stress", "noise", smdp.StateVariable("place", "nominal")],
    "steps",
    probability=0.5,
)


def cohort(
    people: int = 24,
    days: int = 25,
    seed: int = 1,
    *,
    effect: float = 1.0,
    shift: float = 0.0,
    name: str = "a",
) -> pd.DataFrame:
    """Treatment helps where mood is high; `shift` moves everybody's mood and stress."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(people):
        state = random.normal(shift, 1, 3)
        for day in range(1, days + 1):
            treated = int(random.random() < 0.5)
            place = str(random.choice(["home", "work", "street"], p=[0.5, 0.3, 0.2]))
            steps = 0.5 * state[0] + treated * effect * state[0] + random.normal()
            rows.append((f"{name}{i:02d}", day, *state.round(3), place, treated, round(steps, 3)))
            state = 0.5 * state + shift * 0.5 + random.normal(0, 0.8, 3)
            state[0] += 0.3 * treated
    names = ["person", "day", "mood", "stress", "noise", "place", "treated", "steps"]
    return pd.DataFrame(rows, columns=names)


@cache
def first_study() -> tuple[pd.DataFrame, PreparedData, LearnedPolicy, PolicyValue]:
    frame = cohort()
    prepared = smdp.prepare(frame, ROLES)
    own = prepared.trajectories.select(["mood", "stress"])
    fitted = smdp.identity_feature_map(own)
    policy = smdp.learn_policy(own, fitted, PolicySettings(discount=0.5, bootstraps=10), seed=1)
    settings = EvaluationSettings(bootstraps=40)
    return frame, prepared, policy, smdp.evaluate_policy(own, policy, settings, seed=1)

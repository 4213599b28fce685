"""New data before a frozen policy: how often each verdict is given, where the truth is known.

A linear policy on two variables (identity map), learned from one cohort; then a second cohort from
the same process (stationary), with the effect of treatment reversed, or with another population.

    python -m bench.new_data --datasets 20 --seed 1

Prints how often a stationary cohort is withdrawn or refitted, how often the others are flagged
(refit or withdraw), and how often the interval of the frozen policy's value on the new people
holds its true value (from 4,000 simulated people who follow the policy).

    python -m bench.new_data --heartsteps path/to/heartsteps_v1.csv

The first half of the people of that trial (not part of the project) as the study, the second half
as new data: a linear policy on a few variables, and what is said.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import pandas as pd

import smdp
from smdp.data.column_roles import ColumnRoles
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.policy_settings import PolicySettings
from smdp.validation.new_data import NewDataCheck, check_new_data
from smdp.validation.new_data_settings import NewDataSettings
from smdp.words.new_data import describe_new_data, reasons

DISCOUNT = 0.5
ROLES = ColumnRoles("person", "day", "a", ["x", "y", "z"], "u", probability=0.5)
KINDS = {"stationary": {}, "reversed effect": {"effect": -1.0}, "moved population": {"shift": 0.6}}


def begin(people: int, shift: float, random: np.random.Generator) -> np.ndarray:
    return random.normal(shift, 1, (people, 3))


def move(
    state: np.ndarray, action: np.ndarray, effect: float, shift: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The utility and the next state: treatment helps where x is high."""
    utility = 0.5 * state[:, 0] + effect * action * state[:, 0] + random.normal(size=len(state))
    ahead = 0.5 * state + 0.5 * shift + random.normal(0, 0.8, state.shape)
    ahead[:, 0] += 0.3 * action
    return utility, ahead


def cohort(
    people: int, days: int, seed: int, effect: float = 1.0, shift: float = 0.0
) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    state, rows = begin(people, shift, random), []
    for day in range(1, days + 1):
        action = (random.random(people) < 0.5).astype(int)
        utility, ahead = move(state, action, effect, shift, random)
        rows += [(f"{seed}-{i}", day, *state[i], int(action[i]), utility[i]) for i in range(people)]
        state = ahead
    return pd.DataFrame(rows, columns=["person", "day", "x", "y", "z", "a", "u"])


def true_value(policy: LearnedPolicy, seed: int, effect: float = 1.0, shift: float = 0.0) -> float:
    """(1 - discount) times the discounted sum, of people who follow it."""
    random = np.random.default_rng([seed, 1])
    state, total = begin(4000, shift, random), 0.0
    for t in range(30):
        action = policy.recommend(state[:, :2])
        utility, state = move(state, action, effect, shift, random)
        total += (1 - DISCOUNT) * DISCOUNT**t * float(utility.mean())
    return total


#: Of HeartSteps: those that screening keeps for both devices, and that most people have.
OF_HEARTSTEPS = ("log_steps_pre30", "day", "temperature")


def halves(path: str) -> None:
    table = pd.read_csv(path)
    roles = smdp.guess_roles(table)
    people = sorted(table[roles.subject].unique())
    early = table[roles.subject].isin(people[: len(people) // 2])
    frame, new = table[early], table[~early]
    settings = smdp.PreparationSettings(unobserved="exclude")
    prepared = smdp.prepare(frame, roles, settings)
    own = prepared.trajectories
    names = [name for name in OF_HEARTSTEPS if name in own.wholes]
    own = own.select(names)
    asked = PolicySettings(discount=DISCOUNT, bootstraps=100)
    policy = smdp.learn_policy(own, smdp.identity_feature_map(own), asked, seed=1)
    value = smdp.evaluate_policy(own, policy, seed=1)
    found = check_new_data(
        new, frame, prepared, {"linear": policy}, predicted=[value],
        completion=settings.completion, seed=1,
    )  # fmt: skip
    print("variables of the policy:", ", ".join(names))
    for sentence in (*describe_new_data(found, roles.outcome_name), *map(str, found.found)):
        print(sentence)
    for line in (*map(str, found.not_done), *reasons(found.policies[0], found.settings, found)):
        print(" ", line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--days", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--heartsteps", metavar="FILE")
    options = parser.parse_args()
    if options.heartsteps:
        halves(options.heartsteps)
        return
    rules = NewDataSettings(draws=299, bootstraps=100)
    verdicts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    grounds: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    covered: Counter[str] = Counter()
    for k in range(options.datasets):
        seed = 1000 * options.seed + 10 * k
        frame = cohort(options.people, options.days, seed)
        prepared = smdp.prepare(frame, ROLES)
        own = prepared.trajectories.select(["x", "y"])
        asked = PolicySettings(discount=DISCOUNT, bootstraps=0)
        policy = smdp.learn_policy(own, smdp.identity_feature_map(own), asked, seed=seed)
        value = smdp.evaluate_policy(
            own, policy, smdp.EvaluationSettings(bootstraps=100), seed=seed
        )
        for j, (kind, changes) in enumerate(KINDS.items(), start=1):
            new = cohort(options.people, options.days, seed + j, **changes)
            found: NewDataCheck = check_new_data(
                new, frame, prepared, [policy], rules, predicted=[value], seed=seed
            )
            verdicts[kind][found.verdict.decision] += 1
            for ground in found.verdict.reasons:
                grounds[kind][f"{ground.about}: {ground.speaks_for or 'nothing'}"] += 1
            worth = found.policies[0].value
            assert worth is not None
            covered[kind] += worth.lower <= true_value(policy, seed + j, **changes) <= worth.upper
    for kind in KINDS:
        own_ones = ", ".join(f"{v} {n}" for v, n in sorted(verdicts[kind].items()))
        print(f"{kind}: {own_ones}; value covered {covered[kind]} of {options.datasets}")
        print(f"    {dict(sorted(grounds[kind].items()))}")


if __name__ == "__main__":
    main()

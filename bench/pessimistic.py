"""What a pessimistic policy earns beside the linear one, in small studies of students.

Usage: python bench/pessimistic.py [--datasets 20] [--first 501]

Fresh studies of 30 students and 28 reports without missing answers, the variables that matter as
features, discount 0.9, reference: no treatment. The value is the mean of minus the next cigarettes
over 27 decisions of SUBJECTS fresh students who follow the policy; 0 is the better of always and
never, 1 the linear policy learned from SUBJECTS students.
"""

from __future__ import annotations

import argparse

import numpy as np
from abstaining import OF_STUDENTS, study

from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.basics_like import Assign, basics_like

SUBJECTS = 1500
PESSIMISM = (0.5, 1.0, 1.645)
DISCOUNT = 0.9


def outcome(assign: Assign, seed: int) -> float:
    frame = basics_like(seed, subjects=SUBJECTS, missing=False, assign=assign)
    return -float(frame.loc[frame["report"] > 1, "cigs"].mean())


def following(policy: LearnedPolicy) -> Assign:
    return lambda state: policy.recommend(state[list(OF_STUDENTS)].to_numpy(float))


def learned(seed: int, subjects: int = 30, **options: object) -> LearnedPolicy:
    data = study("students", seed, subjects)
    settings = PolicySettings(discount=DISCOUNT, **options)  # type: ignore[arg-type]
    return learn_policy(data, identity_feature_map(data), settings, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--first", type=int, default=501)
    chosen = parser.parse_args()
    truth = 77_000
    fixed = [outcome(lambda s, a=a: np.full(len(s), a), truth) for a in (0, 1)]
    best = outcome(following(learned(truth + 1, SUBJECTS, bootstraps=0)), truth)
    base = max(fixed)
    print(f"never {fixed[0]:.3f}, always {fixed[1]:.3f}, learned from {SUBJECTS}: {best:.3f}")
    found: dict[str, list[float]] = {}
    for seed in range(chosen.first, chosen.first + chosen.datasets):
        policies = {"linear": learned(seed, bootstraps=0)}
        for z in PESSIMISM:
            policies[f"pessimistic, z {z:g}"] = learned(seed, model="pessimistic", pessimism=z)
        for name, policy in policies.items():
            share = (outcome(following(policy), truth) - base) / (best - base)
            found.setdefault(name, []).append(share)
    for name, shares in found.items():
        error = np.std(shares, ddof=1) / np.sqrt(len(shares))
        apart = np.array(shares) - np.array(found["linear"])
        paired = np.std(apart, ddof=1) / np.sqrt(len(shares))
        print(
            f"{name:22s} share of the best improvement {np.mean(shares):.3f} (se {error:.3f}), "
            f"minus linear {apart.mean():+.3f} (se {paired:.3f}), worst {min(shares):.2f}"
        )


if __name__ == "__main__":
    main()

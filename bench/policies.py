"""What policies on the oracle features S1 .. S4 earn in the paper's model (n = 30, T = 90).

Usage: python bench/policies.py [--seeds 20] [--only quad neural 0.95 ..]

Each seed is a trial of its own, with 1,000 new people to try its policy on. The bar at a discount
of 0.5 is the paper's figure for (s1 .. s4) minus two of our standard errors; at 0.95 it is a figure
below the optimum (3.69, 8.56, 9.64).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

import argparse
import sys
from time import perf_counter

import numpy as np

import smdp
from smdp.policy.policy_settings import PolicySettings

ORACLE = ("S1", "S2", "S3", "S4")
MODELS = ("linear", "quad", "exp")
PAPER = {
    ("linear", 0.5): (3.34, 2.54, 9.20),
    ("neural", 0.5): (3.31, 6.75, 9.43),
}
AT_LEAST = {("neural", 0.95): (3.6, 8.0, 9.6)}


def outcomes(model: str, kind: str, discount: float, seeds: int) -> tuple[list[float], float, int]:
    """By seed; the seconds that one policy takes to learn; how many did not settle."""
    settings = PolicySettings(model=kind, discount=discount, bootstraps=0)  # type: ignore[arg-type]
    found, seconds, unsettled = [], [], 0
    for seed in range(seeds):
        trial = smdp.simulate(model, seed=seed).select(ORACLE)
        features = smdp.identity_feature_map(trial)
        start = perf_counter()
        policy = smdp.learn_policy(trial, features, settings, seed=seed)
        seconds.append(perf_counter() - start)
        unsettled += not policy.converged
        found.append(smdp.simulated_outcome(policy, model, seed=seed))
    return found, float(np.median(seconds)), unsettled


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--seeds", type=int, default=20)
    reader.add_argument("--only", nargs="+", default=[], help="words: quad, neural, 0.95, ..")
    chosen = reader.parse_args()
    print(f"{'model':8}{'Q':8}{'discount':>9}{'mean':>8}{'(se)':>8}{'bar':>8}{'seconds':>9}")
    behind = 0
    for kind, discount in (("linear", 0.5), ("neural", 0.5), ("linear", 0.95), ("neural", 0.95)):
        for m, model in enumerate(MODELS):
            words = {model, kind, str(discount)}
            if not set(chosen.only) <= words:
                continue
            found, seconds, unsettled = outcomes(model, kind, discount, chosen.seeds)
            mean = float(np.mean(found))
            error = float(np.std(found, ddof=1) / np.sqrt(len(found)))
            bar = float("nan")
            if (kind, discount) in PAPER:
                bar = PAPER[kind, discount][m] - 2 * error
            elif (kind, discount) in AT_LEAST:
                bar = AT_LEAST[kind, discount][m]
            behind += mean < bar
            row = f"{model:8}{kind:8}{discount:9.2f}{mean:8.3f}{error:8.3f}{bar:8.2f}{seconds:9.3f}"
            remark = "  BEHIND" if mean < bar else ""
            if unsettled:
                remark += f"  ({unsettled} did not settle)"
            print(row + remark, flush=True)
    if behind:
        sys.exit(f"{behind} behind the bar")


if __name__ == "__main__":
    main()

"""What the optimal policies of the paper's models earn: the reference of docs/simulation.md.

Usage: python bench/optimum.py [--discounts 0.5 0.95] [--samples 40]

Value iteration on the model itself, then the mean utility a step over 90 steps of fresh people, in
samples of 10,000. It prints Markdown; smdp/simulation/paper_tables.py holds the means.
"""

from __future__ import annotations

import argparse

import pandas as pd

from smdp.simulation.names import MODELS
from smdp.simulation.optimum import optimal_policy
from smdp.simulation.outcome import simulated_outcome
from smdp.simulation.study_tables import mean_and_error

PEOPLE = 10_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--discounts", type=float, nargs="+", default=[0.5, 0.95])
    parser.add_argument("--samples", type=int, default=40)
    chosen = parser.parse_args()
    print("| discount | model | mean utility a step | its standard error |\n|---|---|---|---|")
    for discount in chosen.discounts:
        for model in MODELS:
            policy = optimal_policy(model, discount)
            found = [
                simulated_outcome(policy, model, subjects=PEOPLE, seed=seed)
                for seed in range(chosen.samples)
            ]
            mean, error = mean_and_error(pd.Series(found))
            print(f"| {discount:g} | {model} | {mean:.3f} | {error:.4f} |", flush=True)


if __name__ == "__main__":
    main()

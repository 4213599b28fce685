"""A map sought among half of the people beside one sought among all of them: what is lost?

Usage: python bench/some_people.py [--students 100] [--seeds 5] [--first 0]

Of a large study, variables and dimension are sought among some of its people, and the map is then
fitted to everybody (`smdp.feature_map.adnn.iterate`). Here the same is done with the decisions of
half of the students. For each data set: processor seconds, variables and dimension, and the
utility's loss in as many other students, by a regression on the features that is cross-fitted among
these, as a share of its variance. The table is in whole_analysis.md.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from before_and_after import unexplained

import smdp
from smdp.data.trajectories import Trajectories
from smdp.feature_map.adnn import iterate
from smdp.simulation.basics_like import basics_like

FIRST_SEED = 3000


def study(seed: int, students: int) -> tuple[Trajectories, Trajectories]:
    """Those whom the map is made from, as screened, and as many others."""
    frame = basics_like(FIRST_SEED + seed, subjects=2 * students)
    every = smdp.prepare(frame, smdp.guess_roles(frame)).trajectories
    own, others = every.take(np.arange(students)), every.take(np.arange(students, len(every.valid)))
    kept = smdp.screen(own, smdp.ScreeningSettings(), seed=0).selected
    return own.select(kept), others.select(kept)


def one(own: Trajectories, others: Trajectories, enough: int) -> tuple[float, int, int, float]:
    iterate.ENOUGH = enough
    began = process_time()
    fitted = smdp.fit_feature_map(own, smdp.FeatureMapSettings(), seed=0)
    seconds = process_time() - began
    return seconds, len(fitted.variables_used), fitted.dimension, unexplained(fitted, others)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args()
    print(
        "| data set | seconds | nVar | nDim | utility's loss |\n|---|---|---|---|---|", flush=True
    )
    differences = []
    for seed in range(chosen.first, chosen.first + chosen.seeds):
        own, others = study(seed, chosen.students)
        rows = int(own.valid.sum())
        every, some = one(own, others, rows), one(own, others, rows // 2)
        differences.append(some[3] - every[3])
        cells = [
            f"{a:{how}}, {b:{how}}"
            for a, b, how in zip(every, some, (".1f", "d", "d", ".4f"), strict=True)
        ]
        print(f"| {seed} | {' | '.join(cells)} |", flush=True)
    if len(differences) > 1:
        error = np.std(differences, ddof=1) / np.sqrt(len(differences))
        mean = np.mean(differences)
        print(f"Utility's loss, some minus all: {mean:+.5f} (standard error {error:.5f})")


if __name__ == "__main__":
    main()

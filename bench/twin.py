"""Does a twin foretell how often screening finds each planted variable?

For each design: studies to begin with, each with a twin of its own (a map of all that screening
kept), and fresh studies from the true generator. "foretold": the share of the twin's draws in which
screening keeps a variable that it had kept in the study; "true": the share of fresh studies. The
difference is shown for the mean over the studies that kept the variable, and for single studies;
"interval": in how many the interval for the true rate that the page shows holds it. A variable that
a study did not keep is not planted in its twin and foretells nothing. "false": other variables kept
in a draw (or in a fresh study), and in a draw of the world "nothing".

Usage: python bench/twin.py [--base 5] [--draws 30] [--fresh 30] [--first 810000] [--designs ..]
The table in bench/twin.md is of the default seeds, which were used for nothing else.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections import Counter
from collections.abc import Callable
from time import process_time

import numpy as np

import smdp
from smdp.data.trajectories import Trajectories
from smdp.feature_map.identity import identity_feature_map, no_features
from smdp.simulation.basics_like import MAIN_EFFECTS, basics_like
from smdp.simulation.generative_model import simulate
from smdp.validation.twin import Twin, fit_twin
from smdp.validation.twin_study import rate_in_truth

PAPER = ("S1", "S2", "S3", "S4")
NOISE = 18  # variables, six of each of the paper's kinds, beside S1 .. S4


def student_study(seed: int) -> Trajectories:
    frame = basics_like(seed)
    rescaled = smdp.PreparationSettings(rescaling=smdp.RescalingSettings())
    return smdp.prepare(frame, smdp.guess_roles(frame), rescaled).trajectories


def model(name: str) -> Callable[[int], Trajectories]:
    def make(seed: int) -> Trajectories:
        whole = simulate(name, noise=NOISE, seed=seed)  # type: ignore[arg-type]
        return whole.select([*PAPER, *(v for v in whole.variables if not v.startswith("S"))])

    return make


DESIGNS: dict[str, tuple[Callable[[int], Trajectories], tuple[str, ...]]] = {
    "linear": (model("linear"), PAPER),
    "quad": (model("quad"), PAPER),
    "exp": (model("exp"), PAPER),
    "students": (student_study, (*MAIN_EFFECTS, "burden")),
}


def kept(study: Trajectories) -> tuple[str, ...]:
    return smdp.screen(study, seed=0).selected


def twin_of(study: Trajectories) -> tuple[tuple[str, ...], Twin]:
    """What was kept in the study, and a twin in which this is planted."""
    found = kept(study)
    own = identity_feature_map(study.select(found)) if found else no_features()
    return found, fit_twin(study, own)


def print_design(name: str, base: int, draws: int, fresh: int, first: int) -> None:
    make, planted = DESIGNS[name]
    start = process_time()
    true = [kept(make(first + 1000 + k)) for k in range(fresh)]
    rate = Counter(v for each in true for v in each)
    foretold: dict[str, list[float]] = {v: [] for v in planted}
    false_of_draws, false_of_nothing = [], []
    for k in range(base):
        found, twin = twin_of(make(first + k))
        again = [kept(twin.draw(d)) for d in range(draws)]
        for v in planted:
            if v in found:
                foretold[v].append(float(np.mean([v in each for each in again])))
        false_of_draws += [len(set(each) - set(found)) for each in again]
        itself = {"cigs"} if name == "students" else set()  # minus the outcome before
        nothing = [kept(twin.draw(d, world="nothing")) for d in range(draws // 6)]
        false_of_nothing += [len(set(each) - itself) > 0 for each in nothing]
    for v in planted:
        own, share = foretold[v], rate[v] / fresh
        if not own:
            print(f"| {name} | {v} | {share:.2f} | 0 of {base} | | | | |", flush=True)
            continue
        gaps = np.array(own) - share
        within = f"{(np.abs(gaps) <= 0.15 + 1e-9).sum()} of {len(gaps)}"
        ranges = [rate_in_truth(round(x * draws), draws) for x in own]
        holds = sum(low <= share <= high for low, high in ranges)
        single = ", ".join(f"{x:.2f}" for x in own)
        print(
            f"| {name} | {v} | {share:.2f} | {len(own)} of {base} | {np.mean(own):.2f} "
            f"({gaps.mean():+.2f}) | {within} | {holds} of {len(own)} | {single} |",
            flush=True,
        )
    false = np.mean([len(set(each) - set(planted)) for each in true])
    print(
        f"\n{name}: others kept, a study: {false:.2f} in fresh studies, "
        f"{np.mean(false_of_draws):.2f} in draws; anything kept where nothing matters: "
        f"{np.sum(false_of_nothing)} of {len(false_of_nothing)}; "
        f"{process_time() - start:.0f} processor seconds\n",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=int, default=5)
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--fresh", type=int, default=30)
    parser.add_argument("--first", type=int, default=810_000)
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS))
    asked = parser.parse_args()
    print(
        "| design | variable | true | planted in | foretold (difference) | within .15 | interval "
        "| each |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in asked.designs:
        print_design(name, asked.base, asked.draws, asked.fresh, asked.first)


if __name__ == "__main__":
    main()

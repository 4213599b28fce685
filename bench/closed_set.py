"""How often screening ends with exactly the variables that matter, where they are known.

Usage: python bench/closed_set.py [processes]
Writes the table bench/closed_set.md (some fifteen minutes on two cores).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from smdp.data.trajectories import Trajectories
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate

OUTPUT = Path(__file__).with_name("closed_set.md")
REPLICATIONS = 20  # of the paper's model
DATA_SETS = 50  # of the two other processes
FIRST_SEED = 90_000
PAPER = [(model, noise) for model in ("linear", "quad", "exp") for noise in (0, 50, 200)]
OTHERS = [("a", 10), ("a", 20), ("a", 40), ("b", 50), ("b", 100)]
LEVELS = (0.05, 0.10)


def process(which: str, people: int, seed: int) -> Trajectories:
    """The two processes of Ma et al., "Sequential knockoffs for variable selection in RL"."""
    random = np.random.default_rng((seed, people))
    times, p = 150, 20
    states = np.empty((people, times + 1, p))
    actions = np.empty((people, times), dtype=np.int64)
    utilities = np.empty((people, times))
    noise = np.sqrt(0.1)
    states[:, 0] = random.normal(size=(people, p))
    if which == "b":
        states[:, 0] = _coins(random, people, p) + noise * states[:, 0]
    for t in range(times):
        now = states[:, t]
        fresh = random.normal(size=(people, p))
        if which == "a":
            drive = now[:, 0] + now[:, 1]
            act = random.random(people) < np.where(drive > 0, 0.9, 0.1)
            utilities[:, t] = act * drive + random.normal(size=people)
            states[:, t + 1] = np.where(act[:, None], 0.9, 0.09) * now + fresh
        else:
            act = random.random(people) < 0.5
            utilities[:, t] = act + now[:, 0] + np.sqrt(0.5) * random.normal(size=people)
            after = _coins(random, people, p)
            after[:, 0] = random.random(people) < 1 / (1 + np.exp(-now[:, 1]))
            stay = random.random((people, 9)) < np.where(act[:, None], 0.8, 0.6)
            after[:, 2:11] = stay == (now[:, 2:11] > 0.5)
            states[:, t + 1] = after + noise * fresh
        actions[:, t] = act
    return Trajectories(
        states=states,
        actions=actions,
        utilities=utilities,
        valid=np.ones((people, times), dtype=bool),
        available=np.ones((people, times), dtype=bool),
        probabilities=np.full((people, times, 2), np.nan),
        variables=tuple(f"S{j + 1}" for j in range(p)),
        subjects=tuple(map(str, range(people))),
        action_labels=("0", "1"),
    )


def _coins(random: np.random.Generator, people: int, p: int) -> np.ndarray:
    return (random.random((people, p)) < 0.5).astype(float)


def one(seed: int, *, which: str, size: int) -> list[tuple[tuple[str, ...], float]]:
    """The variables kept at each level, and the processor seconds it took."""
    made = process(which, size, seed) if which in "ab" else simulate(which, noise=size, seed=seed)
    found = []
    for level in LEVELS:
        start = process_time()
        kept = screen(made, ScreeningSettings(level=level), seed=seed).selected
        found.append((kept, process_time() - start))
    return found


def rows(pool: ProcessPoolExecutor, which: str, size: int) -> list[str]:
    count = DATA_SETS if which in "ab" else REPLICATIONS
    true = tuple(f"S{j + 1}" for j in range(2 if which in "ab" else 4))
    seeds = range(FIRST_SEED, FIRST_SEED + count)
    found = list(pool.map(partial(one, which=which, size=size), seeds))
    name = f"({which}) {size} people" if which in "ab" else f"{which}, {size} noise variables"
    lines = []
    for k, level in enumerate(LEVELS):
        kept = [each[k][0] for each in found]
        exact = sum(each == true for each in kept)
        all_true = sum(set(true) <= set(each) for each in kept)
        others = Counter(name for each in kept for name in each if name not in true)
        often = ", ".join(f"{name} {times}" for name, times in others.most_common(4)) or "none"
        seconds = float(np.mean([each[k][1] for each in found]))
        lines.append(
            f"| {name} | {level:g} | {all_true} of {count} | {exact} of {count} | {often} | "
            f"{seconds:.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with ProcessPoolExecutor(processes) as pool:
        lines = [line for which, size in PAPER + OTHERS for line in rows(pool, which, size)]
    text = f"""# The smallest closed set, where it is known

Made by `python bench/closed_set.py`: screening alone, default settings but for the level, seeds
from {FIRST_SEED:,} on, which were used for nothing else. The paper's model (30 people, 90
decisions, S1 to S4 are the closed set), and the two processes of Ma et al. (20 variables, 150
decisions, S1 and S2): (a) linear, treated by what it needs; (b) two-valued, S2 acts through S1.

| data | level | true ones kept | exactly these | others kept, how often | processor seconds |
|---|---|---|---|---|---|
{chr(10).join(lines)}
"""
    OUTPUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

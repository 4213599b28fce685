"""Size and coverage of the trial summary in simulated trials, and the seconds it takes.

Usage: python bench/effects.py [--datasets 1000] [--seed 1] [--processes 2] [--people 10 20 37 100]
Prints the tables of bench/effects.md.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.trial_effects import trial_summary

PEOPLE = (10, 20, 37, 100)
TIMES = 30
KINDS = ("continuous", "yes/no")
#: Of the outcome, or logarithms of ratios of risks.
EFFECTS = {"continuous": 0.3, "yes/no": 0.2}
MEMORY = 0.5
LEVEL = 0.05


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    kind: str
    people: int
    effect: float


def cells() -> list[Cell]:
    return [Cell(kind, n, b) for kind in KINDS for n in PEOPLE for b in (0.0, EFFECTS[kind])]


def errors(random: np.random.Generator, people: int) -> NDArray[np.float64]:
    """(n, T): of unit variance, with a correlation of MEMORY from one decision to the next."""
    values = random.normal(size=(people, TIMES))
    for t in range(1, TIMES):
        values[:, t] = MEMORY * values[:, t - 1] + math.sqrt(1 - MEMORY**2) * values[:, t]
    return values


def simulated(cell: Cell, random: np.random.Generator) -> Trajectories:
    """The state follows the last treatment, and decides with which probability one is treated.

    People differ in their level, and in how they respond, by as much again as the effect of the
    continuous outcome. Given everything before, treatment multiplies each risk by the same ratio.
    """
    n = cell.people
    own, noise = random.normal(size=(n, 1)), errors(random, n)
    response = EFFECTS["continuous"] * random.normal(size=n)
    state = np.zeros((n, TIMES + 1))
    state[:, 0] = random.normal(size=n)
    chance, actions = np.zeros((n, TIMES)), np.zeros((n, TIMES), dtype=np.int64)
    for t in range(TIMES):
        chance[:, t] = np.where(state[:, t] > 0, 0.6, 0.3)
        actions[:, t] = random.random(n) < chance[:, t]
        shock = random.normal(size=n)
        state[:, t + 1] = MEMORY * state[:, t] + 0.4 * (actions[:, t] - 0.4) + shock
    before = 0.5 * state[:, :-1] + own + noise
    if cell.kind == "continuous":
        utilities = before + actions * (cell.effect + response[:, None])
    else:
        risk = (0.1 + 0.5 / (1 + np.exp(-before))) * np.exp(cell.effect * actions)
        utilities = (random.random((n, TIMES)) < risk).astype(float)
    return trial(state[:, :, None], actions, utilities, chance)


def trial(
    states: NDArray[np.float64],
    actions: NDArray[np.int64],
    utilities: NDArray[np.float64],
    chance: NDArray[np.float64],
) -> Trajectories:
    return Trajectories(
        states=states,
        actions=actions,
        utilities=utilities,
        valid=np.ones(actions.shape, dtype=bool),
        available=np.ones(actions.shape, dtype=bool),
        probabilities=np.stack([1 - chance, chance], axis=2),
        variables=tuple(f"v{j}" for j in range(states.shape[2])),
        subjects=tuple(map(str, range(len(actions)))),
        action_labels=("0", "1"),
    )


def one_data_set(cell: Cell, place: int, seed: int, number: int) -> tuple[float, ...]:
    """Rejected, covered, estimate, error; all NaN where nothing could be estimated as wanted."""
    random = np.random.default_rng((seed, place, number))
    try:
        found = trial_summary(simulated(cell, random), controls=["v0"])
    except DataError:
        return (math.nan,) * 4
    row = found.effects.iloc[0]
    wanted = "linear" if cell.kind == "continuous" else "ratio"
    if found.kind != cell.kind or found.scale != wanted:
        return (math.nan,) * 4
    covered = row["lower"] <= cell.effect <= row["upper"]
    return row["p_value"] <= LEVEL, covered, row["estimate"], row["standard_error"]


def share(values: NDArray[np.float64]) -> str:
    mean = float(values.mean())
    return f"{mean:.3f} ({math.sqrt(mean * (1 - mean) / len(values)):.3f})"


def table(
    pool: ProcessPoolExecutor, datasets: int, seed: int, people: Sequence[int] = PEOPLE
) -> Iterator[str]:
    yield (
        "| outcome | people | effect | data sets | rejected at .05 | covered by 95 % | "
        "mean estimate | sd of estimates | mean error |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for place, cell in enumerate(cells()):
        if cell.people not in people:
            continue
        jobs = [[each] * datasets for each in (cell, place, seed)]
        rows = list(pool.map(one_data_set, *jobs, range(datasets), chunksize=20))
        found = np.array(rows, dtype=float)
        found = found[np.isfinite(found).all(axis=1)]
        rejected, covered, estimate, error = found.T
        yield (
            f"| {cell.kind} | {cell.people} | {cell.effect:g} | {len(found):,} | "
            f"{share(rejected)} | {share(covered)} | {estimate.mean():.3f} | "
            f"{estimate.std(ddof=1):.3f} | {error.mean():.3f} |"
        )


def large_trial(kind: str, random: np.random.Generator) -> Trajectories:
    people, times, variables = 2000, 200, 10
    states = random.normal(size=(people, times + 1, variables))
    chance = np.where(states[:, :-1, 0] > 0, 0.6, 0.3)
    actions = (random.random((people, times)) < chance).astype(np.int64)
    before = 0.5 * states[:, :-1, 0] + random.normal(size=(people, 1))
    if kind == "continuous":
        utilities = before + 0.3 * actions + random.normal(size=(people, times))
    else:
        risk = (0.1 + 0.5 / (1 + np.exp(-before))) * np.exp(0.2 * actions)
        utilities = (random.random((people, times)) < risk).astype(float)
    return trial(states, actions, utilities, chance)


def seconds(kind: str, seed: int) -> tuple[float, float]:
    """By the clock and of the processor, each the best of two."""
    data = large_trial(kind, np.random.default_rng((seed, 99)))
    taken = []
    for _ in range(2):
        start = perf_counter(), process_time()
        trial_summary(data, controls=["v0"], moderators=["v1"])
        taken.append((perf_counter() - start[0], process_time() - start[1]))
    clock, processor = zip(*taken, strict=True)
    return min(clock), min(processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--people", type=int, nargs="*", default=PEOPLE, choices=PEOPLE)
    chosen = parser.parse_args()
    start = perf_counter()
    with ProcessPoolExecutor(chosen.processes) as pool:
        for line in table(pool, chosen.datasets, chosen.seed, chosen.people):
            print(line, flush=True)
    print(f"{perf_counter() - start:.0f} s with {chosen.processes} processes\n")
    print("2,000 people x 200 decisions, 10 variables\n")
    print("| outcome | seconds | of the processor |")
    print("|---|---|---|")
    for kind in KINDS:
        clock, processor = seconds(kind, chosen.seed)
        print(f"| {kind} | {clock:.1f} | {processor:.1f} |", flush=True)


if __name__ == "__main__":
    main()

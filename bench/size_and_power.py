"""How often screening selects what it should not, and finds what it should, with fixed seeds.

Usage: python bench/size_and_power.py [processes]
Writes the table bench/size_and_power.md (some ten minutes on two cores).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from smdp.independence.over_time import HowToTest, independence_over_time
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate

SUBJECTS, TIMES, LEVEL = 30, 90, 0.10
DATA_SETS, VARIABLES = 100, 20
REPLICATIONS, NOISE = 20, 50
OUTPUT = Path(__file__).with_name("size_and_power.md")

KINDS = ("white", "AR(0.95)", "constant in time")
POOLINGS = ("ruger", "trajectory")
TESTS = ("distance_covariance", "likelihood_ratio")
EQUAL = "2 actions, equal lengths"
UNEQUAL = "3 actions, unavailable times, unequal lengths"
SPREAD = "2 actions, the variable's spread is 11 times larger under one"
DESIGNS = (EQUAL, UNEQUAL, SPREAD)


@dataclass(frozen=True)
class SizeCell:
    """One row of the size table."""

    design: str
    kind: str
    test: str
    pooling: str


@dataclass(frozen=True)
class PowerCell:
    """One row of the power table."""

    model: str
    pooling: str


def noise(random: np.random.Generator, kind: str, columns: int) -> np.ndarray:
    """(n, T, columns)."""
    values = random.normal(size=(SUBJECTS, TIMES, columns))
    if kind == "constant in time":
        values[:] = values[:, :1]
    if kind == "AR(0.95)":
        for t in range(1, TIMES):
            values[:, t] = 0.95 * values[:, t - 1] + math.sqrt(1 - 0.95**2) * values[:, t]
    return values


def false_selections(cell: SizeCell, seed: int) -> int:
    """How many of the variables, all independent of the outcome, are selected.

    Variable and outcome are of the same kind: serial dependence on both sides is the hard case.
    """
    key = [seed, DESIGNS.index(cell.design), KINDS.index(cell.kind)]
    random = np.random.default_rng(key)
    x, y = noise(random, cell.kind, VARIABLES), noise(random, cell.kind, 1)
    if cell.test == "likelihood_ratio":
        x, y = np.digitize(x, [-0.4, 0.4]).astype(float), np.digitize(y, [-0.4, 0.4]).astype(float)
    strata = random.integers(0, 2, (SUBJECTS, TIMES))
    if cell.design == SPREAD:
        x *= 0.1 + strata[:, :, None]
    if cell.design == UNEQUAL:
        strata = random.choice(4, size=(SUBJECTS, TIMES), p=[0.35, 0.25, 0.25, 0.15])
        after_end = np.arange(TIMES) >= random.integers(TIMES // 3, TIMES + 1, SUBJECTS)[:, None]
        strata[after_end] = -1
        x[after_end], y[after_end] = np.nan, np.nan
    how = HowToTest(level=LEVEL, test=cell.test, pooling=cell.pooling)  # type: ignore[arg-type]
    found = independence_over_time(x, y, strata, how, seed=np.random.SeedSequence(seed))
    return int(np.sum(found.pooled <= LEVEL))


def replication(cell: PowerCell, seed: int) -> tuple[float, ...]:
    """All of S1 .. S4 in round 1, noise in round 1, noise kept (D, W, C), variables, rounds."""
    data = simulate(cell.model, noise=NOISE, subjects=SUBJECTS, times=TIMES, seed=seed)  # type: ignore[arg-type]
    settings = ScreeningSettings(level=LEVEL, method="paper", pooling=cell.pooling)  # type: ignore[arg-type]
    found = screen(data, settings, seed=seed)
    first = found.rounds[0].joined
    kept = [sum(name.startswith(kind) for name in found.selected) for kind in "DWC"]
    return (
        float({"S1", "S2", "S3", "S4"} <= set(first)),
        float(sum(name[0] != "S" for name in first)),
        *map(float, kept),
        float(len(found.selected)),
        float(len(found.rounds)),
    )


def size_table(pool: ProcessPoolExecutor) -> Iterator[str]:
    cells = [
        SizeCell(design, kind, test, pooling)
        for design in DESIGNS
        for test in (TESTS if design == EQUAL else TESTS[:1])
        for pooling in POOLINGS
        for kind in KINDS
    ]
    tests = DATA_SETS * VARIABLES
    allowed = LEVEL + 2 * math.sqrt(LEVEL * (1 - LEVEL) / tests)
    yield f"## Size: n = {SUBJECTS}, T = {TIMES}, level {LEVEL:.2f}\n"
    yield (
        f"Share of {tests:,} noise variables ({DATA_SETS} data sets of {VARIABLES}) selected. "
        "Variable and outcome\nare independent and of the same kind. Up to "
        f"{allowed:.3f} is within two binomial errors of {LEVEL:.2f}; more is marked with !.\n"
    )
    yield "| design | test | pooling | " + " | ".join(KINDS) + " |"
    yield "|---|---|---|" + "---|" * len(KINDS)
    row: list[str] = []
    for cell in cells:
        share = sum(pool.map(false_selections, [cell] * DATA_SETS, range(DATA_SETS))) / tests
        row.append(f"{share:.3f}{' !' if share > allowed else ''}")
        if len(row) == len(KINDS):
            yield f"| {cell.design} | {cell.test} | {cell.pooling} | " + " | ".join(row) + " |"
            row = []


def power_table(pool: ProcessPoolExecutor) -> Iterator[str]:
    yield f"\n## Power: the paper's model, {NOISE} noise variables, {REPLICATIONS} replications\n"
    yield (
        "Distance covariance. Means over the replications, but for the first column. D is noise\n"
        "that follows the actions, W white, C constant in time.\n"
    )
    yield (
        "| model | pooling | S1-S4 all in round 1 | noise in round 1 | noise kept | D | W | C "
        "| variables | rounds |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for pooling in POOLINGS:
        for model in ("linear", "quad", "exp"):
            cell = PowerCell(model, pooling)
            rows = list(pool.map(replication, [cell] * REPLICATIONS, range(REPLICATIONS)))
            means = np.mean(rows, axis=0)
            found = int(np.sum(rows, axis=0)[0])
            numbers = (means[1], means[2:5].sum(), *means[2:])
            text = " | ".join(f"{value:.2f}" for value in numbers)
            yield f"| {model} | {pooling} | {found} of {REPLICATIONS} | {text} |"


def main() -> None:
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    start = perf_counter()
    lines = ["# Size and power of screening\n", "Made by `python bench/size_and_power.py`.\n"]
    with ProcessPoolExecutor(processes) as pool:
        for table in (size_table, power_table):
            for line in table(pool):
                print(line, flush=True)
                lines.append(line)
    lines.append(NOTES)
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{perf_counter() - start:.0f} s with {processes} processes")


NOTES = """
## How to read it

- Rüger's pooling holds whatever the dependence between times, and is conservative for it.
- Whole trajectories hold their level exactly, but their null hypothesis is stronger: the variable
  is independent of the actions too. Where its spread goes with the present action (the last design;
  availability can do that in a real trial) it may be selected for that alone. D follows the earlier
  actions, as the utility does: whole trajectories of D *are* dependent on those of the utility and
  the actions, and D is rightly rejected. Each W and C has its chance of 0.10 in each round. So this
  pooling keeps far more noise than Rüger's.
- In the exponential model the means of D and of the utility both depend on the action before, so
  they are dependent at single times too, given the present action, and Rüger's pooling finds D."""


if __name__ == "__main__":
    main()

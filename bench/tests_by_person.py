"""Size and power of the tests with people as the sample, with fixed seeds.

Usage: python bench/tests_by_person.py [processes]
Writes the table bench/tests_by_person.md (some twenty minutes on two cores).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from smdp.data.trajectories import Trajectories
from smdp.independence.given_others import GivenOthers
from smdp.independence.people import finest_strata
from smdp.independence.signs import family_test, signs
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings

OUTPUT = Path(__file__).with_name("tests_by_person.md")
TESTS = 500
POWER_DATA_SETS = 200


@dataclass(frozen=True)
class Cell:
    """One row of the size table: variable and outcome have nothing to do with each other."""

    people: int = 30
    times: int = 30
    kind: str = "own levels"
    actions: int = 2
    gaps: bool = False  # unavailable decisions and unequal lengths
    ranks: bool = False
    given: bool = False  # given another variable that both depend on


def cells() -> list[Cell]:
    base = Cell()
    found = [replace(base, people=n) for n in (8, 10, 15, 20, 30, 60, 120)]
    found += [replace(base, times=t) for t in (15, 90)]
    found += [Cell(people=n, times=15) for n in (8, 60)]
    kinds = ("white", "AR(.95)", "constant", "trend", "drifting spread", "skewed")
    found += [Cell(people=n, kind=kind) for kind in kinds for n in (10, 30, 120)]
    found += [
        Cell(people=n, actions=k, gaps=g) for n in (15, 60) for k, g in ((4, False), (2, True))
    ]
    found += [
        Cell(people=n, kind=k, ranks=True) for k in ("own levels", "skewed") for n in (10, 30)
    ]
    found += [Cell(people=n, kind=k, given=True) for k in ("white", "own levels", "constant")
              for n in (10, 15, 30, 60)]  # fmt: skip
    return found


def series(random: np.random.Generator, people: int, times: int, memory: float) -> np.ndarray:
    """(people, times): unit variance, with this correlation from one time to the next."""
    values = random.normal(size=(people, times))
    for t in range(1, times):
        values[:, t] = memory * values[:, t - 1] + math.sqrt(1 - memory**2) * values[:, t]
    return values


def one_column(random: np.random.Generator, people: int, times: int, kind: str) -> np.ndarray:
    own = random.normal(size=(people, 1))
    clock = np.linspace(-1, 1, times)
    return {
        "white": lambda: series(random, people, times, 0.0),
        "AR(.95)": lambda: series(random, people, times, 0.95),
        "constant": lambda: np.repeat(own, times, axis=1),
        "own levels": lambda: 0.7 * own + series(random, people, times, 0.5),
        "trend": lambda: series(random, people, times, 0.5) + 3 * clock,
        "drifting spread": lambda: series(random, people, times, 0.5) * (1.2 + clock),
        "skewed": lambda: np.exp(0.7 * own + series(random, people, times, 0.8)),
    }[kind]()


def trial(
    states: np.ndarray, actions: np.ndarray, utilities: np.ndarray, levels: int = 2
) -> Trajectories:
    """States (n, T, p): the state after the last decision is never looked at in one round."""
    people, times = actions.shape
    after = np.concatenate([states, states[:, -1:]], axis=1)
    return Trajectories(
        states=after,
        actions=actions,
        utilities=utilities,
        valid=np.ones((people, times), dtype=bool),
        available=np.ones((people, times), dtype=bool),
        probabilities=np.full((people, times, levels), 1 / levels),
        variables=tuple(f"v{j}" for j in range(states.shape[2])),
        subjects=tuple(map(str, range(people))),
        action_labels=tuple(map(str, range(levels))),
    )


def with_gaps(data: Trajectories, random: np.random.Generator) -> Trajectories:
    people, times = data.actions.shape
    lengths = random.integers(times // 2, times + 1, people)
    valid = np.arange(times) < lengths[:, None]
    available = random.random((people, times)) < 0.8
    actions = np.where(available & valid, data.actions, -1)
    return replace(data, valid=valid, available=available, actions=actions)


def p_of_null(cell: Cell, seed: int) -> float:
    random = np.random.default_rng((1017, seed, hash_of(cell)))
    n, times = cell.people, cell.times
    actions = random.integers(0, cell.actions, (n, times))
    x = one_column(random, n, times, cell.kind)
    y = one_column(random, n, times, cell.kind) + 0.3 * actions
    if cell.given:
        return _p_given(x, y, actions, random)
    data = trial(x[:, :, None], actions, y, cell.actions)
    data = with_gaps(data, random) if cell.gaps else data
    how = ScreeningSettings(method="rounds", max_rounds=1, ranks=cell.ranks, permutations=999)
    return float(screen(data, how, seed=seed).rounds[0].tests["p_value"].iloc[0])


def _p_given(
    x: np.ndarray, y: np.ndarray, actions: np.ndarray, random: np.random.Generator
) -> float:
    """Both follow a third variable and a baseline, in ways that are not straight lines."""
    n, times = actions.shape
    base = np.repeat(random.normal(size=(n, 1)), times, axis=1)
    moving = 0.5 * base + series(random, n, times, 0.5)
    y = y + np.sin(2 * moving) + 0.5 * actions * moving + 0.3 * base
    x = x + 0.5 * moving**2 + 0.3 * base
    data = trial(np.stack([x, moving, base], axis=2), actions, y)
    rows, _ = finest_strata(data, 2)
    tests = GivenOthers(data, rows, signs(n, 999, random), random).test([0], [1, 2], [])
    return float(family_test(tests).p_value[0])


def hash_of(cell: Cell) -> int:
    """The same on every machine, unlike Python's own."""
    return int.from_bytes(repr(cell).encode(), "little") % 2**31


def size_row(cell: Cell) -> str:
    start = perf_counter()
    p = np.array([p_of_null(cell, seed) for seed in range(TESTS)])
    shares = [(p <= level + 1e-12).mean() for level in (0.05, 0.10)]
    beyond = [
        share > level + 2.58 * math.sqrt(level * (1 - level) / TESTS)
        for share, level in zip(shares, (0.05, 0.10), strict=True)
    ]
    design = f"{cell.actions} actions" + (", gaps" if cell.gaps else "")
    test = ("ranks" if cell.ranks else "values") + (", given two others" if cell.given else "")
    marked = [f"**{s:.3f}**" if b else f"{s:.3f}" for s, b in zip(shares, beyond, strict=True)]
    print(cell, *marked, f"{perf_counter() - start:.0f} s", flush=True)
    return f"| {test} | {cell.people} | {cell.times} | {cell.kind} | {design} | " + (
        " | ".join(marked) + " |"
    )


POWER = {
    "linear, 0.2 sd for each sd": lambda z, a: 0.2 * z,
    "linear, 0.3": lambda z, a: 0.3 * z,
    "only under treatment, 0.3": lambda z, a: 0.3 * z * a,
    "square, 0.3": lambda z, a: 0.3 * z**2,
}


def power_row(name: str) -> str:
    found = {"paper": 0, "rounds": 0}
    for seed in range(POWER_DATA_SETS):
        random = np.random.default_rng((1003, seed, len(name)))
        n, times = 30, 30
        actions = random.integers(0, 2, (n, times))
        z = 0.5 * random.normal(size=(n, 1)) + series(random, n, times, 0.5)
        z = z / z.std()
        y = POWER[name](z, actions) + 0.5 * random.normal(size=(n, 1))
        y = y + random.normal(size=(n, times)) + 0.2 * actions
        data = trial(z[:, :, None], actions, y)
        for method in found:
            how = ScreeningSettings(level=0.05, method=method, max_rounds=1)
            found[method] += bool(screen(data, how, seed=seed).selected)
    shares = " | ".join(f"{count / POWER_DATA_SETS:.2f}" for count in found.values())
    print(name, shares, flush=True)
    return f"| {name} | {shares} |"


def family_row(under_treatment: bool) -> str:
    """Six variables, the first of which matters; people differ, and all share a trend."""
    found, false, data_sets = 0, 0, 100
    for seed in range(data_sets):
        random = np.random.default_rng((1004, seed, int(under_treatment)))
        n, times = 30, 30
        actions = random.integers(0, 2, (n, times))
        trend = 2 * np.linspace(-1, 1, times)
        states = np.stack(
            [0.7 * random.normal(size=(n, 1)) + series(random, n, times, 0.5) for _ in range(6)],
            axis=2,
        )
        effect = 0.25 * states[:, :, 0] * (actions if under_treatment else 1)
        y = effect + 0.7 * random.normal(size=(n, 1)) + random.normal(size=(n, times)) + trend
        data = trial(states + trend[:, None], actions, y)
        kept = screen(data, ScreeningSettings(method="rounds", max_rounds=1), seed=seed).selected
        found += "v0" in kept
        false += len(set(kept) - {"v0"})
    name = "an effect of 0.25 " + (
        "under treatment only" if under_treatment else "whatever is done"
    )
    print(name, found, false, flush=True)
    return f"| {name} | {found} of {data_sets} | {false} of {5 * data_sets} |"


def main() -> None:
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with ProcessPoolExecutor(processes) as pool:
        sizes = list(pool.map(size_row, cells()))
        powers = list(pool.map(power_row, POWER))
        families = list(pool.map(family_row, (False, True)))
    text = f"""# Size and power with people as the sample

Made by `python bench/tests_by_person.py`.

## Size

The share of {TESTS:,} tests of a variable that has nothing to do with the outcome with a p-value of
at most .05 and .10. **Bold**: above the level by more than chance allows (2.58 standard errors).
"Given two others": variable and outcome both follow a third variable and a baseline, in ways that
are not straight lines; tested is what is left once these are known. "Gaps": a fifth of the
decisions is unavailable, and people leave after half of the study or later. With 8 or 10 people all
patterns of signs are used, and there are only 128 or 512.

| test | people | decisions | kind | design | .05 | .10 |
|---|---|---|---|---|---|---|
{chr(10).join(sizes)}

## Power

30 people, 30 decisions, own levels of half a standard deviation in variable and outcome, AR(.5)
states, level .05, {POWER_DATA_SETS} data sets.

| dependence of the utility on the variable | the paper's test | people as the sample |
|---|---|---|
{chr(10).join(powers)}

Six variables, of which the first matters; own levels of 0.7 in variables and outcome and a common
trend; family level .10.

| dependence | found | others kept |
|---|---|---|
{chr(10).join(families)}
"""
    OUTPUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

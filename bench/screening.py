"""How long screening takes, with people as the sample and as in the paper, and how it grows.

The paper's tests also next to the bare matrix products and to dcor.

Usage: OPENBLAS_NUM_THREADS=1 python bench/screening.py [--large]
--large: one round of 2,000 people x 200 decisions x 100 variables, too (minutes).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
os.environ.setdefault("MKL_NUM_THREADS", "1")

import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

from smdp.data.trajectories import Trajectories
from smdp.independence.over_time import HowToTest, independence_over_time
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate

VARIABLES, TIMES, SUBJECTS, PERMUTATIONS, OUTCOMES = 264, 90, 30, 999, 21

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def made(variables: int, times: int, subjects: int, outcomes: int) -> Data:
    random = np.random.default_rng(0)
    x = random.normal(size=(subjects, times, variables))
    y = random.normal(size=(subjects, times, outcomes))
    return x, y, random.integers(0, 2, (subjects, times))


def best_of_both(runs: int, *works: Callable[[], object]) -> list[float]:
    """The shortest time of each, run in turn so that a busy machine slows all of them."""
    best = [float("inf")] * len(works)
    for _ in range(runs):
        for number, work in enumerate(works):
            start = perf_counter()
            work()
            best[number] = min(best[number], perf_counter() - start)
    return best


def ours(data: Data, pooling: str = "ruger", jobs: int = 1) -> None:
    how = HowToTest(permutations=PERMUTATIONS, pooling=pooling, jobs=jobs)  # type: ignore[arg-type]
    independence_over_time(*data, how, seed=np.random.SeedSequence(0))


def bare_products(data: Data) -> Callable[[], None]:
    """The same matrix products on factors that are there already."""
    x, _, strata = data
    random = np.random.default_rng(0)
    sizes = [np.bincount(strata[:, t]) for t in range(x.shape[1])]
    pairs = [int(np.sum(size * (size - 1) // 2)) for size in sizes]
    distances = [random.random((count, x.shape[2])) for count in pairs]
    weights = [random.random((count, PERMUTATIONS + 1)) for count in pairs]
    out = np.empty((x.shape[2], PERMUTATIONS + 1))

    def multiply() -> None:
        for d, w in zip(distances, weights, strict=True):
            np.matmul(d.T, w, out=out)

    return multiply


def against_products_and_dcor() -> None:
    data = made(VARIABLES, TIMES, SUBJECTS, OUTCOMES)
    seconds, products = best_of_both(11, lambda: ours(data), bare_products(data))
    shape = f"p = {VARIABLES}, T = {TIMES}, n = {SUBJECTS}, B = {PERMUTATIONS}, dim Y = {OUTCOMES}"
    print(f"{shape}, one core, float64")
    print(f"  all tests              {seconds:8.3f} s")
    print(f"  bare matrix products   {products:8.3f} s: {seconds / products:.2f} times as long")
    import dcor

    x, y, strata = data
    sample = [(t, j) for t in (0, 40, 80) for j in (0, 100, 200)]

    def loop() -> None:
        for t, j in sample:
            for a in (0, 1):
                rows = strata[:, t] == a
                dcor.independence.distance_covariance_test(
                    x[rows, t, j], y[rows, t], num_resamples=PERMUTATIONS, random_state=0
                )

    loop()  # compiles
    (sampled,) = best_of_both(3, loop)
    whole = sampled / len(sample) * VARIABLES * TIMES
    print(
        f"  a loop over dcor       {whole:8.0f} s, extrapolated from {len(sample)} of "
        f"{VARIABLES * TIMES:,} tests: {whole / seconds:,.0f} times as long"
    )


def growth() -> None:
    print(f"\nGrowth with n (p = {VARIABLES}, B = {PERMUTATIONS}, dim Y = {OUTCOMES}, per time)")
    for subjects, times, runs in ((30, 90, 5), (200, 10, 3), (1000, 2, 1)):
        data = made(VARIABLES, times, subjects, OUTCOMES)
        works = [lambda d=data: ours(d), lambda d=data: ours(d, "trajectory")]
        single, trajectory = (1e3 * s / times for s in best_of_both(runs, *works))
        pairs = subjects * (subjects - 2) // 4
        flops = 2 * VARIABLES * (PERMUTATIONS + 1) * pairs
        print(
            f"  n = {subjects:5,}: {single:8.1f} ms, {flops / single / 1e6:5.1f} GFLOP/s; "
            f"whole trajectories {trajectory:8.1f} ms"
        )


def threads() -> None:
    data = made(VARIABLES, 30, 200, OUTCOMES)
    one, two = best_of_both(3, lambda: ours(data), lambda: ours(data, jobs=2))
    print(f"\njobs = 2, n = 200, T = 30: {one:.2f} s becomes {two:.2f} s")


def peak_memory() -> None:
    print("\nPeak memory of a whole process, one round, default permutations")
    for variables, times, subjects, pooling in (
        (5000, 30, 100, "by person"),
        (5000, 30, 100, "ruger"),
        (5000, 30, 100, "trajectory"),
        (264, 1, 2000, "ruger"),
        *([(100, 200, 2000, "by person")] if "--large" in sys.argv else []),
    ):
        shape = [str(variables), str(times), str(subjects), pooling]
        command = [sys.executable, __file__, "--memory", *shape]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print(f"  p = {variables:,}, T = {times}, n = {subjects:,}, {pooling}: {answer.strip()}")


def random_trial(variables: int, times: int, subjects: int) -> Trajectories:
    """The utility depends on the first variable, and a little."""
    random = np.random.default_rng(0)
    shape = (subjects, times)
    states = random.normal(size=(subjects, times + 1, variables))
    return Trajectories(
        states=states,
        actions=random.integers(0, 2, shape),
        utilities=0.1 * states[:, :-1, 0] + random.normal(size=shape),
        valid=np.ones(shape, dtype=bool),
        available=np.ones(shape, dtype=bool),
        probabilities=np.full((*shape, 2), 0.5),
        variables=tuple(f"v{j}" for j in range(variables)),
        subjects=tuple(map(str, range(subjects))),
        action_labels=("0", "1"),
    )


def measure_memory(variables: int, times: int, subjects: int, method: str) -> None:
    """A screen of the given size in this process, and what it took at most."""
    trial = random_trial(variables, times, subjects)
    pooling = "trajectory" if method == "trajectory" else "ruger"
    method = "rounds" if method == "by person" else "paper"
    how = ScreeningSettings(max_rounds=1, method=method, pooling=pooling)  # type: ignore[arg-type]
    start, worked = perf_counter(), process_time()
    screen(trial, how)
    seconds, processor = perf_counter() - start, process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{peak:.2f} GiB, {seconds:.0f} s, {processor:.0f} processor seconds")


def by_person() -> None:
    print("Whole screenings, best of 3, in turn: the smallest closed set, and as in the paper")
    for noise in (0, 200):
        trial = simulate("linear", noise=noise, seed=1)
        closed, paper = best_of_both(
            3,
            lambda t=trial: screen(t, ScreeningSettings(level=0.05)),
            lambda t=trial: screen(t, ScreeningSettings(level=0.05, method="paper")),
        )
        p = len(trial.variables)
        print(f"  p = {p}, n = 30, T = 90: {closed:.2f} s against {paper:.2f} s")
    print("Growth of the first round (p, T, n): seconds, best of 3")
    for shape in ((50, 30, 30), (200, 30, 30), (50, 120, 30), (50, 30, 120), (50, 30, 480)):
        trial = random_trial(*shape)
        how = ScreeningSettings(method="rounds", max_rounds=1)
        (seconds,) = best_of_both(3, lambda t=trial, how=how: screen(t, how))
        print(f"  {shape}: {seconds:.2f} s")


def main() -> None:
    if sys.argv[1:2] == ["--memory"]:
        variables, times, subjects = map(int, sys.argv[2:5])
        measure_memory(variables, times, subjects, sys.argv[5])
        return
    by_person()
    against_products_and_dcor()
    growth()
    threads()
    peak_memory()


if __name__ == "__main__":
    main()

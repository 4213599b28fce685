"""How much faster two processes do a simulation study than one, in the same run.

Usage: python bench/study_workers.py [--replications 24] [--rounds 2]
"""

from __future__ import annotations

import argparse
from time import perf_counter

import pandas as pd

from smdp.simulation.study_run import run_study
from smdp.simulation.study_settings import SimulationSetting, StudySettings, quick
from smdp.simulation.study_store import CLOCK


def seconds(replications: int, jobs: int) -> tuple[float, pd.DataFrame]:
    start = perf_counter()
    study = run_study(
        [SimulationSetting("linear", 0)],
        maps=["adnn"],
        replications=replications,
        how=quick(StudySettings()),
        jobs=jobs,
    )
    return perf_counter() - start, study.rows.drop(columns=list(CLOCK))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--replications", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    best = {1: float("inf"), 2: float("inf")}
    tables = []
    for _ in range(chosen.rounds):
        for jobs in best:
            taken, rows = seconds(chosen.replications, jobs)
            best[jobs] = min(best[jobs], taken)
            tables.append(rows)
    same = all(each.equals(tables[0]) for each in tables)
    print(
        f"{chosen.replications} replications (linear, ADNN, quick training), best of "
        f"{chosen.rounds}: {best[1]:.1f} s with one process, {best[2]:.1f} s with two "
        f"({best[1] / best[2]:.2f} times as fast; {'the same' if same else 'ANOTHER'} table)"
    )


if __name__ == "__main__":
    main()

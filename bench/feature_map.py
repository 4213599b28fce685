"""Feature maps on the paper's model: variables, dimensions, seconds and memory.

Usage: python bench/feature_map.py [--seeds 10] [--jobs 2] [--models quad] [--noise 50]
                                  [--one-layer] [--only selection] [--method closed_set]

"selection": screening at level 0.05, then the whole fit, for each model and number of noise
variables: mean number of variables and of features, and how often S1 to S4 were all kept; with
`--method paper`, screened as in the paper.
"speed": the same grid of networks as one batch and one after the other; growth; memory.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed

from smdp.feature_map.adnn import training
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.training import train
from smdp.feature_map.adnn.tuning import grid, how_to_select
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate

MODELS, NOISE = ("linear", "quad", "exp"), (0, 50, 200)
TRUE = ("S1", "S2", "S3", "S4")


def one_fit(
    model: str, noise: int, seed: int, one_layer: bool, method: str = "closed_set"
) -> tuple[object, ...]:
    trajectories = simulate(model, noise=noise, seed=seed)  # type: ignore[arg-type]
    start = perf_counter()
    how = ScreeningSettings(level=0.05, method=method)  # type: ignore[arg-type]
    screened = screen(trajectories, how, seed=seed)
    middle = perf_counter()
    settings = FeatureMapSettings(interpretable=one_layer)
    found = fit_feature_map(trajectories.select(screened.selected), settings, seed=seed)
    used = found.variables_used
    return (
        len(screened.selected),
        len(used),
        found.dimension,
        set(TRUE) <= set(used),
        middle - start,
        perf_counter() - middle,
        len(found.steps),
    )


def selection(
    settings: list[tuple[str, int]], seeds: int, jobs: int, one_layer: bool, method: str
) -> None:
    kind = "one layer (interpretable)" if one_layer else "a hidden layer"
    print(f"Maps with {kind}, {seeds} seeds; seconds with {jobs} fits at a time, one thread each")
    print("model   noise  screened  nVar  nDim  S1-S4 kept  screen s   fit s  passes", flush=True)
    for model, noise in settings:
        rows = Parallel(n_jobs=jobs)(
            delayed(one_fit)(model, noise, seed, one_layer, method) for seed in range(seeds)
        )
        table = np.array(rows, dtype=float)
        screened, variables, features, _, screening, fitting, passes = table.mean(axis=0)
        kept = f"{int(table[:, 3].sum())}/{seeds}"
        print(
            f"{model:7s} {noise:5d}  {screened:8.1f}  {variables:4.1f}  {features:4.1f}  "
            f"{kept:>10s}  {screening:8.1f}  {fitting:6.1f}  {passes:6.1f}",
            flush=True,
        )


def seconds(sets: TrainingSets, dimensions: tuple[int, ...], settings: FeatureMapSettings,
            *, one_by_one: bool = False) -> tuple[int, float]:  # fmt: skip
    specs = grid(sets, dimensions, settings)
    how, seed = how_to_select(settings), np.random.SeedSequence(0)
    start = perf_counter()
    for part in [[spec] for spec in specs] if one_by_one else [specs]:
        train(sets, part, how, seed=seed)
    return len(specs), perf_counter() - start


def training_sets(variables: int, folds: int = 5) -> TrainingSets:
    trajectories = simulate("quad", noise=50, seed=0)
    chosen = trajectories.select(trajectories.variables[:variables])
    return TrainingSets(transitions(chosen, folds, np.random.default_rng(0)))


def speed() -> None:
    few = FeatureMapSettings(interpretable=False, steps=300)
    for p in (4, 64):
        sets = training_sets(p)
        count, batched = seconds(sets, (1, 2, 3), few)
        _, loop = seconds(sets, (1, 2, 3), few, one_by_one=True)
        print(
            f"{p} variables, {count} networks, 300 steps: {batched:.1f} s as one batch, "
            f"{loop:.1f} s one after the other ({loop / batched:.1f} times as long)",
            flush=True,
        )
    for p in (4, 8, 16, 32, 64):
        count, taken = seconds(training_sets(p), (2,), few)
        print(f"{p} variables, dimension 2, 5 folds: {count} networks in {taken:.1f} s", flush=True)
    for q in (1, 4, 8):
        count, taken = seconds(training_sets(8), (q,), few)
        print(f"8 variables, dimension {q}, 5 folds: {count} networks in {taken:.1f} s", flush=True)
    for folds in (2, 5, 10):
        settings = FeatureMapSettings(interpretable=False, steps=300, folds=folds)
        count, taken = seconds(training_sets(4, folds), (2,), settings)
        print(f"4 variables, dimension 2, {folds} folds: {count} networks in {taken:.1f} s")
    whole_procedure()


def whole_procedure() -> None:
    """Screening and every pass, batched, and with each batch split into single networks."""
    start = perf_counter()
    batched_fit = one_fit("quad", 50, 0, False)
    batched = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    as_it_is = training.LARGEST_BATCH
    training.LARGEST_BATCH = 1
    start = perf_counter()
    single_fit = one_fit("quad", 50, 0, False)
    single = perf_counter() - start
    training.LARGEST_BATCH = as_it_is
    same = "the same" if single_fit[:4] == batched_fit[:4] else "another"
    print(
        f"Screening and fit, quad with 50 noise variables: {batched:.1f} s batched, {single:.1f} s "
        f"one network after the other ({single / batched:.1f} times as long, {same} result)"
    )
    print(f"Peak memory of the batched fit: {peak:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--noise", nargs="+", type=int, default=NOISE)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--one-layer", action="store_true")
    parser.add_argument("--method", choices=("closed_set", "paper"), default="closed_set")
    parser.add_argument("--only", choices=("selection", "speed", "whole"))
    chosen = parser.parse_args()
    if chosen.only in (None, "selection"):
        settings = [(model, noise) for model in chosen.models for noise in chosen.noise]
        selection(settings, chosen.seeds, chosen.jobs, chosen.one_layer, chosen.method)
    if chosen.only in (None, "speed"):
        speed()
    if chosen.only == "whole":
        whole_procedure()


if __name__ == "__main__":
    main()

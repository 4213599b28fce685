"""Feature maps on the paper's model: variables, dimensions, seconds and memory.

Usage: python bench/feature_map.py [--seeds 10] [--jobs 2] [--models quad] [--noise 50]
                                  [--one-layer] [--only selection] [--method closed_set]

"selection": screening at level 0.05, then the whole fit, for each model and number of noise
variables: mean number of variables and of features, and how often S1 to S4 were all kept; with
`--method paper`, screened as in the paper.
"speed": training beside what one core can multiply and beside torch; growth; memory.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter, process_time

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.training import train
from smdp.feature_map.adnn.tuning import default_widths, grid, how_to_select
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


def seconds(
    sets: TrainingSets, dimensions: tuple[int, ...], settings: FeatureMapSettings
) -> tuple[int, float]:
    """How many networks were trained, and the processor seconds that it took."""
    specs = grid(sets, dimensions, settings)
    how, seed = how_to_select(settings), np.random.SeedSequence(0)
    train(sets, specs[:1], how, seed=seed)  # compiled by now
    start = process_time()
    train(sets, specs, how, seed=seed)
    return len(specs), process_time() - start


def training_sets(variables: int, folds: int = 5) -> TrainingSets:
    trajectories = simulate("quad", noise=50, seed=0)
    chosen = trajectories.select(trajectories.variables[:variables])
    return TrainingSets(transitions(chosen, folds, np.random.default_rng(0)))


def multiply_speed() -> float:
    """Products and sums a second of one core, from a large product of matrices."""
    a = np.random.default_rng(0).standard_normal((1500, 1500)).astype(np.float32)
    best = np.inf
    for _ in range(5):
        start = process_time()
        a @ a
        best = min(best, process_time() - start)
    return float(2 * len(a) ** 3 / best)


def by_torch(sets: TrainingSets, dimension: int, width: int, steps: int, batch: int) -> float:
    """Seconds for a network of that size as torch's users write it."""
    import torch

    torch.set_num_threads(1)
    act = torch.atan
    heads = sets.rows.heads
    into, out = sets.rows.columns, sets.outputs
    sizes = [(into, width), (width, dimension)] + heads * [(dimension, width), (width, out)]
    layers = [torch.nn.Linear(*size) for size in sizes]
    adam = torch.optim.Adam([p for layer in layers for p in layer.parameters()], fused=True)
    states = torch.from_numpy(sets.states(0).astype(np.float32))
    outcomes = torch.from_numpy(sets.outcomes(0).astype(np.float32))
    own = [torch.from_numpy(np.flatnonzero(sets.rows.head == a)) for a in range(heads)]
    start = process_time()
    for _ in range(steps):
        loss = torch.zeros(())
        for a in range(heads):
            rows = own[a][torch.randint(len(own[a]), (batch,))]
            z = act(layers[1](act(layers[0](states[rows]))))
            z = layers[3 + 2 * a](act(layers[2 + 2 * a](z)))
            loss = loss + (z - outcomes[rows]).square().sum() / batch
        adam.zero_grad()
        loss.backward()
        adam.step()
    return process_time() - start


def speed() -> None:
    with threadpool_limits(1):
        _speed()


def _speed() -> None:
    steps, peak = 300, multiply_speed()
    few = FeatureMapSettings(interpretable=False, steps=steps)
    for p in (4, 8, 16, 64):
        sets, q = training_sets(p), 3
        count, taken = seconds(sets, (q,), few)
        width = max(default_widths(p))
        weights = p * width + width * q + q * width + width * (1 + p)  # that a row goes through
        rows = few.batch * sets.rows.heads
        sums = 3 * 2 * weights * rows * steps * count  # there, and back for weights and values
        peer = by_torch(sets, q, width, steps, few.batch)
        print(
            f"{p} variables, {q} features, width {width}: "
            f"{taken / count / steps * 1e6:.1f} microseconds a network and step, "
            f"{sums / taken / peak:.0%} of one core's multiply speed ({peak / 1e9:.0f} GFLOP/s); "
            f"torch, one network: {peer / steps * 1e6:.0f} ({peer * count / taken:.0f} times)",
            flush=True,
        )
    for q in (1, 4, 8):
        count, taken = seconds(training_sets(8), (q,), few)
        print(f"8 variables, dimension {q}, 5 folds: {count} networks in {taken:.2f} s", flush=True)
    whole_procedure()


def whole_procedure() -> None:
    """Screening and every pass."""
    start = process_time()
    one_fit("quad", 50, 0, False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"Screening and fit, quad with 50 noise variables: {process_time() - start:.1f} s of "
        f"processor time, {peak:.2f} GiB"
    )


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

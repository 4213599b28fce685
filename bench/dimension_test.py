"""Size and power of the tests of a dimension, with fitted networks.

Usage: python bench/dimension_test.py [--datasets 14] [--jobs 2] [--write]

The paper's model, n = 30, T = 90, variables S1 to S4: {g(S1), g(S2), g(S3) + g(S4)} is sufficient,
so the true dimension is 3. For each data set, maps with a hidden layer of dimensions 2 and 3 and
the reference of dimension 4 are fitted as the library does it (default settings, out-of-fold
residuals), and both are tested at level 0.05. Rejections of dimension 3 are errors (size); those of
dimension 2 are right (power). `--write` puts the table into bench/dimension_test.md.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed

from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.refit import Architecture, refit, residuals_without_state
from smdp.feature_map.layers import apply
from smdp.feature_map.sufficiency import RelativeTest, absolute_p_value
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.simulation.generative_model import simulate

MODELS = ("linear", "quad", "exp")
ABSOLUTE = {"absolute, Rüger": "ruger", "absolute, trajectories": "trajectory"}
TESTS = ("relative", "- its dependence alone", "- its loss alone", *ABSOLUTE)
SETTINGS = FeatureMapSettings(interpretable=False)
TRUE = 3
FIRST_SEED = 2000  # seeds from 1000 were used to choose the test and its margin


def p_values(model: str, seed: int) -> dict[tuple[str, int], float]:
    """By test and dimension."""
    study = simulate(model, seed=seed).select(["S1", "S2", "S3", "S4"])  # type: ignore[arg-type]
    folds, training, testing = np.random.SeedSequence(seed).spawn(3)
    sets = TrainingSets(transitions(study, SETTINGS.folds, np.random.default_rng(folds)))
    maps = {q: Architecture(q, 20, 1, (0, 1, 2, 3)) for q in (TRUE - 1, TRUE, 4)}
    fitted, _ = refit(sets, list(maps.values()), SETTINGS, seed=training)
    nothing = residuals_without_state(sets)
    relative = RelativeTest(sets.rows, fitted[maps[4]].residuals, nothing, SETTINGS.margin)
    found: dict[tuple[str, int], float] = {}
    for q in (TRUE - 1, TRUE):
        residuals, network = fitted[maps[q]].residuals, fitted[maps[q]].network
        features = apply(network.features, network.activation, sets.states(sets.everything))
        compared = relative.compare(residuals)
        pieces = (compared.p_value, compared.dependence, compared.loss)
        found |= {(name, q): p for name, p in zip(TESTS, pieces, strict=False)}
        for name, pooling in ABSOLUTE.items():
            settings = replace(SETTINGS, pooling=pooling)  # type: ignore[arg-type]
            found[name, q] = absolute_p_value(
                sets.rows, residuals, features, settings, seed=testing
            )
    return found


def table(datasets: int, jobs: int) -> str:
    lines = [
        "| test | model | data sets | rejects dimension 3 (size) | rejects dimension 2 (power) |",
        "|---|---|---|---|---|",
    ]
    found = {
        model: Parallel(n_jobs=jobs)(
            delayed(p_values)(model, FIRST_SEED + k) for k in range(datasets)
        )
        for model in MODELS
    }
    found["all"] = [each for model in MODELS for each in found[model]]
    for test in TESTS:
        for model, each in found.items():
            counts = [sum(p[test, q] <= SETTINGS.level for p in each) for q in (TRUE, TRUE - 1)]
            size, power = (f"{count} ({count / len(each):.2f})" for count in counts)
            lines.append(f"| {test} | {model} | {len(each)} | {size} | {power} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=14)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    start = perf_counter()
    found = table(chosen.datasets, chosen.jobs)
    print(found)
    print(f"{perf_counter() - start:.0f} s")
    if chosen.write:
        setting = (__doc__ or "").partition("[--write]")[2].partition("`--write`")[0].strip()
        text = f"# Size and power of the tests of a dimension\n\n{setting}\n\n{found}\n"
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

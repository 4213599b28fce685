"""What our changes do: the same studies analysed as recommended and as the paper prints it.

Usage: python bench/as_in_the_paper.py [--seeds 3] [--noise 0 50]

The sample studies, each with its guessed roles, and the paper's model (30 people, 90 decisions,
discount 0.5), whose truth is known. It prints the rows of the tables in docs/as_in_the_paper.md;
half an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time

import numpy as np

import smdp
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.screening_settings import ScreeningSettings
from smdp.settings import as_in_the_paper
from smdp.simulation.generative_model import simulate
from smdp.simulation.outcome import simulated_outcome
from smdp.simulation.samples import SAMPLE_STUDIES, sample_file

FIRST_SEED = 9_500
MODELS = ("linear", "quad", "exp")
TRUE = {"S1", "S2", "S3", "S4"}


def ways() -> Iterator[tuple[str, bool]]:
    yield "recommended", False
    yield "as in the paper", True


def of_sample(file: str, title: str) -> None:
    frame = smdp.read_table(sample_file(file))
    rescaled = smdp.PreparationSettings(rescaling=smdp.RescalingSettings())
    trajectories = smdp.prepare(frame, smdp.guess_roles(frame), rescaled).trajectories
    for name, paper in ways():
        start = process_time()
        screened = smdp.screen(trajectories, as_in_the_paper(ScreeningSettings(), paper))
        fitted = None
        if screened.selected:
            chosen = trajectories.select(screened.selected)
            fitted = smdp.fit_feature_map(chosen, as_in_the_paper(FeatureMapSettings(), paper))
        kept = ", ".join(screened.selected) or "none"
        features = "" if fitted is None else str(fitted.dimension)
        used = "" if fitted is None else str(len(fitted.variables_used))
        line = f"| {title} | {name} | {kept} | {used} | {features} | {process_time() - start:.0f} |"
        print(line, flush=True)


def of_model(model: str, noise: int, seeds: int) -> None:
    for name, paper in ways():
        found = []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            start = process_time()
            trial = simulate(model, noise=noise, seed=seed)  # type: ignore[arg-type]
            level = as_in_the_paper(ScreeningSettings(level=0.05), paper)
            screened = smdp.screen(trial, level, seed=seed).selected
            how = as_in_the_paper(FeatureMapSettings(interpretable=False), paper)
            own = trial.select(screened)
            fitted = smdp.fit_feature_map(own, how, seed=seed)
            seconds = process_time() - start
            outcomes = [
                simulated_outcome(
                    smdp.learn_policy(
                        own,
                        fitted,
                        smdp.PolicySettings(model=learner, discount=0.5, bootstraps=0),
                        seed=seed,
                    ),
                    model,  # type: ignore[arg-type]
                    noise=noise,
                    subjects=1000,
                    times=90,
                    seed=seed,
                )
                for learner in ("linear", "neural")
            ]
            kept = set(fitted.variables_used) >= TRUE
            found.append((len(screened), len(fitted.variables_used), fitted.dimension, kept,
                          *outcomes, seconds))  # fmt: skip
        mean = np.array(found, dtype=float).mean(axis=0)
        line = (
            f"| {model}, {noise} | {name} | {mean[0]:.1f} | {mean[1]:.1f} | {mean[2]:.1f} | "
            f"{round(mean[3] * seeds)} of {seeds} | {mean[4]:.2f} | {mean[5]:.2f} | {mean[6]:.0f} |"
        )
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", type=int, nargs="+", default=[0, 50])
    chosen = parser.parse_args()
    print("| study | analysis | variables kept by screening | used | features | seconds |")
    for each in SAMPLE_STUDIES:
        of_sample(each.file, each.title)
    print("| model, noise | analysis | screened | used | features | S1-S4 | Linear Q | NN Q | s |")
    for noise in chosen.noise:
        for model in MODELS:
            of_model(model, noise, chosen.seeds)


if __name__ == "__main__":
    main()

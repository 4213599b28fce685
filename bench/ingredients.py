"""What each ingredient of the feature map contributes, in the paper's hardest model.

Usage: python bench/ingredients.py [--noise 50] [--replications 5] [--jobs 2]

Exponential model, n = 30, T = 90, discount 0.5: screening, map and both kinds of Q-learning on the
same simulated trials as `smdp simulate`, with everything as it was by default when screening was
the paper's and the dimension chosen by comparison with the full state, and with one ingredient left
out at a time. It prints Markdown; bench/ingredients.md holds what it printed.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from unittest.mock import patch

import pandas as pd
from joblib import Parallel, delayed

from smdp.feature_map.adnn import dimension
from smdp.feature_map.adnn.dimension import DimensionChoice, choose_dimension
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.replication import CellResult, replicate
from smdp.simulation.study_settings import SimulationSetting, StudyCell, StudySettings
from smdp.simulation.study_tables import mean_and_error

DEFAULT = FeatureMapSettings(interpretable=False, test="relative")
SCREENING = ScreeningSettings(level=0.05, method="paper")
VARIANTS = {
    "as it is": DEFAULT,
    "the penalised network as the map, no refit": DEFAULT,
    "the paper's absolute test instead of the relative one": replace(DEFAULT, test="absolute"),
    "one start of the refit instead of five": replace(DEFAULT, restarts=1),
    "refit's weight decay fixed at 0.01": replace(DEFAULT, refit_weight_decays=(0.01,)),
    "one pass (no iteration)": replace(DEFAULT, iterate=False),
}
NO_REFIT = list(VARIANTS)[1]
MEASURES = {"linear": 2, "neural": 2, "variables_count": 1, "dimension": 1, "seconds": 0}


def one(variant: str, noise: int, replication: int) -> CellResult:
    how = StudySettings(feature_map=VARIANTS[variant], screening=SCREENING)
    chooses = penalised_choice if variant == NO_REFIT else choose_dimension
    with patch.object(dimension, "choose_dimension", chooses):
        return replicate(StudyCell(SimulationSetting("exp", noise), "adnn", replication), how)


def penalised_choice(*arguments, **more) -> DimensionChoice:
    """Variables and dimension as they are chosen by default, but the penalised network is used."""
    choice = choose_dimension(*arguments, **more)
    chosen = choice.chosen
    refitted = replace(chosen.refitted, network=chosen.tuned.network)
    return replace(choice, chosen=replace(chosen, refitted=refitted))


def table(noise: int, replications: int, jobs: int) -> str:
    wanted = [(variant, k) for k in range(replications) for variant in VARIANTS]
    found = Parallel(n_jobs=jobs)(delayed(one)(variant, noise, k) for variant, k in wanted)
    lines = [
        "| variant | Linear Q | NN Q | nVar | nDim | S1-S4 kept | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for variant in VARIANTS:
        own = [each for (name, _), each in zip(wanted, found, strict=True) if name == variant]
        done = [each for each in own if each.status == "done"]
        cells = []
        for name, digits in MEASURES.items():
            values = pd.Series([getattr(each, name) for each in done], dtype=float)
            mean, error = mean_and_error(values)
            cells.append(f"{mean:.{digits}f}" + (f" ({error:.{digits + 1}f})" if digits else ""))
        true = {"S1", "S2", "S3", "S4"}
        kept = sum(true <= set((each.variables or "").split()) for each in done)
        cells.insert(4, f"{kept} of {len(own)}")
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--noise", type=int, default=50)
    parser.add_argument("--replications", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    print(table(chosen.noise, chosen.replications, chosen.jobs))


if __name__ == "__main__":
    main()

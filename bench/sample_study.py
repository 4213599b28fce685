"""The synthetic BASICS study over generator seeds: are the planted variables found, and how fast?

Usage: python bench/sample_study.py [--first 2014] [--seeds 10] [--pooling ruger trajectory]

For each seed the way of the pages: roles as guessed, imputation, rescaling, screening at 0.10, the
interpretable map. The planted variables are weekend, stress and quit_attempts.
"""

from __future__ import annotations

import argparse
from time import perf_counter

from joblib import Parallel, delayed

from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import prepare
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.basics_like import NOISE, basics_like

PLANTED = ("weekend", "stress", "quit_attempts")


def one_study(seed: int, pooling: str) -> tuple[str, bool, bool]:
    """A line of the table, and whether screening and the map kept all planted variables."""
    start = perf_counter()
    frame = basics_like(seed)
    rescaled = PreparationSettings(rescaling=RescalingSettings())
    trajectories = prepare(frame, guess_roles(frame), rescaled).trajectories
    screened = screen(trajectories, ScreeningSettings(pooling=pooling), seed=0)  # type: ignore[arg-type]
    kept = screened.selected
    fitted = fit_feature_map(trajectories.select(kept), seed=0) if kept else None
    used = fitted.variables_used if fitted else ()
    noise = [v for v in used if v in NOISE]
    line = (
        f"{seed}  screened {len(kept):2d}  used {len(used):2d}  noise {len(noise)}  "
        f"dimension {fitted.dimension if fitted else 0}  missing "
        f"{', '.join(v for v in PLANTED if v not in used) or '-'}  {perf_counter() - start:.0f} s"
    )
    return line, set(PLANTED) <= set(kept), set(PLANTED) <= set(used)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=2014)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pooling", nargs="+", default=["ruger", "trajectory"])
    chosen = parser.parse_args()
    for pooling in chosen.pooling:
        print(f"Pooling '{pooling}':", flush=True)
        found = Parallel(n_jobs=chosen.jobs)(
            delayed(one_study)(seed, pooling)
            for seed in range(chosen.first, chosen.first + chosen.seeds)
        )
        print("\n".join(line for line, _, _ in found))
        screened, used = (sum(row[i] for row in found) for i in (1, 2))
        print(f"All planted kept: screening {screened}, map {used} of {chosen.seeds}", flush=True)


if __name__ == "__main__":
    main()

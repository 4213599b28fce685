"""Feature maps by another checkout and by this one, in turn: processor seconds and what is found.

Usage: python bench/before_and_after.py path/to/other/checkout [--seeds 10] [--thousand 1]
                                        [--paper 3] [--only students] [--first 0]

"students": data sets of 30 students, screened and fitted as by default. Losses out of fold are of
the first pass, which has the same variables and folds in both: of the networks of each dimension
that both tried, relative to the other checkout's; and of the utility by the map that was chosen, as
a share of its variance. "thousand": 1,000 students; the utility's loss is that of 1,000 others, by
a regression on the features that is cross-fitted among these. "paper": the paper's quadratic model
with 50 noise variables, with the linear policy's mean outcome in 1,000 new people.

Every data set is fitted by both before the next one is; a short fit before the clock starts loads
and compiles what there is to compile. Processor seconds are of one process, with one BLAS thread.
The tables are in whole_analysis.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent.parent
FIRST_SEED = 2000
KINDS = ("students", "thousand", "paper")


def one(kind: str, seed: int) -> dict[str, Any]:
    """What this checkout finds in one data set; nothing that came after the other one is used."""
    import smdp
    from smdp.simulation.basics_like import basics_like
    from smdp.simulation.generative_model import simulate
    from smdp.simulation.outcome import simulated_outcome

    if kind == "paper":
        trajectories = simulate("quad", noise=50, seed=seed)
        settings = smdp.FeatureMapSettings(interpretable=False)
        kept = smdp.screen(trajectories, smdp.ScreeningSettings(level=0.05), seed=seed).selected
    else:
        frame = basics_like(FIRST_SEED + seed, subjects=2000 if kind == "thousand" else 30)
        trajectories = smdp.prepare(frame, smdp.guess_roles(frame)).trajectories
        if kind == "thousand":
            others = trajectories.take(np.arange(1000, len(trajectories.subjects)))
            trajectories = trajectories.take(np.arange(1000))
        settings = smdp.FeatureMapSettings()
        kept = smdp.screen(trajectories, smdp.ScreeningSettings(), seed=0).selected
    chosen = trajectories.select(kept)
    few = smdp.FeatureMapSettings(steps=2, refit_steps=2, polish_steps=2, dimensions=(1,))
    smdp.fit_feature_map(simulate("linear", subjects=12, times=8, seed=0), few)
    began = process_time()
    fitted = smdp.fit_feature_map(chosen, settings, seed=0)
    seconds = process_time() - began
    tried, last = fitted.candidates, fitted.candidates[fitted.candidates["chosen"]].iloc[-1]
    first = tried[tried["pass"] == 1]
    found = {
        "seconds": seconds,
        "variables": len(fitted.variables_used),
        "dimension": int(fitted.dimension),
        "losses": dict(zip(first["dimension"].tolist(), first["cv_loss"].tolist(), strict=True)),
        "unexplained": float(1 - last["explained"]),
    }
    if kind == "thousand":
        found["unexplained"] = unexplained(fitted, others)
    if kind == "paper":
        policy = smdp.learn_policy(trajectories, fitted)
        found["outcome"] = simulated_outcome(policy, "quad", noise=50, seed=seed)
    return found


def unexplained(fitted: Any, others: Any) -> float:
    """The share of the utility's variance within actions that the features leave, of others."""
    from smdp.feature_map.conditional_mean import cross_fitted_residuals

    rows = others.rows()
    features = fitted.transform(rows.at(others.select(fitted.variables).states))
    utility, action, fold = rows.at(others.utilities), rows.at(others.actions), rows.subject % 5
    left = none = 0.0
    for a in np.unique(action):
        own = action == a
        residuals = cross_fitted_residuals(features[own], utility[own, None], fold[own])
        left += np.square(residuals).sum()
        none += np.square(utility[own] - utility[own].mean()).sum()
    return float(left / none)


def by(checkout: Path, kind: str, seed: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", kind, str(seed)]
    env = {**os.environ, "PYTHONPATH": str(checkout), "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def compare(kind: str, seeds: range, other: Path) -> None:
    columns = ["data set", "seconds", "nVar", "nDim", "utility's loss"]
    columns += ["outcome"] if kind == "paper" else ["networks' losses, relative"]
    print(f"{kind}: before, after\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    pairs = []
    for seed in seeds:
        before, after = by(other, kind, seed), by(HERE, kind, seed)
        pairs.append((before, after))
        row = [str(seed)] + [
            f"{before[key]:{how}}, {after[key]:{how}}"
            for key, how in (("seconds", ".1f"), ("variables", "d"), ("dimension", "d"))
        ]
        row.append(f"{before['unexplained']:.4f}, {after['unexplained']:.4f}")
        if kind == "paper":
            row.append(f"{before['outcome']:.3f}, {after['outcome']:.3f}")
        else:
            row.append(f"{_relative(before, after):+.2%}")
        print(f"| {' | '.join(row)} |", flush=True)
    spent = [sum(each[k]["seconds"] for each in pairs) for k in range(2)]
    print(f"Processor seconds: {spent[0]:.0f}, {spent[1]:.0f}: {spent[0] / spent[1]:.2f} times")
    if len(seeds) > 1:
        print(_mean("Utility's loss", [b["unexplained"] - a["unexplained"] for a, b in pairs]))
        if kind == "paper":
            print(_mean("Outcome", [b["outcome"] - a["outcome"] for a, b in pairs]))
        else:
            print(_mean("Networks' losses, relative", [_relative(a, b) for a, b in pairs]))


def _relative(before: dict[str, Any], after: dict[str, Any]) -> float:
    """By how much losses rose, on average over the dimensions that both tried."""
    own, others = after["losses"], before["losses"]
    return float(np.mean([own[q] / others[q] - 1 for q in own if q in others]))


def _mean(what: str, differences: list[float]) -> str:
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    return f"{what}, after minus before: {np.mean(differences):+.5f} (standard error {error:.5f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--thousand", type=int, default=1)
    parser.add_argument("--paper", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first data set")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(chosen.one[0], int(chosen.one[1]))))
    elif chosen.checkout is None:
        print("Left out: it needs another checkout as its argument.")
    else:
        sizes = {"students": chosen.seeds, "thousand": chosen.thousand, "paper": chosen.paper}
        for kind in chosen.only:
            seeds = range(chosen.first, chosen.first + sizes[kind])
            compare(kind, seeds, chosen.checkout.resolve())


if __name__ == "__main__":
    main()

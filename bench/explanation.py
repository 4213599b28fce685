"""Explanations on the synthetic BASICS study, and the exported policy.

Usage: python bench/explanation.py [--seeds 10] [--maps] [--states 10000] [--only signs]

"signs": in how many generator seeds the planted truth is found, weekends, low stress and earlier
quit attempts favouring treatment: with all variables as they are, and with five variables; with
--maps (half a minute a fit) with an interpretable feature map of the screened variables instead:
screened at each decision, over whole trajectories, or with the three forced in.
"export": the file's size, the reader's time for one recommendation, and how often its
recommendations differ from the library's.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd

from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.prepare import PreparedData, prepare
from smdp.data.trajectories import Trajectories
from smdp.explanation.policy_explanation import explain_policy
from smdp.export.policy_file import policy_text, use_of
from smdp.export.policy_reader import Policy
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.point_of_use import PointOfUse, state_now
from smdp.policy.policy_settings import PolicySettings
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.basics_like import DEFAULT_SEED, STATES, basics_like

TRUTH = {"weekend": 1, "stress": -1, "quit_attempts": 1}
FIVE = [*TRUTH, "burden", "cigs"]
Chosen = tuple[Trajectories, FittedFeatureMap]


def study(seed: int) -> PreparedData:
    levels = {"0": "information", "1": "treatment"}
    utility = NextValue("cigs", sign=-1)
    roles = ColumnRoles("student", "report", "module", STATES, utility, action_levels=levels)
    return prepare(basics_like(seed=seed), roles)


def as_they_are(names: list[str]) -> Callable[[Trajectories], Chosen]:
    return lambda whole: (chosen := whole.select(names), identity_feature_map(chosen))


def mapped(settings: ScreeningSettings) -> Callable[[Trajectories], Chosen]:
    def choose(whole: Trajectories) -> Chosen:
        chosen = whole.select(screen(whole, settings, seed=0).selected)
        return chosen, fit_feature_map(chosen, seed=0)

    return choose


def signs(seeds: int, choices: dict[str, Callable[[Trajectories], Chosen]], model: str) -> None:
    for name, choose in choices.items():
        rows = []
        for seed in range(DEFAULT_SEED, DEFAULT_SEED + seeds):
            start = perf_counter()
            chosen, fitted = choose(study(seed).trajectories)
            middle = perf_counter()
            policy = learn_policy(chosen, fitted, PolicySettings(model=model), seed=0)  # type: ignore[arg-type]
            table = explain_policy(policy, chosen).variables.set_index("variable")
            table = table.reindex(list(TRUTH))
            right = np.sign(table["estimate"].fillna(0)) == list(TRUTH.values())
            sure = right & table["established"].fillna(False).astype(bool)
            rows.append([*right, right.all(), *sure, middle - start, perf_counter() - middle])
            dimension = f"{fitted.dimension} features of {len(fitted.variables_used)} variables"
            effects = ", ".join(f"{v} {e:+.2f}" for v, e in table["estimate"].items())
            print(f"  {seed}: {dimension}: {effects}", flush=True)
        found = np.array(rows, dtype=float)
        each = zip(TRUTH, found[:, :3].sum(axis=0), strict=True)
        print(
            f"{name}, {model} Q: all three signs right in {found[:, 3].sum():.0f} of {seeds} seeds"
            f" ({', '.join(f'{variable} {n:.0f}' for variable, n in each)};"
            f" certain and right: {', '.join(f'{n:.0f}' for n in found[:, 4:7].sum(0))});"
            f" map {found[:, 7].mean():.1f} s, policy and explanation {found[:, 8].mean():.1f} s",
            flush=True,
        )


def random_reports(use: PointOfUse, random: np.random.Generator) -> list[dict[str, float]]:
    missing = random.choice([0.0, 0.2, 0.8])
    return [
        {
            m.name: float(random.integers(m.seen[0], m.seen[1] + 2))
            for m in use.measured
            if m.seen is not None and random.random() >= missing
        }
        for _ in range(random.integers(1, 29))
    ]


def export(states: int) -> None:
    data = study(DEFAULT_SEED)
    for model in ("linear", "neural"):
        chosen, fitted = as_they_are(FIVE)(data.trajectories)
        policy = learn_policy(chosen, fitted, PolicySettings(model=model), seed=0)  # type: ignore[arg-type]
        text = policy_text(policy, data)
        start = perf_counter()
        reader = Policy(text)
        opened = perf_counter() - start
        wrong, taken, given = compared(policy, data, reader, states)
        print(
            f"{model}: {len(text) / 1e3:.0f} kB ({len(gzip.compress(text.encode())) / 1e3:.0f} kB "
            f"compressed), opened in {1e3 * opened:.0f} ms, one recommendation in "
            f"{1e3 * taken / states:.1f} ms; {wrong} of {states:,} recommendations differ from "
            f"the library's ({given:,} were given, the others abstain)",
            flush=True,
        )


def compared(
    policy: LearnedPolicy, data: PreparedData, reader: Policy, states: int
) -> tuple[int, float, int]:
    """Recommendations that differ, the reader's seconds, and how many were given."""
    use, random = use_of(policy, data), np.random.default_rng(0)
    reports = [random_reports(use, random) for _ in range(states)]
    available = random.random(states) < 0.95
    table = pd.DataFrame([state_now(use, each).values for each in reports])
    decided = policy.decide(table, available)
    expected = [policy.action_labels[a] if a >= 0 else None for a in decided.recommended]
    start = perf_counter()
    found = [reader.recommend(r, (), bool(a)) for r, a in zip(reports, available, strict=True)]
    taken = perf_counter() - start
    wrong = sum(f["recommendation"] != e for f, e in zip(found, expected, strict=True))
    return wrong, taken, sum(e is not None for e in expected)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--maps", action="store_true")
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--model", choices=("linear", "neural"), default="linear")
    parser.add_argument("--only", choices=("signs", "export"))
    asked = parser.parse_args()
    if asked.only != "export":
        choices = {"all 15 variables": as_they_are(list(STATES)), "five": as_they_are(FIVE)}
        if asked.maps:
            choices = {
                "map, screened": mapped(ScreeningSettings()),
                "map, whole trajectories": mapped(
                    ScreeningSettings(method="paper", pooling="trajectory")
                ),
                "map, three forced in": mapped(ScreeningSettings(force_in=tuple(TRUTH))),
            }
        signs(asked.seeds, choices, asked.model)
    if asked.only != "signs":
        export(asked.states)


if __name__ == "__main__":
    main()

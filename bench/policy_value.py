"""Do the intervals for a policy's value hold what they promise? On the paper's model.

Usage: python bench/policy_value.py [--replications 100] [--models linear quad] [--jobs 1]
                                    [--q linear] [--first 0]

For each model (30 subjects, 90 decisions, discount 0.9): 95 % intervals of the doubly robust
estimate for a fixed policy (treat where that earns more at once), for the trial's own policy, for
"always" and for a learned one (on S1 .. S4). True values are means over fresh subjects who follow
the policy. A cross-fitted estimate judges the policies learned in the five folds, so its truth
is the mean of their true values; beside it, the true value of the policy learned from everybody.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from smdp.evaluation.cross_fit import MapsWithoutFolds
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import evaluation_study
from smdp.evaluation.value import evaluate_policy
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import silent
from smdp.simulation.generative_model import INITIAL_SD, LINKS, PRECISE_SD, simulate

MODELS = ("linear", "quad")
VARIABLES = ("S1", "S2", "S3", "S4")
DISCOUNT = 0.9
SETTINGS = EvaluationSettings(discount=DISCOUNT)

Actions = Callable[[NDArray[np.float64]], NDArray[np.int64]]


class TreatWhereItPaysAtOnce:
    """Action 1 where the mean of its utility is the larger one."""

    variables = VARIABLES

    def __init__(self, model: str) -> None:
        self.link = LINKS[model]

    def recommend(
        self, states: NDArray[np.float64], available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        g = self.link(states)
        return (g[..., 2] + g[..., 3] > g[..., 0] + g[..., 1]).astype(np.int64)


def true_value(model: str, actions: Actions, *, subjects: int = 4000, seed: int = 1) -> float:
    """(1 - gamma) times the discounted sum over 90 decisions: the rest is below 0.0001 of it.

    S1 .. S4 are a closed set, so only they are simulated.
    """
    link, random = LINKS[model], np.random.default_rng(seed)
    states = INITIAL_SD * random.standard_normal((subjects, 4))
    total = np.zeros(subjects)
    for t in range(90):
        taken = actions(states)
        g = link(states)
        first, second = g[:, 0] + g[:, 1], g[:, 2] + g[:, 3]
        total += DISCOUNT**t * np.where(taken == 0, 2 * first - second, 2 * second - first)
        follows = np.array([0, 0, 1, 1]) == taken[:, None]
        noise = np.where(follows, PRECISE_SD, INITIAL_SD) * random.standard_normal(states.shape)
        states = np.where(follows, g[:, :1], 0.0) + noise
    return float((1 - DISCOUNT) * total.mean())


def one(model: str, q: str, seed: int) -> dict[str, tuple[float, ...]]:
    """For each policy: truth, estimate, lower, upper; also the seconds."""
    trajectories = simulate(model, seed=seed).select(VARIABLES)  # type: ignore[arg-type]
    fixed = TreatWhereItPaysAtOnce(model)
    start = perf_counter()
    value = evaluate_policy(trajectories, fixed, SETTINGS, seed=seed)
    taken = perf_counter() - start
    table = value.table.iloc[:4].set_index("policy")[["estimate", "lower", "upper"]]
    found = {f"{name}": tuple(table.loc[name]) for name in table.index}
    found["fitted-Q, given"] = tuple(value.table.iloc[4][["estimate", "lower", "upper"]])
    policy = learn_policy(
        trajectories,
        identity_feature_map(trajectories),
        PolicySettings(model=q, discount=DISCOUNT, bootstraps=0),  # type: ignore[arg-type]
        seed=seed,
    )
    start = perf_counter()
    value = evaluate_policy(trajectories, policy, SETTINGS, seed=seed)
    study = evaluation_study(trajectories, policy, SETTINGS, seed)
    by_fold = study.learned(policy, refitted=MapsWithoutFolds(), progress=silent)
    share = np.bincount(study.fold) / len(study.fold)
    truths = [true_value(model, each.recommend, seed=seed + 1) for each in by_fold]
    everybody = true_value(model, policy.recommend, seed=seed + 1)
    interval = (value.estimate, value.lower, value.upper)
    found["learned, folds"] = (float(share @ truths), *interval)
    found["learned, all"] = (everybody, *interval)
    found["seconds"] = (taken,)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--q", choices=("linear", "neural"), default="linear")
    chosen = parser.parse_args()
    for model in chosen.models:
        fixed = TreatWhereItPaysAtOnce(model)
        coin = np.random.default_rng(2)
        known = {
            "given": true_value(model, fixed.recommend, subjects=100_000),
            "observed": true_value(
                model, lambda s, coin=coin: coin.integers(0, 2, len(s)), subjects=100_000
            ),
            **{
                f"always {a}": true_value(
                    model, lambda s, a=a: np.full(len(s), a), subjects=100_000
                )
                for a in (0, 1)
            },
        }
        known["fitted-Q, given"] = known["given"]
        runs = Parallel(n_jobs=chosen.jobs)(
            delayed(one)(model, chosen.q, chosen.first + r) for r in range(chosen.replications)
        )
        seconds = np.mean([run["seconds"][0] for run in runs])
        print(
            f"{model}, {chosen.replications} replications, Q {chosen.q}, "
            f"{seconds:.1f} s for the fixed policy and its alternatives"
        )
        for name in runs[0]:
            if name == "seconds":
                continue
            results = np.array([run[name] for run in runs])
            if name in known:
                results = np.column_stack([np.full(len(results), known[name]), results])
            truth, estimate, lower, upper = results.T
            shown = np.isfinite(lower)
            inside = (lower <= truth) & (truth <= upper)
            print(
                f"  {name:16s} true {truth.mean():6.3f}  estimate {estimate.mean():6.3f} "
                f"(sd of error {(estimate - truth).std():.3f})  shown {shown.mean():.2f}  "
                f"covers {inside[shown].mean():.2f}  width {(upper - lower)[shown].mean():.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

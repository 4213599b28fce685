"""Is the value of a learned policy honest when the whole analysis is done anew in each fold?

Usage: python bench/whole_value.py --out FILE [--only NAME ..] [--datasets 100] [--seed 1]
                                   [--jobs 2] [--model linear] [--table]

For each data set (30 people, default settings, discount 0.9) the value of the policy minus what was
done, by the whole analysis and the quick way, in the same folds of people; and the rule card in the
folds of the whole analysis: its value minus what was done, and what it costs against the policy.

- no-effect: students who were never treated, with a coin tossed afterwards.
- noise: 40 variables that say nothing, 30 decisions, a coin, an outcome of its own.
- linear, quadratic: the paper's models, 90 decisions. students: the synthetic student study.

In the first two the truth is 0: of how many data sets does the interval lie above it? In the others
the truth comes from fresh people (2,000) who follow the policies: those learned in the folds, each
for the share of people whom it judges, and the one learned from everybody.

Each data set is a line of FILE, which lies outside of the project; what is there already is not
done again, so that the work can be stopped and gone on with. --table: what is there, as Markdown.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.guess_roles import guess_roles
from smdp.data.prepare import prepare
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.rule_value import CARD, make_rule_card
from smdp.evaluation.target import AnyPolicy
from smdp.evaluation.value import PolicyValue, evaluate_policies
from smdp.evaluation.whole_analysis import WholeAnalysis, analyses_without_each
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.screening import screen
from smdp.simulation.basics_like import basics_like
from smdp.simulation.generative_model import GenerativeModel, simulate

NULL = ("no-effect", "noise")
DESIGNS = (*NULL, "linear", "quadratic", "students")
PEOPLE, NOISE_VARIABLES, NOISE_TIMES = 30, 40, 30
DISCOUNT = 0.9
#: Of those who follow a policy, and how many decisions: what comes later is 0.2 % of a value.
FRESH, HORIZON = 2000, 60
MODELS = {"linear": "linear", "quadratic": "quad"}

#: (policy, n) -> what people of a seed earn who follow it; None: who toss a coin.
Truth = Callable[[AnyPolicy | None, int], float]


def never(state: pd.DataFrame) -> NDArray[np.int64]:
    return np.zeros(len(state), dtype=np.int64)


def students(seed: int, *, effect: bool) -> Trajectories:
    frame = basics_like(seed, subjects=PEOPLE, assign=None if effect else never)
    if not effect:
        frame["module"] = np.random.default_rng([seed, 1]).integers(0, 2, len(frame))
    return prepare(frame, replace(guess_roles(frame), probability=0.5)).trajectories


def noise(seed: int) -> Trajectories:
    """Variables with a memory and a level of each person's own, which nothing depends on."""
    random = np.random.default_rng(seed)
    shape = (PEOPLE, NOISE_TIMES + 1, NOISE_VARIABLES + 1)
    values = random.normal(size=shape)
    for t in range(1, shape[1]):
        values[:, t] = 0.5 * values[:, t - 1] + math.sqrt(0.75) * values[:, t]
    values += 0.5 * random.normal(size=(PEOPLE, 1, shape[2]))
    decisions = (PEOPLE, NOISE_TIMES)
    return Trajectories(
        states=values[:, :, 1:],
        actions=random.integers(0, 2, decisions),
        utilities=values[:, 1:, 0],
        valid=np.ones(decisions, dtype=bool),
        available=np.ones(decisions, dtype=bool),
        probabilities=np.full((*decisions, 2), 0.5),
        variables=tuple(f"v{j + 1}" for j in range(NOISE_VARIABLES)),
        subjects=tuple(f"P{i + 1:02d}" for i in range(PEOPLE)),
        action_labels=("0", "1"),
    )


def data_of(design: str, seed: int) -> tuple[Trajectories, Truth]:
    if design == "noise":
        return noise(seed), lambda policy, own: 0.0
    if design == "no-effect":
        return students(seed, effect=False), lambda policy, own: 0.0
    if design == "students":
        return students(seed, effect=True), students_earn
    model = MODELS[design]
    data = simulate(model, subjects=PEOPLE, seed=seed)  # type: ignore[arg-type]
    return data, lambda policy, own: people_earn(model, policy, own)


def discounted(earned: Sequence[float]) -> float:
    return float((1 - DISCOUNT) * np.sum(DISCOUNT ** np.arange(len(earned)) * np.array(earned)))


def people_earn(model: str, policy: AnyPolicy | None, seed: int) -> float:
    """In the paper's model."""
    law = GenerativeModel(model)  # type: ignore[arg-type]
    signal, other, coin = (np.random.default_rng([seed, 7, k]) for k in range(3))
    states, earned = law.initial(FRESH, signal, other), []
    columns = [law.variables.index(name) for name in policy.variables] if policy else []
    for _ in range(HORIZON):
        tossed = coin.integers(0, 2, FRESH)
        chosen = tossed if policy is None else policy.recommend(states[:, columns])
        utilities, states = law.step(states, chosen, signal, other)
        earned.append(float(utilities.mean()))
    return discounted(earned)


def students_earn(policy: AnyPolicy | None, seed: int) -> float:
    def assign(state: pd.DataFrame) -> NDArray[np.int64]:
        assert policy is not None
        return policy.recommend(state[list(policy.variables)].to_numpy(dtype=float))

    chosen = None if policy is None else assign
    frame = basics_like(
        seed + 10**6, subjects=FRESH, missing=False, assign=chosen, reports=HORIZON + 1
    )
    smoked = frame.groupby("report")["cigs"].mean().to_numpy()
    return discounted(-smoked[1:])


def everybody(
    data: Trajectories, how: WholeAnalysis
) -> tuple[tuple[str, ...], LearnedPolicy | None]:
    """What is learned from all people; no policy where screening keeps nothing."""
    kept = tuple(screen(data, how.screening, seed=0).selected)  # type: ignore[arg-type]
    if not kept:
        return kept, None
    fitted = fit_feature_map(data.select(kept), FeatureMapSettings(), seed=0)
    return kept, learn_policy(data, fitted, how.policies[0].to_be_judged, seed=0)


def numbers(value: PolicyValue) -> dict[str, list[float]]:
    return {
        "value": [value.estimate, value.lower, value.upper],
        "gain": interval(value.gain),
    }


def interval(row: Mapping[str, Any] | pd.Series) -> list[float]:
    return [float(row[name]) for name in ("estimate", "lower", "upper")]


def one(design: str, seed: int, model: str) -> dict[str, Any]:
    """One data set: both values of the policy, and what is true of it."""
    data, truth = data_of(design, seed)
    learner = PolicySettings(model=model, discount=DISCOUNT)  # type: ignore[arg-type]
    how = WholeAnalysis(policies=(learner,))
    settings = EvaluationSettings()
    found: dict[str, Any] = {"design": design, "seed": seed, "model": model}
    seconds = found["seconds"] = {}
    began = process_time()

    def lap(name: str) -> None:
        nonlocal began
        seconds[name] = round(process_time() - began, 2)
        began = process_time()

    kept, policy = everybody(data, how)
    found["kept"] = kept
    lap("analysis")
    if policy is not None:
        (quick,) = evaluate_policies(data, [policy], settings, seed=seed)
        found["quick"] = numbers(quick)
    lap("quick")
    analyses = analyses_without_each(data, how, folds=settings.folds, seed=seed)
    found["kept in folds"] = [each.selected for each in analyses.analyses]
    lap("folds")
    # The value of the folds' policies does not depend on the one of everybody.
    (whole,) = evaluate_policies(
        data, [policy or analyses.policies()[0]], settings, analyses=analyses
    )
    found["whole"] = numbers(whole)
    lap("whole")
    report = make_rule_card(
        data,
        policy or analyses.policies()[0],
        RuleSettings(resamples=0),
        evaluation=settings,
        analyses=analyses,
        seed=seed,
    )
    found["card"] = {
        "words": report.card.in_words(),
        "first": report.card.questions[0].variable if report.card.questions else "",
        "gain": interval(report.difference(CARD, "observed")),
        "cost": interval(report.cost),
    }
    lap("card")
    shares = np.bincount(analyses.fold[analyses.fold >= 0]) / (analyses.fold >= 0).sum()
    found["truth in folds"] = float(shares @ [truth(each, seed) for each in analyses.policies()])
    found["truth"] = None if policy is None else truth(policy, seed)
    found["truth of card"] = truth(report.card, seed)
    found["truth as done"] = truth(None, seed)
    lap("truth")
    return found


def done_before(path: Path, model: str) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each["model"] == model]


def rate(hits: Sequence[bool]) -> str:
    """Of those that have an interval."""
    return f"{sum(hits)} of {len(hits)} ({sum(hits) / len(hits):.3f})" if hits else "-"


def table(every: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| design | data sets | with a policy | above 0: whole | above 0: quick | interval of "
        "value holds truth in folds | of everybody's policy: whole | quick | interval of gain "
        "holds truth in folds | width of gain: whole | quick | seconds |",
        f"|{'---|' * 12}",
    ]
    for design in DESIGNS:
        own = [each for each in every if each["design"] == design]
        shown = [each for each in own if math.isfinite(each["whole"]["value"][1])]
        if not own:
            continue
        reported = [each for each in own if "quick" in each]
        cells = [design, len(own), len(reported)]
        cells.append(rate([each["whole"]["gain"][1] > 0 for each in own]))
        cells.append(rate([each["quick"]["gain"][1] > 0 for each in reported]))
        if design in NULL:
            cells += ["", "", "", rate([_holds(each["whole"]["gain"], 0.0) for each in shown])]
        else:
            cells += [
                rate([_holds(each["whole"]["value"], each["truth in folds"]) for each in shown]),
                rate(
                    [
                        _holds(each["whole"]["value"], each["truth"])
                        for each in shown
                        if each["truth"] is not None
                    ]
                ),
                rate([_holds(each["quick"]["value"], each["truth"]) for each in reported]),
                rate(
                    [
                        _holds(
                            each["whole"]["gain"], each["truth in folds"] - each["truth as done"]
                        )
                        for each in shown
                    ]
                ),
            ]
        for way in ("whole", "quick"):
            widths = [each[way]["gain"][2] - each[way]["gain"][1] for each in reported]
            cells.append(f"{np.nanmean(widths):.2f}" if widths else "-")
        cells.append(f"{np.mean([sum(each['seconds'].values()) for each in own]):.0f}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def card_table(every: Sequence[dict[str, Any]]) -> str:
    """Of the cards of everybody, judged in folds where they are found anew."""
    lines = [
        "| design | data sets | asks nothing | above 0 | gain's interval holds the card's "
        "| width | cost's interval holds what the policy earns more | width | mean cost |",
        f"|{'---|' * 9}",
    ]
    for design in DESIGNS:
        own = [each for each in every if each["design"] == design]
        if not own:
            continue
        shown = [each for each in own if math.isfinite(each["card"]["gain"][1])]
        priced = [each for each in shown if each["truth"] is not None]
        gains = [each["card"]["gain"] for each in shown]
        costs = [each["card"]["cost"] for each in priced]
        cells = [design, len(own), rate([not each["card"]["first"] for each in own])]
        cells.append(rate([each["card"]["gain"][1] > 0 for each in own]))
        earned = [each["truth of card"] - each["truth as done"] for each in shown]
        cells.append(rate([_holds(*each) for each in zip(gains, earned, strict=True)]))
        cells.append(_width(gains))
        worse = [each["truth"] - each["truth of card"] for each in priced]
        cells.append(rate([_holds(*each) for each in zip(costs, worse, strict=True)]))
        cells += [_width(costs), f"{np.mean(worse):.3f}" if worse else "-"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _holds(interval: Sequence[float], truth: float) -> bool:
    return interval[1] <= truth <= interval[2]


def _width(intervals: Sequence[Sequence[float]]) -> str:
    return f"{np.mean([each[2] - each[1] for each in intervals]):.2f}" if intervals else "-"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=DESIGNS, default=DESIGNS)
    parser.add_argument("--datasets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first data set")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--model", choices=("linear", "neural"), default="linear")
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    known = {(each["design"], each["seed"]) for each in done_before(chosen.out, chosen.model)}
    seeds = range(chosen.seed, chosen.seed + chosen.datasets)
    # One of each design after the other, so that what there is can be looked at any time.
    todo = [(design, seed) for seed in seeds for design in chosen.only]
    todo = [each for each in todo if each not in known and not chosen.table]
    with ProcessPoolExecutor(chosen.jobs) as pool, chosen.out.open("a", encoding="utf-8") as file:
        started = {pool.submit(one, *each, chosen.model): each for each in todo}
        for ended in as_completed(started):
            design, seed = started[ended]
            try:
                found = ended.result()
            except DataError as error:
                print(f"{design}, seed {seed}: {error}", flush=True)
                continue
            file.write(json.dumps(found) + "\n")
            file.flush()
            print(f"{design}, seed {seed}: {found['seconds']}", flush=True)
    every = done_before(chosen.out, chosen.model)
    print(f"{table(every)}\n\n{card_table(every)}")


if __name__ == "__main__":
    main()

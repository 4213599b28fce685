"""Does the passport doubt what is wrong, and nothing else? One thing at a time is violated.

    python -m bench.passport --datasets 50 --seed 70000

37 people, 90 decisions, four variables, a coin of .4 or .6 by the state, outcome and states with
gaps by chance. One thing at a time is wrong. Each study goes from its raw table through roles,
imputation, Markov check and passport, as on the pages. Writes one line a row of the passport: in
how many studies it holds, is in doubt, and what else it says. (Where a column was leaked, no Markov
check is made: `--only` a kind does that kind alone.)

    python -m bench.passport --maps 4 --seed 71000

The rows that need a feature map, a policy and its placebo check, on a few studies without a fault.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
import pandas as pd

import smdp
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles
from smdp.steps.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    MarkovPlan,
    PassportPlan,
    PlaceboPlan,
    PolicyPlan,
    RulePlan,
)
from smdp.validation.passport_settings import PassportSettings

PEOPLE, TIMES = 37, 90
NAMES = ("x", "y", "z", "w")
KINDS = (
    "as it should be",
    "look-back 2",
    "drifting effect",
    "hidden confounder",
    "missing by outcome",
    "leak, nobody was asked",
    "leak, answered as known before",
)
#: How large each fault is; fixed before any study was looked at.
PAST = 0.3  # of the noise, for each standard deviation of x one step before, on outcome and x
DRIFT = (0.5, 0.0)  # the effect of treatment, in standard deviations of the noise, first and last
HIDDEN = 0.7  # on the logit of treatment, and on the outcome; .9 of it is left after a decision
BY_OUTCOME = np.log(2.0)  # of the odds of a gap, for each standard deviation that it is worse
LEAK = 0.45  # noise of a column that is the outcome, measured afterwards

BARE = PassportSettings(studies=0)  # verdicts alone
BY_CHANCE = 0.04  # of the states
OUTCOMES = 0.12  # of the outcomes


def table(kind: str, seed: int, people: int = PEOPLE, times: int = TIMES) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    state, before = random.normal(size=(people, 4)), np.zeros(people)
    hidden = random.normal(size=people)
    rows, outcomes = [], []
    for t in range(times + 1):
        p = np.where(state[:, 0] > 0, 0.6, 0.4)
        tilt = HIDDEN * hidden if kind == "hidden confounder" else 0.0
        odds = p / (1 - p) * np.exp(tilt)
        action = (random.random(people) < odds / (1 + odds)).astype(int)
        now = DRIFT[0] + (DRIFT[1] - DRIFT[0]) * t / times if kind == "drifting effect" else 0.25
        outcome = 0.5 * state[:, 0] + 0.3 * state[:, 1] + action * (now + 0.3 * state[:, 2])
        ahead = 0.5 * state + random.normal(0, np.sqrt(0.75), state.shape)
        ahead[:, 1] += 0.2 * state[:, 0]
        ahead[:, 2] += 0.2 * (action - p)
        if kind == "look-back 2":
            outcome += PAST * before
            ahead[:, 0] += PAST * before
        if kind == "hidden confounder":
            outcome += HIDDEN * hidden
        hidden = 0.9 * hidden + np.sqrt(1 - 0.81) * random.normal(size=people)
        outcome += random.normal(size=people)
        after = outcome + LEAK * random.normal(size=people)
        for i in range(people):
            rows.append((f"P{i + 1:02d}", t + 1, *state[i], int(action[i]), p[i], after[i]))
        outcomes.append(outcome)
        before, state = state[:, 0], ahead
    frame = pd.DataFrame(rows, columns=["person", "slot", *NAMES, "sent", "chance", "report"])
    values = np.concatenate(outcomes)
    frame["steps"] = values
    frame.loc[frame["slot"] == times + 1, ["sent", "chance", "report", "steps"]] = np.nan
    z = (values - values.mean()) / values.std()
    slope = BY_OUTCOME if kind == "missing by outcome" else 0.0
    odds = OUTCOMES / (1 - OUTCOMES) * np.exp(-slope * z)
    frame.loc[random.random(len(frame)) < odds / (1 + odds), "steps"] = np.nan
    for name in NAMES:
        frame.loc[random.random(len(frame)) < BY_CHANCE, name] = np.nan
    return frame if kind.startswith("leak") else frame.drop(columns="report")


def roles(kind: str) -> ColumnRoles:
    states = [*NAMES, "report"] if kind.startswith("leak") else list(NAMES)
    known = {"leak, nobody was asked": (NEVER_ASKED,)}
    known["leak, answered as known before"] = ("report",)
    return ColumnRoles(
        "person",
        "slot",
        "sent",
        states,
        "steps",
        probability="chance",
        known_before=known.get(kind, ()),
        assignment="randomised",
    )


def verdicts(kind: str, seed: int) -> dict[str, str]:
    markov = None if kind.startswith("leak") else MarkovPlan(seed=seed)
    plan = smdp.AnalysisPlan(roles=roles(kind), markov=markov, passport=PassportPlan(BARE, seed))
    done = smdp.run_analysis(table(kind, seed), plan)
    assert done.passport is not None
    return {row.thing: row.verdict for row in done.passport.rows}


def with_maps(seed: int) -> dict[str, str]:
    """A study without a fault, to its policy: a linear one, judged the quick way."""
    plan = smdp.AnalysisPlan(
        roles=roles(KINDS[0]),
        features=FeatureMapPlan(seed=seed),
        policies=(PolicyPlan(seed=seed),),
        evaluation=EvaluationPlan(seed=seed, judged="quick"),
        rule=RulePlan(seed=seed),
        placebo=PlaceboPlan(seed=seed, repeats=20),
        passport=PassportPlan(BARE, seed),
    )
    done = smdp.run_analysis(table(KINDS[0], seed), plan)
    assert done.passport is not None
    return {row.thing: row.verdict for row in done.passport.rows}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=2)
    parser.add_argument("--maps", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    asked = parser.parse_args()
    if asked.maps:
        report("as it should be, with map and policy", with_maps, asked.maps, asked.seed)
        return
    for place, kind in enumerate(KINDS):
        if asked.only not in (None, kind):
            continue
        first = asked.seed + 1000 * place
        report(kind, lambda seed, kind=kind: verdicts(kind, seed), asked.datasets, first)


def report(kind: str, found, datasets: int, first: int) -> None:
    began = time.perf_counter()
    counts: dict[str, Counter[str]] = {}
    for seed in range(first, first + datasets):
        for thing, verdict in found(seed).items():
            counts.setdefault(thing, Counter())[verdict] += 1
    for thing, own in counts.items():
        said = ", ".join(f"{verdict} {count}" for verdict, count in sorted(own.items()))
        if set(own) != {"not checked"}:
            print(f"| {kind} | {thing} | {said} |", flush=True)
    seconds = (time.perf_counter() - began) / datasets
    print(f"# {kind}: {datasets} studies, {seconds:.1f} s each", flush=True)


if __name__ == "__main__":
    main()

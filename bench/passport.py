"""Does the passport doubt what is wrong, and nothing else? One thing at a time is violated.

    python -m bench.passport --datasets 50 --seed 70000

37 people, 90 decisions, four variables, a coin of .4 or .6 by the state, outcome and states with
gaps by chance. One thing at a time is wrong. Each study goes from its raw table through roles,
imputation, Markov check and passport, as on the pages. Writes one line a row of the passport: in
how many studies it holds, is in doubt, and what else it says. (Where a column was leaked, no Markov
check is made: `--only` a kind does that kind alone.)

    python -m bench.passport --maps 4 --seed 71000

The rows that need a feature map, a policy and its placebo check, on a few studies without a fault.

    python -m bench.passport --randomisation 2000 --seed 75000

The test of randomisation alone, on studies that were randomised as planned (without a fault, or
with one that is not its own), of 20, 37 and 100 people: how often it doubts them at .05.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import smdp
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles
from smdp.independence.pooling import at_most
from smdp.steps.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    MarkovPlan,
    PassportPlan,
    PlaceboPlan,
    PolicyPlan,
    RulePlan,
    ScreeningPlan,
)
from smdp.validation.decisions_seen import DecisionsSeen
from smdp.validation.passport_settings import PassportSettings
from smdp.validation.randomisation import check_randomisation

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
#: In these treatment is what was planned.
RANDOMISED = ("as it should be", "look-back 2", "drifting effect", "missing by outcome")
#: How large each fault is; fixed before any study was looked at.
PAST = 0.3  # of the noise, for each standard deviation of x one step before, on outcome and x
DRIFT = (0.5, 0.0)  # the effect of treatment, in standard deviations of the noise, first and last
HIDDEN = 0.7  # on the logit of treatment, and on the outcome; .9 of it is left after a decision
BY_OUTCOME = np.log(2.0)  # of the odds of a gap, for each standard deviation that it is worse
LEAK = 0.45  # noise of a column that is the outcome, measured afterwards

BARE = PassportSettings(studies=0)  # verdicts alone
BY_CHANCE = 0.04  # of the states
OUTCOMES = 0.12  # of the outcomes


@dataclass(frozen=True)
class Study:
    """What is true of it and what is seen; of outcomes and states some are missing."""

    states: NDArray[np.float64]  # (people, times + 1, 4), NaN where missing, as below
    actions: NDArray[np.int64]  # (people, times + 1)
    chances: NDArray[np.float64]  # of treatment
    after: NDArray[np.float64]  # the outcome, measured afterwards
    outcomes: NDArray[np.float64]


def study(kind: str, seed: int, people: int = PEOPLE, times: int = TIMES) -> Study:
    random = np.random.default_rng(seed)
    state, before = random.normal(size=(people, 4)), np.zeros(people)
    hidden = random.normal(size=people)
    states, actions, chances, afters, outcomes = [], [], [], [], []
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
        states.append(state)
        actions.append(action)
        chances.append(p)
        afters.append(outcome + LEAK * random.normal(size=people))
        outcomes.append(outcome)
        before, state = state[:, 0], ahead
    values = np.concatenate(outcomes)  # decision by decision, as the table's rows
    z = (values - values.mean()) / values.std()
    slope = BY_OUTCOME if kind == "missing by outcome" else 0.0
    odds = OUTCOMES / (1 - OUTCOMES) * np.exp(-slope * z)
    values[random.random(len(values)) < odds / (1 + odds)] = np.nan
    seen = np.concatenate(states)
    for j in range(len(NAMES)):
        seen[random.random(len(seen)) < BY_CHANCE, j] = np.nan
    return Study(
        seen.reshape(times + 1, people, -1).swapaxes(0, 1),
        np.array(actions).T,
        np.array(chances).T,
        np.array(afters).T,
        values.reshape(times + 1, people).T,
    )


def table(kind: str, seed: int) -> pd.DataFrame:
    own = study(kind, seed)
    people, times = own.actions.shape
    rows = {
        "person": np.tile([f"P{i + 1:02d}" for i in range(people)], times),
        "slot": np.repeat(np.arange(1, times + 1), people),
        **{name: own.states[:, :, j].T.ravel() for j, name in enumerate(NAMES)},
        "sent": own.actions.T.ravel(),
        "chance": own.chances.T.ravel(),
        "report": own.after.T.ravel(),
        "steps": own.outcomes.T.ravel(),
    }
    frame = pd.DataFrame(rows)
    frame.loc[frame["slot"] == times, ["sent", "chance", "report", "steps"]] = np.nan
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
        screening=ScreeningPlan(seed=seed),
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


def seen(own: Study) -> DecisionsSeen:
    """As the passport sees it: the last row, of which no outcome follows, is no decision."""
    states, actions, p = own.states[:, :-1], own.actions[:, :-1], own.chances[:, :-1]
    every = np.ones(actions.shape, bool)
    return DecisionsSeen(
        person=np.arange(len(actions)),
        states=states,
        belongs=NAMES,
        actions=actions,
        available=every,
        probabilities=np.stack([1 - p, p], axis=2),
        utilities=own.outcomes[:, :-1],
        there=every,
        on_grid=every,
        labels=("0", "1"),
    )


def doubts_of_randomisation(people: int, studies: int, first: int) -> None:
    """The seed of the signs is not that of the study."""
    doubts, groups = 0, Counter[str]()
    for k in range(studies):
        drawn = study(RANDOMISED[k % len(RANDOMISED)], first + k, people)
        found = check_randomisation(seen(drawn), seed=first + studies + k)
        doubts += at_most(found.p_value, BARE.level)
        groups.update(
            row.group for row in found.tests.itertuples() if at_most(row.p_value, BARE.level)
        )
    alone = ", ".join(f"{name} {count / studies:.3f}" for name, count in groups.items())
    print(f"| {people} | {doubts} of {studies} ({doubts / studies:.3f}) | {alone} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=2)
    parser.add_argument("--maps", type=int, default=0)
    parser.add_argument("--randomisation", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    asked = parser.parse_args()
    if asked.randomisation:
        for k, people in enumerate((20, PEOPLE, 100)):
            first = asked.seed + 2 * k * asked.randomisation
            doubts_of_randomisation(people, asked.randomisation, first)
        return
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

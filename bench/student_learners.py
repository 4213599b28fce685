"""What the default analysis of a realistic student study earns, by each learner and as a card.

Usage: python bench/student_learners.py --out FILE [--first 6000] [--seeds 50] [--table]
       [--without neural]

Fresh studies of 30 students with gaps (`basics_like`), the way of the pages: filled in, screening,
the interpretable map, default settings, discount 0.9. Then a linear, a pessimistic and a neural
policy on it, and the rule card of the linear one: as it is by default, and of all variables by
doubly robust scores ("card of all"). What each earns is minus the next cigarettes, on
average over 27 decisions of FRESH fresh students who follow it.

0 is what was done (a coin), 1 the best of the policies learned from LARGE students who answered
everything, with the variables that matter as features. "Constant": the better of always and never.
Where screening keeps nothing, a learner is the better constant action by the study.

Each study is a line of FILE, which lies outside of the project; what is there is not done again.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from abstaining import OF_STUDENTS, study
from rule_card import MODERATORS

from smdp.data.guess_roles import guess_roles
from smdp.data.prepare import prepare
from smdp.evaluation.rule_learning import learn_rule_card
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.target import AnyPolicy
from smdp.evaluation.whole_analysis import WholeAnalysis, analysed_anew
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.basics_like import Assign, basics_like

FRESH, LARGE, DISCOUNT = 2000, 3000, 0.9
TRUTH, OF_BEST = 77_000, 77_001
LEARNERS = ("linear", "pessimistic", "neural")
CARDS = {
    "card": RuleSettings(),
    "card of all": RuleSettings(among="all", scores="doubly robust"),
}
REFERENCE = "0"  # the module that is no treatment


def settings_of(model: str) -> PolicySettings:
    reference = REFERENCE if model == "pessimistic" else ""
    return PolicySettings(model=model, discount=DISCOUNT, reference=reference)  # type: ignore[arg-type]


def earns(assign: Assign | None) -> float:
    frame = basics_like(TRUTH, subjects=FRESH, missing=False, assign=assign)
    return -float(frame.loc[frame["report"] > 1, "cigs"].mean())


def following(policy: AnyPolicy) -> Assign:
    def assign(state: pd.DataFrame) -> np.ndarray:
        return policy.recommend(state[list(policy.variables)].to_numpy(dtype=float))

    return assign


def best() -> LearnedPolicy:
    """Learned from many: the better of a linear and a neural policy."""
    data = study("students", OF_BEST, LARGE)
    fitted = identity_feature_map(data)
    linear = PolicySettings(discount=DISCOUNT, bootstraps=0)
    found = [learn_policy(data, fitted, linear)]
    neural = PolicySettings(model="neural", discount=DISCOUNT, bootstraps=0, steps=16_000)
    found.append(learn_policy(data, fitted, neural))
    return max(found, key=lambda policy: earns(following(policy)))


def landmarks() -> dict[str, float]:
    assert set(OF_STUDENTS) >= set(MODERATORS)
    return {
        "never": earns(lambda state: np.zeros(len(state))),
        "always": earns(lambda state: np.ones(len(state))),
        "as done": earns(None),
        "best": earns(following(best())),
    }


def one(seed: int, learners: Sequence[str] = LEARNERS) -> dict[str, Any]:
    began = process_time()
    frame = basics_like(seed)
    data = prepare(frame, guess_roles(frame)).trajectories
    how = WholeAnalysis(policies=tuple(settings_of(model) for model in learners))
    made = analysed_anew(data, how)
    cards = {
        name: learn_rule_card(data, made.policies[0], settings, seed=seed).card
        for name, settings in CARDS.items()
    }
    policies: dict[str, AnyPolicy] = dict(zip(learners, made.policies, strict=True)) | cards
    return {
        "seed": seed,
        "kept": made.selected,
        "cards": {name: card.in_words() for name, card in cards.items()},
        "first": {
            name: card.questions[0].variable if card.questions else ""
            for name, card in cards.items()
        },
        "earns": {name: earns(following(policy)) for name, policy in policies.items()},
        "seconds": round(process_time() - began, 1),
    }


def table(marks: dict[str, float], every: Sequence[dict[str, Any]]) -> str:
    room = marks["best"] - marks["as done"]
    constant = (max(marks["never"], marks["always"]) - marks["as done"]) / room
    told = [f"{name} {value:.3f}" for name, value in marks.items()]
    lines = [
        f"{len(every)} studies. {', '.join(told)}; constant: a share of {constant:.2f}.",
        "| learner | earns | share of the best improvement (se) | minus linear (se) | worst | "
        "below what was done |",
        f"|{'---|' * 6}",
    ]
    shares = {
        name: np.array([(each["earns"][name] - marks["as done"]) / room for each in every])
        for name in (*CARDS, *LEARNERS)
        if name in every[0]["earns"]
    }
    for name, own in shares.items():
        apart = own - shares["linear"]
        earned = np.mean([each["earns"][name] for each in every])
        lines.append(
            f"| {name} | {earned:.2f} | {_mean(own)} | "
            f"{'' if name == 'linear' else _mean(apart)} | {own.min():.2f} | {(own < 0).sum()} |"
        )
    lines.append(f"\nCard minus card of all: {_mean(shares['card'] - shares['card of all'])}.")
    for card in CARDS:
        some = [each["first"][card] for each in every if each["first"][card]]
        planted = [name for name in some if name in MODERATORS]
        counts = pd.Series(some).value_counts()
        lines.append(
            f"The {card} asks something in {len(some)} of {len(every)}, and first about a planted "
            f"moderator in {len(planted)} of these: "
            + ", ".join(f"{name} {count}" for name, count in counts.items())
            + "."
        )
    seconds = np.median([each["seconds"] for each in every])
    lines.append(f"Processor seconds a study: {seconds:.0f}.")
    return "\n".join(lines)


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--without", choices=LEARNERS[1:], action="append", default=[])
    chosen = parser.parse_args()
    text = chosen.out.read_text(encoding="utf-8") if chosen.out.exists() else ""
    every = list(map(json.loads, text.splitlines()))
    known = {each["seed"] for each in every}
    todo = [] if chosen.table else range(chosen.first, chosen.first + chosen.seeds)
    for seed in todo:
        if seed in known:
            continue
        found = one(seed, [name for name in LEARNERS if name not in chosen.without])
        with chosen.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        print(found, flush=True)
        every.append(found)
    if len(every) > 1:
        print(table(landmarks(), every))


if __name__ == "__main__":
    main()

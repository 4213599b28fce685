"""The search for a rule card: seconds, and whether it finds what is planted.

Usage: python bench/rule_card.py [--seeds 0] [--people 30]

First the search alone, over random data of 30 variables of 25 different codes and 10,000 decisions.
With `--seeds`, so many fresh student studies (seeds 4000, 4001, ..): the card of each, with all
variables and with those that screening kept, and whether its first question is about a planted
moderator (weekend, stress, quit_attempts, burden). `--null`: with nobody ever treated and modules
drawn afterwards, so that every question is chance.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import pandas as pd

import smdp
from smdp.data.guess_roles import guess_roles
from smdp.evaluation.rule_learning import learn_rule_card
from smdp.evaluation.rule_settings import RuleSettings
from smdp.policy.rule_search import SearchProblem, best_tree, count_questions
from smdp.simulation.basics_like import basics_like

MODERATORS = ("weekend", "stress", "quit_attempts", "burden")


def random_problem(rows: int, variables: int, actions: int, seed: int = 1) -> SearchProblem:
    random = np.random.default_rng(seed)
    return SearchProblem(
        random.integers(0, 25, (variables, rows)).astype(np.uint8),
        np.full(variables, 25),
        np.ones(variables, dtype=bool),
        random.normal(0, 1, (rows, actions)),
        np.ones(rows),
        0.05 * rows,
    )


def seconds() -> None:
    begun = process_time()
    best_tree(random_problem(100, 2, 2), 2)
    print(f"compiling, or loading what was compiled: {process_time() - begun:.2f} s")
    for rows, variables, actions in ((1_000, 15, 2), (10_000, 30, 2), (10_000, 30, 3)):
        problem = random_problem(rows, variables, actions)
        begun = process_time()
        found = best_tree(problem, 2)
        print(
            f"depth 2, {variables} variables x {rows:,} decisions, {actions} actions: "
            f"{process_time() - begun:.2f} s ({count_questions(found)} questions)"
        )


def student_study(seed: int, people: int, null: bool) -> pd.DataFrame:
    if not null:
        return basics_like(seed, subjects=people)
    frame = basics_like(seed, subjects=people, assign=lambda state: np.zeros(len(state)))
    coins = np.random.default_rng([seed, 1]).integers(0, 2, len(frame))
    return frame.assign(module=coins)


def cards(seeds: int, people: int, null: bool) -> None:
    asked_first: dict[str, list[str]] = {"all variables": [], "screened": []}
    for seed in range(4000, 4000 + seeds):
        begun = process_time()
        frame = student_study(seed, people, null)
        prepared = smdp.prepare(
            frame,
            guess_roles(frame),
            smdp.PreparationSettings(rescaling=smdp.RescalingSettings()),
        )
        trajectories = prepared.trajectories
        kept = smdp.screen(trajectories, seed=1).selected or trajectories.variables
        fitted = smdp.identity_feature_map(trajectories.select(kept))
        policy = smdp.learn_policy(trajectories, fitted, smdp.PolicySettings(bootstraps=0))
        measured = smdp.as_measured(prepared)
        told = []
        for name, among in (("all variables", "all"), ("screened", "policy")):
            settings = RuleSettings(among=among)
            card = learn_rule_card(trajectories, policy, settings, measured=measured).card
            asked_first[name].append(card.questions[0].variable if card.questions else "")
            told.append(card.in_words())
        print(f"{seed}: {' | '.join(told)} ({process_time() - begun:.1f} s)", flush=True)
    for name, first in asked_first.items():
        some = [each for each in first if each]
        planted = [each for each in some if each in MODERATORS]
        print(
            f"{name}: a question in {len(some)} of {seeds} studies, the first about a planted "
            f"moderator in {len(planted)} of these"
        )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seeds", type=int, default=0)
    asked.add_argument("--people", type=int, default=30)
    asked.add_argument("--null", action="store_true")
    given = asked.parse_args()
    seconds()
    if given.seeds:
        cards(given.seeds, given.people, given.null)


if __name__ == "__main__":
    main()

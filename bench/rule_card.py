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

from smdp.policy.rule_search import Problem, best_tree, count_questions


def random_problem(rows: int, variables: int, actions: int, seed: int = 1) -> Problem:
    random = np.random.default_rng(seed)
    return Problem(
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


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seeds", type=int, default=0)
    asked.add_argument("--people", type=int, default=30)
    asked.add_argument("--null", action="store_true")
    given = asked.parse_args()
    seconds()


if __name__ == "__main__":
    main()

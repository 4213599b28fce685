"""The search for the best tree against one that tries every tree, one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from smdp.errors import SettingError
from smdp.policy.rule_search import (
    Found,
    Leaf,
    SearchProblem,
    Split,
    best_tree,
    count_questions,
    follow,
    refuse_if_endless,
    seconds_of,
)

SLACK = 1e-9


def random_problem(
    seed: int, actions: int, *, rows: int = 30, least: float = 0.0, whole: bool = False
) -> SearchProblem:
    """Whole gains make trees that are worth exactly the same."""
    random = np.random.default_rng(seed)
    ordered = np.array([True, False, True, True])
    bins = np.array([4, 3, 2, 3])
    codes = np.array([random.integers(0, b, rows) for b in bins], np.uint8)
    gains = random.normal(0, 1, (rows, actions))
    if whole:
        gains = np.round(gains)
    weight = random.integers(0, 3, rows).astype(float)
    return SearchProblem(codes, bins, ordered, gains, weight, least * weight.sum())


def worth(tree: Found, problem: SearchProblem) -> float:
    chosen = follow(tree, problem)
    return float((problem.weight * problem.gains[np.arange(len(chosen)), chosen]).sum())


def leaves(tree: Found) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from leaves(tree.yes)
        yield from leaves(tree.no)


def every_tree(problem: SearchProblem, depth: int) -> Iterator[Found]:
    """Of all shapes, with the best action at each end of what comes there."""
    yield Leaf(int((problem.weight @ problem.gains).argmax()))
    if depth == 0:
        return
    for j in range(len(problem.bins)):
        for q in range(int(problem.bins[j] - problem.ordered[j])):
            there = problem.holds(j, q)
            sizes = problem.weight[there].sum(), problem.weight[~there].sum()
            if min(sizes) < max(problem.least, 1e-12):
                continue
            sides = (every_tree(problem.only(rows), depth - 1) for rows in (there, ~there))
            for yes, no in itertools.product(*sides):
                yield Split(j, q, yes, no)


def by_trying(problem: SearchProblem, depth: int) -> tuple[float, int]:
    """What the best tree is worth, and the fewest questions of those that are."""
    every = [(worth(t, problem), count_questions(t)) for t in every_tree(problem, depth)]
    best = max(value for value, _ in every)
    return best, min(count for value, count in every if value >= best - SLACK)


@pytest.mark.parametrize("actions", [2, 3, 5])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("least", [0.0, 0.15])
def test_the_tree_is_the_best_of_all(actions: int, depth: int, least: float) -> None:
    for seed in range(6):
        problem = random_problem(seed, actions, least=least, whole=seed % 2 == 0)
        found = best_tree(problem, depth)
        value, fewest = by_trying(problem, depth)
        assert worth(found, problem) == pytest.approx(value, abs=1e-9)
        assert count_questions(found) == fewest


def test_three_in_a_row() -> None:
    problem = random_problem(3, 2, rows=16)
    problem = SearchProblem(problem.codes[:3], problem.bins[:3], problem.ordered[:3],
                      problem.gains, problem.weight, 0.0)  # fmt: skip
    found = best_tree(problem, 3)
    value, fewest = by_trying(problem, 3)
    assert worth(found, problem) == pytest.approx(value)
    assert count_questions(found) == fewest


def test_every_end_keeps_its_share_of_the_decisions() -> None:
    for seed in range(5):
        problem = random_problem(seed, 2, rows=60, least=0.2)
        found = best_tree(problem, 2)

        def check(tree: Found, rows: np.ndarray, own: SearchProblem = problem) -> None:
            assert own.weight[rows].sum() >= own.least - 1e-9
            if isinstance(tree, Split):
                there = own.holds(tree.variable, tree.question)
                check(tree.yes, rows & there)
                check(tree.no, rows & ~there)

        check(found, np.ones(60, dtype=bool))


def test_equal_trees_are_decided_in_order() -> None:
    codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], np.uint8)
    gains = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    same = SearchProblem(codes, np.array([2, 2]), np.array([True, True]), gains, np.ones(4), 0.0)
    assert best_tree(same, 2) == Split(0, 0, Leaf(1), Leaf(0))
    nothing = SearchProblem(
        codes, np.array([2, 2]), np.array([True, True]), 0 * gains, np.ones(4), 0.0
    )
    assert best_tree(nothing, 2) == Leaf(0)


def test_no_question_at_all() -> None:
    gains = np.array([[0.0, 1.0], [0.0, 2.0]])
    empty = SearchProblem(
        np.zeros((0, 2), np.uint8), np.zeros(0, np.int64), np.zeros(0, bool), gains, np.ones(2), 0.0
    )
    assert best_tree(empty, 2) == Leaf(1)


def test_a_search_for_hours_is_refused_with_its_time() -> None:
    hours = seconds_of(60, 60 * 24, 100_000, 3, 3)
    with pytest.raises(SettingError, match=r"about \d+ h \d\d min"):
        refuse_if_endless(hours)
    refuse_if_endless(seconds_of(15, 150, 1000, 2, 3))

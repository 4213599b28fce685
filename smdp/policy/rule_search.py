"""The best tree of at most so many questions in a row, found by looking at all of them.

Each decision has a number for each action, what it would be worth there, and a tree is worth the
sum over the decisions of the number of the action that it gives. Two questions in a row are about a
pair of variables: the numbers are added up in a table of the one variable's codes by the other's,
and running sums over that table give every pair of cuts. The work grows with the square of the
variables, not of their cuts.

Of trees that are worth the same, that with fewer questions is taken; then that whose variable comes
first, then that whose cut does; of actions the first.

Reference: Sverdrup, Kanodia, Zhou, Athey & Wager (2020), "policytree: Policy learning via doubly
robust empirical welfare maximization over trees".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from smdp.errors import SettingError
from smdp.policy.rule_questions import Askable
from smdp.text import duration

Floats = NDArray[np.float64]

DEEPEST = 3
#: A difference of less than this share of all numbers together is none.
SAME = 1e-10
#: Seconds of this work on an ordinary processor, by which a search is refused before it begins.
SECONDS_A_CELL = 7e-9
LONGEST = 300.0


@dataclass(frozen=True)
class Leaf:
    action: int


@dataclass(frozen=True)
class Split:
    """By the place of a variable and of one of its questions."""

    variable: int
    question: int
    yes: Split | Leaf
    no: Split | Leaf


Found: TypeAlias = Split | Leaf


@dataclass(frozen=True)
class SearchProblem:
    """`gains`: (R, K), of each action at each decision. `weight`: (R,), how often it counts."""

    codes: NDArray[np.uint8]  # (p, R)
    bins: NDArray[np.int64]  # (p,)
    ordered: NDArray[np.bool_]  # (p,)
    gains: Floats
    weight: Floats
    least: float  # of weight, at each end

    def only(self, rows: NDArray[np.bool_]) -> SearchProblem:
        return SearchProblem(
            np.ascontiguousarray(self.codes[:, rows]),
            self.bins,
            self.ordered,
            self.gains[rows],
            self.weight[rows],
            self.least,
        )

    @property
    def questions(self) -> int:
        return int((self.bins - self.ordered).sum())

    def holds(self, variable: int, question: int) -> NDArray[np.bool_]:
        own = self.codes[variable]
        return np.asarray(own > question if self.ordered[variable] else own == question)


def problem_of(
    asked: Sequence[Askable], gains: Floats, weight: Floats, least_share: float
) -> SearchProblem:
    count = len(gains)
    return SearchProblem(
        np.array([each.codes for each in asked], np.uint8).reshape(len(asked), count),
        np.array([each.bins for each in asked], np.int64),
        np.array([each.ordered for each in asked], bool),
        gains,
        weight,
        least_share * float(weight.sum()),
    )


def best_tree(
    problem: SearchProblem, depth: int, report: Callable[[float], None] | None = None
) -> Found:
    """With at most `depth` questions in a row. `report` is told the share that is done."""
    weighted = problem.weight[:, None] * problem.gains
    slack = SAME * float(np.abs(weighted).sum())
    return _best(problem, weighted, depth, slack, report)[0]


def seconds_of(variables: int, questions: int, decisions: int, actions: int, depth: int) -> float:
    """About how long one search takes; the same everywhere, so that what is refused is too."""
    if depth == 0 or variables == 0:
        return 0.0
    if depth > 2:
        below = seconds_of(variables, questions, decisions, actions, depth - 1)
        return questions * below
    cells = (variables if depth == 2 else 1) * variables * decisions
    cells += 2 * questions**2 if depth == 2 else questions
    return SECONDS_A_CELL * cells * (actions + 1)


def refuse_if_endless(seconds: float) -> None:
    if seconds > LONGEST:
        raise SettingError(
            f"A card with three questions in a row would take about {duration(seconds)} to find.",
            "Ask at most two in a row (the setting 'depth'), name fewer variables that it may ask "
            "for (the setting 'variables'), or draw fewer resamples.",
            "depth",
        )


def follow(tree: Found, problem: SearchProblem) -> NDArray[np.int64]:
    """(R,): the action that a tree gives at each decision."""
    if isinstance(tree, Leaf):
        return np.full(problem.codes.shape[1], tree.action)
    there = problem.holds(tree.variable, tree.question)
    return np.where(there, follow(tree.yes, problem), follow(tree.no, problem))


def count_questions(tree: Found) -> int:
    if isinstance(tree, Leaf):
        return 0
    return 1 + count_questions(tree.yes) + count_questions(tree.no)


def _best(
    problem: SearchProblem,
    weighted: Floats,
    depth: int,
    slack: float,
    report: Callable[[float], None] | None = None,
) -> tuple[Found, float]:
    """The best tree and what it is worth."""
    leaf, worth = _leaf(weighted, slack)
    if depth == 0 or problem.questions == 0:
        return leaf, worth
    if depth <= 2:
        return _by_tables(problem, weighted, depth, slack)
    best: Found = leaf
    asked = 0
    for j in range(len(problem.bins)):
        for q in range(int(problem.bins[j] - problem.ordered[j])):
            there = problem.holds(j, q)
            asked += 1
            if report is not None:
                report(asked / problem.questions)
            if _too_few(problem, there):
                continue
            yes, gained = _best(problem.only(there), weighted[there], depth - 1, slack)
            no, also = _best(problem.only(~there), weighted[~there], depth - 1, slack)
            tree = Split(j, q, yes, no)
            total = gained + also
            fewer = count_questions(tree) < count_questions(best)
            if total > worth + slack or (total >= worth - slack and fewer):
                best, worth = tree, total
    return best, worth


def _too_few(problem: SearchProblem, there: NDArray[np.bool_]) -> bool:
    on = float(problem.weight[there].sum())
    return min(on, float(problem.weight.sum()) - on) < max(problem.least, 1e-12)


def _leaf(weighted: Floats, slack: float) -> tuple[Leaf, float]:
    sums = weighted.sum(axis=0)
    action = int((sums >= sums.max() - slack).argmax())
    return Leaf(action), float(sums[action])


def _by_tables(
    problem: SearchProblem, weighted: Floats, depth: int, slack: float
) -> tuple[Found, float]:
    table = np.column_stack([weighted, problem.weight])
    least = max(problem.least, 1e-12)
    worth, variable, place, second = _search(
        problem.codes, problem.bins, problem.ordered, table, least, slack, depth == 2
    )
    if variable < 0:
        return _leaf(weighted, slack)
    there = problem.holds(variable, place)
    ends: list[Found] = []
    for side, rows in enumerate((there, ~there)):
        own, question = int(second[side, 0]), int(second[side, 1])
        if own < 0:
            ends.append(_leaf(weighted[rows], slack)[0])
            continue
        again = problem.holds(own, question)
        yes, no = _leaf(weighted[rows & again], slack)[0], _leaf(weighted[rows & ~again], slack)[0]
        ends.append(Split(own, question, yes, no))
    return Split(int(variable), int(place), ends[0], ends[1]), float(worth)


# Plain loops over numbers: whole rows at a time would take ten times as long to compile.
_compiled = njit(nogil=True, cache=True, error_model="numpy")


@_compiled
def _largest(sums, at, actions):  # type: ignore[no-untyped-def]
    best = sums[at, 0]
    for a in range(1, actions):
        if sums[at, a] > best:
            best = sums[at, a]
    return best


@_compiled
def _divide(sums, bins, ordered, question, total, parts):  # type: ignore[no-untyped-def]
    """`parts`: what is added up where a question holds, and where it does not.

    Of numbers, the questions come in order, and `parts` is what it was for the one before.
    """
    for c in range(total.shape[0]):
        if not ordered:
            parts[1, c] = total[c] - sums[question, c]
        elif question == 0:
            parts[1, c] = sums[0, c]
        else:
            parts[1, c] += sums[question, c]
        parts[0, c] = total[c] - parts[1, c]


@_compiled
def _first_questions(bins, ordered, margins, total, least, value):  # type: ignore[no-untyped-def]
    """What each side of each question is worth without a second one."""
    actions = total.shape[0] - 1
    parts = np.zeros((2, actions + 1))
    for j in range(bins.shape[0]):
        for q in range(bins[j] - ordered[j]):
            _divide(margins[j], bins[j], ordered[j], q, total, parts)
            if parts[0, actions] >= least and parts[1, actions] >= least:
                value[j, q, 0] = _largest(parts, 0, actions)
                value[j, q, 1] = _largest(parts, 1, actions)


@_compiled
def _add_up(own, other, table, pair, bins_own, bins_other):  # type: ignore[no-untyped-def]
    """The numbers of all decisions in a table of two variables' codes."""
    columns = table.shape[1]
    for a in range(bins_own):
        for b in range(bins_other):
            for c in range(columns):
                pair[a, b, c] = 0.0
    for r in range(own.shape[0]):
        for c in range(columns):
            pair[own[r], other[r], c] += table[r, c]


@_compiled
def _second_questions(j, k, bins, ordered, pair, margin, least, slack, value, second):  # type: ignore[no-untyped-def]
    """Whether a question about k makes a side of a question about j worth more."""
    columns = pair.shape[2]
    actions = columns - 1
    sides = np.zeros((2, bins[k], columns))
    parts = np.zeros((2, columns))
    whole = np.zeros(columns)
    for q in range(bins[j] - ordered[j]):
        for b in range(bins[k]):
            for c in range(columns):
                if not ordered[j]:
                    sides[1, b, c] = margin[b, c] - pair[q, b, c]
                elif q == 0:
                    sides[1, b, c] = pair[0, b, c]
                else:
                    sides[1, b, c] += pair[q, b, c]
                sides[0, b, c] = margin[b, c] - sides[1, b, c]
        if value[j, q, 0] == -np.inf:
            continue
        for side in range(2):
            for c in range(columns):
                whole[c] = 0.0
                for b in range(bins[k]):
                    whole[c] += sides[side, b, c]
            for s in range(bins[k] - ordered[k]):
                _divide(sides[side], bins[k], ordered[k], s, whole, parts)
                if parts[0, actions] < least or parts[1, actions] < least:
                    continue
                worth = _largest(parts, 0, actions) + _largest(parts, 1, actions)
                if worth > value[j, q, side] + slack:
                    value[j, q, side] = worth
                    second[j, q, side, 0] = k
                    second[j, q, side, 1] = s


@_compiled
def _search(codes, bins, ordered, table, least, slack, twice):  # type: ignore[no-untyped-def]
    """What the best tree is worth, its first question, and the second on either side (or -1)."""
    p = codes.shape[0]
    columns = table.shape[1]
    most = bins.max()
    total = np.zeros((1, columns))
    for r in range(table.shape[0]):
        for c in range(columns):
            total[0, c] += table[r, c]
    margins = np.zeros((p, most, columns))
    for j in range(p):
        for r in range(table.shape[0]):
            for c in range(columns):
                margins[j, codes[j, r], c] += table[r, c]
    value = np.full((p, most, 2), -np.inf)
    second = np.full((p, most, 2, 2), -1)
    _first_questions(bins, ordered, margins, total[0], least, value)
    if twice:
        pair = np.zeros((most, most, columns))
        for j in range(p):
            for k in range(p):
                _add_up(codes[j], codes[k], table, pair, bins[j], bins[k])
                _second_questions(
                    j, k, bins, ordered, pair, margins[k], least, slack, value, second
                )
    best, variable, place, fewest = _largest(total, 0, columns - 1), -1, -1, 0
    for j in range(p):
        for q in range(bins[j] - ordered[j]):
            if value[j, q, 0] == -np.inf:
                continue
            worth = value[j, q, 0] + value[j, q, 1]
            asked = 1 + (second[j, q, 0, 0] >= 0) + (second[j, q, 1, 0] >= 0)
            if worth > best + slack or (worth >= best - slack and asked < fewest):
                best, variable, place, fewest = worth, j, q, asked
    if variable < 0:
        return best, variable, place, second[0, 0]
    return best, variable, place, second[variable, place]

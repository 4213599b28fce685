"""Screening with people as the sample: the smallest closed set, or all that is related.

Theorem 3.5 of the paper asks for a set J with (U, next S_J) independent of the other variables
given S_J and the action. Marginal dependence, which Algorithm 1 follows ("rounds"), finds far more:
in a process nearly everything goes with everything. The *closed set* asks the theorem's question.

1. First: which variables does the utility depend on, within strata of the last actions?
2. Forward: does (U, next S_J) depend on a variable given S_J and the actions? Those join; again.
3. Closure, backwards from the utility: K is empty; which variables of J does (U, next S_K) depend
   on given the rest of J? They join K, until none does. What predicts itself alone, or a circle
   that never reaches the utility, goes.
4. Return: variables that say nearly the same hide each other in step 3. Of those that went, does
   (U, next S_K) depend on one given K alone? The clearest comes back; again. Then J = K, and from
   step 3 while the set shrinks.
5. Earlier actions that belong to the state were held fixed until here. Does (U, next S_K) depend
   on one of them given K and the others? It joins, and with it those after it, which are its next
   values.

Every round's level is for all candidates together: steps 3 and 4 count those that never joined,
too, with the signs of the last round that tested them. (Counted among themselves alone, variables
that came in by chance would meet little company to be compared with.) In the end every arrow of the
set is tested: which variable leads to the utility, and which to the next value of which.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.independence.by_person import (
    Outcome,
    Strength,
    level_points,
    same_for_everybody,
    variable_points,
)
from smdp.independence.given_others import GivenOthers, says_the_same
from smdp.independence.in_parallel import in_parallel
from smdp.independence.people import finest_strata
from smdp.independence.pooling import at_most
from smdp.independence.signs import FEWEST_PEOPLE, FamilyTested, family_test, signs
from smdp.independence.workspace import Workspace
from smdp.screening_settings import ScreeningSettings

#: All patterns of signs for 12 people.
DRAWS = 2047

#: From so many rows times variables on, all processors are used.
LARGE = 5_000_000

Stage = Literal["first", "forward", "closure", "return", "earlier", "marginal"]

#: Called before each test with the round's number, what it asks and the share of it that is done.
Report = Callable[[int, Stage, float], None]


@dataclass(frozen=True)
class Round:
    """Candidates, what was held fixed, what they were tested against, and what was found."""

    stage: Stage
    candidates: tuple[int, ...]
    known: tuple[int, ...]  # in a closure: all of these but the candidate itself
    outcome: tuple[int, ...]
    found: FamilyTested
    joined: tuple[int, ...]  # the clearest first


@dataclass(frozen=True)
class Arrow:
    """Whether a variable of the set leads to the utility (None) or to a variable's next value."""

    source: int
    target: int | None
    p_value: float
    adjusted: float


class Search:
    """The rows in their strata, the signs, which variables can be tested, and what was found."""

    def __init__(
        self,
        trajectories: Trajectories,
        settings: ScreeningSettings,
        seed: int,
        report: Report,
    ) -> None:
        self.trajectories, self.settings, self.report = trajectories, settings, report
        self.seed, self.random = seed, np.random.default_rng(seed)
        self.rows, self.past_actions = finest_strata(trajectories, settings.past_actions)
        people = len(np.unique(self.rows.person)) if len(self.rows.person) else 0
        if people < FEWEST_PEOPLE:
            raise DataError(
                f"Only {people} people have decisions that can be compared with those of 3 others "
                f"or more who received the same; with people as the sample, {FEWEST_PEOPLE} are "
                "needed to find anything.",
                "Use more people, join rare actions, or screen as in the paper (method='paper').",
            )
        draws = settings.permutations or DRAWS
        self.flips = signs(self.rows.people, draws, self.random)
        self.rounds: list[Round] = []
        self._last_test: dict[int, NDArray[np.float64]] = {}  # of each candidate, in any round
        self.arrows: list[Arrow] = []
        self.earlier_actions: float | None = None  # p-value, given the set
        self.strengths: dict[int, Strength] = {}
        #: Of each variable, the columns that it enters and leaves with.
        self.columns = tuple(trajectories.wholes.values())
        names = tuple(trajectories.wholes)
        self.forced = tuple(j for j, name in enumerate(names) if name in settings.force_in)
        free = [j for j, n in enumerate(names) if n not in settings.force_in + settings.force_out]
        self.held = tuple(j for j in range(len(names)) if self._held_fixed(j))
        self.earlier = tuple(j for j in free if j in self.held)
        self.carried: dict[int, int] = {}  # earlier actions kept because of one before them
        free = [j for j in free if j not in self.held]
        self.constant = tuple(
            j
            for j in free
            if all(same_for_everybody(column, self.rows) for column in self._values(j).T)
        )
        free = [j for j in free if j not in self.constant]
        self.copies = self._copies(free)
        self.candidates = tuple(j for j in free if j not in self.copies)

    def _held_fixed(self, j: int) -> bool:
        """Whether the variable is an earlier action that the strata hold fixed."""
        about = self._about(j)
        return about.comes_from == "action" and 0 < about.lag <= self.past_actions

    @cached_property
    def given(self) -> GivenOthers:
        return GivenOthers(
            self.trajectories, self.rows, self.flips, self.random, self.held, self.columns
        )

    def _about(self, j: int) -> Variable:
        return self.trajectories.about[self.columns[j][0]]

    def _values(self, j: int) -> NDArray[np.float64]:
        """(R, c): the variable's columns."""
        states = self.trajectories.states
        return np.stack([states[self.rows.row, self.rows.time, k] for k in self.columns[j]], axis=1)

    def _points(self, j: int) -> NDArray[np.float64]:
        # A generator of its own: variables are tested side by side.
        random = np.random.default_rng((self.seed, j))
        if self._about(j).whole_kind == "nominal":
            return level_points(self._values(j), self.rows, random)
        return variable_points(self._values(j), self.rows, random, ranks=self.settings.ranks)

    def _copies(self, free: Sequence[int]) -> dict[int, int]:
        """Variables that are a straight line of one before them, with that one."""
        places = [*self.forced, *free]
        if len(places) < 2:
            return {}
        every = [column for j in places for column in self.columns[j]]
        row, time = self.rows.row[:, None], self.rows.time[:, None]
        alike = says_the_same(self.trajectories.states[row, time, every])
        whose = np.repeat(np.arange(len(places)), [len(self.columns[j]) for j in places])
        first = np.searchsorted(whose, np.arange(len(places) + 1))
        own = [slice(a, b) for a, b in pairwise(first.tolist())]
        found: dict[int, int] = {}
        for k in range(len(self.forced), len(places)):
            like = whose[np.flatnonzero(alike[: own[k].start, own[k].start])]
            same = [
                places[i]
                for i in np.unique(like).tolist()
                if places[i] not in found and _column_by_column(alike[own[i], own[k]])
            ]
            if same:
                found[places[k]] = same[0]
        return found

    # Either way

    def closed_set(self) -> tuple[tuple[int, ...], bool]:
        """The variables of the smallest closed set, and whether the rounds sufficed."""
        chosen = list(self.forced)
        chosen += self._marginal("first", ())
        complete = not chosen
        while chosen and len(self.rounds) < self.settings.max_rounds:
            left = [j for j in self.candidates if j not in chosen]
            joined = self._given("forward", left, chosen, chosen) if left else []
            chosen += joined
            if not joined:
                complete = True
                break
        chosen = self._closed(sorted(chosen))
        chosen = self._with_earlier_actions(chosen)
        self._find_arrows(chosen)
        return tuple(chosen), complete

    def related(self) -> tuple[tuple[int, ...], bool]:
        """The variables that the rounds of Algorithm 1 gather, and whether they sufficed."""
        chosen = list(self.forced)
        while len(self.rounds) < self.settings.max_rounds:
            joined = self._marginal("marginal" if self.rounds else "first", tuple(chosen))
            chosen += joined
            if not joined:
                return tuple(self._with_earlier_actions(chosen)), True
        return tuple(self._with_earlier_actions(chosen)), False

    def measure_strengths(self) -> None:
        """Against the utility alone, of those that no round has measured."""
        left = [j for j in (*self.forced, *self.candidates) if j not in self.strengths]
        if not left:
            return
        utility = self.trajectories.utilities[self.rows.row, self.rows.time]
        against = Outcome(utility[:, None], self.rows, self.random, ranks=self.settings.ranks)
        for j in left:
            self.strengths[j] = against.strength(self._points(j))

    # Rounds

    def _marginal(self, stage: Stage, chosen: tuple[int, ...]) -> list[int]:
        """Those of the other candidates that the utility and the chosen ones' next values need."""
        rows = self.rows
        columns = [column for j in chosen for column in self.columns[j]]
        after = self.trajectories.states[rows.row, rows.time + 1][:, columns]
        utility = self.trajectories.utilities[rows.row, rows.time]
        sizes = [len(self.columns[j]) for j in chosen for _ in self.columns[j]]
        against = Outcome(
            np.column_stack([utility, after]),
            rows,
            self.random,
            ranks=self.settings.ranks,
            weights=1 / np.sqrt([1, *sizes]) if max(sizes, default=1) > 1 else None,
        )
        left = [j for j in self.candidates if j not in chosen]

        def test(k: int, _: Workspace) -> tuple[NDArray[np.float64], Strength | None]:
            points = self._points(left[k])
            strength = None if chosen else against.strength(points)
            return against.test(points, self.flips), strength

        number = len(self.rounds) + 1
        tests = []
        large = len(rows.row) * len(left) > LARGE
        threads = max(self.settings.jobs, os.cpu_count() or 1 if large else 1)
        found = in_parallel(test, len(left), threads, partial(self.report, number, stage))
        for j, (deviates, strength) in zip(left, found, strict=True):
            tests.append(deviates)
            if strength is not None:
                self.strengths[j] = strength
        return self._round(stage, left, (), chosen, tests)

    def _given(
        self, stage: Stage, left: Sequence[int], known: Sequence[int], outcome: Sequence[int]
    ) -> list[int]:
        tests = self._watched(stage, len(left), self.given.test(left, known, outcome))
        return self._round(stage, left, known, outcome, tests)

    def _given_rest(self, left: Sequence[int], of: Sequence[int], outcome: list[int]) -> list[int]:
        each = (next(self.given.test([j], [k for k in of if k != j], outcome)) for j in left)
        tests = self._watched("closure", len(left), each)
        return self._round("closure", left, of, outcome, tests)

    def _watched(
        self, stage: Stage, count: int, tests: Iterable[NDArray[np.float64]]
    ) -> Iterator[NDArray[np.float64]]:
        """The tests as they are done, each reported."""
        for done, each in enumerate(tests, start=1):
            self.report(len(self.rounds) + 1, stage, done / count)
            yield each

    def _round(
        self,
        stage: Stage,
        candidates: Sequence[int],
        known: Sequence[int],
        outcome: Sequence[int],
        tests: Iterable[NDArray[np.float64]],
    ) -> list[int]:
        """Test, keep what was found, and give those that join, the clearest first."""
        if not candidates:
            return []
        tests = list(tests)
        beside: list[NDArray[np.float64]] = []
        if stage in ("closure", "return"):
            asked = {*candidates, *known, *outcome}
            beside = [test for j, test in self._last_test.items() if j not in asked]
        found = family_test(tests, beside)
        self._last_test |= dict(zip(candidates, tests, strict=True))
        clearest = np.argsort(-found.statistic, kind="stable")
        level = self.settings.level
        joined = [candidates[k] for k in clearest if at_most(found.adjusted[k], level)]
        if stage == "return":
            joined = joined[:1]
        self.rounds.append(
            Round(stage, tuple(candidates), tuple(known), tuple(outcome), found, tuple(joined))
        )
        return joined

    # Closure

    def _closed(self, chosen: list[int]) -> list[int]:
        while True:
            kept = list(self.forced)
            while left := [j for j in chosen if j not in kept]:
                joined = self._given_rest(left, chosen, kept)
                kept += joined
                if not joined:
                    break
            while left := [j for j in chosen if j not in kept]:
                back = self._given("return", left, kept, kept)
                kept += back
                if not back:
                    break
            if len(kept) == len(chosen) or not kept:
                return sorted(kept)
            chosen = sorted(kept)

    def _with_earlier_actions(self, chosen: list[int]) -> list[int]:
        """In order, and with those earlier actions of the state that still matter."""
        if not self.earlier:
            return sorted(chosen)
        tests = []
        for j in self.earlier:
            others = [k for k in self.earlier if k != j]
            tests.append(self.given.earlier_actions([*chosen, *others], chosen, j))
        joined = self._round("earlier", self.earlier, chosen, chosen, tests)
        furthest = max(joined, key=lambda j: self._about(j).lag, default=None)
        if furthest is not None:
            self.carried = {
                j: furthest
                for j in self.earlier
                if j not in joined and self._about(j).lag < self._about(furthest).lag
            }
        return sorted([*chosen, *joined, *self.carried])

    def _find_arrows(self, chosen: list[int]) -> None:
        if not chosen:
            return
        if self.past_actions:
            tested = self.given.earlier_actions(chosen, chosen)
            self.earlier_actions = float(family_test([tested]).p_value[0])
        # Where the utility is a next value, an arrow to that says again what its own arrow says.
        again = {k for k in chosen if self.given.is_utility(k)}
        tests, ends = [], []
        for j in chosen:
            rest = [k for k in chosen if k != j]
            for target, test in zip(
                (None, *chosen), self.given.paths(j, rest, chosen), strict=True
            ):
                if target == j or target not in again:
                    tests.append(test)
                    ends.append((j, target))
        found = family_test(tests)
        self.arrows = [
            Arrow(source, target, float(p), float(adjusted))
            for (source, target), p, adjusted in zip(
                ends, found.p_value, found.adjusted, strict=True
            )
        ]


def _column_by_column(alike: NDArray[np.bool_]) -> bool:
    """Whether two variables have as many columns, each a straight line of the other's."""
    return alike.shape[0] == alike.shape[1] and bool(alike.diagonal().all())

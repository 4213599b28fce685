"""Is what is missing related to what was measured?

For the outcome, for each variable of the state and for whole decisions, m = 1 where it is missing.
Does m depend on what else is known?

    m~  = m minus its regression on smooth functions of the decision number,
    psi = functions of what else is known, minus the same regression,
    g_i = sum over person i's decisions of psi m~,

in groups: the state (of a variable: the other ones), the treatment (of the decision, for the
outcome; else the one before), earlier outcomes (the last one, and the mean of all), and the next
outcome. As everywhere, there are two components, m as it is and m without each person's own mean,
of which the clearer counts; `signs` gives p-values, adjusted for all that is tested. That more and
more is missing as a study goes on is not what is asked, and is taken out.

An outcome that is missing *because of what it would have been* cannot be seen to be so: nobody has
it. Where outcomes last, or follow the state, such a gap shows in what stands around it, the state
and the outcomes before and after; where they do not, no test of these data can see it.

Reference: Little (1988), "A test of missing completely at random"; Little & Rubin (2019),
"Statistical analysis with missing data".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.independence.signs import (
    FEWEST_PEOPLE,
    NOTHING,
    PersonScores,
    family_test,
    largest_of,
    signs,
)
from smdp.markov.stationarity import time_functions
from smdp.result import Content
from smdp.validation.decisions_seen import (
    DecisionsSeen,
    mean_before,
    shifted,
    standardised_state,
    standardised_utility,
)

Floats = NDArray[np.float64]

OUTCOME, DECISION = "the outcome", "the whole decision"
STATE, TREATMENT, BEFORE, AFTER = "the state", "treatment", "earlier outcomes", "the next outcome"
#: Of fewer gaps, or of fewer values, nothing can be told.
FEWEST = 10
LARGEST_SHARE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class MissingRelated(Content):
    """`tests`: missing (of what), group, statistic, p_value, adjusted. `counts`: missing, count,
    total, and `tested`: enough of it is missing to ask.
    """

    tests: pd.DataFrame
    counts: pd.DataFrame
    people: int
    why_not: str = ""

    @property
    def p_value(self) -> float:
        """Adjusted for all that was tested; NaN where nothing was."""
        return float(self.tests["adjusted"].min()) if len(self.tests) else float("nan")

    @property
    def nothing_missing(self) -> bool:
        return not self.counts["count"].any()


def check_missing_related(
    seen: DecisionsSeen, *, draws: int = 2047, seed: int = 0
) -> MissingRelated:
    """Whether what is missing is related to what is known."""
    gaps = dict(_gaps(seen))
    counts = pd.DataFrame(
        [
            {
                "missing": what,
                "count": int(m[asked].sum()),
                "total": int(asked.sum()),
                "tested": _enough(m, asked),
            }
            for what, (m, asked) in gaps.items()
        ]
    )
    empty = pd.DataFrame(columns=["missing", "group", "statistic", "p_value", "adjusted"])
    if not counts["count"].any():
        return MissingRelated(empty, counts, seen.people)
    if seen.people < FEWEST_PEOPLE:
        why = f"Only {seen.people} people took part; {FEWEST_PEOPLE} are needed."
        return MissingRelated(empty, counts, seen.people, why)
    if not counts["tested"].any():
        why = f"Too little is missing to ask: that takes {FEWEST} gaps of one kind."
        return MissingRelated(empty, counts, seen.people, why)
    flips = signs(seen.people, draws, np.random.default_rng(seed))
    names, found = [], []
    for what, (m, asked) in gaps.items():
        if not _enough(m, asked):
            continue
        around = _Around(seen, m, asked)
        for group, psi in _groups(seen, what).items():
            tested = around.test(psi, flips)
            if tested[0] > NOTHING:
                names.append((what, group))
                found.append(tested)
    if not found:
        return MissingRelated(empty, counts, seen.people, "Nothing else that is known varies.")
    family = family_test(found)
    tests = pd.DataFrame(
        {
            "missing": [what for what, _ in names],
            "group": [group for _, group in names],
            "statistic": family.statistic,
            "p_value": family.p_value,
            "adjusted": family.adjusted,
        }
    )
    return MissingRelated(tests, counts, seen.people)


def _gaps(
    seen: DecisionsSeen,
) -> Iterator[tuple[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]]:
    """Of each thing: where it is missing, and of which decisions that is asked."""
    decided = seen.there & ((seen.actions >= 0) | ~seen.available)
    decided &= np.arange(seen.there.shape[1])[None, :] < _last_outcome(seen)[:, None]
    yield OUTCOME, (np.asarray(np.isnan(seen.utilities)), decided)
    for name in dict.fromkeys(seen.belongs):
        own = [j for j, each in enumerate(seen.belongs) if each == name]
        yield f"'{name}'", (np.isnan(seen.states[:, :, own]).all(axis=2), seen.there)
    yield DECISION, (~seen.there, seen.on_grid)


def _last_outcome(seen: DecisionsSeen) -> NDArray[np.int64]:
    """(n,): the number of decisions up to the last that has an outcome.

    After it nothing may have been left to be measured: the outcome of a last row is often none.
    """
    known = np.isfinite(seen.utilities) & seen.there
    count = np.arange(known.shape[1]) + 1
    return np.asarray((known * count).max(axis=1, initial=0))


def _enough(m: NDArray[np.bool_], asked: NDArray[np.bool_]) -> bool:
    missing = int(m[asked].sum())
    return FEWEST <= missing <= int(asked.sum()) - FEWEST


def _groups(seen: DecisionsSeen, what: str) -> dict[str, Floats]:
    """(n, T, d) for each group: what may go with a gap."""
    state, reported = standardised_state(seen)
    utility, known = standardised_utility(seen)
    hot = (seen.actions[:, :, None] == np.arange(1, len(seen.labels))).astype(np.float64)
    before = [shifted(utility, 1), mean_before(utility, known)]
    if what == DECISION:
        state = shifted(state, 1)
    elif what != OUTCOME:
        others = [j for j, name in enumerate(seen.belongs) if f"'{name}'" != what]
        state, reported = state[:, :, others], reported[:, :, others]
    del reported  # that gaps come together is no relation to a value
    return {
        STATE: np.concatenate([state, state**2], axis=2),
        TREATMENT: hot if what == OUTCOME else shifted(hot, 1),
        BEFORE: np.stack(before, axis=2),
        AFTER: shifted(utility, -1)[:, :, None],
    }


class _Around:
    """The decisions of which a gap is asked, and what is left of it beside time."""

    def __init__(self, seen: DecisionsSeen, m: NDArray[np.bool_], asked: NDArray[np.bool_]) -> None:
        self.rows = np.nonzero(asked)
        self.person = np.unique(seen.person, return_inverse=True)[1][self.rows[0]]
        self.people = seen.people
        length = int(np.flatnonzero(seen.on_grid.any(axis=0))[-1]) + 1
        smooth = time_functions(self.rows[1], length)
        design = np.column_stack([np.ones(len(smooth)), smooth])
        self.basis = np.linalg.svd(design, full_matrices=False)[0]
        leverage = (self.basis**2).sum(axis=1)
        hidden = np.minimum(np.bincount(self.person, leverage, self.people), LARGEST_SHARE)
        self.restoring = 1 / np.sqrt(1 - hidden)[:, None]
        self.size = np.bincount(self.person, minlength=self.people)
        self.left = self._without_time(m[self.rows].astype(np.float64)[:, None])
        self.within = self._within(self.left)

    def test(self, psi: Floats, flips: Floats) -> Floats:
        """(1 + B,): deviates, as observed and flipped."""
        own = psi[self.rows]
        own = self._without_time(own[:, own.std(axis=0) > 1e-9])
        if not own.shape[1]:
            return np.full(1 + len(flips), NOTHING)
        own /= np.maximum(own.std(axis=0), 1e-9)
        within = self._within(own)
        return largest_of([self._scores(own, self.left), self._scores(within, self.within)], flips)

    def _scores(self, psi: Floats, left: Floats) -> PersonScores:
        each = psi * left / np.sqrt(len(psi))
        summed = np.zeros((self.people, each.shape[1]))
        np.add.at(summed, self.person, each)
        return PersonScores(summed * self.restoring, summed.sum(axis=0))

    def _without_time(self, values: Floats) -> Floats:
        return np.asarray(values - self.basis @ (self.basis.T @ values))

    def _within(self, values: Floats) -> Floats:
        sums = np.zeros((self.people, values.shape[1]))
        np.add.at(sums, self.person, values)
        return np.asarray(values - (sums / np.maximum(self.size, 1)[:, None])[self.person])

"""Is what is missing related to what was measured?

For the outcome, for each variable of the state and for whole decisions, m = 1 where it is missing.
Does m depend on what else is known?

    m~  = m minus its regression on smooth functions of the decision number,
    psi = a function of something else, minus the same regression,
    g_i = sum of psi m~ over those of person i's decisions at which that other thing is known,

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

from collections.abc import Iterator, Sequence
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
        for group, (values, known) in _groups(seen, what).items():
            tested = around.test(values, known, flips)
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
        yield (
            f"'{name}'",
            (
                np.asarray(np.isnan(seen.states[:, :, own]).all(axis=2)),
                seen.there,
            ),
        )
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


def _groups(seen: DecisionsSeen, what: str) -> dict[str, tuple[Floats, Floats]]:
    """Of each group (n, T, d) twice: what may go with a gap, and where that is known.

    That gaps come together is no relation to a value: a value is looked at where it is known.
    """
    state, reported = standardised_state(seen)
    utility, known = standardised_utility(seen)
    level = np.where(seen.available, seen.actions, len(seen.labels))
    hot = (level[:, :, None] == np.arange(1, len(seen.labels) + 1)).astype(np.float64)
    decided = seen.there.astype(np.float64)[:, :, None] * np.ones(hot.shape)
    if what == DECISION:
        state, reported = shifted(state, 1), shifted(reported, 1)
    elif what != OUTCOME:
        others = [j for j, name in enumerate(seen.belongs) if f"'{name}'" != what]
        state, reported = state[:, :, others], reported[:, :, others]
    if what != OUTCOME:
        hot, decided = shifted(hot, 1), shifted(decided, 1)
    before = [shifted(utility, 1), mean_before(utility, known)]
    before_known = [shifted(known, 1), (shifted(np.cumsum(known, axis=1), 1) > 0) * 1.0]
    return {
        STATE: (
            np.concatenate([state, state**2], axis=2),
            np.concatenate([reported, reported], axis=2),
        ),
        TREATMENT: (hot, decided),
        BEFORE: (np.stack(before, axis=2), np.stack(before_known, axis=2)),
        AFTER: (shifted(utility, -1)[:, :, None], shifted(known, -1)[:, :, None]),
    }


class _Around:
    """The decisions of which a gap is asked, and tests of what goes with it."""

    def __init__(self, seen: DecisionsSeen, m: NDArray[np.bool_], asked: NDArray[np.bool_]) -> None:
        self.rows = np.nonzero(asked)
        self.person = np.unique(seen.person, return_inverse=True)[1][self.rows[0]]
        self.people = seen.people
        length = int(np.flatnonzero(seen.on_grid.any(axis=0))[-1]) + 1
        smooth = time_functions(self.rows[1], length)
        self.time = np.column_stack([np.ones(len(smooth)), smooth])
        self.gap = m[self.rows].astype(np.float64)

    def test(self, values: Floats, known: Floats, flips: Floats) -> Floats:
        """(1 + B,): deviates of the group, as observed and flipped."""
        psi, where = values[self.rows], known[self.rows] > 0
        patterns, which = np.unique(where, axis=1, return_inverse=True)
        parts = [
            self._where_known(psi[:, which.ravel() == k], patterns[:, k])
            for k in range(patterns.shape[1])
        ]
        both = [found for found in parts if found is not None]
        if not both:
            return np.full(1 + len(flips), NOTHING)
        return largest_of([_joined(each) for each in zip(*both, strict=True)], flips)

    def _where_known(
        self, psi: Floats, there: NDArray[np.bool_]
    ) -> tuple[PersonScores, PersonScores] | None:
        """Columns that are known at the same decisions: as they are, and within people."""
        own, gap, person = psi[there], self.gap[there], self.person[there]
        if not FEWEST <= gap.sum() <= len(gap) - FEWEST:
            return None
        own = own[:, own.std(axis=0) > 1e-9]
        if not own.shape[1]:
            return None
        basis = np.linalg.svd(self.time[there], full_matrices=False)[0]
        both = np.column_stack([gap, own])
        both = both - basis @ (basis.T @ both)
        both[:, 1:] /= np.maximum(both[:, 1:].std(axis=0), 1e-9)
        hidden = np.bincount(person, (basis**2).sum(axis=1), self.people)
        restoring = 1 / np.sqrt(1 - np.minimum(hidden, LARGEST_SHARE))[:, None]
        sums = np.zeros((self.people, both.shape[1]))
        np.add.at(sums, person, both)
        size = np.maximum(np.bincount(person, minlength=self.people), 1)
        within = both - (sums / size[:, None])[person]
        plain, inside = (self._scores(each, person, restoring) for each in (both, within))
        return plain, inside

    def _scores(self, both: Floats, person: NDArray[np.int64], restoring: Floats) -> PersonScores:
        each = both[:, 1:] * both[:, :1] / np.sqrt(len(both))
        summed = np.zeros((self.people, each.shape[1]))
        np.add.at(summed, person, each)
        return PersonScores(summed * restoring, summed.sum(axis=0))


def _joined(parts: Sequence[PersonScores]) -> PersonScores:
    return PersonScores(
        np.concatenate([each.restored for each in parts], axis=1),
        np.concatenate([each.total for each in parts]),
    )

"""Is the process the same throughout the study, and does treatment keep its effect?

Two questions, each with people as the sample. f_1 .. f_4 are smooth functions of the decision
number (Legendre polynomials over the length of the study, the k-th counting 1/k).

**Does it change?** Given the state and the action, does (U, next S) depend on time?

    e   = (U, next S) minus its regression on S, for each action, and minus each person's mean,
    psi = f(t) minus the same regression,       g_i = sum over person i's rows of psi (outer) e.

Within people: that those who stay to the end are other people than those who leave is no change of
the process. (Nothing is centred within time here, for that would take out what is looked for.)

**Does the effect of treatment change?** With p_a the randomisation probability of action a (known,
or estimated), at the decisions with a choice,

    psi = (1{A = a} - p_a) f(t),        e = U,

both minus one regression on functions of S, f(t), the person's mean utility before the decision,
and (1{A = a} - p_a) times (1, S, S^2): an effect that depends on the state is no change over time.
As the action is centred by its probability, nothing that was known before it can make a finding.

**Which way?** Weighted and centred least squares of U on (1{A = a} - p~_a) (1, t, t^2), beside
controls, with errors robust within people (Boruvka et al., 2018; Mancl & DeRouen, 2001).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.polynomial import legendre
from numpy.typing import NDArray

from smdp.evaluation.value_rows import value_rows
from smdp.independence.by_person import scores
from smdp.independence.given_others import Regression
from smdp.independence.people import PeopleRows, centred
from smdp.independence.signs import FEWEST_PEOPLE, deviates, family_test
from smdp.markov.known_state import Flexible, Floats, History, unknown, weighed
from smdp.propensity import propensities

TIME_FUNCTIONS = 4
#: Points at which the effect over time is worked out.
POINTS = 41
#: The curve ends where fewer than this share of the people still have a choice.
STILL_THERE = 0.25
LARGEST_SHARE = 0.99

PROCESS, EFFECT = "process", "effect"
UTILITY, EVERYTHING = "utility", "utility and next state"


@dataclass(frozen=True)
class TimeTest:
    """`question`: PROCESS or EFFECT; `outcome`: UTILITY or EVERYTHING."""

    question: str
    outcome: str
    statistic: float
    p_value: float


def time_functions(time: NDArray[np.int64], length: int) -> Floats:
    """(R, 4): smooth functions of the decision number."""
    x = 2 * (time + 0.5) / length - 1
    return np.column_stack(
        [
            np.sqrt(2 * k + 1) / k * legendre.legval(x, np.eye(k + 1)[k])
            for k in range(1, TIME_FUNCTIONS + 1)
        ]
    )


def test_process(history: History, flexible: Flexible, flips: Floats) -> Iterator[TimeTest]:
    """Whether what comes next changes with time, given state and action."""
    rows = history.rows
    regression = Regression(flexible(history.known(0)), rows, within_time=False)
    outcome = np.column_stack([history.utility, history.states(-1)])
    e = centred(weighed(regression.residuals(outcome), outcome), rows.of_person)
    restored = regression.restored(e)
    time = time_functions(rows.time, history.length)
    psi = unknown(regression.residuals(time), time)
    yield from _tests(PROCESS, psi, e, restored, rows, flips)


def _tests(
    question: str, psi: Floats, e: Floats, restored: Floats, rows: PeopleRows, flips: Floats
) -> Iterator[TimeTest]:
    for outcome, part in ((EVERYTHING, slice(None)), (UTILITY, slice(0, 1))):
        own = scores(psi, e[:, part], restored[:, part], rows.by_action, rows.people)
        found = family_test([deviates(own, flips)])
        yield TimeTest(question, outcome, float(found.statistic[0]), float(found.p_value[0]))


@dataclass(frozen=True)
class Choices:
    """Decisions with a choice, by person and time, and the probabilities of the actions there."""

    history: History  # as one block: its rows have one "action"
    action: NDArray[np.int64]  # (R,)
    given: Floats  # (R, K)
    estimated: float  # the share whose probabilities were estimated

    @property
    def contrasts(self) -> Floats:
        """(R, K - 1): each action but the first, centred by its probability."""
        taken = self.action[:, None] == np.arange(1, self.given.shape[1])
        return taken - self.given[:, 1:]

    @property
    def mean_before(self) -> Floats:
        """(R,): the mean utility of the person's decisions before this one, standardised.

        Drawn towards the mean of all, as much as one decision would.
        """
        rows, utility = self.history.rows, self.history.utility
        everybody = utility.mean()
        gap = utility - everybody
        start = np.flatnonzero(np.append(True, rows.person[1:] != rows.person[:-1]))
        length = np.diff(np.append(start, len(gap)))
        before = np.arange(len(gap)) - np.repeat(start, length)
        total = np.cumsum(gap) - gap
        found = (total - np.repeat(total[start], length)) / (1 + before)
        spread = found.std()
        return found / spread if spread > 0 else found


def choices(history: History) -> Choices | None:
    """None where there is nothing to compare: an action that nobody received."""
    trajectories = history.trajectories
    labels, rows = trajectories.action_labels, history.rows
    taken = trajectories.strata
    if len(labels) < 2 or not all((rows.action == k).any() for k in range(len(labels))):
        return None
    every = value_rows(trajectories, trajectories.variables, following=False)
    known = propensities(trajectories, every, trajectories.variables)
    grid = every.on_grid(known.given)
    order = np.lexsort((rows.time, rows.row, rows.person))
    order = order[rows.action[order] < len(labels)]
    nothing = np.zeros(len(order), dtype=np.int64)
    row, time = rows.row[order], rows.time[order]
    own = PeopleRows(row, time, rows.person[order], nothing, nothing, rows.people)
    return Choices(
        History(trajectories, own, 0, history.left_out),
        taken[row, time],
        grid[row, time],
        known.estimated,
    )


def test_effect(found: Choices, flexible: Flexible, flips: Floats) -> Iterator[TimeTest]:
    """Whether the effect of treatment changes with time, given the state."""
    history, contrasts = found.history, found.contrasts
    rows = history.rows
    state = history.known(0)
    time = time_functions(rows.time, history.length)
    with_state = np.column_stack([np.ones(len(time)), state, state * state])
    effects = np.concatenate([each[:, None] * with_state for each in contrasts.T], axis=1)
    columns = np.column_stack([time, found.mean_before, effects, flexible(state)])
    regression = Regression(columns, rows, within_time=False)
    outcome = np.column_stack([history.utility, history.states(-1)])
    e = weighed(regression.residuals(outcome), outcome)
    over_time = np.concatenate([each[:, None] * time for each in contrasts.T], axis=1)
    psi = unknown(regression.residuals(over_time), over_time)
    yield from _tests(EFFECT, psi, e, regression.restored(e), rows, flips)


def effect_over_time(found: Choices, coverage: float) -> pd.DataFrame | None:
    """action, against, decision, estimate, lower, upper; None where people are too few."""
    from scipy.special import stdtrit

    history, labels = found.history, found.history.trajectories.action_labels
    rows, utility = history.rows, history.utility
    people = history.people
    times = len(np.unique(rows.time))
    powers = np.arange(min(3, times))
    marginal = found.given.mean(axis=0)
    tau = _powers(rows.time, history.length, powers)
    taken = found.action[:, None] == np.arange(1, len(labels))
    effects = [each[:, None] * tau for each in (taken - marginal[1:]).T]
    controls = np.column_stack([tau, found.mean_before, history.known(0)])
    if people <= 2 * (controls.shape[1] + len(powers) * len(effects)):
        controls = np.column_stack([tau, found.mean_before])
    design = np.column_stack([*effects, controls])
    freedom = people - design.shape[1]
    if freedom < 2 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    probability = np.take_along_axis(found.given, found.action[:, None], axis=1)[:, 0]
    root = np.sqrt(marginal[found.action] / probability)
    estimate, errors = _least_squares(design * root[:, None], utility * root, rows.person)
    last = _last_decision(rows)
    at = np.unique(np.linspace(0, last, min(POINTS, last + 1)).round().astype(np.int64))
    points = _powers(at, history.length, powers)
    width = float(stdtrit(freedom, 0.5 + coverage / 2))
    parts = []
    for k, label in enumerate(labels[1:]):
        own = slice(k * len(powers), (k + 1) * len(powers))
        value = points @ estimate[own]
        error = np.sqrt(np.einsum("ij,jk,ik->i", points, errors[own, own], points))
        parts.append(
            pd.DataFrame(
                {
                    "action": label,
                    "against": labels[0],
                    "decision": at + 1,
                    "estimate": value,
                    "lower": value - width * error,
                    "upper": value + width * error,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _powers(time: NDArray[np.int64], length: int, powers: NDArray[np.int64]) -> Floats:
    return np.asarray((2 * (time[:, None] + 0.5) / length - 1) ** powers)


def _last_decision(rows: PeopleRows) -> int:
    """The last at which enough people still have a choice, then or later."""
    ends = np.zeros(rows.people, dtype=np.int64) - 1
    np.maximum.at(ends, rows.person, rows.time)
    ends = np.sort(ends[ends >= 0])[::-1]
    needed = max(FEWEST_PEOPLE, int(np.ceil(STILL_THERE * len(ends))))
    return int(ends[min(needed, len(ends)) - 1])


def _least_squares(
    design: Floats, outcome: Floats, person: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Coefficients and their covariance, robust within people (Mancl & DeRouen, 2001)."""
    inverse = np.linalg.inv(design.T @ design)
    estimate = inverse @ (design.T @ outcome)
    left = outcome - design @ estimate
    middle = np.zeros_like(inverse)
    for who in np.unique(person):
        own = design[person == who]
        hat = own @ inverse @ own.T
        score = own.T @ np.linalg.solve(np.eye(len(own)) - LARGEST_SHARE * hat, left[person == who])
        middle += np.outer(score, score)
    return estimate, inverse @ middle @ inverse

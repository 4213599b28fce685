"""How far back must one look? A ladder of tests, with people as the sample.

With a look-back of m, is what lies before (states and actions m + 1 decisions ago and more) still
needed to tell the utility and the next state?

    e   = (U, next S) minus its regression on the known part, for each action,
    psi = functions of S^{t-k} and A^{t-k} minus the same regression, k = m + 1, ..,
    g_i = sum over person i's rows of psi (outer) e / sqrt(rows of the action),

the known part being S^t, .., S^{t-m} and A^{t-1}, .., A^{t-m}, beside the present action. Both
regressions are flexible, what they get wrong enters as the product of two errors, and `signs` gives
the p-value. What lies just before and all that lies before are two components of one test: the
clearer counts. All rungs use the same rows, those before which one decision more is known than the
longest look-back takes.

The answer is the smallest m that is not rejected. No correction for the number of rungs is needed:
to end above the true look-back, the test at the true one, which is one test, must reject.

**People with levels of their own.** Where people differ in a way that the state does not hold, a
person's past tells who she is, and every look-back is rejected: rightly, for the past does help to
foretell. But the remedy is another (a variable that says how people differ). So each rung is tested
once more with own levels allowed for, Y^t = f(known part, A^t) + level of the person + error. A
person's own mean cannot simply be taken out: the mean of her residuals has in it those that made
her later states, and the test would find that (Nickell's bias). From each row, the mean of her
*later* rows is taken instead (forward orthogonal deviations, marked *), which no earlier state can
foretell once levels are gone; the functions B of the known part are then their own instruments:

    e   = Y* - B* (B'B*)^-1 B'Y*,       psi~ = psi - B (B*'B)^-1 B*'psi.

References: Shi, Wan, Song, Lu & Leng (2020), "Does the Markov decision process fit the data:
testing for the Markov property in sequential decision making", whose ladder this is; Arellano &
Bover (1995) for forward deviations; Nickell (1981).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.independence.by_person import scores
from smdp.independence.distances import points
from smdp.independence.given_others import FUNCTIONS, LARGEST_LEVERAGE, ROWS_A_COLUMN, Regression
from smdp.independence.people import PeopleRows, centred
from smdp.independence.signs import PersonScores, family_test, largest_of
from smdp.markov.known_state import Flexible, Floats, History, unknown, weighed

RIDGE = 1e-3  # of the oblique regression, a share of the rows


@dataclass(frozen=True)
class Rung:
    """One look-back: p-values as the data are, and with people's own levels allowed for."""

    look_back: int
    statistic: float
    p_value: float
    own_statistic: float
    own_p_value: float


def test_rung(
    history: History, look_back: int, flexible: Flexible, flips: NDArray[np.float64]
) -> Rung:
    """Whether what lies before a look-back is still needed."""
    known = history.known(look_back)
    seen, functions = known, []
    for lag in range(look_back + 1, history.back + 1):
        new = history.earlier(lag, seen)
        seen = np.column_stack([seen, new])
        functions.append(_functions(new))
    outcome = np.column_stack([history.utility, history.states(-1)])
    columns = flexible(known)
    plain = _as_they_are(history.rows, columns, functions, outcome, flips)
    own = _own_levels(history.rows, columns, functions, outcome, flips)
    found = family_test([plain]), family_test([own])
    statistic, own_statistic = (float(each.statistic[0]) for each in found)
    p_value, own_p_value = (float(each.p_value[0]) for each in found)
    return Rung(look_back, statistic, p_value, own_statistic, own_p_value)


def _functions(earlier: Floats) -> Floats:
    """(R, d): the points of each earlier column."""
    found = [points(column, FUNCTIONS) for column in earlier.T]
    if not found:
        return np.zeros((len(earlier), 1))
    joined = np.concatenate(found, axis=1)
    return joined[:, joined.std(axis=0) > 0]


def _as_they_are(
    rows: PeopleRows, columns: Floats, functions: list[Floats], outcome: Floats, flips: Floats
) -> Floats:
    regression = Regression(columns, rows)
    e = weighed(regression.residuals(outcome), outcome)
    restored = regression.restored(e)
    psi = [unknown(regression.residuals(each), each) for each in functions]
    tests = [
        scores(each, e, restored, rows.by_action, rows.people) for each in _nearest_and_all(psi)
    ]
    return largest_of(tests, flips)


def _nearest_and_all(psi: list[Floats]) -> list[Floats]:
    """What lies just before, and all that lies before: the clearer of the two counts."""
    return psi if len(psi) == 1 else [psi[0], np.concatenate(psi, axis=1)]


def _own_levels(
    rows: PeopleRows, columns: Floats, functions: list[Floats], outcome: Floats, flips: Floats
) -> Floats:
    """Each action has its own regression; a person's level is the same under all of them.

    What never changes within a person is part of her level. It is taken out of the instruments and
    of psi: a column that hardly changes within people would be a weak instrument, and the noise
    that it lets in would cover what is looked for.
    """
    actions = np.unique(rows.action)
    room = len(columns) // (ROWS_A_COLUMN * len(actions))
    spread = columns.std(axis=0)
    kept = np.flatnonzero(spread > 1e-9)[:room]
    z = (columns[:, kept] - columns[:, kept].mean(axis=0)) / spread[kept]
    changing = np.append(True, centred(z, rows.of_person).std(axis=0) > 1e-9)
    z = np.column_stack([np.ones(len(z)), z])
    each = [(rows.action == k).astype(np.float64)[:, None] for k in actions]
    within = rows.at_time
    still = Still(centred(z[:, ~changing], within))
    basis = still.taken_out(centred(np.concatenate([own * z for own in each], axis=1), within))
    forward = Forward(rows)
    ahead, y = forward(basis), forward(centred(outcome, within))
    gram = basis.T @ ahead
    gram[np.diag_indices_from(gram)] += RIDGE * len(z)
    plain = y - ahead @ np.linalg.solve(gram, basis.T @ y)
    e = weighed(plain, y)
    left = []
    for found in functions:
        psi = still.taken_out(
            centred(np.concatenate([own * found for own in each], axis=1), within)
        )
        left.append(unknown(psi - basis @ np.linalg.solve(gram.T, ahead.T @ psi), psi))
    leverage = np.einsum("ij,ji->i", ahead, np.linalg.solve(gram, basis.T))
    hidden = np.clip(rows.of_person.means(leverage[:, None]), 0, LARGEST_LEVERAGE)
    restored = e / np.sqrt(1 - hidden)[rows.of_person.group]
    tests = [_sums(each, e, restored, rows) for each in _nearest_and_all(left)]
    return largest_of(tests, flips)


def _sums(psi: Floats, e: Floats, restored: Floats, rows: PeopleRows) -> PersonScores:
    """Sums of psi (outer) e over each person's rows."""
    size = np.sqrt(len(psi))
    people = np.zeros((rows.people, psi.shape[1] * e.shape[1]))
    start = np.flatnonzero(np.append(True, rows.person[1:] != rows.person[:-1]))
    for a, b in zip(start, np.append(start[1:], len(psi)), strict=True):
        people[rows.person[a]] = (psi[a:b].T @ restored[a:b]).ravel()
    return PersonScores(people / size, (psi.T @ e).ravel() / size)


class Still:
    """Columns that never change within people, and whatever is a sum of them."""

    def __init__(self, columns: Floats) -> None:
        self.basis = np.linalg.svd(columns, full_matrices=False)[0] if columns.size else columns

    def taken_out(self, values: Floats) -> Floats:
        return np.asarray(values - self.basis @ (self.basis.T @ values))


class Forward:
    """From each row, the mean of the same person's later rows is taken; nothing after the last."""

    def __init__(self, rows: PeopleRows) -> None:
        self.order = np.lexsort((rows.time, rows.row, rows.person))
        person = rows.person[self.order]
        start = np.flatnonzero(np.append(True, person[1:] != person[:-1]))
        self.end = np.append(start[1:], len(person)) - 1
        length = np.diff(np.append(start, len(person)))
        self.who = np.repeat(np.arange(len(start)), length)
        self.later = (self.end[self.who] - np.arange(len(person))).astype(np.float64)

    def __call__(self, values: Floats) -> Floats:
        ordered = values[self.order]
        total = np.cumsum(ordered, axis=0)
        ahead = total[self.end][self.who] - total
        count = self.later[:, None]
        found = (ordered - ahead / np.maximum(count, 1)) * np.sqrt(count / (count + 1))
        back = np.empty_like(found)
        back[self.order] = found
        return back

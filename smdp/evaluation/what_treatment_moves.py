"""Which variables the treatment moves: what a policy changes beside the next outcome.

A policy treats more or less often than the trial did. What its own variables say of the next
outcome was learned at the trial's pace; where treatment moves something else that matters later
(a burden that grows with every treatment), a value that is modelled without it is that of a policy
which is followed once, for ever. So such variables join those of the policy. For each, the score of
a person is

    g_i = sum over decisions of (1{A = a} - p_a) [S'_j - E(S'_j | S_j)],  a = 1 .. K,

of mean zero where treatment does not move the next value, whatever else it depends on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from smdp.data.trajectories import Trajectories
from smdp.evaluation.value_rows import ValueRows
from smdp.independence.signs import PersonScores, deviates

Floats = NDArray[np.float64]

#: Of each variable; one that is moved and missed costs more than one that is not and joins.
LEVEL = 0.05
#: The clearest are taken: with more, little is left to learn each from.
MOST_MOVED = 8


def moved_by_treatment(
    trajectories: Trajectories,
    rows: ValueRows,
    given: Floats,
    training: NDArray[np.bool_],
    without: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The columns of variables that treatment moves at these rows (R,), the clearest first.

    `given`: (R, K), the probabilities of the actions. `without`: columns that are not asked about.
    """
    here, after = rows.at(trajectories.states), rows.after(trajectories.states)
    used = training & rows.available & np.isfinite(given).all(axis=1)
    person = np.unique(rows.subject[used], return_inverse=True)[1]
    surprise = np.eye(rows.actions)[np.minimum(rows.level[used], rows.actions - 1)] - given[used]
    found: dict[tuple[str, ...], float] = {}
    for columns in trajectories.wholes.values():
        about = [trajectories.about[j] for j in columns]
        own = list(columns)
        known = np.isfinite(here[:, own]).all() and np.isfinite(after[:, own]).all()
        counted = about[0].comes_from == "decision number" or about[0].lag > 0
        if counted or not known or not used.any() or {each.name for each in about} & {*without}:
            continue
        left = _unforeseen(here[used][:, own], after[used][:, own])
        products = (surprise[:, :, None] * left[:, None, :]).reshape(len(left), -1)
        scores = np.zeros((int(person.max()) + 1, products.shape[1]))
        np.add.at(scores, person, products)
        observed = deviates(PersonScores(scores, scores.sum(axis=0)), np.empty((0, len(scores))))
        found[tuple(each.name for each in about)] = float(observed[0])
    clear = [each for each in found if found[each] > ndtri(1 - LEVEL)]
    clear.sort(key=lambda each: -found[each])
    return tuple(name for each in clear[:MOST_MOVED] for name in each)


def _unforeseen(now: Floats, then: Floats) -> Floats:
    """What the next values are beside what they were to be by the present ones, of deviation 1."""
    basis = np.column_stack([np.ones(len(now)), now])
    left = then - basis @ np.linalg.lstsq(basis, then, rcond=None)[0]
    spread = left.std(axis=0)
    moves = spread > 1e-9 * np.maximum(1.0, np.abs(then).max(axis=0))
    return np.where(moves, left / np.where(moves, spread, 1.0), 0.0)

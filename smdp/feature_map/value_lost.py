"""What does a decision cost that is made from q features instead of the full state?

From the training people of each fold k two policies are learned, by least-squares policy iteration:
pi from the full state s, and rho from the features phi_k(s) alone. Both have the same kind of
Q-function: for each action a weight vector on an intercept, the standardised columns and random
cosines of them, with the ridge that predicts best for training people who are left out in turn. On
the people of fold k, with Q of the full state's policy and V(s') = Q_pi(s') its value at the next
state, every decision with a choice has a doubly robust score for each action a, and so a loss:

    Gamma_a = Q_a(s) + 1{A = a} / p_a {u + gamma V(s') - Q_A(s)},    lost = Gamma_pi - Gamma_rho,

p_a being the probability with which a was given. The mean over decisions is what *one* decision by
the features costs, at the states that occurred, if everything afterwards is decided from the full
state: in the utility's units, as a sum of this and later utilities, discounted. It is not the
difference between the values of two policies that are followed throughout, which would weigh states
by how often these policies come there.

People are the sample: the loss is the ratio of people's sums to their numbers of decisions, with
Fieller's interval (`share_kept.ratio_bounds`). The policies count as given: how they would vary
with other people is not in the interval. The loss can be below zero, where the policy of the full
state overfits. On the other hand that policy is judged by its own value: with rotations of the four
variables of the paper's linear model, which lose nothing, the mean loss of 40 data sets (30 people
with 90 decisions) was .014, and the interval was above 0 in 5 of them; two of the four variables
lose .36.

Where nothing could be chosen the level "unavailable" has a Q-function of its own, which is the
value of such a state. Where the next decision is not among the rows (the end of a trajectory, a
gap, or a decision without a choice where these are too few to be rows), every action counts as
possible there.

References: Lagoudakis & Parr (2003), "Least-squares policy iteration"; Dudík, Langford & Li (2011),
"Doubly robust policy evaluation and learning"; Rahimi & Recht (2008) for random cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import numbered
from smdp.feature_map.share_kept import ratio_bounds
from smdp.feature_map.transitions import Scale, Transitions
from smdp.policy_iteration import TINY, policy_iteration, with_intercept

Floats = NDArray[np.float64]
#: States or features of the rows, and of what follows them: (R, q) each.
Described = tuple[Floats, Floats]

COSINES = 50
#: In units of the mean square of a standardised column.
RIDGES = np.geomspace(1e-5, 1.0, 6)
#: Into how many parts the training people are divided to find the ridge.
PARTS = 5


@dataclass(frozen=True)
class ValueLost:
    """By one decision, on average; NaN where it cannot be said."""

    lost: float
    low: float  # two-sided
    high: float
    same_choice: float  # the share of decisions at which both policies choose the same


UNKNOWN = ValueLost(np.nan, np.nan, np.nan, np.nan)


class FullStatePolicy:
    """What the full state chooses, and the scores by which every map of it is judged."""

    def __init__(
        self,
        rows: Transitions,
        probabilities: Floats,  # (R, heads)
        discount: float,
        *,
        seed: np.random.SeedSequence,
    ) -> None:
        self._rows, self._discount, self._seed = rows, discount, seed
        self._possible = probabilities > 0
        self._with_choice = self._possible.sum(axis=1) > 1
        self._possible_next = self._after_each()
        self._scores = np.full(probabilities.shape, np.nan)
        if not self._with_choice.any():
            return
        utility, every = rows.outcomes[:, 0], np.arange(len(rows.head))
        state = rows.states, rows.outcomes[:, 1:]
        self._chosen = np.empty(len(rows.head), dtype=np.int64)
        for k in range(rows.folds):
            own, training = np.flatnonzero(rows.fold == k), rows.fold != k
            now, following = self._q_values(k, state)
            self._chosen[own] = _best(now, self._possible[own])
            best_next = _best(following, self._possible_next[own])
            # No sum of outcomes can be beyond these.
            ends = [end(utility[training]) / (1 - discount) for end in (np.min, np.max)]
            now, following = np.clip(now, *ends), np.clip(following, *ends)
            ahead = np.take_along_axis(following, best_next[:, None], axis=1)[:, 0]
            taken = every[: len(own)], rows.head[own]
            error = utility[own] + discount * ahead - now[taken]
            now[taken] += error / probabilities[own, rows.head[own]]
            self._scores[own] = now

    def value_lost(self, features: Sequence[Described], *, level: float = 0.05) -> ValueLost:
        """By features instead of the full state, with an interval over people at 1 - `level`.

        `features`: of all rows, by the map that was fitted without each fold.
        """
        if not np.isfinite(self._scores).all():
            return UNKNOWN
        rows = self._rows
        chosen = np.empty_like(self._chosen)
        for k, each in enumerate(features):
            own = rows.fold == k
            values, _ = self._q_values(k, each)
            if not np.isfinite(values).all():
                return UNKNOWN
            chosen[own] = _best(values, self._possible[own])
        every = np.arange(len(chosen))
        lost = self._scores[every, self._chosen] - self._scores[every, chosen]
        person = numbered(rows.subject[self._with_choice])
        of_person = np.bincount(person, lost[self._with_choice]).astype(np.float64)
        decisions = np.bincount(person).astype(np.float64)
        high, low = ratio_bounds(of_person, decisions, 1 - level / 2)
        return ValueLost(
            lost=float(of_person.sum() / decisions.sum()),
            low=low,
            high=high,
            same_choice=float((chosen == self._chosen)[self._with_choice].mean()),
        )

    def _after_each(self) -> NDArray[np.bool_]:
        """(R, heads): what is possible at the next decision."""
        rows = self._rows
        found = np.empty_like(self._possible)
        found[:] = self._possible[self._with_choice].any(axis=0)
        follows = (np.diff(rows.row) == 0) & (np.diff(rows.time) == 1)
        found[:-1][follows] = self._possible[1:][follows]
        return found

    def _q_values(self, fold: int, described: Described) -> Described:
        """(own, heads), twice: of the fold's rows and of what follows, learned without them."""
        rows, training = self._rows, self._rows.fold != fold
        # The same waves for all: what is as good as the state then chooses as the state does.
        functions = _Functions(described[0][training], np.random.default_rng(self._seed))
        now, following = map(functions, described)
        decisions = _Decisions(
            features=now[training],
            level=rows.head[training],
            utility=rows.outcomes[training, 0],
            following=following[training],
            subject=numbered(rows.subject[training]),
            possible_next=self._possible_next[training],
        )
        ridge = _best_ridge(decisions, self._discount)
        weights = policy_iteration(decisions, self._discount, ridge).weights
        return (
            with_intercept(now[~training]) @ weights.T,
            with_intercept(following[~training]) @ weights.T,
        )


@dataclass(frozen=True)
class _Decisions:
    """As `policy_iteration` wants them."""

    features: Floats
    level: NDArray[np.int64]
    utility: Floats
    following: Floats
    subject: NDArray[np.int64]
    possible_next: NDArray[np.bool_]  # (R, levels)

    @property
    def levels(self) -> int:
        return self.possible_next.shape[1]

    @property
    def even_weights(self) -> Floats:
        return self.possible_next / self.possible_next.sum(axis=1, keepdims=True)

    def next_weights(self, values: Floats) -> Floats:
        return np.eye(self.levels)[_best(values, self.possible_next)]


class _Functions:
    """The standardised columns and random cosines of them."""

    def __init__(self, columns: Floats, random: np.random.Generator) -> None:
        self._scale, width = Scale.of(columns), columns.shape[1]
        self._frequencies = random.normal(size=(width, COSINES)) / np.sqrt(width)
        self._phases = random.uniform(0, 2 * np.pi, COSINES)

    def __call__(self, columns: Floats) -> Floats:
        standardised = self._scale.standardise(columns)
        waves = np.cos(standardised @ self._frequencies + self._phases)
        return np.column_stack([standardised, waves])


def _best_ridge(decisions: _Decisions, discount: float) -> float:
    """The one that best predicts u + gamma V(s') for training people who are left out in turn.

    V is of choosing at random from the next decision on, with a ridge in the middle.
    """
    middle = float(RIDGES[len(RIDGES) // 2])
    x, after = with_intercept(decisions.features), with_intercept(decisions.following)
    pilot = policy_iteration(decisions, discount, middle, most=1).weights
    aim = decisions.utility + discount * (decisions.even_weights * (after @ pilot.T)).sum(axis=1)
    part = decisions.subject % PARTS
    penalised = np.append(0.0, np.ones(x.shape[1] - 1))
    penalties = RIDGES[:, None, None] * np.diag(penalised) + TINY * np.eye(x.shape[1])
    errors = np.zeros(len(RIDGES))
    for a in range(decisions.levels):
        own = [np.flatnonzero((decisions.level == a) & (part == p)) for p in range(PARTS)]
        gram = np.stack([x[rows].T @ x[rows] for rows in own])
        cross = np.stack([x[rows].T @ aim[rows] for rows in own])
        for p, rows in enumerate(own):
            others = (part != p).sum()
            left = (gram.sum(axis=0) - gram[p]) / others + penalties
            right = (cross.sum(axis=0) - cross[p]) / others
            weights = np.linalg.solve(left, right[:, None])[:, :, 0]
            errors += np.square(aim[rows, None] - x[rows] @ weights.T).sum(axis=0)
    return float(RIDGES[errors.argmin()]) if np.isfinite(errors).all() else middle


def _best(values: Floats, possible: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(possible, values, -np.inf).argmax(axis=1)

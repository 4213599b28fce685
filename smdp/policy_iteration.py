"""Least-squares policy iteration: the Q-function of the best policy, linear in what is given.

Of decisions from anywhere: a trial's, on the features of a map (`smdp.policy.q_linear`), or those
that a number of features is judged by (`smdp.feature_map.value_lost`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: More iterations than ever needed: usually five to ten.
MOST_ITERATIONS = 100
#: Keeps the system solvable where a level was never seen: its weights become 0.
TINY = 1e-10


class LearnableRows(Protocol):
    """R decisions (x, level, u, x'): the level is what was done, or that nothing could be."""

    @property
    def features(self) -> NDArray[np.float64]: ...  # (R, q)
    @property
    def level(self) -> NDArray[np.int64]: ...  # (R,)
    @property
    def utility(self) -> NDArray[np.float64]: ...  # (R,)
    @property
    def following(self) -> NDArray[np.float64]: ...  # (R, q)
    @property
    def subject(self) -> NDArray[np.int64]: ...  # (R,)
    @property
    def levels(self) -> int: ...
    @property
    def even_weights(self) -> NDArray[np.float64]: ...  # (R, levels)
    def next_weights(self, values: NDArray[np.float64]) -> NDArray[np.float64]: ...  # (R, levels)


@dataclass(frozen=True)
class LinearFit:
    """Weights of each level: the intercept first."""

    weights: NDArray[np.float64]  # (levels, 1 + q)
    change: tuple[float, ...]  # by iteration: root mean square change of Q at the next states
    switched: tuple[float, ...]  # by iteration: the share of next decisions that changed
    converged: bool
    cycle: int = 0  # the number of policies in the cycle, 0 without one
    cycle_switched: float = 0.0  # the largest share of decisions in which two of them differ


def policy_iteration(
    rows: LearnableRows,
    discount: float,
    ridge: float,
    *,
    counts: NDArray[np.int64] | None = None,
    start: NDArray[np.float64] | None = None,
    most: int = MOST_ITERATIONS,
) -> LinearFit:
    """Least-squares policy iteration.

    With z(s, a) the features and an intercept in the place of action a, and pi the greedy policy of
    the current weights, each iteration solves for theta

        { sum z(s, a) [z(s, a) - gamma z(s', pi(s'))]' / R + ridge D } theta = sum z(s, a) u / R

    with D = 1 for features and 0 for intercepts, until the policy no longer changes. If it comes
    back to an earlier policy instead (a cycle), the mean of the cycle's weights is taken.

    `counts`: (subjects,), how often each subject is in the sample. `start`: earlier weights; else
    the first policy chooses at random. `most`: of the iterations; 1 only judges the first policy.

    Reference: Lagoudakis & Parr (2003), "Least-squares policy iteration", JMLR 4.
    """
    weight = np.ones(len(rows.level)) if counts is None else counts[rows.subject].astype(float)
    before, after = with_intercept(rows.features), with_intercept(rows.following)
    system = _System(rows, before, after, weight, discount, ridge)
    following = rows.even_weights if start is None else rows.next_weights(after @ start.T)
    values = np.zeros((len(after), rows.levels)) if start is None else after @ start.T
    seen: dict[bytes, int] = {}
    path: list[NDArray[np.float64]] = []
    change: list[float] = []
    switched: list[float] = []
    used = weight > 0
    for _ in range(most):
        path.append(system.solve(following))
        if not np.isfinite(path[-1]).all():
            break
        new_values = after @ path[-1].T
        new = rows.next_weights(new_values)
        differ = (new != following).any(axis=1)[used]
        switched.append(float(differ.mean()))
        change.append(float(np.sqrt(np.mean((new_values - values)[used] ** 2))))
        following, values = new, new_values
        if not differ.any() or discount == 0:
            return LinearFit(path[-1], tuple(change), tuple(switched), True)
        key = np.packbits(following[used] > 0.5).tobytes()
        if key in seen:
            cycle = path[seen[key] + 1 :]
            policies = [rows.next_weights(after @ each.T)[used] for each in cycle]
            apart = max(float((p != policies[-1]).any(axis=1).mean()) for p in policies)
            mean = np.mean(cycle, axis=0)
            return LinearFit(mean, tuple(change), tuple(switched), False, len(cycle), apart)
        seen[key] = len(path) - 1
    return LinearFit(path[-1], tuple(change), tuple(switched), False)


def with_intercept(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, 1 + q): a 1 before the features."""
    return np.hstack([np.ones((len(features), 1)), features])


class _System:
    """The equations of one sample; only the policy changes between iterations."""

    def __init__(
        self,
        rows: LearnableRows,
        before: NDArray[np.float64],
        after: NDArray[np.float64],
        weight: NDArray[np.float64],
        discount: float,
        ridge: float,
    ) -> None:
        self._levels, self._size = rows.levels, before.shape[1]
        self._own = [np.flatnonzero((rows.level == a) & (weight > 0)) for a in range(rows.levels)]
        total = weight.sum()
        self._weighted = [(weight[own] / total)[:, None] * before[own] for own in self._own]
        self._after, self._discount = after, discount
        size = rows.levels * self._size
        penalty = np.full(self._size, ridge)
        penalty[0] = TINY
        self._fixed = np.diag(np.tile(penalty, rows.levels))
        self._right = np.zeros(size)
        for a, own in enumerate(self._own):
            at = slice(a * self._size, (a + 1) * self._size)
            self._fixed[at, at] += self._weighted[a].T @ before[own]
            self._right[at] = self._weighted[a].T @ rows.utility[own]

    def solve(self, following: NDArray[np.float64]) -> NDArray[np.float64]:
        """(levels, 1 + q): the Q-function of the policy `following`; NaN if there is none."""
        matrix = self._fixed.copy()
        for a, own in enumerate(self._own):
            share = following[own]
            for b in range(self._levels):
                to = np.flatnonzero(share[:, b])
                if len(to):
                    matrix[
                        a * self._size : (a + 1) * self._size, b * self._size : (b + 1) * self._size
                    ] -= self._discount * (
                        self._weighted[a][to].T @ (share[to, b][:, None] * self._after[own[to]])
                    )
        try:
            found = np.linalg.solve(matrix, self._right)
        except np.linalg.LinAlgError:
            found = np.full(len(matrix), np.nan)
        return np.asarray(found.reshape(self._levels, self._size))

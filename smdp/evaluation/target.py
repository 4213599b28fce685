"""What a policy would do at every decision of a trial, beside what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.value_rows import ValueRows

Choose = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.int64]]


class AnyPolicy(Protocol):
    """What can be evaluated: a learned policy, or any rule of one's own."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    def recommend(
        self, states: NDArray[np.float64], available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """(...,): actions 0 .. K-1 for states (..., p) with the columns `variables`.

        `available` (..., K) says which may be chosen; -1 where none may.
        """
        ...


@dataclass(frozen=True, eq=False)
class Target:
    """A policy at the rows: the levels that its Q-function has, and where it goes.

    Levels are the actions and, last, "no choice". For the trial's own policy there is one level
    only: what was done is what it does.
    """

    level: NDArray[np.int64]  # (R,)
    ratio: NDArray[np.float64]  # (R,): probability under the policy over that in the trial
    following: NDArray[np.float64]  # (R, levels): the policy's levels in the next state
    first: NDArray[np.float64]  # (N, levels): in the first state of each trajectory

    @property
    def levels(self) -> int:
        return self.following.shape[1]


def observed_target(rows: ValueRows) -> Target:
    count = len(rows.level)
    return Target(
        level=np.zeros(count, dtype=np.int64),
        ratio=np.ones(count),
        following=np.ones((count, 1)),
        first=np.ones((rows.units, 1)),
    )


def always_target(rows: ValueRows, taken: NDArray[np.float64], action: int) -> Target:
    """One action wherever it may be chosen, else the first that may."""

    def choose(states: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.where(allowed[:, action], action, allowed.argmax(axis=1))

    no_states = np.empty((rows.shape[0], rows.shape[1] + 1, 0))
    return _target(rows, taken, no_states, choose)


def policy_target(
    trajectories: Trajectories, rows: ValueRows, taken: NDArray[np.float64], policy: AnyPolicy
) -> Target:
    """`taken`: (R,), the probability in the trial of what was done."""
    states = trajectories.select(policy.variables).states

    def choose(at: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        chosen = np.asarray(policy.recommend(at, allowed))
        fits = np.take_along_axis(allowed, np.clip(chosen, 0, rows.actions - 1)[:, None], axis=1)
        wrong = (chosen < 0) | (chosen >= rows.actions) | ~fits[:, 0]
        if chosen.shape != (len(at),) or wrong.any():
            raise DataError(
                "The policy does not recommend a possible action at "
                f"{int(wrong.sum()):,} of {len(at):,} decisions with a choice.",
                "Let it recommend one of the available actions for every state of the trial.",
            )
        return chosen

    return _target(rows, taken, states, choose)


def _target(
    rows: ValueRows, taken: NDArray[np.float64], states: NDArray[np.float64], choose: Choose
) -> Target:
    count = rows.actions
    levels = count + int(not rows.available.all() or (rows.open_next < 1).any())

    def mix(
        at: NDArray[np.float64], allowed: NDArray[np.bool_], share: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(.., levels): with probability `share` something can be chosen."""
        found = np.zeros((len(at), levels))
        some = np.flatnonzero(allowed.any(axis=1))
        found[some, choose(at[some], allowed[some])] = share[some]
        if levels > count:
            found[:, count] = 1 - share
        return found

    now = mix(rows.at(states), rows.allowed, rows.available.astype(float))
    return Target(
        level=rows.level,
        ratio=now[np.arange(len(now)), rows.level] / taken,
        following=mix(rows.after(states), rows.allowed_next, rows.open_next),
        first=now[rows.first],
    )

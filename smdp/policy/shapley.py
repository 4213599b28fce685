"""Splitting a difference between two states among the variables in which they differ."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ValueOf = Callable[[Floats], Floats]  # states (m, p) -> (m,)

MOST_FOR_EXACT = 10  # variables: 1024 states are computed
ORDERS = 250  # random orders for more variables, and as many reversed ones


def shapley(value_of: ValueOf, state: Floats, baseline: Floats) -> tuple[Floats, bool]:
    """(p,): each variable's part in value_of(state) - value_of(baseline), and whether it is exact.

    A variable's part is the mean, over all orders in which the variables can be changed from the
    baseline's to the state's values, of what its change brings. The parts add up to the whole
    difference, a variable that changes nothing has part 0, and variables that act alike have equal
    parts; only these do. Up to 10 variables that differ, all orders are taken; with more, 500
    random ones (the same in each call), which add up to the whole difference too.

    Reference: Shapley (1953), "A value for n-person games"; Lundberg & Lee (2017), "A unified
    approach to interpreting model predictions" (single-reference form).
    """
    differ = np.flatnonzero(state != baseline)
    parts = np.zeros(len(state))
    if not len(differ):
        return parts, True
    exact = len(differ) <= MOST_FOR_EXACT
    split = _over_all_orders if exact else _over_some_orders
    parts[differ] = split(value_of, state, baseline, differ)
    return parts, exact


def _over_all_orders(
    value_of: ValueOf, state: Floats, baseline: Floats, differ: NDArray[np.intp]
) -> Floats:
    count = len(differ)
    subset = np.arange(2**count)
    changed = (subset[:, None] >> np.arange(count)) & 1 == 1  # (2^m, m)
    states = np.tile(baseline, (len(subset), 1))
    states[:, differ] = np.where(changed, state[differ], baseline[differ])
    values = value_of(states)
    size = changed.sum(axis=1)
    share = np.array(
        [factorial(k) * factorial(count - k - 1) / factorial(count) for k in range(count)]
    )
    parts = np.empty(count)
    for j in range(count):
        without = subset[~changed[:, j]]
        gained = values[without | (1 << j)] - values[without]
        parts[j] = share[size[without]] @ gained
    return parts


def _over_some_orders(
    value_of: ValueOf, state: Floats, baseline: Floats, differ: NDArray[np.intp]
) -> Floats:
    random = np.random.default_rng(0)
    count = len(differ)
    parts = np.zeros(count)
    for _ in range(ORDERS):
        order = random.permutation(count)
        # An order and its reverse: interactions of two variables are then split exactly.
        for each in (order, order[::-1]):
            states = np.tile(baseline, (count + 1, 1))
            for step, j in enumerate(each, start=1):
                states[step:, differ[j]] = state[differ[j]]
            parts[each] += np.diff(value_of(states))
    return parts / (2 * ORDERS)

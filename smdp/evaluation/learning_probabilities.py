"""Whether the probabilities of treatment seem to have been learned from the data of several people.

In a trial that learns while it runs, the same state is given other probabilities later on, for
everybody alike, as data come in. Fixed ones are a function of the state, or of the decision alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import Rows
from smdp.data.trajectories import Trajectories

#: Fixed probabilities, of strata or of a schedule, have few values.
FEWEST_VALUES = 10
#: The share of what the states leave open that changes over time must explain.
TELLING = 0.2
#: Decisions that are looked at.
ENOUGH = 10_000
#: What is left open of a fixed function of the state, by rounding and a rough regression.
NOTHING_LEFT = 0.02


def seem_to_have_learned(
    trajectories: Trajectories, rows: Rows, given: NDArray[np.float64]
) -> bool:
    """`given`: (R, K), the probabilities of the rows; a guess, to be asked about.

    The probability of the second action is regressed on functions of the state; then, on what is
    left over, products of these with time. Functions of the state leave nothing over; what differs
    between decisions without an order in time is not explained by those products.
    """
    chance = given[:, 1]
    if len(np.unique(np.round(chance, 6))) <= FEWEST_VALUES:
        return False
    rows, chance = _thinned(rows, chance)
    states = rows.at(trajectories.states)
    states = states[:, np.isfinite(states).all(axis=0)]
    states = _standardised(states)
    bends = [np.maximum(states - np.quantile(states, q, axis=0), 0) for q in (0.2, 0.4, 0.6, 0.8)]
    fixed = np.hstack([np.ones((len(chance), 1)), states, states**2, *bends])
    target = np.log(np.clip(chance, 1e-6, 1 - 1e-6) / np.clip(1 - chance, 1e-6, 1 - 1e-6))
    target = target - target.mean()
    left = _residual(fixed, target)
    nothing = NOTHING_LEFT * (target @ target)
    if left @ left <= nothing:
        return False
    when = np.unique(rows.time, return_inverse=True)[1]
    means = np.bincount(when, target) / np.bincount(when)
    within = target - means[when]
    if within @ within <= nothing:
        return False  # of the decision alone
    # Learning is fast at first: periods twice as long as those before.
    period = np.log2(when + 1).astype(int)
    later = (period[:, None] == np.arange(1, period.max() + 1)).astype(float)
    moving = np.hstack([later, (later[:, :, None] * states[:, None, :]).reshape(len(later), -1)])
    after = _residual(np.hstack([fixed, moving]), target)
    spare = len(chance) - fixed.shape[1] - moving.shape[1]
    if spare <= 0:
        return False
    explained = 1 - (after @ after) / (left @ left) * (len(chance) - fixed.shape[1]) / spare
    return bool(explained >= TELLING)


def _thinned(rows: Rows, chance: NDArray[np.float64]) -> tuple[Rows, NDArray[np.float64]]:
    """Whole people, evenly spread, of about as many decisions as are needed to see it."""
    every = max(1, len(chance) // ENOUGH)
    kept = rows.subject % every == 0
    return rows.take(kept), chance[kept]


def _standardised(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    sd = columns.std(axis=0)
    moving = sd > 1e-12
    return (columns[:, moving] - columns[:, moving].mean(axis=0)) / sd[moving]


def _residual(design: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    return target - design @ np.linalg.lstsq(design, target, rcond=None)[0]

"""The policy that is optimal in the simulated model for a discount, by value iteration.

What follows a state depends on g(S1) and the action alone, and S1 .. S2K are independent given
these:

    Q(s, a) = u_a(s) + discount h_a{g(S1)},    h_a(y) = E{max_b Q(S', b) | g(S1) = y, A = a}

So it is enough to iterate K functions of one variable. They are held on a grid, and the
expectations are means over quasi-random normal points, the same for every y.

Reference: Puterman (1994), "Markov decision processes", section 6.6 (stopping by the span).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from smdp.settings import require
from smdp.simulation.generative_model import (
    INITIAL_SD,
    LINKS,
    PRECISE_SD,
    GenerativeModel,
    Model,
)

#: Where g(S1) may be. In the linear model S1 can walk, by 0.1 a step: few come to 6 in 90.
RANGES = {"linear": (-6.0, 6.0), "quad": (0.0, 3.0), "exp": (0.0, 3.0)}
GRID_POINTS = 481
#: Quasi-random points of each expectation, as a power of 2.
LOG2_POINTS = 10
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class OptimalPolicy:
    """Greedy for the exact Q-function: it knows the model, nothing is estimated."""

    law: GenerativeModel
    discount: float
    grid: NDArray[np.float64]  # values of g(S1)
    later: NDArray[np.float64]  # (K, grid): h_a, up to one constant for all

    @property
    def variables(self) -> tuple[str, ...]:
        """S1 .. S2K."""
        return self.law.true_variables

    def recommend(self, states: NDArray[np.float64]) -> NDArray[np.int64]:
        """The actions, 0 .. K - 1, for states (n, 2K)."""
        links = LINKS[self.law.model](states)
        later = [np.interp(links[:, 0], self.grid, each) for each in self.later]
        return np.argmax(self.law.mean_utilities(links) + self.discount * np.array(later), axis=0)


def optimal_policy(model: Model, discount: float, *, actions: int = 2) -> OptimalPolicy:
    """The policy with the largest expected sum of discounted utilities, over an endless horizon.

    Its mean utility a step, `simulated_outcome`, is not what it maximises: that of a policy for a
    larger discount may be larger.
    """
    law = GenerativeModel(model, actions=actions)
    require(0 <= discount < 1, "discount", "a number of at least 0, below 1", discount)
    grid = np.linspace(*RANGES[model], GRID_POINTS)
    following = [_following(law, grid, a) for a in range(actions)]
    later = np.zeros((actions, GRID_POINTS))
    moved = np.inf
    while moved >= TOLERANCE:
        new = np.array([_expected(*each, discount, grid, later) for each in following])
        new -= new.mean()  # what is the same for all changes no choice
        moved = np.ptp(new - later)
        later = new
    return OptimalPolicy(law, discount, grid, later)


def _following(
    law: GenerativeModel, grid: NDArray[np.float64], a: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """After action a, for each g(S1): the next g(S1), (grid, points), and the utilities there."""
    from scipy.stats import qmc

    count = len(law.true_variables)
    points = ndtri(qmc.Sobol(count, seed=0).random_base2(LOG2_POINTS))
    follows = np.arange(count) // 2 == a
    means = np.where(follows, grid[:, None], 0.0)[:, None]
    links = LINKS[law.model](means + np.where(follows, PRECISE_SD, INITIAL_SD) * points)
    return links[..., 0], law.mean_utilities(links)


def _expected(
    link: NDArray[np.float64],  # (grid, points)
    utilities: NDArray[np.float64],  # (K, grid, points)
    discount: float,
    grid: NDArray[np.float64],
    later: NDArray[np.float64],  # (K, grid)
) -> NDArray[np.float64]:
    """(grid,): the mean of the larger Q-value, with `later` as what is known of h."""
    values = [
        own + discount * np.interp(link, grid, each)
        for own, each in zip(utilities, later, strict=True)
    ]
    return np.max(values, axis=0).mean(axis=-1)

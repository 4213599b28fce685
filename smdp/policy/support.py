"""Where in feature space the treatments were tried: what a recommendation can rest on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.policy.decision_rows import DecisionRows
from smdp.result import Content

#: Decisions kept, evenly spaced over the trial: a phone has to carry them.
MOST_POINTS = 2000
#: A state is outside if its neighbours are farther away than this many times ..
FAR = 1.5
#: .. what they are for this share of the trial's own decisions.
INSIDE = 0.99
#: Distances that differ by less count as equal, so that ties do not depend on rounding.
ROUNDING = 1e-9
STATES_AT_ONCE = 1000
#: Decisions from which the radius is taken.
DECISIONS_MEASURED = 500


@dataclass(frozen=True, eq=False, repr=False)
class Support(Content):
    """Decisions of the trial with a choice, in standardised features, and what was chosen.

    The neighbours of a state are the `neighbours` nearest decisions (Euclidean), and those that are
    no farther away than the last of them. A state is outside the trial if that distance exceeds
    `radius`: 1.5 times the 99th percentile of the same distance for the decisions themselves.
    """

    points: NDArray[np.float64]  # (P, q)
    taken: NDArray[np.int64]  # (P,): the action
    actions: int  # K
    neighbours: int
    radius: float

    def __call__(
        self, features: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """From standardised features (.., q): the share of the neighbours that had each action
        (.., K), and how far away they are relative to `radius` (..,): above 1 is outside.

        NaN where a feature is missing.
        """
        flat = features.reshape(-1, features.shape[-1])
        shares = np.empty((len(flat), self.actions))
        distance = np.empty(len(flat))
        of_action = np.eye(self.actions)[self.taken]  # (P, K)
        for start in range(0, len(flat), STATES_AT_ONCE):
            part = slice(start, start + STATES_AT_ONCE)
            apart = _squared_distances(flat[part], self.points)
            farthest = np.partition(apart, self.neighbours - 1, axis=1)[:, self.neighbours - 1]
            near = apart <= (farthest * (1 + ROUNDING) + ROUNDING)[:, None]
            shares[part] = (near @ of_action) / np.maximum(1, near.sum(axis=1))[:, None]
            distance[part] = np.sqrt(farthest)
        missing = ~np.isfinite(flat).all(axis=1)
        shares[missing] = distance[missing] = np.nan
        # A radius of 0 (all decisions in a few places) leaves nothing between inside and outside.
        relative = (distance - ROUNDING) / max(self.radius, ROUNDING)
        shape = features.shape[:-1]
        return shares.reshape(*shape, self.actions), relative.reshape(shape)


def support_of(rows: DecisionRows, neighbours: int) -> Support:
    """Of the decisions of a trial; in a small one, neighbours are at most a quarter of them."""
    with_choice = np.flatnonzero(rows.level < rows.actions)
    count = min(MOST_POINTS, len(with_choice))
    kept = with_choice[np.linspace(0, len(with_choice) - 1, count).astype(np.int64)]
    points, taken = rows.features[kept], rows.level[kept]
    nearest = min(neighbours, max(1, count // 4))
    measured = points[np.linspace(0, count - 1, min(DECISIONS_MEASURED, count)).astype(np.int64)]
    # A decision is its own nearest one: one more neighbour makes up for it.
    own = np.partition(_squared_distances(measured, points), min(nearest, count - 1), axis=1)
    radius = FAR * float(np.quantile(np.sqrt(own[:, min(nearest, count - 1)]), INSIDE))
    return Support(points, taken, rows.actions, nearest, radius)


def _squared_distances(
    states: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(m, P). By differences, one feature after the other: exactly 0 for equal states."""
    found = np.zeros((len(states), len(points)))
    for j in range(points.shape[1]):
        apart = states[:, j, None] - points[None, :, j]
        found += np.square(apart, out=apart)
    found[~np.isfinite(states).all(axis=1)] = np.inf
    return found

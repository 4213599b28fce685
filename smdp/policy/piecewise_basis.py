"""Piecewise linear functions of each variable, added up: the model of values and of weights.

For knots k_0 < .. < k_m of a variable, f(x) = sum_l c_l r_l(x) with ramps r_l that rise from 0 to
1 between k_l and k_(l+1), and is constant outside. Ramps are scaled by the square root of their
width h_l (as a share of the range), so that a plain ridge is the penalty sum c_l^2 / h_l, the
integral of the squared slope. Knots are equally spaced on the mean of two scales, the value and its
rank: quantiles alone leave too few where data are sparse but a policy would go.

Reference: Eilers & Marx (1996), "Flexible smoothing with B-splines and penalties".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Columns of all variables together; more variables have fewer segments each.
MOST_COLUMNS = 80


@dataclass(frozen=True)
class PiecewiseBasis:
    """States (.., p) to (.., 1 + columns), the first being the intercept."""

    knots: tuple[NDArray[np.float64], ...]  # p, each (m + 1,); one knot only: a constant
    centre: NDArray[np.float64]  # (columns,)

    @property
    def columns(self) -> int:
        return 1 + len(self.centre)

    def __call__(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        ramps = _ramps(states, self.knots) - self.centre
        return np.concatenate([np.ones((*states.shape[:-1], 1)), ramps], axis=-1)


def piecewise_basis(states: NDArray[np.float64], segments: int) -> PiecewiseBasis:
    """With knots from these states (rows, p)."""
    variables = states.shape[1]
    count = max(1, min(segments, MOST_COLUMNS // max(1, variables)))
    knots = tuple(_knots(states[:, j], count) for j in range(variables))
    return PiecewiseBasis(knots, _ramps(states, knots).mean(axis=0))


def _knots(values: NDArray[np.float64], segments: int) -> NDArray[np.float64]:
    different = np.unique(values)
    if len(different) <= segments + 1:
        return different
    low, high = different[0], different[-1]
    ordered = np.sort(values)
    rank = (np.arange(len(ordered)) + 0.5) / len(ordered)
    mean = (rank + (ordered - low) / (high - low)) / 2
    inner = np.interp(np.linspace(0, 1, segments + 1)[1:-1], mean, ordered)
    return np.unique([low, *inner, high])


def _ramps(
    states: NDArray[np.float64], knots: tuple[NDArray[np.float64], ...]
) -> NDArray[np.float64]:
    parts = [np.empty((*states.shape[:-1], 0))]
    for j, own in enumerate(knots):
        width = np.diff(own)
        if len(width) == 0:
            continue
        share = (states[..., j, None] - own[:-1]) / width
        parts.append(np.clip(share, 0, 1) * np.sqrt(width / width.sum()))
    return np.concatenate(parts, axis=-1)

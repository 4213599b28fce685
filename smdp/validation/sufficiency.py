"""Does the frozen map still suffice? The test of the dimension, with heads fitted to new people.

The map phi is taken as it is: it knows nobody of them. For each action, h_a(z) is a ridge
regression of (utility, next features) on z and random cosines of z, out of fold by person; then the
scores of `smdp.feature_map.normal_space` ask whether anything in the full state, beyond z, says
something of them: errors in phi to first order, and errors of the heads, are taken out. Features of
the next state stand for the next state (closed features), for a policy needs no more.

Beside it stands what is lost in practice: of what the full state says of the utility out of fold,
the share that heads on z say (`smdp.feature_map.share_kept`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.normal_space import HeldOut, head_probabilities, surface_test
from smdp.feature_map.share_kept import ShareKept, share_kept
from smdp.feature_map.transitions import transitions

Floats = NDArray[np.float64]

COSINES = 60
#: A regression has no more columns than this share of the rows it is fitted to.
MOST_COLUMNS = 0.25
RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # a share of the rows, columns being standardised


@dataclass(frozen=True)
class MapHolds:
    """`p_value`: of the test that as many features are enough; `first`: what the map kept in the
    first study, by the same regressions (of the people it was fitted to).
    """

    p_value: float
    kept: ShareKept
    first: ShareKept
    features: int
    variables: int  # of the full state
    people: int


def map_holds(
    new: Trajectories,
    first: Trajectories,
    fitted: FittedFeatureMap,
    *,
    folds: int,
    draws: int,
    coverage: float,
    seed: np.random.SeedSequence,
) -> MapHolds:
    of_new, of_first = seed.spawn(2)
    here = _Regressions(new, fitted, folds, of_new)
    try:
        there = _Regressions(first.select(new.variables), fitted, folds, of_first).kept(coverage)
    except DataError:
        there = _UNKNOWN
    return MapHolds(
        p_value=here.test(draws),
        kept=here.kept(coverage),
        first=there,
        features=fitted.dimension,
        variables=len(new.wholes),
        people=here.rows.subjects,
    )


_UNKNOWN = ShareKept(np.nan, -np.inf, -np.inf, np.inf, np.nan, np.nan)


class _Regressions:
    """Heads on the features, and on the full state, out of fold by person."""

    def __init__(
        self,
        trajectories: Trajectories,
        fitted: FittedFeatureMap,
        folds: int,
        seed: np.random.SeedSequence,
    ) -> None:
        of_folds, of_cosines, self._of_test = seed.spawn(3)
        self.trajectories = trajectories
        rows = transitions(trajectories, folds, np.random.default_rng(of_folds))
        features = fitted.transform(_with_all(trajectories, fitted))
        z, ahead = rows.at(features), rows.after(features)
        self.rows = replace(rows, outcomes=np.column_stack([rows.outcomes[:, 0], ahead]))
        random = np.random.default_rng(of_cosines)
        fewest = min(int(((rows.head == a) & (rows.fold != k)).sum())
                     for a in range(rows.heads) for k in range(rows.folds))  # fmt: skip
        most = max(1, int(MOST_COLUMNS * fewest))
        self._z = _Waves(z, random, most)
        self._state = _Waves(np.column_stack([rows.states, z]), random, most)
        self._z_values = z

    def test(self, draws: int) -> float:
        predicted, slopes = self._fit(self._z, with_slopes=True)
        held_out = HeldOut(self.rows.outcomes - predicted, self._z_values, slopes)
        chances = head_probabilities(self.trajectories, self.rows)
        return surface_test(self.rows, held_out, chances, seed=self._of_test, draws=draws).p_value

    def kept(self, coverage: float) -> ShareKept:
        """Of what the state says of the utility at decisions with a choice."""
        rows, utility = self.rows, self.rows.outcomes[:, 0]
        of_map = utility - self._fit(self._z)[0][:, 0]
        of_state = utility - self._fit(self._state)[0][:, 0]
        without = np.empty(len(utility))
        for k in range(rows.folds):
            for a in range(rows.heads):
                training = (rows.fold != k) & (rows.head == a)
                own = (rows.fold == k) & (rows.head == a)
                without[own] = utility[own] - utility[training].mean()
        return share_kept(rows.subject, of_map, of_state, without, level=1 - coverage)

    def _fit(self, functions: _Waves, *, with_slopes: bool = False) -> tuple[Floats, Floats]:
        """(R, outputs) out of fold; (R, heads, outputs, q): the slopes at each row's z."""
        rows, y = self.rows, self.rows.outcomes
        scale = np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)
        best, found = np.inf, np.empty(y.shape)
        chosen = RIDGES[0]
        for ridge in RIDGES:
            predicted = np.empty(y.shape)
            for k in range(rows.folds):
                for a in range(rows.heads):
                    own = (rows.fold == k) & (rows.head == a)
                    coefficients = self._coefficients(functions, k, a, ridge)
                    predicted[own] = functions.columns[own] @ coefficients
            error = float((np.square((y - predicted) / scale)).sum())
            if error < best:
                best, found, chosen = error, predicted, ridge
        slopes = np.empty((0,))
        if with_slopes:
            slopes = np.empty((len(y), rows.heads, y.shape[1], functions.inputs))
            for k in range(rows.folds):
                own = rows.fold == k
                for a in range(rows.heads):
                    coefficients = self._coefficients(functions, k, a, chosen)
                    slopes[own, a] = functions.slopes(own, coefficients)
        return found, slopes

    def _coefficients(self, functions: _Waves, fold: int, head: int, ridge: float) -> Floats:
        training = (self.rows.fold != fold) & (self.rows.head == head)
        x, y = functions.columns[training], self.rows.outcomes[training]
        gram = x.T @ x
        penalty = np.full(len(gram), ridge * len(x))
        penalty[0] = 1e-8 * len(x)
        return np.asarray(np.linalg.solve(gram + np.diag(penalty), x.T @ y))


class _Waves:
    """An intercept, the standardised values and random cosines of them."""

    def __init__(self, values: Floats, random: np.random.Generator, most: int) -> None:
        spread = values.std(axis=0)
        self._scale = np.where(spread > 1e-12, spread, 1.0)
        standard = (values - values.mean(axis=0)) / self._scale
        self.inputs = values.shape[1]
        count = max(0, min(COSINES, most - self.inputs - 1))
        self._frequencies = random.normal(size=(self.inputs, count)) / np.sqrt(max(self.inputs, 1))
        self._angles = standard @ self._frequencies + random.uniform(0, 2 * np.pi, count)
        self.columns = np.column_stack([np.ones(len(values)), standard, np.cos(self._angles)])

    def slopes(self, rows: NDArray[np.bool_], coefficients: Floats) -> Floats:
        """(rows, outputs, inputs): of the columns times these coefficients, by the values."""
        linear = coefficients[1 : 1 + self.inputs]  # (inputs, outputs)
        waves = coefficients[1 + self.inputs :]
        bent = np.einsum("rc,ic,co->roi", -np.sin(self._angles[rows]), self._frequencies, waves,
                         optimize=True)  # fmt: skip
        return np.asarray((linear.T[None] + bent) / self._scale)


def _with_all(trajectories: Trajectories, fitted: FittedFeatureMap) -> Floats:
    """(n, T + 1, inputs of the map); those that it does not use may be NaN."""
    places = {name: j for j, name in enumerate(trajectories.variables)}
    n, times, _ = trajectories.states.shape
    states = np.full((n, times, len(fitted.variables)), np.nan)
    for j, name in enumerate(fitted.variables):
        if name in places:
            states[:, :, j] = trajectories.states[:, :, places[name]]
    return states

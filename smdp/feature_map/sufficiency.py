"""Is a feature map sufficient? Tests of what its residuals still have to do with the state.

Both tests use residuals out of fold, and strata by action. Neither can prove sufficiency: a map is
"not rejected at level tau".

*Absolute* (the paper's): independence of R^t = Y^{t+1} - prediction and S^t at each time, pooled
(Lemma 3.4 (i)), or of S^t - E(S^t | phi) and (Y^{t+1}, phi) (Lemma 3.4 (ii)). It takes the fitted
network for the true regression, so estimation error counts as dependence.

*Relative*: whether the map does worse than a reference without a bottleneck (dimension p, all
variables), which has the same kind of estimation error. Residuals of both are divided by the
reference's standard deviations for each outcome within each action. Two comparisons, one-sided and
over the n subjects; a map is rejected only if both reject it (the larger p-value counts).

- Dependence. With U-centred distances A of the states and B of the residuals among the n_at
  subjects with action a at time t,

      v_i = sum over t of sum over k of A_ik B_ik / (n_at - 3),     V = sum over i of v_i,

  d_i = v_i(map) - v_i(reference), and Delta = V(map) - V(reference) is compared with its error.
  Delta is a sum over pairs of subjects, each of which counts for both: the jackknife's standard
  error is 2 sqrt(n) sd(d_i). (Where both V are pure noise it is sqrt(2) times too large.)
- Loss. The squared residuals may exceed the reference's by `margin` times the reference's mean
  square, or `margin` times what the state explains if that is less; the utility counts as much as
  all next states together. A paired t-test of the subjects' mean excess.

Alone, each rejects the true dimension too often, as a bottleneck makes training harder: the first
without, the second with a small margin. Both are blind to dependence that
the full state's regression leaves as well, such as that of a variance; and a reference that
overfits (few rows, weak signal) predicts badly out of fold and is easily matched.

Reference: Wang, Laber & Witkiewitz, Lemma 3.4; Székely & Rizzo (2014), "Partial distance
correlation", for U-centring; Arvesen (1969), "Jackknifing U-statistics".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import stdtr

from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.conditional_mean import cross_fitted_residuals
from smdp.feature_map.transitions import Transitions
from smdp.independence.over_time import HowToTest, independence_over_time
from smdp.independence.permutation import large_strata


def absolute_p_value(
    rows: Transitions,
    residuals: NDArray[np.float64],  # (R, 1 + p), out of fold
    features: NDArray[np.float64],  # (R, q)
    settings: FeatureMapSettings,
    *,
    seed: np.random.SeedSequence,
    report: Callable[[float], None] = lambda share: None,
) -> float:
    """The pooled p-value of the paper's test, by either condition of Lemma 3.4."""
    if settings.condition == "i":
        x, y = rows.states, residuals
    else:
        x = cross_fitted_residuals(features, rows.states, rows.fold)
        y = np.column_stack([rows.outcomes, features])
    tested = independence_over_time(
        rows.on_grid(x)[:, :, None, :],
        rows.on_grid(y),
        rows.strata,
        HowToTest(
            level=settings.level, pooling=settings.pooling, permutations=settings.permutations
        ),
        seed=seed,
        report=report,
    )
    return float(tested.pooled[0])


@dataclass(frozen=True)
class Compared:
    """The p-values of a comparison with the full state."""

    dependence: float
    loss: float

    @property
    def p_value(self) -> float:
        """That of the hypothesis that one of the two is no worse."""
        return max(self.dependence, self.loss)


class RelativeTest:
    """The comparison with the full state, prepared for any number of maps."""

    def __init__(
        self,
        rows: Transitions,
        reference: NDArray[np.float64],  # (R, 1 + p): residuals of the reference
        without_state: NDArray[np.float64],  # (R, 1 + p): residuals from the action's mean
        margin: float,
    ) -> None:
        self._rows = rows
        spread = rows.states.std(axis=0)
        states = rows.states / np.where(spread > 0, spread, 1.0)
        self._distances = [
            (stratum, u_centred(states[stratum]) / (len(stratum) - 3)) for stratum in _strata(rows)
        ]
        self._unit, allowed = np.ones_like(reference), np.zeros_like(reference)
        for a in range(rows.heads):
            own = rows.head == a
            sd = np.sqrt(np.square(reference[own]).mean(axis=0))
            self._unit[own] = np.where(sd > 0, sd, 1.0)
            explained = np.square(without_state[own] / self._unit[own]).mean(axis=0) - 1
            allowed[own] = margin * explained.clip(0, 1)
        self._dependence = self.dependence(reference)
        self._loss = np.square(reference / self._unit) * (1 + allowed)

    def compare(self, residuals: NDArray[np.float64]) -> Compared:
        """Small p-values when the map's residuals (R, 1 + p) are worse than the reference's."""
        excess = np.square(residuals / self._unit) - self._loss
        each = 0.5 * excess[:, 0] + 0.5 * excess[:, 1:].mean(axis=1)
        mean = np.bincount(self._rows.subject, each) / np.bincount(self._rows.subject)
        return Compared(
            # A pair of subjects counts for both of them: twice the error of a sum of n.
            dependence=_one_sided(self.dependence(residuals) - self._dependence, 2.0),
            loss=_one_sided(mean, 1.0),
        )

    def dependence(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """(subjects,): the parts v_i of V."""
        scaled = residuals / self._unit
        parts = np.zeros(self._rows.subject.max() + 1)
        for stratum, states in self._distances:
            own = (states * u_centred(scaled[stratum])).sum(axis=1)
            np.add.at(parts, self._rows.subject[stratum], own)
        return parts


def _one_sided(parts: NDArray[np.float64], factor: float) -> float:
    """P(t_{n-1} > sum / error), the error being `factor` times that of n independent parts."""
    error = factor * np.sqrt(len(parts)) * parts.std(ddof=1)
    if error == 0:  # no difference at all
        return 1.0
    return float(stdtr(len(parts) - 1, -parts.sum() / error))


def _strata(rows: Transitions) -> Iterator[NDArray[np.intp]]:
    """The rows of each time and action with enough subjects."""
    for t in np.unique(rows.time):
        here = np.flatnonzero(rows.time == t)
        tested = large_strata(rows.head[here])
        for stratum in tested.strata:
            yield here[tested.subjects[stratum]]


def u_centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, n): distances between the rows, centred so that their products are unbiased."""
    distances = cdist(values, values)
    n = len(distances)
    sums = distances.sum(axis=0)
    centred = distances - (sums[:, None] + sums) / (n - 2) + sums.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0.0)
    return np.asarray(centred)

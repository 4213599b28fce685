"""What the estimates of values were made of, decision by decision: for further questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.evaluation.estimators import Estimate, standard_error
from smdp.evaluation.value_rows import ValueRows
from smdp.evaluation.value_tables import quantile
from smdp.result import Content

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JudgedDecisions(Content):
    """R decisions of C people, by which policies were judged, and each policy's estimate."""

    row: NDArray[np.int64]  # (R,): the place in the trajectories
    time: NDArray[np.int64]  # (R,)
    subject: NDArray[np.int64]  # (R,): 0 .. C - 1
    utility: Floats  # (R,)
    estimates: Mapping[str, Estimate]  # by policy, the one in question first

    @property
    def subjects(self) -> int:
        """C."""
        return int(self.subject.max()) + 1

    def only(self, *names: str) -> JudgedDecisions:
        """Of these policies, the one in question first."""
        return replace(self, estimates={name: self.estimates[name] for name in names})

    def effective(self, name: str) -> float:
        """The effective number of subjects of a policy's estimate: (sum W)^2 / sum W^2."""
        sums = np.bincount(self.subject, self.estimates[name].weights)
        return float(sums.sum() ** 2 / np.square(sums).sum()) if sums.any() else 0.0

    def difference(self, name: str, against: str, coverage: float) -> tuple[float, float, float]:
        """One value minus another, with its interval: both come from the same people."""
        one, two = self.estimates[name], self.estimates[against]
        draws = one.fitted_q_draws - two.fitted_q_draws
        effective = min(self.effective(name), self.effective(against))
        error = standard_error(one.influence - two.influence, draws)
        width = quantile(effective, coverage) * error
        apart = one.value - two.value
        return apart, apart - width, apart + width

    def of_people(self, name: str) -> Floats:
        """(C,): each person's part in a policy's value; their mean is the value."""
        each = self.estimates[name]
        return np.asarray(each.value + self.subjects * each.influence)

    def samples(self, count: int, seed: int) -> Floats:
        """(B, C): how often each person is in each sample of people."""
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(21,)))
        drawn = random.integers(0, self.subjects, (count, self.subjects))
        times = np.zeros((count, self.subjects))
        np.add.at(times, (np.arange(count)[:, None], drawn), 1.0)
        return times


def judged_decisions(rows: ValueRows, estimates: Mapping[str, Estimate]) -> JudgedDecisions:
    return JudgedDecisions(
        row=rows.row,
        time=rows.time,
        subject=rows.subject,
        utility=rows.utility,
        estimates=dict(estimates),
    )

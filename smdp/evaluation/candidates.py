"""Policies side by side: what each would earn, every difference, and which one to take.

The simplest candidate is recommended that is not clearly below the best one. "Clearly": the
interval of the difference to the best lies below 0. Intervals are of one difference each; as the
best one was picked by its estimate, its lead is somewhat too large, so that a simple candidate is
given up a little too often, never too seldom, and what is recommended is not said to be the best.

Reference: Hsu (1996), "Multiple comparisons", chapter 4 (comparisons with the best); Breiman et al.
(1984), "Classification and regression trees" (of what is about as good, the simplest).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pandas as pd

from smdp.errors import DataError
from smdp.evaluation.estimators import Estimate, standard_error
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import OBSERVED, quantile
from smdp.policy.learned_policy import LearnedPolicy
from smdp.result import Result


class Simplicity(IntEnum):
    """Kinds of candidates, the simplest first."""

    NO_CHOICE = 0  # as in the study, or one action for everybody
    CARD = 1  # a rule that fits on a card
    OWN_RULE = 2  # that somebody wrote
    LINEAR = 3
    PESSIMISTIC = 4
    NEURAL = 5


@dataclass(frozen=True, eq=False)
class CandidatePolicy:
    """A policy that was judged, and the effective number of subjects of its estimate."""

    name: str
    simplicity: Simplicity
    estimate: Estimate
    effective: float


@dataclass(frozen=True, eq=False, repr=False)
class CandidateComparison(Result):
    """`values`: candidate, simplicity, estimate, lower, upper, standard_error, effective, trusted.

    `differences`: candidate, against (each pair in both orders), estimate, lower, upper,
    standard_error, trusted. `recommended`: a candidate's name, or None where no candidate has an
    interval. `best`: the one with the largest estimate that has an interval.
    """

    values: pd.DataFrame
    differences: pd.DataFrame
    recommended: str | None
    best: str | None
    coverage: float
    discount: float

    def difference(self, name: str, against: str) -> pd.Series:
        table = self.differences
        return table[(table["candidate"] == name) & (table["against"] == against)].iloc[0]


def compare_candidates(
    candidates: Sequence[CandidatePolicy],
    *,
    coverage: float,
    least_effective: float,
    discount: float,
) -> CandidateComparison:
    """Candidates whose estimates come from the same people, in the same order."""
    sizes = {(len(c.estimate.influence), len(c.estimate.fitted_q_draws)) for c in candidates}
    if len(sizes) != 1 or len({c.name for c in candidates}) < len(candidates):
        raise DataError(
            "Candidates can be compared only if they have different names and were judged by the "
            "same people and samples.",
            "Judge them together, by the same settings.",
        )
    values, differences = [], []
    for own in candidates:
        enough = own.effective >= least_effective
        width = quantile(own.effective, coverage) * (own.estimate.error if enough else np.nan)
        value = own.estimate.value
        values.append(
            {
                "candidate": own.name,
                "simplicity": int(own.simplicity),
                **_interval(value, width),
                "standard_error": own.estimate.error if enough else np.nan,
                "effective": own.effective,
                "trusted": enough,
            }
        )
        for other in candidates:
            if other is not own:
                row = _difference(own, other, coverage, least_effective)
                differences.append({"candidate": own.name, "against": other.name, **row})
    table = pd.DataFrame(values)
    columns = ["candidate", "against", "estimate", "lower", "upper", "standard_error", "trusted"]
    pairs = pd.DataFrame(differences, columns=columns)
    best, recommended = _choice(table, pairs)
    return CandidateComparison(table, pairs, recommended, best, coverage, discount)


def candidates_of(
    policies: Sequence[LearnedPolicy], values: Mapping[str, PolicyValue]
) -> list[CandidatePolicy]:
    """The learned policies, by name, then what was done and each action always.

    Those whose value has the discount of the first one: others are in another unit. None from an
    evaluation that was saved without the parts of its estimates.
    """
    first = next(iter(values.values()), None)
    if first is None or first.judged is None:
        return []
    found = []
    for policy, (name, value) in zip(policies, values.items(), strict=True):
        judged = value.judged
        if judged is None or value.discount != first.discount:
            continue
        if judged.subjects == first.judged.subjects:
            own, estimate = next(iter(judged.estimates.items()))
            kind = Simplicity[policy.kind.upper()]
            found.append(CandidatePolicy(name, kind, estimate, judged.effective(own)))
    _, *others = first.judged.estimates
    for name in others:
        estimate = first.judged.estimates[name]
        found.append(
            CandidatePolicy(name, Simplicity.NO_CHOICE, estimate, first.judged.effective(name))
        )
    return found


def comparison_of(
    policies: Sequence[LearnedPolicy], values: Mapping[str, PolicyValue], least_effective: float
) -> CandidateComparison | None:
    """Of the policies of an analysis, by name, and their values; None where there is nothing."""
    candidates = candidates_of(policies, values)
    if len(candidates) < 2:
        return None
    first = next(iter(values.values()))
    return compare_candidates(
        candidates,
        coverage=first.coverage,
        least_effective=least_effective,
        discount=first.discount,
    )


def _difference(
    own: CandidatePolicy, other: CandidatePolicy, coverage: float, least_effective: float
) -> dict[str, object]:
    """Paired: both values come from the same people."""
    one, two = own.estimate, other.estimate
    error = standard_error(one.influence - two.influence, one.fitted_q_draws - two.fitted_q_draws)
    effective = min(own.effective, other.effective)
    enough = effective >= least_effective
    error = error if enough else np.nan
    width = quantile(effective, coverage) * error
    return {
        **_interval(one.value - two.value, width),
        "standard_error": error,
        "trusted": enough,
    }


def _interval(value: float, width: float) -> dict[str, float]:
    return {"estimate": value, "lower": value - width, "upper": value + width}


def _choice(values: pd.DataFrame, pairs: pd.DataFrame) -> tuple[str | None, str | None]:
    """The best by its estimate, and the simplest that is not clearly below it.

    Of equally simple ones what was done goes first, for it changes nothing; then the largest.
    """
    usable = values[values["trusted"]]
    if usable.empty:
        return None, None
    best = str(usable.loc[usable["estimate"].idxmax(), "candidate"])
    to_best = pairs[pairs["against"] == best].set_index("candidate")["upper"]
    usable = usable.assign(
        below=[name != best and to_best[name] < 0 for name in usable["candidate"]],
        changes=usable["candidate"] != OBSERVED,
        order=-usable["estimate"],
    )
    ordered = usable[~usable["below"]].sort_values(["simplicity", "changes", "order"])
    return best, str(ordered["candidate"].iloc[0])

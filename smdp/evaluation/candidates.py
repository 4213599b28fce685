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
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import pandas as pd

from smdp.errors import DataError
from smdp.evaluation.estimators import Estimate, standard_error
from smdp.evaluation.rule_value import CARD, LEARNED, RuleReport
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
    """A policy that was judged, and the effective number of subjects of its estimate.

    `beside`: by name, others as they were judged together with it, where that was with other models
    of the values than their own. Differences to these are taken from there.
    """

    name: str
    simplicity: Simplicity
    estimate: Estimate
    effective: float
    beside: Mapping[str, tuple[Estimate, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class CandidateComparison(Result):
    """`values`: candidate, simplicity, estimate, lower, upper, standard_error, effective, trusted.

    `differences`: candidate, against (each pair in both orders), estimate, lower, upper,
    standard_error, trusted. `recommended`: a candidate's name, or None where no candidate has an
    interval. `best`: of those that have one, that which is farthest above what was done.
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


def candidates_on_cards(
    rule: RuleReport, policy: str, values: Mapping[str, PolicyValue]
) -> list[CandidatePolicy]:
    """The card of this policy and the rules of one's own, beside the values.

    None where it was judged in another way: quickly and the others not, say, or by other samples.
    """
    value = values.get(policy)
    if rule.judged is None or value is None or value.judged is None:
        return []
    own, drawn = rule.judged, {len(e.fitted_q_draws) for e in value.judged.estimates.values()}
    drawn |= {len(e.fitted_q_draws) for e in own.estimates.values()}
    same = (rule.whole_analysis, rule.discount, rule.coverage, rule.seed, own.subjects) == (
        value.whole_analysis,
        value.discount,
        value.coverage,
        value.seed,
        value.judged.subjects,
    )
    if not same or len(drawn) > 1:
        return []
    rules = [CARD, *rule.own["name"]]
    beside = {
        policy if name == LEARNED else name: (each, own.effective(name))
        for name, each in own.estimates.items()
        if name not in rules
    }
    return [
        CandidatePolicy(
            name,
            Simplicity.CARD if name == CARD else Simplicity.OWN_RULE,
            own.estimates[name],
            own.effective(name),
            beside,
        )
        for name in rules
    ]


def comparison_of(
    policies: Sequence[LearnedPolicy],
    values: Mapping[str, PolicyValue],
    least_effective: float,
    *,
    rule: RuleReport | None = None,
    rule_of: str = "",
) -> CandidateComparison | None:
    """Of the policies of an analysis, by name, and their values; None where there is nothing.

    `rule`: the rule card of the policy with the name `rule_of`, and the rules judged with it.
    """
    candidates = candidates_of(policies, values)
    if rule is not None and candidates:
        candidates += candidates_on_cards(rule, rule_of, values)
        candidates.sort(key=lambda each: each.simplicity == Simplicity.NO_CHOICE)
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
    one, of_one = other.beside.get(own.name, (own.estimate, own.effective))
    two, of_two = own.beside.get(other.name, (other.estimate, other.effective))
    error = standard_error(one.influence - two.influence, one.fitted_q_draws - two.fitted_q_draws)
    effective = min(of_one, of_two)
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

    The best is that with the largest difference to what was done, if that is a candidate: the two
    were judged together. Of equally simple ones what was done goes first, for it changes nothing;
    then the largest.
    """
    usable = values[values["trusted"]]
    if usable.empty:
        return None, None
    to_observed = pairs[pairs["against"] == OBSERVED].set_index("candidate")["estimate"]
    gains = [
        0.0 if name == OBSERVED else to_observed.get(name, estimate)
        for name, estimate in zip(usable["candidate"], usable["estimate"], strict=True)
    ]
    usable = usable.assign(order=np.negative(gains))
    best = str(usable.loc[usable["order"].idxmin(), "candidate"])
    to_best = pairs[pairs["against"] == best].set_index("candidate")["upper"]
    usable = usable.assign(
        below=[name != best and to_best[name] < 0 for name in usable["candidate"]],
        changes=usable["candidate"] != OBSERVED,
    )
    ordered = usable[~usable["below"]].sort_values(["simplicity", "changes", "order"])
    return best, str(ordered["candidate"].iloc[0])

"""Risk, not only the mean: how outcomes are distributed under a policy, and whether anybody loses.

**Outcomes.** Of a decision drawn as often as the policy would come to it, F(u) = sum of the weights
of the decisions with an outcome of at most u over the sum of all; the weights are the marginal ones
of the estimate of its value (`Estimate.weights`). Unlike the mean it has no model of the outcomes
behind it, so that it rests on the weights alone. Intervals: people are drawn anew, with the weights
as they are, and the estimates' deviation is taken; the policy and what was done by the same people.

**Subgroups.** Each person's part in the doubly robust estimate, policy minus as done, averaged over
those of a group. Groups are of people, by their value at their first decision, where values start.
The bootstrap spread of the fitted Q-function is added as for everybody, times sqrt(people / people
in the group). So many groups are looked at that some differ by chance: "loses" is said only
where the one-sided p-value times the number of groups is at most half of 1 - coverage.

Reference: Chandak, Shankar & Thomas (2021), "Universal off-policy evaluation" (distributions by
weights); Huang et al. (2021), "Off-policy risk assessment in contextual bandits".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import BACKGROUND
from smdp.evaluation.estimators import spread
from smdp.evaluation.judged_decisions import JudgedDecisions
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import OBSERVED, quantile
from smdp.result import Result

Floats = NDArray[np.float64]

SAMPLES = 500
#: A variable with more values than this is divided at its median.
MOST_LEVELS = 4
#: Groups with fewer people have no interval.
FEWEST_PEOPLE = 6
#: Variables by which people are divided unasked.
MOST_GROUPS = 8
#: Points at which the distribution is drawn, at most.
MOST_POINTS = 101

MEDIAN, LOWER_QUARTILE = "median", "lower quartile"
BELOW_MEDIAN = "worse than the median as done"
BELOW_QUARTILE = "worse than the lower quartile as done"


class Loses(StrEnum):
    """Whether a group does worse under the policy than as done."""

    YES = "yes"  # also reckoning with how many groups were looked at
    MAYBE = "maybe"  # its own interval lies below 0
    NOT_SHOWN = "not shown"
    TOO_FEW = "too few"  # people for an interval


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeRisk(Result):
    """`figures`: policy, figure (a quantile in the outcome's unit or a share), estimate, lower,
    upper, and the difference to what was done: difference, difference_lower, difference_upper.

    `distribution`: policy, outcome, share: of the outcomes that are at most so large.
    """

    figures: pd.DataFrame
    distribution: pd.DataFrame
    coverage: float
    trusted: bool  # whether the policy's estimate rests on enough people for intervals


def outcome_risk(
    judged: JudgedDecisions,
    *,
    coverage: float,
    least_effective: float,
    seed: int,
    samples: int = SAMPLES,
) -> OutcomeRisk:
    """Of each policy that was judged, beside what was done."""
    order = np.argsort(judged.utility, kind="stable")
    outcome, subject = judged.utility[order], judged.subject[order]
    counts = np.vstack([np.ones(judged.subjects), judged.samples(samples, seed)])
    weights = {name: each.weights[order] for name, each in judged.estimates.items()}
    own = weights[OBSERVED]
    limits = [_quantile(outcome, own, share) for share in (0.5, 0.25)]
    found = {
        name: _figures(outcome, each, subject, counts, limits) for name, each in weights.items()
    }
    rows = []
    for name, draws in found.items():
        effective = judged.effective(name)
        factor = quantile(effective, coverage) if effective >= least_effective else np.nan
        for place, figure in enumerate((MEDIAN, LOWER_QUARTILE, BELOW_MEDIAN, BELOW_QUARTILE)):
            apart = draws[:, place] - found[OBSERVED][:, place]
            low, high = _ends(draws[:, place], factor, share=place > 1)
            rows.append(
                {
                    "policy": name,
                    "figure": figure,
                    "estimate": draws[0, place],
                    "lower": low,
                    "upper": high,
                    "difference": apart[0],
                    "difference_lower": apart[0] - factor * spread_of(apart[1:]),
                    "difference_upper": apart[0] + factor * spread_of(apart[1:]),
                }
            )
    first = next(iter(judged.estimates))
    return OutcomeRisk(
        figures=pd.DataFrame(rows),
        distribution=_distribution(outcome, weights),
        coverage=coverage,
        trusted=judged.effective(first) >= least_effective,
    )


def _figures(
    outcome: Floats,
    weights: Floats,
    subject: NDArray[np.int64],
    counts: Floats,
    limits: Sequence[float],
) -> Floats:
    """(1 + B, 4): median, lower quartile, and the shares below the limits."""
    found = np.empty((len(counts), 4))
    for b, drawn in enumerate(counts):
        own = weights * drawn[subject]
        total = own.sum()
        if total <= 0:
            found[b] = np.nan
            continue
        found[b, 0], found[b, 1] = (_quantile(outcome, own, share) for share in (0.5, 0.25))
        found[b, 2:] = [own[outcome < limit].sum() / total for limit in limits]
    return found


def _quantile(outcome: Floats, weights: Floats, share: float) -> float:
    """Of sorted outcomes: where the weights add up to that share; ties split evenly."""
    total = np.cumsum(weights)
    if total[-1] <= 0:
        return float("nan")
    place = int(np.searchsorted(total, share * total[-1] * (1 - 1e-12)))
    return float(outcome[min(place, len(outcome) - 1)])


def _ends(draws: Floats, factor: float, *, share: bool) -> tuple[float, float]:
    width = factor * spread_of(draws[1:])
    low, high = draws[0] - width, draws[0] + width
    return (max(0.0, low), min(1.0, high)) if share and np.isfinite(width) else (low, high)


def spread_of(draws: Floats) -> float:
    """The deviation; of outcomes on few levels the middle 68 % may be one level only."""
    finite = draws[np.isfinite(draws)]
    return float(finite.std(ddof=1)) if len(finite) > 1 else float("nan")


def _distribution(outcome: Floats, weights: dict[str, Floats]) -> pd.DataFrame:
    values = np.unique(outcome)
    if len(values) > MOST_POINTS:
        values = np.unique(np.quantile(outcome, np.linspace(0, 1, MOST_POINTS)))
    ends = np.searchsorted(outcome, values, side="right")
    parts = []
    for name, own in weights.items():
        total = np.concatenate([[0.0], np.cumsum(own)])
        share = total[ends] / total[-1] if total[-1] > 0 else np.full(len(values), np.nan)
        parts.append(pd.DataFrame({"policy": name, "outcome": values, "share": share}))
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True, eq=False, repr=False)
class SubgroupGains(Result):
    """`groups`: variable, group (in words), people, estimate (policy minus as done, a decision),
    lower, upper, p (one-sided, of losing), loses (`Loses`); each interval is of one group.
    """

    groups: pd.DataFrame
    coverage: float

    @property
    def looked_at(self) -> int:
        """The number of groups that have an interval."""
        return int((self.groups["loses"] != Loses.TOO_FEW).sum())

    def those_who(self, loses: Loses) -> pd.DataFrame:
        return self.groups[self.groups["loses"] == loses]


def subgroup_gains(
    judged: JudgedDecisions,
    trajectories: Trajectories,
    variables: Sequence[str],
    *,
    coverage: float,
    least_effective: float,
) -> SubgroupGains:
    """The policy's gain over what was done in the groups of each variable."""
    from scipy.special import stdtr, stdtrit

    name = next(iter(judged.estimates))
    own, observed = judged.estimates[name], judged.estimates[OBSERVED]
    gain = judged.of_people(name) - judged.of_people(OBSERVED)
    apart = spread(own.fitted_q_draws - observed.fitted_q_draws)
    enough = judged.effective(name) >= least_effective
    rows = []
    for variable in variables:
        group, names = groups_of_people(judged, trajectories, variable)
        for place, text in enumerate(names):
            members = gain[group == place]
            count = len(members)
            low = high = p = np.nan
            if count >= FEWEST_PEOPLE and enough:
                wider = apart * np.sqrt(judged.subjects / count)
                error = np.hypot(members.std(ddof=1) / np.sqrt(count), wider)
                width = stdtrit(count - 1, 0.5 + coverage / 2) * error
                low, high = members.mean() - width, members.mean() + width
                p = float(stdtr(count - 1, members.mean() / error)) if error > 0 else 1.0
            rows.append(
                {
                    "variable": variable,
                    "group": text,
                    "people": count,
                    "estimate": float(members.mean()) if count else np.nan,
                    "lower": low,
                    "upper": high,
                    "p": p,
                }
            )
    columns = ["variable", "group", "people", "estimate", "lower", "upper", "p"]
    table = pd.DataFrame(rows, columns=columns)
    looked_at = int(table["p"].notna().sum())
    limit = (1 - coverage) / 2
    return SubgroupGains(
        table.assign(loses=[str(_loses(p, looked_at, limit)) for p in table["p"]]), coverage
    )


def _loses(p: float, looked_at: int, limit: float) -> Loses:
    if np.isnan(p):
        return Loses.TOO_FEW
    if p * looked_at <= limit:
        return Loses.YES
    return Loses.MAYBE if p <= limit else Loses.NOT_SHOWN


def groups_of_people(
    judged: JudgedDecisions, trajectories: Trajectories, variable: str
) -> tuple[NDArray[np.int64], list[str]]:
    """(C,): the group of each person by her value at her first decision, and the groups' names.

    In the variable's own units: each of a few values, else divided at the median.
    """
    states = trajectories.select([variable]).states[:, :, 0]
    _, first = np.unique(judged.subject, return_index=True)
    values = states[judged.row[first], judged.time[first]]
    about = trajectories.variable(variable)

    def text(value: float) -> str:
        return about.in_own_units().text(about.own(value))

    different = np.unique(values)
    if len(different) <= MOST_LEVELS:
        return np.searchsorted(different, values), [text(value) for value in different]
    middle = float(np.median(values))
    if middle == different[-1]:
        return (values >= middle).astype(np.int64), [f"below {text(middle)}", text(middle)]
    return (values > middle).astype(np.int64), [f"at most {text(middle)}", f"above {text(middle)}"]


def groups_to_look_at(trajectories: Trajectories, used: Sequence[str]) -> list[str]:
    """What a policy uses, and what people bring with them, such as age and sex."""
    background = [about.name for about in trajectories.about if about.group == BACKGROUND]
    return list(dict.fromkeys([*used, *background]))[: max(MOST_GROUPS, len(used))]


def risk_of(
    value: PolicyValue,
    trajectories: Trajectories,
    variables: Sequence[str],
    least_effective: float,
) -> tuple[OutcomeRisk, SubgroupGains]:
    """Both, of an evaluation that has its decisions."""
    assert value.judged is not None
    judged, coverage = value.judged, value.coverage
    risk = outcome_risk(judged, coverage=coverage, least_effective=least_effective, seed=value.seed)
    gains = subgroup_gains(
        judged, trajectories, variables, coverage=coverage, least_effective=least_effective
    )
    return risk, gains

"""How firmly a recommendation to one person stands: never more so than its policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from smdp.data.column_roles import ColumnRoles
from smdp.data.prepare import PreparedData
from smdp.data.trajectories import Trajectories
from smdp.evaluation.value import PolicyValue
from smdp.explanation.patient_explanation import PatientExplanation
from smdp.explanation.person import PersonNow, in_policy_units
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.point_of_use import point_of_use

#: Other values that a filled-in one might have had, evenly over the range seen.
TRIED = 21

Firmness = Literal["firm", "weak", "none"]


@dataclass(frozen=True)
class Standing:
    """What a recommendation rests on.

    `gain`: whether the policy does better than what was done: "better", "worse" or "not clear" by
    its interval; "no interval" where none can be trusted; "not estimated". `chance`: whether it was
    chance that decided on treatment, or what stands in for that: "randomised", "assumed" (nothing
    unmeasured decided, by the analyst's account) or "observed". `deciding`: the variables whose
    value at this decision was filled in, and with another value of which something else would be
    recommended. `outside`: those with a value outside the range seen. `quick`: the gain was judged
    with variables and dimension that had been chosen with everybody. `in_doubt`: what a pessimistic
    policy recommends although it is not clearly better.
    """

    recommended: bool
    gain: Literal["better", "worse", "not clear", "no interval", "not estimated"]
    chance: Literal["randomised", "assumed", "observed"]
    deciding: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    quick: bool = False
    in_doubt: bool = False

    @property
    def firmness(self) -> Firmness:
        if not self.recommended:
            return "none"
        sound = self.gain == "better" and self.chance != "observed"
        reserves = (self.deciding, self.outside, self.quick, self.in_doubt)
        return "firm" if sound and not any(reserves) else "weak"


def standing_of(
    patient: PatientExplanation,
    value: PolicyValue | None,
    roles: ColumnRoles,
    trajectories: Trajectories,
    deciding: Sequence[str] = (),
) -> Standing:
    """`value`: of the policy that recommends, None where it was not estimated."""
    return Standing(
        recommended=patient.recommendation is not None,
        gain=_gain(value),
        chance=_chance(roles, trajectories),
        deciding=tuple(deciding),
        outside=tuple(problem.about for problem in patient.warnings),
        quick=value is not None and value.quick,
        in_doubt=patient.in_doubt,
    )


def deciding_values(
    policy: LearnedPolicy,
    prepared: PreparedData,
    now: PersonNow,
    values: Mapping[str, float | str],
    possible: Sequence[str],
) -> tuple[str, ...]:
    """Of the values that were filled in, those on which the recommendation depends.

    Each is moved alone over the range seen in the study, or over its levels, and the others stay. A
    value that was typed in instead is not filled in; nor can words be moved.
    """
    use = point_of_use(policy.feature_map.variables_used, prepared)
    allowed = np.isin(policy.action_labels, possible)
    found = []
    for row, variable in zip(now.values.itertuples(), now.about, strict=True):
        if not row.filled or values.get(row.variable) != row.value or variable.whole_kind == "text":
            continue
        if variable.kind == "nominal":
            others = np.array([code for code, _ in variable.levels], dtype=float)
        else:
            others = np.linspace(row.low, row.high, TRIED)
            others = np.unique(np.round(others)) if row.whole else others
        states = [
            in_policy_units(use, {**values, row.variable: other}) for other in (row.value, *others)
        ]
        array = np.array([[s.get(name, np.nan) for name in policy.variables] for s in states])
        said = policy.decide(array, np.broadcast_to(allowed, (len(array), len(allowed))))
        if (said.best != said.best[0]).any():
            found.append(variable.belongs_to)
    return tuple(dict.fromkeys(found))


def _gain(
    value: PolicyValue | None,
) -> Literal["better", "worse", "not clear", "no interval", "not estimated"]:
    if value is None:
        return "not estimated"
    if not value.gain["trusted"]:
        return "no interval"
    if value.gain["lower"] > 0:
        return "better"
    return "worse" if value.gain["upper"] < 0 else "not clear"


def _chance(
    roles: ColumnRoles, trajectories: Trajectories
) -> Literal["randomised", "assumed", "observed"]:
    if roles.assignment == "randomised":
        return "randomised"
    at_choice = trajectories.probabilities[trajectories.valid & trajectories.available]
    if roles.assignment is None and np.isfinite(at_choice).all():
        return "randomised"
    return "assumed" if roles.nothing_hidden else "observed"

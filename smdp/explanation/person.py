"""A person of the study at one decision, in the units of the table, and what the policy says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.impute import is_whole
from smdp.data.prepare import PreparedData
from smdp.data.rescale import nearest_level, to_unit
from smdp.data.study import Cell, Study
from smdp.data.variables import Variable, described
from smdp.errors import DataError
from smdp.explanation.patient_explanation import PatientExplanation, explain_patient
from smdp.explanation.policy_explanation import NORMAL_QUANTILE
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.point_of_use import PointOfUse, StateColumn, point_of_use
from smdp.result import Content

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PersonNow(Content):
    """One decision of one person.

    `values` has a row for each variable that the policy uses: variable, value, low, high (the range
    of the whole study), whole (only whole numbers make sense), filled (imputed, not reported).
    """

    subject: str
    decision: int  # counted from 0 along the trajectory
    time: str  # as in the table
    values: pd.DataFrame
    possible: tuple[str, ...]  # the actions that could be chosen; none where unavailable
    done: str | None  # the action taken; None where none was, or it is not known


@dataclass(frozen=True, eq=False, repr=False)
class PersonOverTime(Content):
    """All decisions of one person that have a row in the table."""

    subject: str
    decision: NDArray[np.int64]  # (D,), counted from 0
    time: tuple[str, ...]  # D
    values: pd.DataFrame  # D x the variables that the policy uses, in the table's units
    filled: NDArray[np.bool_]  # (D, variables): imputed, not reported
    available: NDArray[np.bool_]  # (D,)
    done: NDArray[np.int64]  # (D,): the action, -1 where none was, or it is not known
    recommended: NDArray[np.int64]  # (D,): the action, -1 where there is no recommendation
    reason: NDArray[np.int64]  # (D,): see `smdp.policy.decision_rule.Reason`
    margin: Floats  # (D,)
    about: tuple[Variable, ...] = ()  # what the variables are

    @property
    def last_with_a_choice(self) -> int:
        """The last decision at which a treatment could be chosen; the last of all if none was."""
        chosen = self.decision[self.available] if self.available.any() else self.decision
        return int(chosen[-1])


@dataclass(frozen=True)
class Similar:
    """The decisions of the study that are nearest to a state in feature space."""

    count: int
    shares: dict[str, float]  # of them that had each action
    distance: float  # above 1 is outside the study


def people(prepared: PreparedData) -> tuple[str, ...]:
    """Those with a usable decision."""
    trajectories = prepared.trajectories
    usable = np.asarray(trajectories.valid.any(axis=1))
    return tuple(s for s, use in zip(trajectories.subjects, usable, strict=True) if use)


def person_over_time(policy: LearnedPolicy, prepared: PreparedData, subject: str) -> PersonOverTime:
    """What was seen, done and would have been recommended at each of a person's decisions."""
    study, use, i = _of(policy, prepared, subject)
    lags = study.roles.look_back
    rows = np.flatnonzero(study.present[i] & (np.arange(study.present.shape[1]) >= lags)).tolist()
    decisions = np.array(rows, dtype=np.int64) - lags
    columns = [prepared.trajectories.variables.index(name) for name in policy.variables]
    states = prepared.trajectories.states[i, decisions][:, columns]
    possible = np.stack([_possible(study, i, row) for row in rows])
    decided = policy.decide(states, possible)
    used = [prepared.trajectories.variables.index(name) for name in use.variables]
    return PersonOverTime(
        subject=subject,
        decision=decisions,
        time=tuple(str(study.times[i, row]) for row in rows),
        values=pd.DataFrame(
            {c.variable: [_own_value(study, use, c, i, row) for row in rows] for c in use.columns}
        ),
        filled=prepared.imputed[i, decisions][:, used] != Cell.OBSERVED,
        available=study.available[i, rows],
        done=np.where(study.available[i, rows], study.actions[i, rows], -1),
        recommended=decided.recommended,
        reason=decided.reason,
        margin=decided.margin,
        about=tuple(prepared.trajectories.variable(name).in_own_units() for name in use.variables),
    )


def person_now(
    policy: LearnedPolicy, prepared: PreparedData, subject: str, decision: int
) -> PersonNow:
    """A person's state at a decision, in the table's units, and what could be chosen there."""
    study, use, i = _of(policy, prepared, subject)
    row = decision + study.roles.look_back
    if not (decision >= 0 and row < study.lengths[i]):
        last = study.lengths[i] - study.roles.look_back
        raise DataError(
            f"'{subject}' has no decision {decision + 1}.", f"Choose one from 1 to {last}."
        )
    known = {name: place for place, name in enumerate(prepared.trajectories.variables)}
    origin = prepared.imputed[i, decision]
    ends = [_ends(study, use, column) for column in use.columns]
    action = int(study.actions[i, row]) if study.available[i, row] else -1
    allowed = _possible(study, i, row)
    return PersonNow(
        subject=subject,
        decision=decision,
        time=str(study.times[i, row]),
        values=pd.DataFrame(
            {
                "variable": list(use.variables),
                "value": [_own_value(study, use, c, i, row) for c in use.columns],
                "low": [low for low, _ in ends],
                "high": [high for _, high in ends],
                "whole": [_whole(study, use, c) for c in use.columns],
                "filled": [bool(origin[known[name]] != Cell.OBSERVED) for name in use.variables],
            }
        ),
        possible=tuple(np.array(policy.action_labels, dtype=object)[allowed]),
        done=policy.action_labels[action] if action >= 0 else None,
    )


def explain_person(
    policy: LearnedPolicy,
    prepared: PreparedData,
    values: Mapping[str, float],
    *,
    available: bool | Sequence[str] = True,
) -> PatientExplanation:
    """`explain_patient` for values in the table's units, of the variables that the policy uses.

    The values come back as they were given; where variables were rescaled, the policy works on the
    nearest level, and an average is put back into the table's units.
    """
    study, use = prepared.completed.study, _use(policy, prepared)
    patient = explain_patient(policy, in_policy_units(use, values), available=available)
    about = described(policy.variables, prepared.trajectories.about)
    patient = replace(patient, about=about).in_own_units()
    table = patient.variables
    table = table[table["used"]].reset_index(drop=True)
    ends = {column.variable: _ends(study, use, column) for column in use.columns}
    names = table["variable"].tolist()
    table = table.assign(
        value=[float(values[name]) for name in names],
        low=[ends[name][0] for name in names],
        high=[ends[name][1] for name in names],
    )
    patient = replace(patient, variables=table)
    return replace(patient, warnings=patient.outside_range())


def in_policy_units(use: PointOfUse, values: Mapping[str, float]) -> dict[str, float]:
    """The state by variable; where the study was rescaled, the level nearest to each value."""
    state = {}
    for column in use.columns:
        value = float(values[column.variable])
        unit = use.measured[column.source].unit if column.kind == "value" else None
        if use.levels is not None and unit is not None and np.isfinite(value):
            value = float(nearest_level(to_unit(np.array([value]), unit), use.levels)[0])
        state[column.variable] = value
    return state


def q_intervals(
    policy: LearnedPolicy, prepared: PreparedData, values: Mapping[str, float]
) -> pd.DataFrame:
    """action, q, lower, upper: each action's Q-value with its 95 % interval, NaN without refits."""
    state = _array(policy, in_policy_units(_use(policy, prepared), values))
    features = policy.feature_map.transform(state[None])
    q = policy.q(features)[0]
    error = np.full(len(q), np.nan)
    if len(policy.resampled) > 1:
        error = np.std([each(features)[0] for each in policy.resampled], axis=0, ddof=1)
    width = NORMAL_QUANTILE * error
    return pd.DataFrame(
        {"action": policy.action_labels, "q": q, "lower": q - width, "upper": q + width}
    )


def similar_decisions(
    policy: LearnedPolicy, prepared: PreparedData, values: Mapping[str, float]
) -> Similar | None:
    """What was done in the states most like this one; None if the policy does not know."""
    if policy.support is None:
        return None
    state = _array(policy, in_policy_units(_use(policy, prepared), values))
    features = policy.feature_map.transform(state[None])
    shares, distance = policy.support((features - policy.q.centre) / policy.q.scale)
    by_action = dict(zip(policy.action_labels, shares[0].tolist(), strict=True))
    return Similar(policy.support.neighbours, by_action, float(distance[0]))


def _use(policy: LearnedPolicy, prepared: PreparedData) -> PointOfUse:
    return point_of_use(policy.feature_map.variables_used, prepared)


def _of(
    policy: LearnedPolicy, prepared: PreparedData, subject: str
) -> tuple[Study, PointOfUse, int]:
    """The completed study in its own units, how its variables make states, and whose row it is."""
    study = prepared.completed.study
    if subject not in study.subjects:
        raise DataError(f"There is no subject '{subject}' in the prepared study.")
    return study, _use(policy, prepared), study.subjects.index(subject)


def _array(policy: LearnedPolicy, state: Mapping[str, float]) -> Floats:
    return np.array([state.get(name, np.nan) for name in policy.variables])


def _possible(study: Study, subject: int, row: int) -> NDArray[np.bool_]:
    """(K,): a known probability of exactly 0 rules an action out."""
    return np.asarray((study.probabilities[subject, row] != 0) & study.available[subject, row])


def _place(study: Study, use: PointOfUse, column: StateColumn) -> int:
    names = [v.name for v in study.variables]
    return names.index(use.measured[column.source].name)


def _own_value(study: Study, use: PointOfUse, column: StateColumn, subject: int, row: int) -> float:
    if column.kind == "action":
        return float(study.actions[subject, row - column.lag] == column.source)
    return float(study.values[subject, row - column.lag, _place(study, use, column)])


def _ends(study: Study, use: PointOfUse, column: StateColumn) -> tuple[float, float]:
    if column.kind == "action":
        return 0.0, 1.0
    values = study.values[study.on_grid, _place(study, use, column)]
    return float(values.min()), float(values.max())


def _whole(study: Study, use: PointOfUse, column: StateColumn) -> bool:
    return column.kind == "action" or is_whole(study, _place(study, use, column))

"""A person of the study at one decision, in the units of the table, and what the policy says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.impute import is_whole
from smdp.data.prepare import PreparedData
from smdp.data.problem import Problem
from smdp.data.rescale import nearest_level, to_unit
from smdp.data.study import Cell, Study
from smdp.data.variables import Variable, described
from smdp.errors import DataError
from smdp.explanation.patient_explanation import PatientExplanation, explain_patient
from smdp.explanation.policy_explanation import NORMAL_QUANTILE
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.point_of_use import PointOfUse, StateColumn, level_code, point_of_use
from smdp.result import Content
from smdp.text import listing

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PersonNow(Content):
    """One decision of one person.

    `values` has a row for each variable that the policy uses: variable, value, low, high (the range
    of the whole study), whole (only whole numbers make sense), filled (imputed, not reported). The
    value of a nominal variable is the code of its level; a text has a row for each of its numbers.
    """

    subject: str
    decision: int  # counted from 0 along the trajectory
    time: str  # as in the table
    values: pd.DataFrame
    possible: tuple[str, ...]  # the actions that could be chosen; none where unavailable
    done: str | None  # the action taken; None where none was, or it is not known
    about: tuple[Variable, ...] = ()  # what the variables are


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
    asked = _asked(use)
    used = [prepared.trajectories.variables.index(c.variable) for c in asked]
    return PersonOverTime(
        subject=subject,
        decision=decisions,
        time=tuple(str(study.times[i, row]) for row in rows),
        values=pd.DataFrame(
            {c.asked: [_own_value(study, use, c, i, row) for row in rows] for c in asked}
        ),
        filled=prepared.imputed[i, decisions][:, used] != Cell.OBSERVED,
        available=study.available[i, rows],
        done=np.where(study.available[i, rows], study.actions[i, rows], -1),
        recommended=decided.recommended,
        reason=decided.reason,
        margin=decided.margin,
        about=_about(prepared, use, asked),
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
    asked = _asked(use)
    ends = [_ends(study, use, column) for column in asked]
    action = int(study.actions[i, row]) if study.available[i, row] else -1
    allowed = _possible(study, i, row)
    return PersonNow(
        subject=subject,
        decision=decision,
        time=str(study.times[i, row]),
        values=pd.DataFrame(
            {
                "variable": [c.asked for c in asked],
                "value": [_own_value(study, use, c, i, row) for c in asked],
                "low": [low for low, _ in ends],
                "high": [high for _, high in ends],
                "whole": [_whole(study, use, c) for c in asked],
                "filled": [bool(origin[known[c.variable]] != Cell.OBSERVED) for c in asked],
            }
        ),
        possible=tuple(np.array(policy.action_labels, dtype=object)[allowed]),
        done=policy.action_labels[action] if action >= 0 else None,
        about=_about(prepared, use, asked),
    )


def explain_person(
    policy: LearnedPolicy,
    prepared: PreparedData,
    values: Mapping[str, float | str],
    *,
    available: bool | Sequence[str] = True,
) -> PatientExplanation:
    """`explain_patient` for values in the table's units, of the variables that the policy uses.

    A level is given by its name or its code, a text as it is written or by its numbers. The values
    come back as they were given; where variables were rescaled, the policy works on the nearest
    level, and an average is put back into the table's units. A variable of several columns has one
    row, with the sum of their contributions.
    """
    study, use = prepared.completed.study, _use(policy, prepared)
    values = numbers_of(use, values)
    patient = explain_patient(policy, in_policy_units(use, values), available=available)
    about = described(policy.variables, prepared.trajectories.about)
    patient = replace(patient, about=about).in_own_units()
    table = patient.variables
    table = table[table["used"]].reset_index(drop=True)
    columns = {column.variable: column for column in use.columns}
    ends = {name: _ends(study, use, column) for name, column in columns.items()}
    names = table["variable"].tolist()
    table = table.assign(
        value=[values[columns[name].asked] for name in names],
        low=[ends[name][0] for name in names],
        high=[ends[name][1] for name in names],
    )
    patient = replace(patient, variables=table)
    patient = replace(patient, warnings=_of_numbers(patient))
    return _as_wholes(patient, _about(prepared, use, _asked(use)))


def _of_numbers(patient: PatientExplanation) -> tuple[Problem, ...]:
    """Warnings of values outside the range seen; levels and texts have no range."""
    words = {v.name for v in patient.about if v.whole_kind in ("nominal", "text")}
    return tuple(each for each in patient.outside_range() if each.about not in words)


def _as_wholes(patient: PatientExplanation, asked: Sequence[Variable]) -> PatientExplanation:
    """One row for each variable of several columns, with a text that says what its value is."""
    if not any(each.whole for each in patient.about):
        return patient
    shown = {each.name: each for each in asked}
    columns = {each.name: each for each in patient.about}
    rows, about = [], []
    table = patient.variables.assign(
        whole=[columns[name].belongs_to for name in patient.variables["variable"]]
    )
    for name, own in table.groupby("whole", sort=False):
        first = own.iloc[0].to_dict()
        variable = columns[first["variable"]]
        if variable.whole:
            value, variable = _told(str(name), own, shown.get(str(name)), columns)
            unknown = dict.fromkeys(("average", "low", "high"), np.nan)
            first |= {"variable": name, "value": value, **unknown}
            first["contribution"] = own["contribution"].sum()
        rows.append(first)
        about.append(variable)
    wholes = pd.DataFrame(rows)[list(patient.variables.columns)]
    return replace(patient, variables=wholes, about=tuple(about))


def _told(
    name: str, own: pd.DataFrame, nominal: Variable | None, columns: Mapping[str, Variable]
) -> tuple[float, Variable]:
    """The value of a variable of several columns, and the variable that can say it in words."""
    if nominal is not None:
        return float(own["value"].iloc[0]), nominal
    each = [columns[column] for column in own["variable"]]
    values = own["value"].tolist()
    if each[0].whole_kind == "text":
        said = words_for(each, values)
    else:
        pairs = zip(each, values, strict=True)
        said = ", ".join(f"{v.part} {v.text(value, 3)}" for v, value in pairs)
    return 0.0, Variable(name, kind="nominal", levels=((0.0, said),))


def words_for(numbers: Sequence[Variable], values: Sequence[float]) -> str:
    """What a text is about, by the words of the number of it that is largest."""
    if not any(values):
        return "nothing written"
    largest = int(np.argmax(np.abs(values)))
    sign = -1 if values[largest] < 0 else 1
    words = numbers[largest].words
    speak = [w.lstrip("−") for w in words if (-1 if w.startswith("−") else 1) == sign]
    rather = ", ".join(speak[:3]) or f"{numbers[largest].part} {values[largest]:.2g}"
    return f"rather {rather}" if speak else rather


def numbers_of(use: PointOfUse, values: Mapping[str, float | str]) -> dict[str, float]:
    """The values as numbers: levels by their codes, texts by their numbers."""
    found: dict[str, float] = {}
    for column in use.columns:
        name = column.asked
        given = values.get(column.whole, values.get(name, np.nan))
        if column.kind == "level" and isinstance(given, str):
            variable = use.measured[column.source].variable
            code = level_code(variable, given)
            if np.isnan(code):
                raise DataError(
                    f"'{variable.name}' has no level '{given}'.",
                    f"Its levels are: {listing([text for _, text in variable.levels], 20)}.",
                )
            found[name] = code
        elif column.whole and isinstance(given, str):
            measured = use.measured[column.source].name
            text = next(each for each in use.texts if measured in each.columns)
            found[name] = float(text([given])[0][text.columns.index(measured)])
        else:
            found[name] = float(given)
    return found


def in_policy_units(use: PointOfUse, values: Mapping[str, float | str]) -> dict[str, float]:
    """The state by variable; where the study was rescaled, the level nearest to each value."""
    state = {}
    numbers = numbers_of(use, values)
    for column in use.columns:
        value = numbers[column.asked]
        unit = use.measured[column.source].unit if column.kind == "value" else None
        if column.kind == "level":
            value = float(value == column.level)
        elif use.levels is not None and unit is not None and np.isfinite(value):
            value = float(nearest_level(to_unit(np.array([value]), unit), use.levels)[0])
        state[column.variable] = value
    return state


def q_intervals(
    policy: LearnedPolicy, prepared: PreparedData, values: Mapping[str, float | str]
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
    policy: LearnedPolicy, prepared: PreparedData, values: Mapping[str, float | str]
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


def _asked(use: PointOfUse) -> list[StateColumn]:
    """A column for each value that is shown and asked: of a nominal variable the first."""
    first: dict[str, StateColumn] = {}
    for column in use.columns:
        first.setdefault(column.asked, column)
    return list(first.values())


def _about(
    prepared: PreparedData, use: PointOfUse, asked: Sequence[StateColumn]
) -> tuple[Variable, ...]:
    """What each of these is, in its own units; a nominal variable with its levels."""
    return tuple(
        replace(use.measured[c.source].variable, name=c.asked, lag=c.lag)
        if c.kind == "level"
        else prepared.trajectories.variable(c.variable).in_own_units()
        for c in asked
    )


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
    return column.kind != "value" or is_whole(study, _place(study, use, column))

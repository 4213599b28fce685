"""All that a study measured: states, action and outcome, each by person and decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.data.arrange import guess_kind
from smdp.data.column_roles import NextValue
from smdp.data.outcome import OutcomeKind, recognise_outcome
from smdp.data.study import Study
from smdp.data.to_trajectories import utilities_of
from smdp.data.variables import Variable

#: Columns that are copied together.
AT_A_TIME = 20
MeasuredAs = Literal["background", "state", "action", "outcome"]


@dataclass(frozen=True, eq=False)
class Measurement:
    """One of them. What is background has one value for each person, from the first decision on.

    `values` of the action are its codes, whose names are the variable's levels.
    """

    role: MeasuredAs
    variable: Variable
    values: NDArray[np.float64]  # (n, R), of background (n, 1); NaN where missing
    expected: NDArray[np.bool_]  # of the same shape: where there could have been a value

    @property
    def observed(self) -> NDArray[np.bool_]:
        return np.isfinite(self.values)

    @property
    def named(self) -> bool:
        """Whether its values are codes of names, the variable's levels."""
        return self.role == "action" or self.variable.kind == "nominal"

    @property
    def of_people(self) -> bool:
        """Described over people, not over decisions."""
        return self.role == "background"


@dataclass(frozen=True)
class Place:
    """Where a measurement is found in the study, and what it is."""

    role: MeasuredAs
    variable: Variable
    column: int = -1  # of the states

    @property
    def title(self) -> str:
        """Its name; an outcome may be a state, too, and is then told apart."""
        marked = self.role in ("action", "outcome")
        return f"{self.variable.name} ({self.role})" if marked else self.variable.name


def places(study: Study) -> tuple[Place, ...]:
    """Everything that was measured: first what tells people apart, at last the outcome."""
    lowest = np.fmin.reduce(study.values, axis=1)
    highest = np.fmax.reduce(study.values, axis=1)
    steady = ~(highest > lowest).any(axis=0) & np.isfinite(lowest).any(axis=0)
    states = [
        Place("background" if steady[j] else "state", variable, j)
        for j, variable in enumerate(study.variables)
    ]
    return (
        *(place for place in states if place.role == "background"),
        *(place for place in states if place.role == "state"),
        Place("action", _action(study)),
        Place("outcome", _outcome(study)),
    )


def measured(study: Study, place: Place) -> Measurement:
    if place.role == "action":
        values = np.where(study.actions >= 0, study.actions, np.nan)
        no_choice = study.present & ~study.available
        return Measurement("action", place.variable, values, study.on_grid & ~no_choice)
    if place.role == "outcome":
        return Measurement("outcome", place.variable, outcomes(study), _may_have_outcome(study))
    return _measured_state(study, place, np.ascontiguousarray(study.values[:, :, place.column]))


def every_measurement(study: Study) -> Iterator[Measurement]:
    """In the order of `places`; of a large study, quicker than one by one."""
    found = places(study)
    states = [place for place in found if place.column >= 0]
    for start in range(0, len(states), AT_A_TIME):
        some = states[start : start + AT_A_TIME]
        values = _gathered(study.values, [place.column for place in some])
        yield from (_measured_state(study, *pair) for pair in zip(some, values, strict=True))
    yield from (measured(study, place) for place in found if place.column < 0)


def _gathered(values: NDArray[np.float64], columns: list[int]) -> NDArray[np.float64]:
    """(k, n, R): these columns of (n, R, p), copied in pieces that the processor holds at once."""
    people, decisions, _ = values.shape
    gathered = np.empty((len(columns), people, decisions))
    step = max(1, 1000 // decisions)
    for i in range(0, people, step):
        gathered[:, i : i + step] = values[i : i + step][:, :, columns].transpose(2, 0, 1)
    return gathered


def _measured_state(study: Study, place: Place, own: NDArray[np.float64]) -> Measurement:
    if place.role == "background":
        one = np.fmin.reduce(own, axis=1, keepdims=True)
        return Measurement("background", place.variable, one, np.ones(one.shape, bool))
    return Measurement("state", place.variable, own, study.on_grid)


def measured_outcome(study: Study) -> Measurement:
    return measured(study, Place("outcome", _outcome(study)))


def outcomes(study: Study) -> NDArray[np.float64]:
    """(n, R): what followed each decision, as far as it was observed."""
    return np.where(study.present, utilities_of(study, study.values), np.nan)


def _may_have_outcome(study: Study) -> NDArray[np.bool_]:
    """The last decision has no next value."""
    if not isinstance(study.roles.utility, NextValue):
        return study.on_grid
    return np.arange(study.present.shape[1])[None, :] < study.lengths[:, None] - 1


def _action(study: Study) -> Variable:
    return Variable(
        study.roles.action,
        kind="binary" if len(study.action_labels) == 2 else "ordinal",
        levels=tuple((float(k), label) for k, label in enumerate(study.action_labels)),
        source=study.roles.action,
    )


def _outcome(study: Study) -> Variable:
    """As the state that it is, or that it is the next value of."""
    known = {variable.name: variable for variable in study.variables}
    called = study.roles.outcome_name
    own = known.get(called.column) or Variable(called.name, kind=guess_kind(study.utilities))
    levels = own.levels if called.sign > 0 else ()
    return replace(own, name=called.name, unit=called.unit, levels=levels)


def outcome_kind(study: Study) -> OutcomeKind:
    """As it was said, else as its values look."""
    said = study.roles.outcome.kind
    return said or recognise_outcome(study.roles.outcome_sign * outcomes(study))

"""The state of one person now, from what she has reported so far: what a phone has to do.

In the study a missing value was fitted to the person's whole series, later reports included. At the
point of use there is no later report, so the same local polynomial is fitted to her reports so far;
where she has never reported the variable, the study's median stands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.impute import fitted_limits, is_whole
from smdp.data.local_polynomial import local_polynomial
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.prepare import PreparedData
from smdp.data.rescale import nearest_level, to_unit
from smdp.data.study import Cell, Study
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable, described
from smdp.errors import DataError
from smdp.text import listing

Floats = NDArray[np.float64]
Report = Mapping[str, float | None]  # one decision's values; absent, None or not finite: missing
Origin = Literal["reported", "fitted", "median"]

DIGITS = 10  # significant digits of a fitted value, so that two ways of computing it round alike


@dataclass(frozen=True)
class Measured:
    """One variable as it is asked, in its own units."""

    variable: Variable
    whole: bool  # whether fitted values are whole numbers
    limits: tuple[float, float] | None  # between which fitted values lie
    seen: tuple[float, float] | None  # the range observed in the study; None: not known
    median: float  # of the observed values; whole where fitted values are
    counted: bool = False  # the decision's number, which nobody has to be asked for

    @property
    def name(self) -> str:
        return self.variable.name

    @property
    def unit(self) -> tuple[float, float] | None:
        """The values that become 0 and 1; None where the policy has them as they are."""
        return self.variable.rescaled_from


@dataclass(frozen=True)
class StateColumn:
    """How one variable of the policy's state is made: a value, or whether an action was taken.

    `source` is the place of a measured variable or of an action; `lag` is in decisions.
    """

    variable: str  # its name in the policy's state
    kind: Literal["value", "action"]
    source: int
    lag: int = 0


@dataclass(frozen=True)
class PointOfUse:
    """How reports become the state of a policy."""

    measured: tuple[Measured, ...]
    columns: tuple[StateColumn, ...]  # one for each of the policy's variables
    imputation: ImputationSettings
    levels: Floats | None  # of the ordinal rescaling
    action_labels: tuple[str, ...]
    available: str | None  # the study's column that says whether there is a choice

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(column.variable for column in self.columns)

    @property
    def look_back(self) -> int:
        return max((column.lag for column in self.columns), default=0)


@dataclass(frozen=True)
class StateNow:
    """A state in the policy's units, and where each measured value came from."""

    values: pd.Series  # by variable of the policy
    origins: tuple[Origin, ...]  # of each measured variable, at this decision
    outside: tuple[str, ...]  # measured variables reported now with a value outside those seen


def point_of_use(variables: Sequence[str], data: PreparedData | Trajectories) -> PointOfUse:
    """What turns a person's reports into the state `variables` of a policy learned from `data`.

    Trajectories on their own are taken as they are: every variable is asked for under its name.
    """
    if isinstance(data, Trajectories):
        return _of_trajectories(variables, data)
    study = data.completed.study
    observed = data.completed.origin == Cell.OBSERVED
    as_observed = replace(study, values=np.where(observed, study.values, np.nan))
    _refuse_unknown(variables, data.trajectories.variables)
    made = [_maker(data.trajectories.variable(name), study) for name in variables]
    needed = sorted({column.source for column in made if column.kind == "value"})
    about = described([v.name for v in study.variables], data.trajectories.about)
    return PointOfUse(
        measured=tuple(_measured(as_observed, j, about[j]) for j in needed),
        columns=tuple(
            replace(c, source=needed.index(c.source)) if c.kind == "value" else c for c in made
        ),
        imputation=data.completed.settings,
        levels=data.study.levels,
        action_labels=study.action_labels,
        available=study.roles.available,
    )


def state_now(
    use: PointOfUse, reports: Sequence[Report], actions: Sequence[str | None] = ()
) -> StateNow:
    """The state at the last of the reports, which are one for each decision since the start.

    `actions`: the label of what was done at each earlier decision, None where nothing could be
    done or it is not known; needed only where the policy looks back on actions.
    """
    if len(reports) <= use.look_back:
        raise DataError(
            f"The policy looks back {use.look_back} decisions, but there are only "
            f"{len(reports)} reports.",
            "Give one report for each decision since the start, empty where it was missed.",
        )
    now = len(reports) - 1
    series = [_series(each, reports) for each in use.measured]
    done = [*actions, *[None] * (len(reports) - len(actions))]
    values = [
        float(done[now - column.lag] == use.action_labels[column.source])
        if column.kind == "action"
        else _value(use, use.measured[column.source], series[column.source], now - column.lag)
        for column in use.columns
    ]
    outside = [
        each.name
        for each, own in zip(use.measured, series, strict=True)
        if each.seen is not None and (own[now] < each.seen[0] or own[now] > each.seen[1])
    ]
    origins = tuple(_origin(own) for own in series)
    return StateNow(pd.Series(values, index=list(use.variables)), origins, tuple(outside))


def _series(measured: Measured, reports: Sequence[Report]) -> Floats:
    if measured.counted:
        return np.arange(1.0, len(reports) + 1)
    given = [report.get(measured.name) for report in reports]
    values = np.array([np.nan if value is None else float(value) for value in given])
    return np.where(np.isfinite(values), values, np.nan)


def _origin(series: Floats) -> Origin:
    if not np.isnan(series[-1]):
        return "reported"
    return "median" if np.isnan(series).all() else "fitted"


def _value(use: PointOfUse, measured: Measured, series: Floats, at: int) -> float:
    """The variable at a decision, filled in where it is missing, in the policy's units."""
    value = series[at] if not np.isnan(series[at]) else _filled(use, measured, series, at)
    if use.levels is None or measured.unit is None:
        return float(value)
    return float(nearest_level(to_unit(np.array([value]), measured.unit), use.levels)[0])


def _filled(use: PointOfUse, measured: Measured, series: Floats, at: int) -> float:
    observed = series[~np.isnan(series)]
    if not observed.size:
        return measured.median
    value = float(observed[0])
    if observed.min() < observed.max():
        how = use.imputation
        decisions = np.arange(series.size)
        fit = local_polynomial(decisions, series, [at], span=how.span, degree=how.degree)
        low, high = measured.limits or (-np.inf, np.inf)
        value = float(f"{np.clip(fit[0], low, high):.{DIGITS}g}")
    return float(np.rint(value)) if measured.whole else value


def _maker(variable: Variable, study: Study) -> StateColumn:
    """How a variable of the trajectories is made of what the study measured and did."""
    if variable.comes_from == "action":
        place = study.action_labels.index(variable.action)
        return StateColumn(variable.name, "action", place, variable.lag)
    place = [each.name for each in study.variables].index(variable.column)
    return StateColumn(variable.name, "value", place, variable.lag)


def _measured(study: Study, column: int, variable: Variable) -> Measured:
    return _summary(
        variable,
        study.values[:, :, column],
        is_whole(study, column),
        fitted_limits(study, column),
        variable.comes_from == "decision number",
    )


def _of_trajectories(variables: Sequence[str], data: Trajectories) -> PointOfUse:
    _refuse_unknown(variables, list(data.variables))
    states = data.select(variables).states
    measured = []
    for j, name in enumerate(variables):
        values = states[:, :, j]
        ends = float(np.nanmin(values)), float(np.nanmax(values))
        measured.append(_summary(data.variable(name).as_held(), values, False, ends, False))
    return PointOfUse(
        measured=tuple(measured),
        columns=tuple(StateColumn(name, "value", j) for j, name in enumerate(variables)),
        imputation=ImputationSettings(),
        levels=None,
        action_labels=data.action_labels,
        available=None,
    )


def _summary(
    variable: Variable,
    values: Floats,
    whole: bool,
    limits: tuple[float, float],
    counted: bool,
) -> Measured:
    median = float(np.clip(np.nanmedian(values), *limits))
    seen = float(np.nanmin(values)), float(np.nanmax(values))
    return Measured(
        variable, whole, limits, seen, float(np.rint(median)) if whole else median, counted
    )


def _refuse_unknown(variables: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in variables if name not in known]
    if unknown:
        raise DataError(
            f"The policy was learned with the variable {listing(unknown)}, which this study does "
            "not have.",
            f"Give the study that it was learned from. This one has: {listing(known, 20)}.",
        )

"""The state of one person now, from what she has reported so far: what a phone has to do.

In the study a missing value was fitted to the person's whole series, later reports included. At the
point of use there is no later report, so the same local polynomial is fitted to her reports so far;
where she has never reported the variable, the study's median stands in. A level that is missing is
her last one, without any the study's most frequent; a text that is missing has no words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.columns import level_text
from smdp.data.impute import fitted_limits, is_whole
from smdp.data.local_polynomial import local_polynomial
from smdp.data.nominal import OTHER, filled_level
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.prepare import PreparedData
from smdp.data.rescale import nearest_level, to_unit
from smdp.data.study import Cell, Study
from smdp.data.text_embedding import TextEmbedding
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable, described
from smdp.errors import DataError
from smdp.text import listing

Floats = NDArray[np.float64]
#: One decision's values: numbers, names of levels, texts; absent, None or not finite: missing.
Report = Mapping[str, float | str | None]
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
    """How one variable of the policy's state is made.

    A value, whether a nominal variable has a level, or whether an action was taken. `source` is the
    place of a measured variable or of an action; `lag` is in decisions.
    """

    variable: str  # its name in the policy's state
    kind: Literal["value", "level", "action"]
    source: int
    lag: int = 0
    level: int = -1  # of a level: its code
    whole: str = ""  # of a level or a number of a text: the variable that it is part of

    @property
    def asked(self) -> str:
        """The name under which its value is shown and asked: that of the nominal variable."""
        return self.whole if self.kind == "level" else self.variable


@dataclass(frozen=True)
class PointOfUse:
    """How reports become the state of a policy."""

    measured: tuple[Measured, ...]
    columns: tuple[StateColumn, ...]  # one for each of the policy's variables
    imputation: ImputationSettings
    levels: Floats | None  # of the ordinal rescaling
    action_labels: tuple[str, ...]
    available: str | None  # the study's column that says whether there is a choice
    texts: tuple[TextEmbedding, ...] = ()  # that become numbers

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
    needed = sorted({column.source for column in made if column.kind != "action"})
    nominal = [v for v in study.variables if v.kind == "nominal"]
    about = described([v.name for v in study.variables], (*data.trajectories.about, *nominal))
    texts = {about[j].whole for j in needed if about[j].whole_kind == "text"}
    return PointOfUse(
        measured=tuple(_measured(as_observed, j, about[j]) for j in needed),
        columns=tuple(
            replace(c, source=needed.index(c.source)) if c.kind != "action" else c for c in made
        ),
        imputation=data.completed.settings,
        levels=data.study.levels,
        action_labels=study.action_labels,
        available=study.roles.available,
        texts=tuple(each for each in study.embeddings if each.name in texts),
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
    given = [_with_numbers_of_texts(use.texts, report) for report in reports]
    series = [_series(each, given) for each in use.measured]
    done = [*actions, *[None] * (len(reports) - len(actions))]

    def state_of(column: StateColumn) -> float:
        at, source = now - column.lag, column.source
        if column.kind == "action":
            return float(done[at] == use.action_labels[source])
        value = _value(use, use.measured[source], series[source], at)
        return float(value == column.level) if column.kind == "level" else value

    values = [state_of(column) for column in use.columns]
    outside = [
        each.name
        for each, own in zip(use.measured, series, strict=True)
        if _is_outside(each, given[now], own[now])
    ]
    origins = tuple(_origin(own) for own in series)
    return StateNow(pd.Series(values, index=list(use.variables)), origins, tuple(outside))


def _series(measured: Measured, reports: Sequence[Report]) -> Floats:
    if measured.counted:
        return np.arange(1.0, len(reports) + 1)
    given = [report.get(measured.name) for report in reports]
    if measured.variable.kind == "nominal":
        return np.array([level_code(measured.variable, value) for value in given])
    values = np.array([np.nan if value is None else float(value) for value in given])
    return np.where(np.isfinite(values), values, np.nan)


def level_code(variable: Variable, value: object) -> float:
    """The code of a level that is called so; 'other' if the study did not have it; NaN if none."""
    if value is None or value != value:
        return np.nan
    codes = {name: code for code, name in variable.levels}
    return codes.get(level_text(value), codes.get(OTHER, np.nan))


def _with_numbers_of_texts(texts: Sequence[TextEmbedding], report: Report) -> Report:
    found = dict(report)
    for each in texts:
        text = report.get(each.name)
        if isinstance(text, str):
            found |= dict(zip(each.columns, each([text])[0].tolist(), strict=True))
    return found


def _is_outside(measured: Measured, report: Report, value: float) -> bool:
    if measured.variable.kind == "nominal":
        return np.isnan(value) and report.get(measured.name) is not None
    if measured.seen is None or measured.variable.whole_kind == "text":
        return False
    return bool(value < measured.seen[0] or value > measured.seen[1])


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
    if not observed.size or measured.variable.whole_kind == "text":
        return measured.median
    if measured.variable.kind == "nominal":
        return filled_level(series, at)
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
    if variable.whole_kind == "nominal":
        code = [name for _, name in study.variables[place].levels].index(variable.part)
        return StateColumn(variable.name, "level", place, variable.lag, code, variable.whole)
    whole = variable.whole if variable.whole_kind == "text" else ""
    return StateColumn(variable.name, "value", place, variable.lag, whole=whole)


def _measured(study: Study, column: int, variable: Variable) -> Measured:
    if variable.kind == "nominal":
        codes = study.values[:, :, column]
        seen = np.bincount(codes[np.isfinite(codes)].astype(np.int64))
        return Measured(variable, False, None, None, float(seen.argmax()))
    if variable.whole_kind == "text":
        return Measured(variable, False, None, None, 0.0)
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

"""Filling in missing state values from each subject's own series."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.exclude import unobserved_variables, varies_over_time
from smdp.data.local_polynomial import Floats, local_polynomial
from smdp.data.nominal import filled_level
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.study import Cell, Study
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.progress import Progress, silent
from smdp.text import listing

_DEFAULT = ImputationSettings()


def impute(
    study: Study, settings: ImputationSettings = _DEFAULT, *, progress: Progress | None = None
) -> tuple[Study, NDArray[np.uint8]]:
    """Give each missing state cell the fitted value of that subject's variable at its decision.

    The study, complete within each trajectory, and (n, R, p) the `Cell` code of each value.

    The fit is `local_polynomial` of the subject's observed values on the decision number. Fitted
    values are clipped to the variable's declared range, else to the one observed in the study,
    and rounded to whole numbers (halves to even) where the variable is ordinal or binary and all
    its observed values are whole. A series with one value only is carried, not fitted. Observed
    cells are left as they are.

    A nominal variable has no polynomial: its missing value is the subject's last one before, or
    before the first one the most frequent (`filled_level`). A text that is missing is one without
    words.

    Cells before a series' first or after its last observation are marked `EXTRAPOLATED`, except
    in variables that are constant within every subject.
    """
    report = progress or silent
    _refuse_unobserved(study)
    limits = [fitted_limits(study, column) for column in range(len(study.variables))]
    whole = [is_whole(study, column) for column in range(len(study.variables))]
    values = study.values.copy()
    missing = study.missing
    for index, subject in enumerate(study.subjects):
        report(index / len(study.subjects), f"Imputing subject {subject}")
        for column in np.flatnonzero(missing[index].any(axis=0)).tolist():
            rows = np.flatnonzero(missing[index, :, column])
            series, variable = _series(study, index, column), study.variables[column]
            fitted = _fitted(series, rows, settings, limits[column], variable)
            values[index, rows, column] = np.rint(fitted) if whole[column] else fitted
    report(1.0, "Imputed")
    return replace(study, values=values), _origin(study)


def imputed_series(
    study: Study, index: int, column: int, settings: ImputationSettings = _DEFAULT
) -> tuple[Floats, NDArray[np.uint8]]:
    """One subject's variable as `impute` would complete it: its values and their `Cell` codes."""
    series = _series(study, index, column).copy()
    if np.isnan(series).all():
        raise _unobserved_error([_series_name(study, index, column)])
    rows = np.flatnonzero(np.isnan(series))
    limits = fitted_limits(study, column)
    fitted = _fitted(series, rows, settings, limits, study.variables[column])
    series[rows] = np.rint(fitted) if is_whole(study, column) else fitted
    return series, _origin(study)[index, : series.size, column]


def fitted_curve(
    study: Study,
    subject_index: int,
    variable_index: int,
    settings: ImputationSettings = _DEFAULT,
    points: int = 200,
) -> tuple[Floats, Floats]:
    """The curve that a series' missing values are read from: decision positions, fitted values.

    Clipped to the variable's range as in `impute`, not rounded.
    """
    series = _series(study, subject_index, variable_index)
    if np.isnan(series).all():
        raise _unobserved_error([_series_name(study, subject_index, variable_index)])
    positions = np.linspace(0, max(series.size - 1, 0), points)
    limits = fitted_limits(study, variable_index)
    variable = study.variables[variable_index]
    if variable.kind == "nominal":
        positions = np.arange(float(series.size))
    return positions, _fitted(series, positions, settings, limits, variable)


def value_range(variable: Variable, values: Floats) -> tuple[float, float]:
    """The declared ends of the variable's range, each else the end of the observed values."""
    if variable.rescaled_from is not None:
        return 0.0, 1.0
    observed = values[~np.isnan(values)]
    low = variable.low
    if low is None:
        low = float(observed.min(initial=np.inf if variable.high is None else variable.high))
    high = variable.high
    if high is None:
        high = float(observed.max(initial=low))
    return low, high


def _series(study: Study, index: int, column: int) -> Floats:
    """The subject's values of the variable, one for each decision of its trajectory."""
    return study.values[index, : study.lengths[index], column]


def _fitted(
    series: Floats,
    at: NDArray[np.generic],
    settings: ImputationSettings,
    limits: tuple[float, float],
    variable: Variable,
) -> Floats:
    """Fitted values of the series at these decisions, within the limits."""
    if variable.kind == "nominal":
        return np.array([filled_level(series, int(place)) for place in at])
    if variable.whole_kind == "text":
        return np.zeros(at.shape)
    observed = series[~np.isnan(series)]
    if observed.min() == observed.max():
        return np.full(at.shape, observed[0])
    decisions = np.arange(series.size)
    fit = local_polynomial(decisions, series, at, span=settings.span, degree=settings.degree)
    return np.clip(fit, *limits)


def is_whole(study: Study, column: int) -> bool:
    """Whether imputed values of the variable are to be whole numbers."""
    values = study.values[:, :, column]
    observed = values[~np.isnan(values)]
    return study.variables[column].kind in ("ordinal", "binary") and bool(
        (observed == np.rint(observed)).all()
    )


def fitted_limits(study: Study, column: int) -> tuple[float, float]:
    """Between which values a fitted value of the variable must lie."""
    low, high = value_range(study.variables[column], study.values[:, :, column])
    if is_whole(study, column) and np.ceil(low) <= np.floor(high):
        # Rounding must not lead out of a range that does not end in whole numbers.
        return float(np.ceil(low)), float(np.floor(high))
    return low, high


def _origin(study: Study) -> NDArray[np.uint8]:
    """(n, R, p): where the value of each cell of the completed study comes from."""
    grid = study.on_grid[:, :, None]
    observed = grid & ~np.isnan(study.values)
    begun = np.logical_or.accumulate(observed, axis=1)
    still_to_come = np.logical_or.accumulate(observed[:, ::-1], axis=1)[:, ::-1]
    inside = (begun & still_to_come) | ~varies_over_time(study)
    filled = np.where(inside, Cell.IMPUTED, Cell.EXTRAPOLATED)
    return np.where(grid, np.where(observed, Cell.OBSERVED, filled), Cell.ABSENT).astype(np.uint8)


def _refuse_unobserved(study: Study) -> None:
    """Raise for series without a single observed value: nothing can be fitted to them."""
    empty = [
        _series_name(study, index, column)
        for index, columns in unobserved_variables(study).items()
        for column in columns
    ]
    if empty:
        raise _unobserved_error(empty)


def _series_name(study: Study, index: int, column: int) -> str:
    return f"'{study.variables[column].name}' of subject {study.subjects[index]}"


def _unobserved_error(series: list[str]) -> DataError:
    return DataError(
        f"There is no observed value at all of {listing(series)}.",
        "Leave the variable out of the state variables, or leave out the subjects who lack it "
        "(unobserved='exclude').",
    )

"""Ordinal rescaling: every state variable on the levels of one reference variable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smdp.data.impute import value_range
from smdp.data.local_polynomial import Floats
from smdp.data.preparation_settings import RescalingSettings
from smdp.data.study import Study
from smdp.data.variables import Variable
from smdp.errors import DataError, SettingError
from smdp.text import listing

_DEFAULT = RescalingSettings()

#: A reference whose levels begin above this makes too many values of other variables the same.
LOW_LEVEL = 0.1


def unique_counts(study: Study) -> dict[str, int]:
    """How many different values each variable that could be the reference has when completed.

    Levels that are words have no order, and numbers made of a text no unit: neither can be.
    """
    return {
        variable.name: int(np.unique(_completed(study, column)).size)
        for column, variable in enumerate(study.variables)
        if variable.kind != "nominal" and variable.whole_kind != "text"
    }


def default_reference(study: Study) -> str:
    """The variable with the most unique values, of those whose levels reach down to 0 or nearly.

    Of all variables if there is none: below the lowest level, all values become the same.
    """
    counts = unique_counts(study)
    low_enough = {}
    for column, variable in enumerate(study.variables):
        if variable.name not in counts:
            continue
        values = _completed(study, column)
        lowest = to_unit(values, _range(variable, values, is_reference=True)).min()
        if lowest <= LOW_LEVEL and counts[variable.name] > 2:
            low_enough[variable.name] = counts[variable.name]
    candidates = low_enough or counts
    if not candidates:
        raise DataError(
            "No state variable is a number of its own, so there are no levels to move others to.",
            "Leave the rescaling out.",
        )
    return max(candidates, key=candidates.__getitem__)


def rescale(study: Study, settings: RescalingSettings = _DEFAULT) -> Study:
    """Move every state variable of a completed study to the levels of the reference variable.

    The reference is divided by its maximum (declared, else observed in the completed data), or
    rescaled to [0, 1] by its range if it has negative values; its unique rescaled values are the
    levels. Any other variable x becomes the level nearest to (x - low) / (high - low), with the
    declared or observed range; halfway between two levels, the lower. Values outside a declared
    range count as its nearer end. Nominal variables stay as they are: a level is there or not.

    Reference: Wang, Laber & Witkiewitz, supplement, "How the variables are partitioned".
    """
    counts = unique_counts(study)
    reference = default_reference(study) if settings.reference is None else settings.reference
    if reference not in counts:
        raise SettingError(
            f"The setting 'reference' names '{reference}', which is not a state variable.",
            f"Choose one of: {listing(counts, 20)}.",
        )
    ranges = {
        variable.name: _range(variable, _completed(study, column), variable.name == reference)
        for column, variable in enumerate(study.variables)
    }
    place = [variable.name for variable in study.variables].index(reference)
    levels = np.unique(to_unit(_completed(study, place), ranges[reference]))
    if levels.size < 2:
        low, high = ranges[reference]
        raise DataError(
            f"The reference variable '{reference}' has a single value within its range "
            f"{low:g} to {high:g}, so there are no levels to move the others to.",
            "Choose a reference variable with several values, or leave the rescaling out.",
        )
    values = study.values.copy()
    for column, variable in enumerate(study.variables):
        if variable.kind == "nominal":
            continue
        unit = to_unit(_completed(study, column), ranges[variable.name])
        values[study.on_grid, column] = nearest_level(unit, levels)
    return replace(
        study,
        values=values,
        variables=tuple(_moved(v, ranges[v.name]) for v in study.variables),
        reference=reference,
        levels=levels,
    )


def _moved(variable: Variable, ends: tuple[float, float]) -> Variable:
    if variable.kind == "nominal":
        return variable
    low, high = ends
    return replace(variable, rescaled_from=(variable.own(low), variable.own(high)))


def _completed(study: Study, column: int) -> Floats:
    """The variable's values within the trajectories, of all subjects."""
    return study.values[study.on_grid, column]


def _range(variable: Variable, values: Floats, is_reference: bool) -> tuple[float, float]:
    """The values that become 0 and 1."""
    low, high = value_range(variable, values)
    if is_reference and values.min() >= 0 and high > 0:
        return 0.0, high
    return low, high


def to_unit(values: Floats, ends: tuple[float, float]) -> Floats:
    """The values with `ends` moved to 0 and 1, and clipped to them; 0 if the ends are the same."""
    low, high = ends
    if low == high:
        return np.zeros_like(values)
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def nearest_level(unit: Floats, levels: Floats) -> Floats:
    """The level nearest to each value; the lower one halfway, whatever the rounding error."""
    return levels[np.searchsorted(level_boundaries(levels), unit)]


def level_boundaries(levels: Floats) -> Floats:
    """(L - 1,): the largest value that still belongs to each level but the last."""
    lower, upper = levels[:-1], levels[1:]
    halfway = lower + (0.5 + 1e-9) * (upper - lower)
    # Levels one rounding error apart: a value that is a level must stay there.
    return np.minimum(halfway, np.nextafter(upper, lower))

"""Cutting a completed study into transitions, with lags where a look-back is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.column_roles import NextValue
from smdp.data.impute import value_range
from smdp.data.study import Cell, Study
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable, changing, earlier_action
from smdp.errors import DataError
from smdp.text import listing


def to_trajectories(
    study: Study,
    own_units: NDArray[np.float64],
    origin: NDArray[np.uint8],
    *,
    followed: bool = True,
    changing_ones: Sequence[bool] | None = None,
) -> tuple[Trajectories, NDArray[np.uint8]]:
    """Trajectories of a completed study, and the origin of each of their state cells.

    A transition is valid when the table has both its rows, its action is known or could not be
    taken, and its utility is known. A utility that is a state's next value is in that variable's
    `own_units` (n, R, p), whatever the states were rescaled to. Without `followed`, a decision
    needs no next row: each person's last one counts too, if its utility is known.
    `changing_ones`: (p,) which variables count as changing, where another study has settled that.
    """
    if not followed:
        study, own_units, origin = _with_closing_row(study, own_units, origin)
    lags = study.roles.look_back
    check_look_back(lags, study.values.shape[1])
    utilities = utilities_of(study, own_units)[:, :-1]
    both_rows = study.present[:, :-1] & (study.present[:, 1:] | (not followed))
    known = (study.actions[:, :-1] >= 0) | ~study.available[:, :-1]
    valid = both_rows & known & np.isfinite(utilities)
    states, origin, about = _in_columns(
        study.values, origin, _measured(study, own_units, changing_ones)
    )
    names = [variable.name for variable in about]
    if lags:
        states, origin, about, remembered = _with_lags(study, states, about, origin)
        names = [variable.name for variable in about]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        adds = "The look-back" if lags else "A variable of several columns"
        raise DataError(
            f"{adds} adds variables that the table has already: {listing(twice)}.",
            "Leave these columns out of the state variables, or rename them.",
        )
    if lags:
        valid = valid & remembered[:, :-1] & (remembered[:, 1:] | (not followed))
        if not valid[:, lags:].any():
            raise DataError(
                f"With a look-back of {lags} no transition is complete.",
                "Choose a smaller look-back.",
            )
    elif not valid.any():
        raise DataError(
            "No transition has both its rows, an action and a utility.",
            "Check the roles of the time, action and utility columns.",
        )
    trajectories = Trajectories(
        states=states[:, lags:],
        actions=np.where(study.available, study.actions, -1)[:, lags:-1],
        utilities=np.where(both_rows, utilities, np.nan)[:, lags:],
        valid=valid[:, lags:],
        available=study.available[:, lags:-1],
        probabilities=study.probabilities[:, lags:-1],
        variables=tuple(names),
        subjects=study.subjects,
        action_labels=study.action_labels,
        about=tuple(about),
    )
    return trajectories, origin[:, lags:]


def _with_closing_row(
    study: Study, own_units: NDArray[np.float64], origin: NDArray[np.uint8]
) -> tuple[Study, NDArray[np.float64], NDArray[np.uint8]]:
    """With a decision after the last one of which nothing is known, so that the last one counts."""

    def longer(values: NDArray, empty: object) -> NDArray:
        closing = np.full((len(values), 1, *values.shape[2:]), empty, dtype=values.dtype)
        return np.concatenate([values, closing], axis=1)

    closed = replace(
        study,
        values=longer(study.values, np.nan),
        present=longer(study.present, False),
        actions=longer(study.actions, -1),
        utilities=longer(study.utilities, np.nan),
        available=longer(study.available, False),
        probabilities=longer(study.probabilities, np.nan),
        times=longer(study.times, ""),
    )
    return closed, longer(own_units, np.nan), longer(origin, Cell.ABSENT)


def check_look_back(lags: int, decisions: int) -> None:
    """Refuse a look-back that leaves no transition even of the longest subject."""
    if decisions - lags < 2:
        raise DataError(
            f"A look-back of {lags} leaves no transition: the longest subject has {decisions} "
            "decisions.",
            "Choose a smaller look-back.",
        )


def utilities_of(study: Study, own_units: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, R): the utility of each decision, NaN where it is not known."""
    utility = study.roles.utility
    if not isinstance(utility, NextValue):
        return study.utilities
    column = [v.name for v in study.variables].index(utility.variable)
    shifted = np.full(study.utilities.shape, np.nan)
    shifted[:, :-1] = utility.sign * own_units[:, 1:, column]
    return shifted


def _measured(
    study: Study, own_units: NDArray[np.float64], moving: Sequence[bool] | None
) -> list[Variable]:
    """The study's variables, each with the range that it has in its own units."""
    moving = changing(study.values).tolist() if moving is None else moving
    found = []
    for j, variable in enumerate(study.variables):
        low, high = value_range(variable.in_own_units(), own_units[study.on_grid, j])
        found.append(replace(variable, low=low, high=high, changes=bool(moving[j])))
    return found


def _in_columns(
    values: NDArray[np.float64], origin: NDArray[np.uint8], about: list[Variable]
) -> tuple[NDArray[np.float64], NDArray[np.uint8], list[Variable]]:
    """With a column of 0 and 1 for each level but the first of a nominal variable."""
    if all(variable.kind != "nominal" for variable in about):
        return values, origin, about
    columns: list[NDArray[np.float64]] = []
    places: list[int] = []
    found: list[Variable] = []
    for j, variable in enumerate(about):
        own = values[:, :, j]
        if variable.kind == "nominal":
            there = [np.where(np.isnan(own), np.nan, own == k) for k, _ in variable.levels[1:]]
            columns += there
            places += [j] * len(there)
            found += variable.level_columns()
        else:
            columns.append(own)
            places.append(j)
            found.append(variable)
    return np.stack(columns, axis=2), origin[:, :, places], found


def _with_lags(
    study: Study,
    values: NDArray[np.float64],
    about: list[Variable],
    origin: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], NDArray[np.uint8], list[Variable], NDArray[np.bool_]]:
    """States widened by their own and the action's earlier values; baseline has no lags.

    Also (n, R): whether every earlier action that was added is known.
    """
    moving = [j for j, variable in enumerate(about) if variable.changes]
    several = len(study.action_labels) > 2
    widened_by = []
    blocks, origins = [values], [origin]
    inside = study.on_grid
    remembered = np.ones(inside.shape, bool)
    for lag in range(1, study.roles.look_back + 1):
        if lag <= study.roles.lags:
            blocks.append(_shift(values[:, :, moving], lag, np.nan))
            origins.append(_shift(origin[:, :, moving], lag, Cell.ABSENT))
            widened_by += [about[j].back(lag) for j in moving]
        for k, label in list(enumerate(study.action_labels))[1:]:
            taken = (study.actions == k).astype(float)[:, :, None]
            blocks.append(_shift(taken, lag, np.nan))
            origins.append(_shift(np.zeros(taken.shape, np.uint8), lag, Cell.ABSENT))
            widened_by.append(earlier_action(study.roles.action, label, lag, named=several))
        known = study.present & ((study.actions >= 0) | ~study.available)
        remembered &= _shift(known[:, :, None], lag, False)[:, :, 0]
    states = np.concatenate(blocks, axis=2)
    states[~inside] = np.nan
    widened = np.concatenate(origins, axis=2)
    widened[~inside] = Cell.ABSENT
    return states, widened, [*about, *widened_by], remembered | ~inside


def _shift(values: NDArray, lag: int, empty: object) -> NDArray:
    shifted = np.full_like(values, empty)
    shifted[:, lag:] = values[:, :-lag]
    return shifted

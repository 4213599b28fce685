"""What is wrong or remarkable in a table under given roles, all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import ColumnRoles, StateVariable
from smdp.data.columns import flags, level_text, numbers, sorted_levels, two_words, unique_finite
from smdp.data.decisions import decision_index
from smdp.data.missing_codes import suspected_codes
from smdp.data.problem import Problem
from smdp.errors import DataError, listing, shorten

MOST_ACTIONS = 12


def find_problems(frame: pd.DataFrame, roles: ColumnRoles) -> tuple[Problem, ...]:
    """Every finding, errors first; with an error the study cannot be arranged."""
    absent = [name for name in roles.columns() if name not in frame.columns]
    if absent:
        return (
            Problem(
                "error",
                absent[0],
                f"The table has no column {listing([repr(a) for a in absent])}.",
                f"Its columns are: {listing(frame.columns, 12)}.",
            ),
        )
    found = [
        *_subjects_and_times(frame, roles),
        *_actions(frame, roles),
        *_states(frame, roles),
        *_utility(frame, roles),
        *_availability(frame, roles),
        *_probabilities(frame, roles),
    ]
    rank = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda p: rank[p.severity]))


def raise_first_error(problems: tuple[Problem, ...]) -> None:
    """The first error as an exception that says how many more there are."""
    errors = [p for p in problems if p.severity == "error"]
    if errors:
        more = f" ({len(errors) - 1} more problems)" if len(errors) > 1 else ""
        raise DataError(errors[0].message + more, errors[0].remedy)


def observed_levels(frame: pd.DataFrame, roles: ColumnRoles) -> list[str]:
    """The action's levels where an action could be taken, in their natural order."""
    taken = frame[roles.action]
    if roles.available is not None and roles.available in frame.columns:
        taken = taken[flags(frame[roles.available])[0] == 1]
    return sorted_levels({level_text(v) for v in taken.dropna().unique()})


def _rows(positions: NDArray[np.int64]) -> str:
    return f"data row{'s' if len(positions) > 1 else ''} {listing(positions + 1)}"


def _subjects_and_times(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    subject = frame[roles.subject]
    missing = np.flatnonzero(subject.isna().to_numpy())
    if len(missing):
        yield Problem(
            "error",
            roles.subject,
            f"The subject column '{roles.subject}' is empty in {_rows(missing)}.",
            "Fill in who these rows belong to or delete them.",
        )
        return
    codes, names = pd.factorize(subject.map(level_text))
    if len(names) < 2:
        yield Problem(
            "error",
            roles.subject,
            f"The subject column '{roles.subject}' has only one value.",
            "A study needs several subjects; choose the column that tells them apart.",
        )
        return
    try:
        index = decision_index(codes, frame[roles.time]).index
    except DataError as error:
        yield Problem("error", roles.time, error.problem, error.remedy)
        return
    pairs = pd.DataFrame({"subject": codes, "decision": index})
    twice = np.flatnonzero(pairs.duplicated(keep=False).to_numpy())
    if len(twice):
        examples = [
            f"subject {names[codes[i]]} at {shorten(frame[roles.time].iloc[i], 20)} "
            f"(data row {i + 1})"
            for i in twice
        ]
        yield Problem(
            "error",
            roles.time,
            f"{len(twice)} rows share their subject and time with another row: "
            f"{listing(examples, 3)}.",
            "Keep one row for each subject and time, or choose a time that tells them apart.",
        )
    counts = np.bincount(codes)
    lonely = [str(names[i]) for i in np.flatnonzero(counts == 1)]
    if len(lonely) == len(names):
        yield Problem(
            "error",
            roles.subject,
            f"Every value of '{roles.subject}' has one row only.",
            "Choose the column that repeats for each subject, or turn a wide table long.",
        )
    elif lonely:
        yield Problem(
            "warning",
            roles.subject,
            f"One row only for {listing(lonely)}: there is no next state, so they are left out.",
        )


def _actions(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    levels = observed_levels(frame, roles)
    if roles.action_levels is not None:
        unknown = [level for level in levels if level not in roles.action_levels]
        if unknown:
            yield Problem(
                "error",
                roles.action,
                f"The action column '{roles.action}' holds levels that are not listed: "
                f"{listing(unknown)}.",
                "Add them to the action's levels or mark them as missing codes.",
            )
    if len(levels) < 2:
        only = f"only the level '{levels[0]}'" if levels else "no value"
        yield Problem(
            "error",
            roles.action,
            f"The action column '{roles.action}' has {only} where an action could be taken.",
            "An analysis compares two or more actions; choose another column.",
        )
    elif len(levels) > MOST_ACTIONS:
        yield Problem(
            "error",
            roles.action,
            f"The action column '{roles.action}' has {len(levels)} levels ({listing(levels, 4)}); "
            f"at most {MOST_ACTIONS} can be compared.",
            "Choose the column that holds the treatment, or group its levels.",
        )


def _states(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    suspects = suspected_codes(frame[list(roles.state_names)])
    for variable in roles.variables:
        yield from _one_state(frame[variable.name], variable, suspects)


def _one_state(
    column: pd.Series, variable: StateVariable, suspects: Mapping[str, list[float]]
) -> Iterator[Problem]:
    name = variable.name
    values, bad = numbers(column)
    if len(bad):
        shown = [f"'{shorten(column.iloc[i], 30)}' in data row {i + 1}" for i in bad]
        yield Problem(
            "error",
            name,
            f"The state variable '{name}' holds text in {len(bad)} of {len(column)} rows: "
            f"{listing(shown, 3)}.",
            "Replace it by numbers, mark it as a missing code, or leave the variable out.",
        )
        return
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        yield Problem(
            "error",
            name,
            f"The state variable '{name}' is infinite in {_rows(infinite)}.",
            "Correct these values or mark them as missing codes.",
        )
        return
    distinct = unique_finite(values)
    if len(distinct) == 0:
        yield Problem("error", name, f"The state variable '{name}' has no value.", "Leave it out.")
        return
    if len(distinct) == 1:
        yield Problem(
            "warning",
            name,
            f"The state variable '{name}' is {distinct[0]:g} everywhere: "
            "it cannot help to choose a treatment.",
            "Leave it out.",
        )
    words = two_words(column)
    if words:
        yield Problem("note", name, f"'{name}': {words[0]} is read as 0, {words[1]} as 1.")
    low, high = variable.low, variable.high
    outside = np.flatnonzero(
        (values < (-np.inf if low is None else low)) | (values > (np.inf if high is None else high))
    )
    if len(outside):
        shown = [f"{values[i]:g} in data row {i + 1}" for i in outside]
        limits = (
            f"{'any' if low is None else f'{low:g}'} to {'any' if high is None else f'{high:g}'}"
        )
        yield Problem(
            "error",
            name,
            f"{len(outside)} values of '{name}' lie outside its declared range {limits}: "
            f"{listing(shown, 3)}.",
            "Widen the range, correct the values or mark them as missing codes.",
        )
    if suspects.get(name):
        codes = listing([f"{c:g}" for c in suspects[name]])
        yield Problem(
            "warning",
            name,
            f"'{name}' holds {codes}, far from its other values "
            f"({_usual(distinct, suspects[name])}).",
            f"If {codes} means missing, enter it as a missing code of '{name}'.",
        )


def _usual(distinct: NDArray[np.float64], codes: list[float]) -> str:
    usual = distinct[~np.isin(distinct, codes)]
    return f"{usual.min():g} to {usual.max():g}" if len(usual) else "none"


def _utility(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    if not isinstance(roles.utility, str):
        return
    name = roles.utility
    values, bad = numbers(frame[name])
    if len(bad) or np.isinf(values).any():
        wrong = bad if len(bad) else np.flatnonzero(np.isinf(values))
        yield Problem(
            "error",
            name,
            f"The utility '{name}' is no finite number in {_rows(wrong)}.",
            "Correct these values, mark them as missing codes or choose another utility.",
        )
    elif len(unique_finite(values)) < 2:
        yield Problem(
            "error", name, f"The utility '{name}' does not vary.", "Choose another utility."
        )
    elif np.isnan(values).any():
        yield Problem(
            "note",
            name,
            f"The utility '{name}' is missing in {int(np.isnan(values).sum()):,} of "
            f"{len(values):,} rows; these decisions are not used (an outcome is never imputed).",
        )


def _availability(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    if roles.available is None:
        return
    values, bad = flags(frame[roles.available])
    if len(bad):
        shown = [f"'{shorten(frame[roles.available].iloc[i], 20)}'" for i in bad]
        yield Problem(
            "error",
            roles.available,
            f"The availability column '{roles.available}' holds {listing(shown, 3)}.",
            "It must hold 1 or yes where an action could be taken, 0 or no where it could not.",
        )
    elif np.isnan(values).any():
        yield Problem(
            "warning",
            roles.available,
            f"'{roles.available}' is empty in {int(np.isnan(values).sum()):,} rows; "
            "they count as not available.",
        )


def _probabilities(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    given = roles.probability
    levels = list(roles.action_levels or observed_levels(frame, roles))
    if given is None:
        return
    if not isinstance(given, Mapping) and len(levels) > 2:
        yield Problem(
            "error",
            roles.action,
            f"One randomisation probability is given, but there are {len(levels)} actions "
            f"({listing(levels)}).",
            "Give one for each action.",
        )
        return
    for level, source in given.items() if isinstance(given, Mapping) else (("", given),):
        if level and level not in levels:
            yield Problem(
                "error",
                roles.action,
                f"A randomisation probability is given for '{level}', which is not an action.",
                f"The actions are: {listing(levels)}.",
            )
        values, bad = (
            numbers(frame[source])
            if isinstance(source, str)
            else (np.array([float(source)]), np.array([], np.int64))
        )
        wrong = np.union1d(bad, np.flatnonzero((values < 0) | (values > 1)))
        if len(wrong):
            yield Problem(
                "error",
                str(source),
                f"The randomisation probability '{source}' is not between 0 and 1 in "
                f"{_rows(wrong)}.",
                "Correct it or choose another column.",
            )

"""Findings on single columns: states, utility, availability, randomisation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import ColumnRoles, StateVariable
from smdp.data.columns import (
    flags,
    level_text,
    levels_as_text,
    numbers,
    sorted_levels,
    two_words,
    unique_finite,
    with_labels,
)
from smdp.data.missing_codes import suspected_codes
from smdp.data.nominal import nominal_findings
from smdp.data.problem import Problem
from smdp.data.text_embedding import text_findings
from smdp.text import listing, percent, shorten

ROUNDING = 0.01  # probabilities are often printed with two decimals
FAR_OFF = 4  # standard errors: in fewer than one of 10,000 studies that were randomised as said


def actions_taken(frame: pd.DataFrame, action: str, available: str | None) -> pd.Series:
    """The known actions of the rows in which one could be taken."""
    taken = frame[action]
    if available is not None and available in frame.columns:
        taken = taken[flags(frame[available])[0] == 1]
    return taken.dropna()


def observed_levels(frame: pd.DataFrame, roles: ColumnRoles) -> list[str]:
    """The action's levels where an action could be taken, in their natural order."""
    taken = actions_taken(frame, roles.action, roles.available)
    return sorted_levels({level_text(v) for v in taken.unique()})


def share_taken(taken: pd.Series, level: str) -> float:
    """How often this action was the one that was taken."""
    return float((levels_as_text(taken) == level).mean()) if len(taken) else math.nan


def is_by_chance(share: float, probability: float, decisions: int) -> bool:
    """Whether such a share comes about where each decision was made with this probability."""
    error = math.sqrt(max(probability * (1 - probability), 0) / max(decisions, 1))
    return not abs(share - probability) > FAR_OFF * error + ROUNDING


def rows(positions: NDArray[np.int64]) -> str:
    return f"data row{'s' if len(positions) > 1 else ''} {listing(positions + 1)}"


def states_findings(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    suspects = suspected_codes(frame[list(roles.state_names)])
    people = pd.Series(levels_as_text(frame[roles.subject]), frame.index)
    for variable in roles.variables:
        if variable.kind == "nominal":
            yield from nominal_findings(variable.name, with_labels(frame, variable.name), people)
        elif variable.kind == "text":
            yield from text_findings(variable.name, frame[variable.name])
        else:
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
            f"The state variable '{name}' holds text in {len(bad):,} of {len(column):,} rows: "
            f"{listing(shown, 3)}.",
            "Make it a nominal variable or a text, replace it by numbers, mark it as a missing "
            "code, or leave the variable out.",
        )
        return
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        yield Problem(
            "error",
            name,
            f"The state variable '{name}' is infinite in {rows(infinite)}.",
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


def utility_findings(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    yield from _kind_findings(frame, roles)
    if not isinstance(roles.utility, str):
        name = roles.utility.variable
        values = pd.Series(numbers(frame[name])[0]).groupby(frame[roles.subject].to_numpy())
        if not (values.nunique() > 1).any():
            yield Problem(
                "error",
                name,
                f"The utility is the next value of '{name}', which never changes within a subject.",
                "Choose a variable that a treatment can change.",
            )
        return
    name = roles.utility
    values, bad = numbers(frame[name])
    if len(bad) or np.isinf(values).any():
        wrong = bad if len(bad) else np.flatnonzero(np.isinf(values))
        yield Problem(
            "error",
            name,
            f"The utility '{name}' is no finite number in {rows(wrong)}.",
            "Correct these values, mark them as missing codes or choose another utility.",
        )
    elif len(distinct := unique_finite(values)) < 2:
        what = "does not vary" if len(distinct) else "has no value in any row"
        yield Problem("error", name, f"The utility '{name}' {what}.", "Choose another utility.")
    elif np.isnan(values).any():
        yield Problem(
            "note",
            name,
            f"The utility '{name}' is missing in {int(np.isnan(values).sum()):,} of "
            f"{len(values):,} rows; these decisions are not used (an outcome is never imputed).",
        )


def _kind_findings(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    """Whether the outcome can be of the kind that somebody said it is."""
    name, kind = roles.outcome_name.column, roles.outcome.kind
    distinct = unique_finite(numbers(frame[name])[0])
    why = ""
    if kind == "yes/no" and len(distinct) > 2:
        why = f"it has {len(distinct):,} different values"
    elif kind == "count" and (len(distinct) and distinct[0] < 0):
        why = f"it has values below 0, such as {distinct[0]:g}"
    elif kind == "count" and not np.all(distinct == np.round(distinct)):
        broken = distinct[distinct != np.round(distinct)][0]
        why = f"it has values that are not whole, such as {broken:g}"
    if why:
        yield Problem(
            "error",
            name,
            f"The outcome '{name}' is said to be {'a count' if kind == 'count' else kind}, but "
            f"{why}.",
            "Say that it is continuous, or choose another outcome.",
        )


def assignment_findings(roles: ColumnRoles) -> Iterator[Problem]:
    if roles.assignment == "observed":
        yield Problem(
            "warning",
            roles.action,
            "Treatment was observed, not randomised. Whatever else decided who was treated, and "
            "when, can look like an effect of treatment; every result is an association.",
            "Take what decided about treatment into the state, as far as it was measured before "
            "the decision. What was not measured cannot be mended here.",
        )


def availability_findings(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
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


def probabilities_findings(frame: pd.DataFrame, roles: ColumnRoles) -> Iterator[Problem]:
    given = roles.probability
    if given is None:
        return
    levels = list(roles.action_levels or observed_levels(frame, roles))
    if not isinstance(given, Mapping):
        if len(levels) > 2:
            yield Problem(
                "error",
                roles.action,
                f"One randomisation probability is given, but there are {len(levels)} actions "
                f"({listing(levels)}).",
                "Give one for each action.",
            )
            return
        given = {levels[-1]: given} if levels else {}
    unknown = [level for level in given if level not in levels]
    if unknown or len(given) < len(levels) - 1:
        what = (
            f"for {listing(unknown)}, which is not an action" if unknown else "for too few actions"
        )
        yield Problem(
            "error",
            roles.action,
            f"Randomisation probabilities are given {what}.",
            f"Give one for each of the actions: {listing(levels)}.",
        )
        return
    total = np.zeros(len(frame))
    for source in given.values():
        values, bad = (
            numbers(frame[source])
            if isinstance(source, str)
            else (np.full(len(frame), float(source)), np.array([], np.int64))
        )
        wrong = np.union1d(bad, np.flatnonzero((values < 0) | (values > 1)))
        if len(wrong):
            yield Problem(
                "error",
                str(source),
                f"The randomisation probability '{source}' is not between 0 and 1 in "
                f"{rows(wrong)}.",
                "Correct it or choose another column.",
            )
            return
        total += values
    off = np.abs(total - 1) > ROUNDING if len(given) == len(levels) else total > 1 + ROUNDING
    where = np.flatnonzero(off)
    if len(where):
        must = (
            "add up to 1" if len(given) == len(levels) else "leave something for the other action"
        )
        yield Problem(
            "error",
            roles.action,
            f"The randomisation probabilities do not {must}: they sum to {total[where[0]]:.3g} in "
            f"{rows(where)}.",
            "Correct them, or leave them out to have them estimated.",
        )
        return
    yield from _constants_unlike_the_table(frame, roles, given)


def _constants_unlike_the_table(
    frame: pd.DataFrame, roles: ColumnRoles, given: Mapping[str, str | float]
) -> Iterator[Problem]:
    """Constant probabilities that the table contradicts: often the wrong one was typed, or none."""
    taken = actions_taken(frame, roles.action, roles.available)
    for level, probability in given.items():
        share = share_taken(taken, level)
        if isinstance(probability, str) or is_by_chance(share, probability, len(taken)):
            continue
        called = (roles.action_levels or {}).get(level, level)
        what = called if called != level else f"{roles.action} = {level}"
        yield Problem(
            "warning",
            roles.action,
            f"The probability of '{shorten(what)}' is said to be {percent(probability)}, but it "
            f"was given at {percent(share)} of the {len(taken):,} decisions at which an action "
            "could be taken. Effects and values would be wrong by that.",
            "Correct the probability; or, if it is not known, leave it out to have it estimated.",
            concerns="constant probability",
        )
        return

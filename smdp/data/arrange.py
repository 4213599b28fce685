"""From a long table and its column roles to subjects on a grid of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.checks import find_problems, raise_first_error
from smdp.data.column_findings import observed_levels
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
from smdp.data.decisions import decision_index
from smdp.data.nominal import known_levels, nominal_levels
from smdp.data.study import Study
from smdp.data.text_embedding import TextEmbedding, fit_text
from smdp.data.to_trajectories import check_look_back
from smdp.data.variables import Kind, Variable

MOST_ORDINAL_LEVELS = 100
TIME_VARIABLE = "decision"


def guess_kind(values: NDArray[np.float64]) -> Kind:
    """Two values: binary. Whole numbers, not too many: ordinal. Else continuous."""
    distinct = unique_finite(values)
    if len(distinct) <= 2:
        return "binary"
    whole = bool(np.all(distinct == np.round(distinct)))
    return "ordinal" if whole and len(distinct) <= MOST_ORDINAL_LEVELS else "continuous"


def arrange(frame: pd.DataFrame, roles: ColumnRoles) -> Study:
    """Each subject's rows in the order of their decisions, gaps left open, nothing filled in."""
    raise_first_error(find_problems(frame, roles))
    return placed(frame, roles)


def placed(frame: pd.DataFrame, roles: ColumnRoles, *, like: Study | None = None) -> Study:
    """The same of a table in which nothing was found that stands in the way.

    `like`: a study whose variables these are: its kinds, levels and embeddings of texts are taken
    as they are.
    """
    known = {} if like is None else {variable.name: variable for variable in like.variables}
    made_before = {} if like is None else {each.name: each for each in like.embeddings}
    who = frame[roles.subject].map(level_text)
    names = sorted_levels(set(who))
    codes = who.map({name: i for i, name in enumerate(names)}).to_numpy(dtype=np.int64)
    decisions = decision_index(codes, frame[roles.time])
    grid = _Grid(codes, decisions.index, len(names))
    check_look_back(roles.look_back, grid.rows)

    states: list[NDArray[np.float64]] = []
    variables: list[Variable] = []
    embeddings: list[TextEmbedding] = []
    for declared in roles.variables:
        if declared.kind == "nominal":
            cells = with_labels(frame, declared.name)
            same = known.get(declared.name)
            levels = nominal_levels(cells, who) if same is None else known_levels(same)
            states.append(levels.codes(cells))
            variables.append(replace(_variable(frame, declared, "nominal"), levels=levels.named))
        elif declared.kind == "text":
            embedding = made_before.get(declared.name) or fit_text(frame[declared.name], who)
            states += list(embedding(frame[declared.name]).T)
            variables += embedding.variables(_label(frame, declared.name))
            embeddings.append(embedding)
        else:
            values = numbers(frame[declared.name])[0]
            states.append(values)
            variables.append(_variable(frame, declared, declared.kind or guess_kind(values)))
    if roles.add_time:
        states.append((decisions.index + 1).astype(np.float64))
        variables.append(_decision_number(grid.rows))

    labels = action_labels(frame, roles)
    available = np.ones(len(frame), bool)
    if roles.available is not None:
        available = flags(frame[roles.available])[0] == 1
    level = levels_as_text(frame[roles.action])
    order = {text: k for k, text in enumerate(labels)}
    action = np.array([order.get(text, -1) if text is not None else -1 for text in level])
    action = np.where(available, action, -1)
    utility = np.full(len(frame), np.nan)
    if isinstance(roles.utility, str):
        utility = roles.outcome_sign * numbers(frame[roles.utility])[0]
    probabilities = _probabilities(frame, roles, list(labels))

    present = grid.place(np.ones(len(frame), bool), False)
    lengths = np.zeros(len(names), np.int64)
    np.maximum.at(lengths, codes, decisions.index + 1)
    values = np.stack([grid.place(x, np.nan) for x in states], axis=2)
    if roles.add_time:
        inside = np.arange(grid.rows)[None, :] < lengths[:, None]
        values[:, :, -1] = np.where(inside, np.arange(1.0, grid.rows + 1)[None, :], np.nan)
    return Study(
        roles=roles,
        subjects=tuple(names),
        variables=tuple(known.get(each.name, each) for each in variables),
        action_labels=tuple(labels.values()),
        values=values,
        present=present,
        actions=grid.place(action.astype(np.int64), -1),
        utilities=grid.place(utility, np.nan),
        available=grid.place(available, False),
        probabilities=np.stack([grid.place(p, np.nan) for p in probabilities.T], axis=2),
        times=grid.place(frame[roles.time].map(level_text).to_numpy(dtype=str), ""),
        lengths=lengths,
        notes=(decisions.note,),
        embeddings=tuple(embeddings),
    )


def _variable(frame: pd.DataFrame, declared: StateVariable, kind: Kind) -> Variable:
    return Variable(
        name=declared.name,
        label=_label(frame, declared.name),
        kind=kind,
        levels=_named_levels(frame, declared.name),
        low=declared.low,
        high=declared.high,
        unit=declared.unit or "",
        whole=declared.group or "",
        whole_kind="vector" if declared.group else "",
        part=declared.name if declared.group else "",
    )


def _label(frame: pd.DataFrame, name: str) -> str:
    return str(frame.attrs.get("variable_labels", {}).get(name) or "")


def action_labels(frame: pd.DataFrame, roles: ColumnRoles) -> dict[str, str]:
    """The action's levels in order, each with its label: declared, the file's own, or itself."""
    if roles.action_levels is not None:
        return {level: label or level for level, label in roles.action_levels.items()}
    in_file = frame.attrs.get("value_labels", {}).get(roles.action, {})
    from_file = {level_text(value): str(label) for value, label in in_file.items()}
    return {level: from_file.get(level, level) for level in observed_levels(frame, roles)}


def _named_levels(frame: pd.DataFrame, column: str) -> tuple[tuple[float, str], ...]:
    """What the values of a column are called: its own two words, or the names in the file."""
    words = two_words(frame[column])
    if words is not None and pd.to_numeric(frame[column], errors="coerce").isna().all():
        return (0.0, words[0]), (1.0, words[1])
    named = frame.attrs.get("value_labels", {}).get(column, {})
    numbered = {value: str(text) for value, text in named.items() if _is_number(value)}
    return tuple(sorted((float(value), text) for value, text in numbered.items()))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _decision_number(rows: int) -> Variable:
    return Variable(
        TIME_VARIABLE, kind="ordinal", low=1.0, high=float(rows), comes_from="decision number"
    )


class _Grid:
    """Places a value for each row of the table at its subject and decision."""

    def __init__(self, subject: NDArray, decision: NDArray[np.int64], subjects: int) -> None:
        self.subject, self.decision = subject, decision
        self.shape = (subjects, int(decision.max()) + 1)
        self.rows = self.shape[1]

    def place(self, values: NDArray, empty: object) -> NDArray:
        placed = np.full(self.shape, empty, dtype=values.dtype)
        placed[self.subject, self.decision] = values
        return placed


def _probabilities(
    frame: pd.DataFrame, roles: ColumnRoles, levels: list[str]
) -> NDArray[np.float64]:
    """(rows, K): each action's randomisation probability, NaN where not known."""
    known = np.full((len(frame), len(levels)), np.nan)
    given = roles.probability
    if given is None:
        return known
    sources: Mapping[str, str | float] = given if isinstance(given, Mapping) else {levels[1]: given}
    for level, source in sources.items():
        column = numbers(frame[source])[0] if isinstance(source, str) else float(source)
        known[:, levels.index(level)] = column
    # One action not given: the rest of the probability is its own.
    unknown = np.flatnonzero(np.isnan(known).all(axis=0))
    if len(unknown) == 1:
        known[:, unknown[0]] = 1 - np.nansum(np.delete(known, unknown[0], axis=1), axis=1)
        known[np.isnan(np.delete(known, unknown[0], axis=1)).any(axis=1), unknown[0]] = np.nan
    return known

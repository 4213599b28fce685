"""A second table enters a frozen analysis: read as the first, and moved to the first's units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.arrange import action_labels, placed
from smdp.data.checks import raise_first_error, subject_and_time_findings
from smdp.data.column_findings import availability_findings, probabilities_findings
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.columns import is_text, level_text, levels_as_text, numbers
from smdp.data.exclude import Exclusion, exclude
from smdp.data.impute import impute, value_range
from smdp.data.nominal import OTHER, known_levels
from smdp.data.preparation_settings import CompletionSettings
from smdp.data.prepare import CompletedStudy, PreparedData
from smdp.data.problem import Problem
from smdp.data.rescale import nearest_level, to_unit
from smdp.data.study import Cell, Study
from smdp.data.to_trajectories import to_trajectories, utilities_of
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.text import listing, number, percent, plural, shorten
from smdp.validation.device_log import is_device_log, with_log_roles
from smdp.validation.same_people import Overlap, overlap_of, without_copies

#: Numbers this many times larger or smaller than in the first study look like another unit.
OTHER_UNIT = 4.0
#: The quantile of absolute values that tells the size of a variable's numbers.
SIZE_QUANTILE = 0.9
NO_OUTCOME = "No decision of the new table has an outcome."

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Arrival:
    """The new people in the first study's variables, units and levels.

    `trajectories` is None where no decision has both its outcome and its next state; `why_none`
    says why. `findings`: what is remarkable in the table. `counts`: by variable, how its values
    compare with the first study's.
    """

    completed: CompletedStudy
    trajectories: Trajectories | None
    why_none: str
    overlap: Overlap
    findings: tuple[Problem, ...]
    counts: pd.DataFrame  # variable, values, first_size, size, below, above, clipped
    absent: tuple[str, ...]  # state variables that the new table does not have
    device_log: bool

    @property
    def subjects(self) -> int:
        return len(self.completed.study.subjects)


def arrive(
    frame: pd.DataFrame,
    first_frame: pd.DataFrame,
    first: PreparedData,
    settings: CompletionSettings,
    *,
    needed: tuple[str, ...] = (),
) -> Arrival:
    """Arrange, exclude, impute and rescale a table as the first study's was, refitting nothing.

    `first_frame`, `first`: the first study's long table and what was made of it. `settings`: those
    with which it was completed. `needed`: the state variables that policies and maps cannot do
    without.
    """
    own = _frozen(first)
    roles = first.completed.arranged.roles
    labels = action_labels(first_frame, roles)
    is_log = is_device_log(frame, tuple(labels.values()))
    if is_log:
        roles = with_log_roles(roles, labels)
    roles, absent, findings = _roles_there(frame, roles, own, needed)
    roles = replace(roles, action_levels=labels)
    overlap = overlap_of(frame, first_frame, roles)
    frame = without_copies(frame, roles, overlap)
    frame, read = _readable(frame, roles, own, labels)
    roles, unknown, unknown_findings = _unknown_of_some(frame, roles, needed, read)
    absent += unknown
    findings += overlap.findings() + read + unknown_findings
    raise_first_error(
        (
            *subject_and_time_findings(frame, roles, fewest=1),
            *availability_findings(frame, roles),
            *probabilities_findings(frame, roles),
        )
    )
    arranged = placed(frame, roles, like=own)
    kept, left_out = _kept(arranged, settings)
    findings += _left_out(left_out, len(arranged.subjects))
    imputed, origin = impute(kept, settings.imputation)
    completed = CompletedStudy(arranged, left_out, imputed, origin, settings.imputation)
    counts = _counts(kept, own)
    findings += _units(counts) + _unit_of_outcome(kept, own) + _outside(counts, first)
    rescaled = _rescaled(imputed, first.study)
    trajectories, why = _trajectories(rescaled, completed, first, absent)
    return Arrival(
        completed=completed,
        trajectories=trajectories,
        why_none=why,
        overlap=overlap,
        findings=tuple(findings),
        counts=counts,
        absent=absent,
        device_log=is_log,
    )


def _frozen(first: PreparedData) -> Study:
    """The first study, every range that imputation was held to written into its variables."""
    study = first.completed.study
    variables = []
    for j, variable in enumerate(study.variables):
        if variable.kind != "nominal":
            low, high = value_range(variable, study.values[study.on_grid, j])
            variable = replace(variable, low=low, high=high)
        variables.append(variable)
    return replace(study, variables=tuple(variables))


def _roles_there(
    frame: pd.DataFrame, roles: ColumnRoles, own: Study, needed: tuple[str, ...]
) -> tuple[ColumnRoles, tuple[str, ...], list[Problem]]:
    """The roles without what the new table does not have, if it can be done without."""
    findings: list[Problem] = []
    there = set(map(str, frame.columns))
    must = [roles.subject, roles.time, roles.action]
    must += [roles.available] if roles.available is not None else []
    state = roles.utility.variable if isinstance(roles.utility, NextValue) else None
    wanted = [*must, *(v.name for v in roles.variables if v.name in needed or v.name == state)]
    lacking = [name for name in wanted if name not in there]
    if lacking:
        raise DataError(
            f"The new table has no column{'s' * (len(lacking) > 1)} "
            f"{listing(map(repr, lacking), 12)}, which the analysis "
            "cannot do without.",
            f"Its columns are: {listing(frame.columns, 12)}. Name its columns as in the study's "
            "table.",
        )
    absent = tuple(v.name for v in roles.variables if v.name not in there)
    if absent:
        findings.append(
            Problem(
                "warning",
                absent[0],
                f"The new table has no column{'s' * (len(absent) > 1)} "
                f"{listing(map(repr, absent), 12)}. No policy uses "
                f"{'it' if len(absent) == 1 else 'them'}, so the rest can be judged.",
            )
        )
        roles = replace(roles, states=[v for v in roles.variables if v.name not in absent])
    if isinstance(roles.utility, str) and roles.utility not in there:
        findings.append(
            Problem(
                "warning",
                roles.utility,
                f"The new table has no outcome (no column '{roles.utility}'): people can be "
                "compared, but nothing can be said of what a policy is worth.",
                "Join the outcomes to it, or wait for them.",
            )
        )
    given = roles.probability
    columns = [given] if isinstance(given, str) else []
    columns += (
        [p for p in given.values() if isinstance(p, str)] if isinstance(given, Mapping) else []
    )
    gone = [name for name in columns if name not in there]
    if gone:
        findings.append(
            Problem(
                "warning",
                gone[0],
                f"The new table does not say with which probability treatment was given (no column "
                f"{listing(map(repr, gone))}): the probabilities are estimated.",
            )
        )
        roles = replace(roles, probability=None)
    return roles, absent, findings


def _readable(
    frame: pd.DataFrame, roles: ColumnRoles, own: Study, labels: Mapping[str, str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """The table with words read as in the first study; what could not be read counts as missing."""
    findings: list[Problem] = []
    frame = frame.copy()
    frame.attrs = dict(frame.attrs)
    if isinstance(roles.utility, str) and roles.utility not in frame.columns:
        frame[roles.utility] = np.nan
    known = {variable.name: variable for variable in own.variables}
    for declared in roles.variables:
        variable = known.get(declared.name)
        if variable is None:  # a text: its variables are the embedding's
            continue
        if variable.kind == "nominal":
            findings += _new_levels(frame[declared.name], variable)
        else:
            frame[declared.name], problems = _as_numbers(frame[declared.name], variable)
            findings += problems
    frame[roles.action], problems = _as_actions(frame[roles.action], roles, labels)
    return frame, findings + problems


def _unknown_of_some(
    frame: pd.DataFrame, roles: ColumnRoles, needed: tuple[str, ...], read: list[Problem]
) -> tuple[ColumnRoles, tuple[str, ...], list[Problem]]:
    """The roles without what some people have no value of, where no policy needs it.

    Else these people would be left out for the sake of a variable that nobody asks them for.
    `read`: what was remarkable in reading them.
    """
    state = roles.utility.variable if isinstance(roles.utility, NextValue) else None
    names = [variable.name for variable in roles.variables]
    must = [name for name in names if name in needed or name == state]
    _require_values(frame, must, read)
    known = frame[names].notna().groupby(frame[roles.subject]).any()
    could_be_judged = known[known[must].all(axis=1)]
    lacking = {name: int((~could_be_judged[name]).sum()) for name in names if name not in must}
    unknown = tuple(name for name, people in lacking.items() if people)
    if not unknown or len(unknown) == len(names):
        return roles, (), []
    of = [f"'{name}' of {lacking[name]} of {len(known)} people" for name in unknown]
    finding = Problem(
        "warning",
        unknown[0],
        f"There is no value at all of {listing(of, 6)}. No policy uses "
        f"{'it' if len(of) == 1 else 'them'}: the "
        f"{'variable is' if len(of) == 1 else 'variables are'} left out of what follows, not these "
        "people.",
    )
    kept = [variable for variable in roles.variables if variable.name not in unknown]
    return replace(roles, states=kept), unknown, [finding]


def _require_values(frame: pd.DataFrame, must: list[str], read: list[Problem]) -> None:
    empty = [name for name in must if not frame[name].notna().any()]
    if empty:
        why = [each.message for each in read if each.about in empty]
        unknown = f"The new table has no value of {listing(map(repr, empty), 6)} that can be used"
        raise DataError(
            " ".join([f"{unknown}, and the analysis cannot do without.", *why]),
            "Write its values as in the study's table.",
        )


def _as_numbers(column: pd.Series, variable: Variable) -> tuple[pd.Series, list[Problem]]:
    named = {text.strip().lower(): value for value, text in variable.levels}
    if is_text(column) and named:
        texts = column.map(lambda cell: None if pd.isna(cell) else level_text(cell).lower())
        plain = pd.to_numeric(texts, errors="coerce")
        values = texts.map(named).astype(float).fillna(plain).to_numpy(dtype=float)
        bad = np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
    elif is_text(column):
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
    else:
        values, bad = numbers(column)
    endless = np.flatnonzero(np.isinf(values))
    values = np.where(np.isinf(values), np.nan, values)
    bad = np.union1d(bad, endless)
    problems = []
    if len(bad):
        examples = [f"'{shorten(column.iloc[i], 20)}'" for i in bad]
        problems.append(
            Problem(
                "warning",
                variable.name,
                f"'{variable.name}' holds {listing(dict.fromkeys(examples), 3)} in "
                f"{plural(len(bad), 'row')}, which the first study did not have: they count as "
                "missing.",
            )
        )
    return pd.Series(values, index=column.index, name=column.name), problems


def _new_levels(column: pd.Series, variable: Variable) -> list[Problem]:
    levels = known_levels(variable)
    texts = [text for text in levels_as_text(column) if text is not None]
    new = sorted({text for text in texts if text not in levels.names})
    if not new:
        return []
    rows = sum(text in new for text in texts)
    as_what = f"'{OTHER}'" if OTHER in levels.names else "missing, for it had no level 'other'"
    return [
        Problem(
            "warning",
            variable.name,
            f"'{variable.name}' has {plural(len(new), 'level')} that the first study did not have, "
            f"or had too rarely ({listing([f'{each!r}' for each in new], 4)}; {rows:,} of "
            f"{len(texts):,} values): {'it counts' if len(new) == 1 else 'they count'} as "
            f"{as_what}.",
        )
    ]


def _as_actions(
    column: pd.Series, roles: ColumnRoles, labels: Mapping[str, str]
) -> tuple[pd.Series, list[Problem]]:
    """Levels of the first study, which may also be called by their labels."""
    level_of = {**{label: level for level, label in labels.items()}, **{k: k for k in labels}}
    texts = levels_as_text(column)
    found = [None if text is None else level_of.get(text) for text in texts]
    unknown = [t for t, level in zip(texts, found, strict=True) if t is not None and level is None]
    problems = []
    if unknown:
        shown = [f"'{shorten(text, 20)}'" for text in dict.fromkeys(unknown)]
        problems.append(
            Problem(
                "warning",
                roles.action,
                f"'{roles.action}' has {listing(shown, 4)} in {plural(len(unknown), 'row')}, which "
                f"is no action of the first study ({listing(labels.values())}): these decisions "
                "are not used.",
            )
        )
    if not any(level is not None for level in found):
        raise DataError(
            f"The column '{roles.action}' of the new table has none of the first study's actions "
            f"({listing(labels.values())}).",
            "Write its actions as in the study's table.",
        )
    return pd.Series(found, index=column.index, name=column.name, dtype=object), problems


def _kept(arranged: Study, settings: CompletionSettings) -> tuple[Study, tuple[Exclusion, ...]]:
    here = tuple(name for name in settings.also_exclude if name in arranged.subjects)
    return exclude(arranged, replace(settings, also_exclude=here, unobserved="exclude"))


def _left_out(left_out: tuple[Exclusion, ...], everybody: int) -> list[Problem]:
    if not left_out:
        return []
    return [
        Problem(
            "note",
            "",
            f"{len(left_out)} of {everybody} new people are left out by the first study's rules, "
            "such as too many missing values.",
        )
    ]


def _counts(kept: Study, own: Study) -> pd.DataFrame:
    """By variable in its own units: how large its numbers are, and how many lie outside."""
    places = {variable.name: j for j, variable in enumerate(own.variables)}
    rows = []
    for j, variable in enumerate(kept.variables):
        number_made = variable.comes_from != "column" or variable.whole_kind == "text"
        if variable.kind == "nominal" or number_made:
            continue
        values = kept.values[:, :, j]
        values = values[np.isfinite(values)]
        before = own.values[:, :, places[variable.name]]
        before = before[np.isfinite(before)]
        low, high = value_range(variable, before)
        rows.append(
            {
                "variable": variable.name,
                "kind": variable.kind,
                "values": len(values),
                "first_size": _size(before),
                "size": _size(values),
                "first_low": low,
                "first_high": high,
                "below": int((values < low).sum()),
                "above": int((values > high).sum()),
            }
        )
    columns = ["variable", "kind", "values", "first_size", "size", "first_low", "first_high",
               "below", "above"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _size(values: Floats) -> float:
    return float(np.quantile(np.abs(values), SIZE_QUANTILE)) if len(values) else np.nan


def _units(counts: pd.DataFrame) -> list[Problem]:
    """Variables whose numbers are so much larger or smaller that they look like another unit."""
    rows = counts[counts["kind"] != "binary"].itertuples()
    found = [_unit(str(row.variable), row.first_size, row.size) for row in rows]
    return [each for each in found if each is not None]


def _unit_of_outcome(kept: Study, own: Study) -> list[Problem]:
    """The same of an outcome that is a column; one that is a state's next value is told there."""
    column = own.roles.utility
    if isinstance(column, NextValue):
        return []
    before, after = (study.utilities[np.isfinite(study.utilities)] for study in (own, kept))
    found = _unit(column, _size(before), _size(after)) if len(np.unique(before)) > 2 else None
    return [] if found is None else [found]


def _unit(name: str, before: float, after: float) -> Problem | None:
    if not (after > 0 and before > 0) or 1 / OTHER_UNIT < after / before < OTHER_UNIT:
        return None
    ratio = after / before
    times = f"{_rounded(ratio)} times larger" if ratio > 1 else (
        f"{_rounded(1 / ratio)} times smaller"
    )  # fmt: skip
    return Problem(
        "warning",
        name,
        f"'{name}' is about {times} than in the first study (nine in ten of its absolute values "
        f"are at most {number(after)}, there {number(before)}): this looks like another unit.",
        "Bring it to the unit of the first study, and look at the new data again.",
        concerns="unit",
    )


def _rounded(ratio: float) -> str:
    digits = int(np.floor(np.log10(ratio)))
    return f"{round(ratio, 1 - digits):,.10g}"


def _outside(counts: pd.DataFrame, first: PreparedData) -> list[Problem]:
    beyond = counts[(counts["below"] + counts["above"]) > 0]
    if beyond.empty:
        return []
    parts = [
        f"'{row.variable}' {row.below + row.above:,} of {row.values:,} "
        f"({percent((row.below + row.above) / row.values)})"
        for row in beyond.itertuples()
    ]
    became = (
        "they count as the nearer end of it"
        if first.study.levels is not None
        else "they stay as they are, where the policy was not learned"
    )
    return [
        Problem(
            "note",
            str(beyond["variable"].iloc[0]),
            f"Values outside the first study's range: {listing(parts, 6)}; {became}.",
        )
    ]


def _rescaled(study: Study, first: Study) -> Study:
    """On the first study's levels, by the ranges that became 0 and 1 there."""
    if first.levels is None:
        return study
    known = {variable.name: variable for variable in first.variables}
    values = study.values.copy()
    for j, variable in enumerate(study.variables):
        ends = known[variable.name].rescaled_from
        if ends is not None:
            unit = to_unit(values[study.on_grid, j], ends)
            values[study.on_grid, j] = nearest_level(unit, first.levels)
    return replace(
        study,
        values=values,
        variables=tuple(known[variable.name] for variable in study.variables),
        reference=first.reference,
        levels=first.levels,
    )


def _trajectories(
    study: Study, completed: CompletedStudy, first: PreparedData, absent: tuple[str, ...]
) -> tuple[Trajectories | None, str]:
    """In the first study's columns; those that the new table does not have are left out."""
    own = completed.study
    if not np.isfinite(utilities_of(own, own.values)).any():
        return None, NO_OUTCOME
    moving = {
        variable.belongs_to if variable.whole_kind == "nominal" else variable.name: variable.changes
        for variable in first.trajectories.about
        if not variable.lag
    }
    changes = [moving.get(variable.name, True) for variable in own.variables]
    try:
        found, _ = to_trajectories(study, own.values, completed.origin, changing_ones=changes)
    except DataError as error:
        return None, str(error)
    about = [
        variable
        for variable in first.trajectories.about
        if variable.column not in absent and variable.name in found.variables
    ]
    found = found.select([variable.name for variable in about])
    return replace(found, about=tuple(about)), ""


def states_in_own_units(completed: CompletedStudy) -> tuple[Floats, tuple[Variable, ...]]:
    """(n, R, p): observed states, a column of 0 and 1 for each level but the first; else NaN."""
    study = completed.study
    seen = np.where(completed.origin == Cell.OBSERVED, study.values, np.nan)
    columns: list[Floats] = []
    about: list[Variable] = []
    for j, variable in enumerate(study.variables):
        if variable.comes_from != "column":
            continue
        values = seen[:, :, j]
        if variable.kind == "nominal":
            for code, column in zip(
                [code for code, _ in variable.levels[1:]], variable.level_columns(), strict=True
            ):
                columns.append(np.where(np.isnan(values), np.nan, values == code))
                about.append(column)
        else:
            columns.append(values)
            about.append(variable)
    return np.stack(columns, axis=2), tuple(about)

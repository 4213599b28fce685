"""What is wrong or remarkable in a table under given roles, all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from smdp.data.column_findings import (
    assignment_findings,
    availability_findings,
    observed_levels,
    probabilities_findings,
    rows,
    states_findings,
    utility_findings,
)
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles
from smdp.data.columns import levels_as_text
from smdp.data.decisions import decision_index
from smdp.data.leaks import Leak, find_leaks
from smdp.data.missing_codes import suspected_codes
from smdp.data.problem import FIRST_OF_TWINS, Problem
from smdp.errors import DataError
from smdp.text import listing, plural, shorten

MOST_ACTIONS = 12


def find_problems(
    frame: pd.DataFrame, roles: ColumnRoles, leaks: Sequence[Leak] | None = None
) -> tuple[Problem, ...]:
    """Every finding, errors first; with an error the study cannot be arranged.

    `leaks`: those of the states, where they are found already.
    """
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
        *subject_and_time_findings(frame, roles),
        *_actions(frame, roles),
        *states_findings(frame, roles),
        *utility_findings(frame, roles),
        *availability_findings(frame, roles),
        *probabilities_findings(frame, roles),
        *assignment_findings(roles),
        *_leaks(find_leaks(frame, roles) if leaks is None else leaks, roles),
    ]
    rank = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda p: rank[p.severity]))


def raise_first_error(problems: tuple[Problem, ...]) -> None:
    """The first error as an exception that says how many more there are."""
    errors = [p for p in problems if p.severity == "error"]
    if errors:
        more = f" (and {plural(len(errors) - 1, 'more problem')})" if len(errors) > 1 else ""
        raise DataError(errors[0].message + more, errors[0].remedy, errors[0].concerns)


def subject_and_time_findings(
    frame: pd.DataFrame, roles: ColumnRoles, *, fewest: int = 2
) -> Iterator[Problem]:
    """Of who and when; `fewest` people are needed."""
    subject = frame[roles.subject]
    missing = np.flatnonzero(subject.isna().to_numpy())
    if len(missing):
        yield Problem(
            "error",
            roles.subject,
            f"The subject column '{roles.subject}' is empty in {rows(missing)}.",
            "Fill in who these rows belong to or delete them.",
        )
        return
    codes, names = pd.factorize(levels_as_text(subject))
    if len(names) < fewest:
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
        yield Problem("error", roles.time, error.problem, error.remedy, error.concerns)
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
            "Choose a time that tells them apart; or, if rows were entered twice, keep the first "
            f"of each: KeepRows('{FIRST_OF_TWINS}').",
            concerns="doubled rows",
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
    codes = suspected_codes(frame[[roles.action]]).get(roles.action, [])
    if codes:
        shown = listing([f"{c:g}" for c in codes])
        yield Problem(
            "warning",
            roles.action,
            f"The action column '{roles.action}' holds {shown}, which looks like a missing code "
            "but counts as a treatment.",
            f"If {shown} means missing, enter it as a missing code of '{roles.action}'.",
        )


def _leaks(leaks: Sequence[Leak], roles: ColumnRoles) -> Iterator[Problem]:
    """States that look as if measured after the decision, and nobody said that they are not."""
    evidence: dict[str, str] = {}
    for leak in leaks:
        if leak.column in roles.state_names and leak.column not in roles.known_before:
            evidence.setdefault(leak.column, leak.describe())
    if not evidence:
        return
    shown = listing((f"'{shorten(name, 40)}' ({why})" for name, why in evidence.items()), 3, 200)
    one = len(evidence) == 1
    yield Problem(
        "warning" if NEVER_ASKED in roles.known_before else "error",
        next(iter(evidence)),
        f"{'A state looks' if one else f'{len(evidence)} states look'} as if known only after the "
        f"decision: {shown}.",
        f"Leave {'it' if one else 'them'} out; if {'it is' if one else 'one is'} known when the "
        "treatment is chosen, list it in the roles' known_before.",
        concerns="known before",
    )

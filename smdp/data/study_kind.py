"""What kind of study a table is of: who decided on treatment, and what can be done without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from smdp.data.arrange import placed
from smdp.data.checks import find_problems, raise_first_error
from smdp.data.column_roles import Assignment, ColumnRoles, StateVariable
from smdp.data.study import Study
from smdp.data.synthetic_files import BY_A_FAIR_COIN
from smdp.errors import SettingError

#: How it was decided who is treated when.
How = Literal["constant", "column", "unknown", "observed", "none"]
HOWS: Mapping[How, str] = {
    "constant": "Randomised, constant chance",
    "column": "Randomised, chances in columns",
    "unknown": "Randomised, chances not known",
    "observed": "Not randomised, only observed",
    "none": "There was no treatment",
}
#: What each answer means for what follows.
MEANS: Mapping[How, str] = {
    "constant": "Chance decided, so what follows treatment more often can be called its effect.",
    "column": "Chance decided, so what follows treatment more often can be called its effect.",
    "unknown": "The chances will be estimated from the table. If chance alone decided, what "
    "follows treatment more often can be called its effect.",
    "observed": "Every result is an association: whatever else decided who was treated can look "
    "like an effect. All pages and the report say so.",
    "none": "There is nothing to choose between; you can look at people and variables.",
}
ASSIGNED: Mapping[How, Assignment | None] = {
    "constant": "randomised",
    "column": "randomised",
    "unknown": "randomised",
    "observed": "observed",
    "none": None,
}

WHAT_IS_THERE = (
    "Here you can look at your study: participants and variables as in a paper's first table, each "
    "variable over time, what is missing, and who answered when. All of it is below, and can be "
    "exported."
)
WHAT_IS_NOT = (
    "The steps after Data stay closed. They compare what followed different treatments, to say "
    "which one is better when; without treatments there is nothing to compare."
)
WHAT_IT_NEEDS = (
    "One column that says what was given at each decision, such as message or none, 1 or 0. If "
    "several columns say it together, combine them under Shape the table; if it stands in another "
    "file, join that file there by person and time. A group that people stayed in throughout (one "
    "randomisation a person) is not enough: a policy needs people who got now this, now that."
)
ACTION_LEFT_OUT = "(no treatment)"


def guess_how(frame: pd.DataFrame, action: str | None, probabilities: Sequence[str]) -> How:
    """How treatment was decided, as far as a table can tell: nobody is called randomised for it.

    The samples say it of themselves.
    """
    if action is None:
        return "none"
    if frame.attrs.get("fingerprint") in BY_A_FAIR_COIN:
        return "constant"
    return "column" if probabilities else "observed"


def how_in(roles: ColumnRoles) -> How:
    """The answer that these roles have, or mean."""
    given = roles.probability
    if roles.assignment == "observed":
        return "observed"
    if given is None:
        return "unknown" if roles.assignment == "randomised" else "observed"
    parts = given.values() if isinstance(given, Mapping) else (given,)
    return "column" if any(isinstance(part, str) for part in parts) else "constant"


def look_without_treatment(
    frame: pd.DataFrame,
    subject: str | None,
    time: str | None,
    states: Sequence[StateVariable],
    outcome: str | None = None,
) -> Study:
    """People and variables on their grid of times, to be looked at: nobody was treated.

    Its one action is called `ACTION_LEFT_OUT`; without an outcome all utilities are missing.
    """
    lacking = [
        role for role, name in (("subject", subject), ("time", time), ("state", states)) if not name
    ]
    if subject is None or time is None or lacking:
        raise SettingError(
            f"To look at the study, a {' and a '.join(lacking)} is needed.",
            "Say who and when above; give the role 'state' to what is to be looked at.",
        )
    table = frame.assign(**{ACTION_LEFT_OUT: "none"})
    table.attrs = frame.attrs
    roles = ColumnRoles(
        subject,
        time,
        ACTION_LEFT_OUT,
        states,
        outcome or states[0].name,
        action_levels={"none": "none"},
    )
    problems = find_problems(table, roles, leaks=())
    raise_first_error(tuple(p for p in problems if p.about != ACTION_LEFT_OUT))
    study = placed(table, roles)
    if outcome is None:
        study.utilities[:] = np.nan
    return study

"""The question on the Data page: is this state known before the decision?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.role_widgets import change_roles, roles_now, visit_key
from dashboard.session import keep, kept, memo, the_analysis
from dashboard.show import literal, part
from dashboard.table import LoadedTable
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles
from smdp.data.leaks import Leak, find_leaks
from smdp.data.role_edits import give_role
from smdp.text import plural, shorten

if TYPE_CHECKING:
    import pandas as pd

YES, NO = "Yes, it is", "No, ignore it"
MANY = 6
HEIGHT = 420


def _answers() -> tuple[str, ...]:
    """The columns of which somebody said that they are known before."""
    found: tuple[str, ...] = kept("known before", ())
    return found


def with_answers(roles: ColumnRoles) -> ColumnRoles:
    """The roles with what was answered; a plan of before the question keeps its exemption.

    Only as long as its states, action and outcome are the same: what is chosen now is asked about.
    """
    planned = the_analysis().plan.roles
    answers = [name for name in _answers() if name in roles.state_names]
    same = (roles.state_names, roles.action, roles.utility) == (
        planned.state_names,
        planned.action,
        planned.utility,
    )
    if NEVER_ASKED in planned.known_before and same:
        answers = [*answers, NEVER_ASKED]
    if set(answers) == set(planned.known_before):
        return replace(roles, known_before=planned.known_before)
    return replace(roles, known_before=tuple(answers))


def leaks_of(frame: pd.DataFrame, read_as: object, roles: ColumnRoles) -> tuple[Leak, ...]:
    """Of all states, answered or not."""
    unasked = replace(roles, known_before=())
    parts = (roles.subject, roles.time, roles.action, roles.available, roles.utility)
    key = (read_as, parts, roles.state_names)
    return memo("leaks", key, lambda: find_leaks(frame, unasked))


def ask(source: LoadedTable, leaks: Sequence[Leak], roles: ColumnRoles) -> None:
    """Each suspected state with its evidence, and the question."""
    evidence: dict[str, list[str]] = {}
    for leak in leaks:
        if leak.column in roles.state_names:
            evidence.setdefault(leak.column, []).append(leak.describe())
    if not evidence:
        return
    part("Known before the decision?")
    st.caption(
        "A state is what is known when the treatment is chosen. These columns look as if they were "
        "measured only afterwards; with such a state every result is too good to be true."
    )
    still = [name for name in evidence if name not in roles.known_before]
    if len(still) > 1:
        st.button(
            f"Ignore {'both' if len(still) == 2 else f'all {len(still)}'} that are open",
            icon=":material/visibility_off:",
            on_click=ignore,
            args=(source, still),
        )
    with st.container(border=True, height=HEIGHT if len(evidence) > MANY else "content"):
        for name, reasons in evidence.items():
            words, control = st.columns((2.4, 1), vertical_alignment="center")
            words.markdown(f"**{literal(shorten(name, 80))}**: {literal('; '.join(reasons))}.")
            key = visit_key(f"known-before-{name}-{name in roles.known_before}")
            with control:
                st.segmented_control(
                    f"Is {literal(shorten(name, 80))} known before the decision?",
                    [YES, NO],
                    default=YES if name in roles.known_before else None,
                    key=key,
                    on_change=_answer,
                    args=(source, name, key),
                    label_visibility="collapsed",
                    help="Yes: the value is there when the treatment is chosen, and may decide it. "
                    "No: the column is left out.",
                )


def _answer(source: LoadedTable, name: str, key: str) -> None:
    answer = st.session_state[key]
    if answer == NO:
        ignore(source, [name])
        return
    change_roles(source, f"{shorten(name, 30)}: known before")
    others = tuple(each for each in _answers() if each != name)
    keep("known before", (*others, name) if answer == YES else others)


def ignore(source: LoadedTable, names: Sequence[str]) -> None:
    """These columns are no states any more."""
    what = shorten(names[0], 30) if len(names) == 1 else plural(len(names), "column")
    change_roles(source, f"{what} to 'ignore'", give_role(roles_now(source), names, "ignore"))
    keep("known before", tuple(n for n in _answers() if n not in names))

"""The table of roles on the Data page: found, changed one by one or many at once, taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard.session import Key, control_key, forget_kept, keep, kept, the_analysis
from dashboard.show import errors_as_messages, literal
from dashboard.table import NOT_CHOSEN, LoadedTable
from smdp.data.column_roles import NextValue
from smdp.data.guess_roles import ROLES, Role, guess_columns
from smdp.data.role_edits import (
    EDITABLE,
    columns_after,
    columns_like,
    columns_with,
    give_role,
    what_changed,
    without_single,
)
from smdp.data.role_table import (
    held_by_columns,
    left_out_in_doubt,
    role_table,
    roles_to_table,
    with_facts,
)
from smdp.data.study_kind import how_in
from smdp.data.variables import KINDS
from smdp.text import plural, shorten

if TYPE_CHECKING:
    from smdp.analysis.plan import AnalysisPlan

ALL_COLUMNS = "*"
#: With more, there is something to search.
ENOUGH_TO_SEARCH = 10
MOST_STEPS_BACK = 30
MANY_DOUBTED, DOUBTED_HEIGHT = 10, 400
PICK, BASE, GENERATION, UNDO = "pick", "roles base", "roles generation", "roles undo"
LESS = "less is better:"  # of these outcomes, as it was chosen
LETTER, NARROWEST, WIDEST = 7.2, 124, 330  # pixels, of the names


def _columns(names: pd.Series) -> dict[str, Any]:
    longest = max((len(name) for name in names), default=0)
    return {
        PICK: st.column_config.CheckboxColumn(
            "Tick", width=58, help="Tick columns to give them a role together."
        ),
        "column": st.column_config.TextColumn(
            "Column",
            pinned=True,
            width=int(min(max(NARROWEST, 22 + LETTER * longest), WIDEST)),
        ),
        "role": st.column_config.SelectboxColumn(
            "Role",
            width=88,
            options=list(ROLES),
            required=True,
            help="What the column is. One subject, one time, one action; as many states as you "
            "like; 'ignore' for the rest.",
        ),
        "type": st.column_config.SelectboxColumn(
            "Type",
            width=92,
            options=list(KINDS),
            help="For states: ordinal and binary variables are imputed as whole numbers. Nominal: "
            "words or codes without an order. Text: what people wrote in their own words.",
        ),
        "values": st.column_config.TextColumn("Values", width=92, help="Some, or their range."),
        "missing": st.column_config.NumberColumn(
            "Missing", width=66, format="%.0f %%", help="Share of rows without a value."
        ),
        "distinct": st.column_config.NumberColumn(
            "Different", width=70, help="How many different values it has."
        ),
        "group": st.column_config.TextColumn(
            "Group",
            width=80,
            help="Number columns with the same word here are one variable (a vector): they are "
            "kept or left out together.",
        ),
        "missing codes": st.column_config.TextColumn(
            "Missing codes",
            width=120,
            help="Values of this column that mean 'missing', such as -9, 999.",
        ),
        "lowest": st.column_config.NumberColumn(
            "Lowest",
            width=74,
            help="The lowest value possible, if it is known: imputed values stay above it. Empty: "
            "the lowest observed.",
        ),
        "highest": st.column_config.NumberColumn(
            "Highest", width=76, help="The highest value possible, if it is known."
        ),
    }


def visit_key(name: str) -> str:
    """A widget key that is new at each visit of the page, so that it starts from what was kept."""
    return f"{name}-{st.session_state.get(Key.VISIT, ('', 0))[1]}"


class Before(NamedTuple):
    """What a change can be taken back to."""

    change: str
    table: pd.DataFrame
    next_value: NextValue | None
    known_before: tuple[str, ...]
    less_is_better: Mapping[str, bool | None]


def _origin(source: LoadedTable) -> str:
    return f"{source.token}:{kept('layout', '')}"


def _name(source: LoadedTable) -> str:
    """Under which the table of roles is kept."""
    return f"roles:{_origin(source)}"


def _undo_name(source: LoadedTable) -> str:
    """Under which what can be taken back is kept, until one goes to another state altogether."""
    return control_key(f"{UNDO}:{_origin(source)}")


def roles_now(source: LoadedTable) -> pd.DataFrame:
    """The table of roles with all that was changed so far."""
    table: pd.DataFrame = kept(_name(source), pd.DataFrame())
    return table


def change_roles(source: LoadedTable, change: str, table: pd.DataFrame | None = None) -> None:
    """Keep another table of roles, or be about to change what belongs to it; can be taken back."""
    now = roles_now(source)
    names = now["column"] if len(now) else ()
    less = {name: kept(f"{LESS}{name}", None) for name in names}
    before = Before(change, now, kept("next value", None), kept("known before", ()), less)
    undo = _undo_name(source)
    st.session_state[undo] = [*st.session_state.get(undo, ()), before][-MOST_STEPS_BACK:]
    if table is not None:
        keep(_name(source), table)
        begin_anew()


def begin_anew() -> None:
    """The table on the page starts again from what is kept."""
    st.session_state[GENERATION] = st.session_state.get(GENERATION, 0) + 1


def _take_back(source: LoadedTable) -> None:
    before = st.session_state[_undo_name(source)].pop()
    keep(_name(source), before.table)
    keep("next value", before.next_value)
    keep("known before", before.known_before)
    forget_kept(LESS)
    for name, less in before.less_is_better.items():
        if less is not None:
            keep(f"{LESS}{name}", less)
    begin_anew()


def edit_roles(source: LoadedTable, frame: pd.DataFrame) -> pd.DataFrame:
    """The editable table of columns, started from the guess, kept from visit to visit."""
    name = _name(source)
    if kept(name, None) is None:
        planned = the_analysis().plan
        if planned.roles != NOT_CHOSEN and planned.reading.layout == kept("layout", ""):
            _start_from(planned, frame, name)
        else:
            guess = guess_columns(frame)
            keep(name, role_table(frame, guess))
            keep("next value", guess.next_value)
    table = roles_now(source)
    if not {"group", "distinct", "numeric"} <= set(table):  # kept by an earlier version
        table = keep(name, with_facts(table, frame))
    found, undo = st.columns((4, 1), vertical_alignment="bottom")
    several = st.container()
    shown = _shown(source, table, _search(found, table))
    edited: pd.DataFrame = st.data_editor(
        shown,
        key=st.session_state[BASE][0],
        hide_index=True,
        height=min(760, 38 + 35 * max(len(shown), 1)),
        row_height=35,
        placeholder="",
        column_order=list(columns := _columns(table["column"])),
        disabled=["column", "values", "missing", "distinct"],
        column_config=columns,
        alt="Table of columns: the role and the type of each can be chosen.",
    )
    after = table.copy()
    for key in EDITABLE:
        after.loc[edited.index, key] = edited[key]
    if change := what_changed(table, after):
        change_roles(source, change)
        table = keep(name, after)
    ticked = list(edited.loc[edited[PICK].fillna(False).astype(bool), "column"])
    with undo:
        _undo(source)
    with several:
        _several_at_once(source, table, ticked, list(shown["column"]))
    if len(doubted := left_out_in_doubt(table)):
        what = (
            f"Known before the decision? {plural(len(doubted), 'column')} left out until you say so"
        )
        with st.expander(what):
            st.caption(
                "They look as if they were measured only after it. Where one is known when the "
                "treatment is chosen, give it the role 'state'; you are then asked once more."
            )
            with st.container(height=DOUBTED_HEIGHT if len(doubted) > MANY_DOUBTED else "content"):
                st.table(doubted.map(literal), border="horizontal", hide_index=True)
    with st.expander("What each column holds, and why this guess"):
        held = held_by_columns(table).map(literal)
        st.table(held, border="horizontal", hide_index=True)
    return table


def _search(place: Any, table: pd.DataFrame) -> str:
    if len(table) <= ENOUGH_TO_SEARCH:
        return ""
    with place:
        words: str = st.text_input(
            "Search",
            key=visit_key("roles-search"),
            placeholder=f"Search {len(table)} columns: steps, pre, state …",
            label_visibility="collapsed",
            icon=":material/search:",
            help="Shows the columns whose name, label or role holds these words. Changes stay.",
        )
    return words.strip()


def _shown(source: LoadedTable, table: pd.DataFrame, words: str) -> pd.DataFrame:
    """The rows to edit, as they were when this search, or the last change of many, began."""
    key = visit_key(f"roles-{_origin(source)}-{st.session_state.get(GENERATION, 0)}-{words}")
    base = st.session_state.get(BASE)
    if base is None or base[0] != key:
        if base is not None and words != base[2]:
            begin_anew()  # else the edits of an earlier search of these words would come back
            key = visit_key(f"roles-{_origin(source)}-{st.session_state[GENERATION]}-{words}")
        found = columns_with(table, words)
        rows = table[table["column"].isin(found)]
        rows = rows.assign(missing=100 * rows["missing"], **{PICK: False})
        base = st.session_state[BASE] = (key, rows, words)
    if not len(base[1]):
        st.caption(f"No column has “{literal(shorten(words))}” in its name, label or role.")
    shown: pd.DataFrame = base[1]
    return shown


def _undo(source: LoadedTable) -> None:
    steps_back = st.session_state.get(_undo_name(source), [])
    st.button(
        "Undo",
        icon=":material/undo:",
        width="stretch",
        disabled=not steps_back,
        on_click=_take_back,
        args=(source,),
        help=f"Takes back: {literal(steps_back[-1].change)}"
        if steps_back
        else "Takes the last change of the roles back.",
    )


def _several_at_once(
    source: LoadedTable, table: pd.DataFrame, ticked: list[str], shown: list[str]
) -> None:
    """Tools that change many rows, with the number of rows that they would change."""
    with st.expander("Several columns at once"):
        ways = {
            "Ticked": ticked,
            "Shown": shown,
            "By pattern": None,
            "After a column": None,
        }
        way = st.segmented_control(
            "Which",
            list(ways),
            default=kept("roles way", "Ticked"),
            required=True,
            key=visit_key("roles-way"),
            help="Those ticked in the table, those that the search shows, those called like "
            "response* (* stands for any letters), or all to the right of a column. Subject, time, "
            "action, outcome and availability stay what they are.",
        )
        keep("roles way", way)
        chosen, none = ways[way] or [], "Tick columns in the table."
        which, what, button = st.columns((2, 1.2, 1.5), vertical_alignment="bottom")
        if way == "By pattern":
            pattern = which.text_input(
                "Pattern",
                key=visit_key("roles-pattern"),
                placeholder="response*",
                help="* stands for any letters, ? for one: response* or *pre*. Capitals are the "
                "same as small letters.",
            )
            chosen = columns_like(table, pattern) if pattern.strip() else []
            none = "Type a pattern: * stands for any letters, as in response* or *pre*."
            if pattern.strip():
                none = f"No column is called like {shorten(pattern)}."
        elif way == "After a column":
            names = list(table["column"])
            after = which.selectbox(
                "After",
                names,
                key=visit_key("roles-after"),
                help="All columns to the right of this one in the file.",
            )
            chosen, none = columns_after(table, after), f"{shorten(after)} is the last column."
        elif way == "Shown":
            none = "The search shows no column."
        chosen = without_single(table, chosen)
        role: Role = what.selectbox(
            "Role",
            ROLES,
            index=ROLES.index("ignore"),
            key=visit_key("roles-role"),
            help="The role that all of them get. Undo takes it back.",
        )
        if way in ("Ticked", "Shown"):
            which.markdown(literal(shorten(", ".join(chosen), 90)) if chosen else literal(none))
        elif not chosen:
            st.caption(literal(none))
        with errors_as_messages():
            if button.button(
                f"Set {plural(len(chosen), 'column')}",
                disabled=not chosen,
                width="stretch",
                help=literal(shorten(", ".join(chosen), 300)) if chosen else None,
            ):
                given = give_role(table, chosen, role)
                change_roles(source, f"{plural(len(chosen), 'column')} to '{role}'", given)
                st.rerun()


def _start_from(plan: AnalysisPlan, frame: pd.DataFrame, name: str) -> None:
    """The controls as the plan of an opened analysis says."""
    roles, codes = plan.roles, dict(plan.reading.missing_codes)
    codes.pop(ALL_COLUMNS, None)
    keep(name, roles_to_table(frame, roles, codes))
    by_next_value = isinstance(roles.utility, NextValue)
    keep("next value", roles.utility if by_next_value else None)
    keep("known before", roles.known_before)
    keep("how", how_in(roles))
    about, outcome = roles.outcome, roles.outcome_name
    keep(f"outcome kind:{outcome.column}", about.kind)
    keep(f"outcome unit:{outcome.column}", outcome.unit)
    keep(f"less is better:{outcome.column}", outcome.sign < 0)
    levels = roles.action_levels or {}
    for level, label in levels.items():
        keep(f"label:{roles.action}:{level}", label)
    constants: Mapping[str, Any] = {}
    if isinstance(roles.probability, Mapping):
        constants = {a: p for a, p in roles.probability.items() if not isinstance(p, str)}
    elif isinstance(roles.probability, float):
        constants = dict.fromkeys(list(levels)[1:] or ["1"], roles.probability)
    for level, probability in constants.items():
        keep(f"probability:{roles.action}:{level}", probability)
    keep("lags", roles.lags)
    keep("action lags", roles.action_lags)
    keep("add time", roles.add_time)

"""The controls of the Data page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.navigation import page_path
from dashboard.session import Key, keep, kept, memo, run, start_visit_anew, tell, the_analysis
from dashboard.show import errors_as_messages, literal
from dashboard.table import NOT_CHOSEN, LoadedTable, load
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.columns import level_text, sorted_levels
from smdp.data.guess_roles import ROLES, guess_columns, match_probabilities
from smdp.data.missing_codes import suspected_codes
from smdp.data.reshape import Layout, recognise_layout, to_long
from smdp.data.role_table import (
    add_codes,
    codes_before_shaping,
    held_by_columns,
    role_table,
    roles_to_table,
)
from smdp.data.variables import KINDS
from smdp.steps import DATA, MISSING
from smdp.text import plural

if TYPE_CHECKING:
    import pandas as pd

    from smdp.analysis.plan import AnalysisPlan

ALL_COLUMNS = "*"

LAYOUTS: dict[Layout, str] = {
    "long": "Long: a row for each time",
    "wide": "Wide: a row for each person",
    "redcap": "REDCap export",
}
MOST_LISTED_LEVELS = 12
ROLE_COLUMNS = {
    "column": st.column_config.TextColumn("Column", pinned=True, width=124),
    "role": st.column_config.SelectboxColumn(
        "Role",
        width=92,
        options=list(ROLES),
        required=True,
        help="What the column is. One subject, one time, one action; as many states as you like; "
        "'ignore' for the rest.",
    ),
    "type": st.column_config.SelectboxColumn(
        "Type",
        width=92,
        options=list(KINDS),
        help="For states: ordinal and binary variables are imputed as whole numbers.",
    ),
    "missing codes": st.column_config.TextColumn(
        "Missing codes",
        width=128,
        help="Values of this column that mean 'missing', such as -9, 999.",
    ),
    "lowest": st.column_config.NumberColumn(
        "Lowest",
        width=84,
        help="The lowest value possible, if it is known: imputed values stay above it. Empty: the "
        "lowest observed.",
    ),
    "highest": st.column_config.NumberColumn(
        "Highest", width=86, help="The highest value possible, if it is known."
    ),
}


def visit_key(name: str) -> str:
    """A widget key that is new at each visit of the page, so that it starts from what was kept."""
    return f"{name}-{st.session_state.get(Key.VISIT, ('', 0))[1]}"


def choose_sheet(source: LoadedTable) -> None:
    if source.sheet is not None and not source.sheets:
        st.caption(
            f"Sheet {literal(source.sheet)} of the workbook. A saved analysis holds this sheet "
            "only: to take another, load the workbook again."
        )
    if len(source.sheets) < 2:
        return
    chosen = st.selectbox(
        "Sheet",
        source.sheets,
        index=source.sheets.index(source.sheet_name or source.sheets[0]),
        key=visit_key("sheet"),
        help="The sheet of the workbook that holds the data.",
    )
    if chosen != source.sheet_name:
        with errors_as_messages():
            load(source.name, source.content, chosen)
            st.rerun()


def choose_layout(source: LoadedTable) -> pd.DataFrame:
    """The table in long form; the layout is recognised and can be corrected."""
    planned = the_analysis().plan
    known = planned.roles != NOT_CHOSEN
    found = planned.reading.layout if known else recognise_layout(source.frame)
    layouts = list(LAYOUTS)
    chosen = st.selectbox(
        "Layout of the table",
        layouts,
        index=layouts.index(kept(f"layout:{source.token}", found)),
        format_func=LAYOUTS.__getitem__,
        key=visit_key(f"layout-{source.token[:12]}"),
        help="Long: one row for each person and time. Wide: one row for each person, with columns "
        "such as stress_1, stress_2, … A wide table or a REDCap export is turned long.",
    )
    keep(f"layout:{source.token}", chosen)
    keep("layout", chosen)
    return memo("long", (source.token, chosen), lambda: to_long(source.frame, chosen))


def missing_codes_everywhere() -> str:
    planned = the_analysis().plan.reading.missing_codes.get(ALL_COLUMNS, ())
    return keep(
        "codes",
        st.text_input(
            "Missing codes in all columns",
            value=kept("codes", ", ".join(map(str, planned))),
            key=visit_key("codes"),
            placeholder="-9, 999",
            help="Values that mean 'missing'. Empty cells, NA, NaN and a single dot count as "
            "missing already. Codes of one column only go into the table of columns.",
        ),
    )


def edit_roles(source: LoadedTable, frame: pd.DataFrame) -> pd.DataFrame:
    """The editable table of columns, started from the guess, kept from visit to visit."""
    origin = f"{source.token}:{kept('layout', '')}"
    name = f"roles:{origin}"
    if kept(name, None) is None:
        planned = the_analysis().plan
        if planned.roles != NOT_CHOSEN and planned.reading.layout == kept("layout", ""):
            _start_from(planned, frame, name)
        else:
            guess = guess_columns(frame)
            keep(name, role_table(frame, guess))
            keep("next value", guess.next_value)
    base_key = visit_key(f"base-{origin}")
    if base_key not in st.session_state:
        st.session_state[base_key] = kept(name, None)
    edited: pd.DataFrame = st.data_editor(
        st.session_state[base_key],
        key=visit_key(f"roles-{origin}"),
        hide_index=True,
        height=min(760, 38 + 35 * len(frame.columns)),
        row_height=35,
        placeholder="",
        column_order=list(ROLE_COLUMNS),
        disabled=["column"],
        column_config=ROLE_COLUMNS,
        alt="Table of columns: the role and the type of each can be chosen.",
    )
    with st.expander("What each column holds, and why this guess"):
        held = held_by_columns(edited).map(literal)
        st.table(held, border="horizontal", hide_index=True)
    return keep(name, edited)


def _start_from(plan: AnalysisPlan, frame: pd.DataFrame, name: str) -> None:
    """The controls as the plan of an opened analysis says."""
    roles, codes = plan.roles, dict(plan.reading.missing_codes)
    codes.pop(ALL_COLUMNS, None)
    keep(name, roles_to_table(frame, roles, codes))
    by_next_value = isinstance(roles.utility, NextValue)
    keep("next value", roles.utility if by_next_value else None)
    keep("utility column", None if by_next_value else roles.utility)
    levels = roles.action_levels or {}
    for level, label in levels.items():
        keep(f"label:{roles.action}:{level}", label)
    constants: Mapping[str, Any] = {}
    if isinstance(roles.probability, Mapping):
        constants = {a: p for a, p in roles.probability.items() if not isinstance(p, str)}
    elif isinstance(roles.probability, float):
        constants = dict.fromkeys(list(levels)[1:] or ["1"], roles.probability)
    keep("randomised", bool(constants))
    for level, probability in constants.items():
        keep(f"probability:{roles.action}:{level}", probability)
    keep("lags", roles.lags)
    keep("action lags", roles.action_lags)
    keep("add time", roles.add_time)


def codes_as_planned(
    codes: Mapping[str, tuple[str | float, ...]], long: pd.DataFrame, shaped: pd.DataFrame
) -> Mapping[str, tuple[str | float, ...]]:
    """The plan's own codes where they mean the same: it may name some for all columns at once."""
    plan = the_analysis().plan
    rest = dict(plan.reading.missing_codes)
    everywhere = ", ".join(map(str, rest.pop(ALL_COLUMNS, ())))
    if not everywhere or plan.roles == NOT_CHOSEN or plan.reading.layout != kept("layout", ""):
        return codes
    if not set(plan.roles.columns()) <= set(shaped.columns):
        return codes
    planned = roles_to_table(shaped, plan.roles, rest)
    found = codes_before_shaping(planned, everywhere, list(map(str, long.columns)), rest)
    same = {name: tuple(each) for name, each in found.items()} == dict(codes)
    return plan.reading.missing_codes if same else codes


def offer_suspected_codes(
    source: LoadedTable, long: pd.DataFrame, frame: pd.DataFrame, roles: pd.DataFrame
) -> None:
    """One click for values that look like missing codes; the user sees them in the table.

    `long`: the table before it was shaped, for codes are marked there.
    """
    coded = roles["role"].isin(["state", "action"]) & roles["column"].isin(long.columns)
    searched = roles.loc[coded, "column"]
    suspects = suspected_codes(frame[list(searched)])
    if suspects and st.button(
        f"Treat the suspected codes of {plural(len(suspects), 'column')} as missing",
        icon=":material/do_not_disturb_on:",
        help="Writes them into the column 'Missing codes' of the table above.",
    ):
        keep(f"roles:{source.token}:{kept('layout', '')}", add_codes(roles, suspects))
        start_visit_anew()
        st.rerun()


def choose_utility(roles: pd.DataFrame) -> NextValue | None:
    """A utility column (None), or plus or minus the next value of a state."""
    column = next(iter(roles.loc[roles["role"] == "utility", "column"]), None)
    if column != kept("utility column", None):  # a role given just now is what is meant
        keep("next value", None if column is not None else kept("next value", None))
        keep("utility column", column)
    options: dict[str, NextValue | None] = {
        "Choose …" if column is None else f"column {column}": None
    }
    for name in roles.loc[roles["role"] == "state", "column"]:
        options[f"minus next {name}"] = NextValue(name, -1)
        options[f"plus next {name}"] = NextValue(name, 1)
    labels, remembered = list(options), kept("next value", None)
    index = list(options.values()).index(remembered) if remembered in options.values() else 0
    label = st.selectbox(
        "Utility (U)",
        labels,
        index=index,
        key=visit_key(f"utility-{column}-{len(labels)}"),
        help="What a good decision increases. A column of the table, or plus or minus the value "
        "that a state variable has at the next decision (minus the cigarettes smoked until then).",
    )
    return keep("next value", options[label])


def edit_actions(
    frame: pd.DataFrame, roles: pd.DataFrame
) -> tuple[dict[str, str] | None, float | dict[str, str | float] | None]:
    """The action's levels with their labels, and what is known of the randomisation."""
    column = next(iter(roles.loc[roles["role"] == "action", "column"]), None)
    if column is None or not 2 <= frame[column].nunique() <= MOST_LISTED_LEVELS:
        return None, None
    levels = sorted_levels({level_text(v) for v in frame[column].dropna().unique()})
    in_file = frame.attrs.get("value_labels", {}).get(column, {})
    from_file = {level_text(value): str(text) for value, text in in_file.items()}
    with st.expander("Action labels and randomisation"):
        labels = {
            level: st.text_input(
                f"Label of {literal(column)} = {literal(level)}",
                value=kept(f"label:{column}:{level}", from_file.get(level, level)),
                key=visit_key(f"label-{column}-{level}"),
                help="What this treatment is called on the pages and in reports.",
            )
            for level in levels
        }
        for level, label in labels.items():
            keep(f"label:{column}:{level}", label)
        probability = _choose_probability(frame, roles, column, levels)
    planned = the_analysis().plan.roles.probability
    if isinstance(planned, float) and probability == {levels[1]: planned} and len(levels) == 2:
        return labels, planned  # the same, as the plan of an opened analysis writes it
    return labels, probability


def _choose_probability(
    frame: pd.DataFrame, roles: pd.DataFrame, action: str, levels: list[str]
) -> float | dict[str, str | float] | None:
    columns = list(roles.loc[roles["role"] == "probability", "column"])
    if columns:
        matched = match_probabilities(frame, action, columns)
        if isinstance(matched, dict):
            st.caption("Randomisation probabilities: " + literal(", ".join(columns)))
            return matched
        st.caption(literal(f"Randomisation probability of {levels[-1]}: column {columns[0]}"))
        return None
    known = st.checkbox(
        "Randomised with a constant probability",
        value=kept("randomised", False),
        key=visit_key("randomised"),
        help="If the probabilities are not known they will be estimated, and every page says so.",
    )
    if not keep("randomised", known):
        return None
    chosen: dict[str, str | float] = {}
    for level in levels[1:]:
        name = f"probability:{action}:{level}"
        chosen[level] = keep(
            name,
            st.number_input(
                f"Probability of {literal(level)}",
                min_value=0.01,
                max_value=0.99,
                value=kept(name, round(1 / len(levels), 2)),
                key=visit_key(name),
                help="With which probability each person got it at each decision.",
            ),
        )
    return chosen


def with_planned_units(roles: ColumnRoles) -> ColumnRoles:
    """The page does not ask what a variable's numbers count; what the plan says of it stays."""
    units = {each.name: each.unit for each in the_analysis().plan.roles.variables}
    states = tuple(replace(each, unit=units.get(each.name)) for each in roles.variables)
    return replace(roles, states=states)


def choose_look_back() -> dict[str, Any]:
    """What of the past, and of the clock, belongs to the state."""
    with st.expander("More"):
        lags = st.number_input(
            "Look-back (m)",
            min_value=0,
            max_value=10,
            value=kept("lags", 0),
            key=visit_key("lags"),
            help="How many earlier values of each state and of the action are added to the state. "
            "0 if the present state says enough about the next one.",
        )
        action_lags = st.number_input(
            "Earlier treatments in the state",
            min_value=0,
            max_value=10,
            value=kept("action lags", 0),
            key=visit_key("action-lags"),
            help="How many earlier treatments are added to the state, if more than the look-back: "
            "for treatments that wear off, add up or tire people.",
        )
        add_time = st.checkbox(
            "Add the decision number as a state",
            value=kept("add time", False),
            key=visit_key("add-time"),
            help="If the study changes over time (people get used to the treatment).",
        )
    return {
        "lags": keep("lags", int(lags)),
        "action_lags": keep("action lags", int(action_lags)),
        "add_time": keep("add time", bool(add_time)),
    }


def change_state_and_go_on(news: str, **changes: Any) -> None:
    """Another look-back, or the decision number as a state, as if it were chosen on Data.

    Goes to the first step that is to be run again, which says so after `news`.
    """
    with errors_as_messages(), st.spinner("Arranging the table …"):
        roles = replace(the_analysis().plan.roles, **changes)
        run(DATA, roles=roles)
        keep("lags", roles.lags)
        keep("action lags", roles.action_lags)
        keep("add time", roles.add_time)
        tell(
            f"{news} Missing values and the steps after it are to be run again, with the settings "
            "that they had. To undo it, change it back on the page Data, under More."
        )
        st.switch_page(page_path(MISSING))

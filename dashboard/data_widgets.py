"""The controls of the Data page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.address import go_to
from dashboard.dictionary_widgets import labelled, words_now
from dashboard.leak_widgets import ignore
from dashboard.loading import load
from dashboard.navigation import page_path, page_steps
from dashboard.role_widgets import ALL_COLUMNS, change_roles, roles_now, visit_key
from dashboard.session import State, keep, kept, memo, run, state, tell, the_analysis
from dashboard.show import errors_as_messages, literal
from dashboard.table import NOT_CHOSEN, LoadedTable, loaded
from smdp.data.column_roles import ColumnRoles
from smdp.data.columns import level_text, sorted_levels
from smdp.data.missing_codes import suspected_codes
from smdp.data.reshape import Layout, recognise_layout, to_long
from smdp.data.role_table import (
    FEWEST_COLUMNS,
    add_codes,
    codes_before_shaping,
    roles_to_table,
)
from smdp.steps import DATA
from smdp.text import listing, plural

if TYPE_CHECKING:
    import pandas as pd


LAYOUTS: dict[Layout, str] = {
    "long": "Long: a row for each time",
    "wide": "Wide: a row for each person",
    "redcap": "REDCap export",
}
MOST_LISTED_LEVELS = 12


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


def point_at_other_sheets(source: LoadedTable) -> None:
    """A sheet of words is often the first of a workbook."""
    columns = source.frame.shape[1]
    if len(source.sheets) > 1 and columns < FEWEST_COLUMNS:
        st.warning(
            f"This sheet has {plural(columns, 'column')}. If the data stand in another one, choose "
            f"it above: {literal(listing(source.sheets))}.",
            icon=":material/table:",
        )


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
    key = (source.token, chosen, words_now(source))
    return memo("long", key, lambda: to_long(labelled(source), chosen))


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
        what = f"suspected codes of {plural(len(suspects), 'column')}"
        change_roles(source, what, add_codes(roles, suspects))
        st.rerun()


def levels_of(frame: pd.DataFrame, column: str | None) -> list[str]:
    """The levels of the action, none where there are too few or too many to name."""
    if column is None or not 2 <= frame[column].nunique() <= MOST_LISTED_LEVELS:
        return []
    return sorted_levels({level_text(v) for v in frame[column].dropna().unique()})


def name_actions(frame: pd.DataFrame, column: str | None) -> dict[str, str] | None:
    """The action's levels with their labels."""
    levels = levels_of(frame, column)
    if column is None or not levels:
        return None
    in_file = frame.attrs.get("value_labels", {}).get(column, {})
    from_file = {level_text(value): str(text) for value, text in in_file.items()}
    unnamed = {level: from_file.get(level, level) for level in levels}
    with st.expander("Names of the treatments"):
        labels = {
            level: st.text_input(
                f"Label of {literal(column)} = {literal(level)}",
                value=kept(f"label:{column}:{level}", unnamed[level]),
                key=visit_key(f"label-{column}-{level}"),
                help="What this treatment is called on the pages and in reports.",
            )
            for level in levels
        }
    for level, label in labels.items():
        keep(f"label:{column}:{level}", label)
    planned = the_analysis().plan.roles
    if planned.action == column and planned.action_levels is None and labels == unnamed:
        return None  # the same, as the plan of an opened analysis leaves it open
    return labels


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


def do_without(columns: Sequence[str]) -> None:
    """The study without these states, as if they were set to 'ignore' on Data."""
    with errors_as_messages(), st.spinner("Arranging the table …"):
        planned, source = the_analysis().plan.roles, loaded()
        run(
            DATA,
            roles=replace(
                planned,
                states=tuple(each for each in planned.variables if each.name not in columns),
                known_before=tuple(name for name in planned.known_before if name not in columns),
            ),
        )
        if source is not None and len(roles_now(source)):  # else Data starts from the plan
            ignore(source, columns)
        st.rerun()


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
        open_ones = [step for step in page_steps() if state(step) != State.DONE]
        made_before = (step for step in open_ones if state(step) == State.OUT_OF_DATE)
        again = next(made_before, open_ones[0])
        tell(
            f"{news} {again.title} and the steps after it are to be run again, with the settings "
            "that they had. Undo, on top of the sidebar, takes it back."
        )
        go_to(page_path(again))

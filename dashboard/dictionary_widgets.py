"""A REDCap data dictionary on the Data page: labels, types, choices and ranges from its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.role_widgets import change_roles
from dashboard.session import Key, keep, kept, start_visit_anew, the_analysis
from dashboard.show import errors_as_messages, literal
from dashboard.table import LoadedTable
from smdp.data.data_dictionary import described_by, read_dictionary, with_labels
from smdp.text import plural

if TYPE_CHECKING:
    import pandas as pd

LABELS, CHOICES, SOURCE = "labels", "choices", "source"


def words_now(source: LoadedTable) -> dict[str, Any]:
    """What columns and values are called, as a dictionary said or as the plan has it."""
    planned = the_analysis().plan.reading
    start = {LABELS: dict(planned.labels), CHOICES: _plain(planned.choices), SOURCE: ""}
    found: dict[str, Any] = kept(_name(source), start)
    return found


def labelled(source: LoadedTable) -> pd.DataFrame:
    words = words_now(source)
    return with_labels(source.frame, words[LABELS], words[CHOICES])


def choose_dictionary(source: LoadedTable, roles: pd.DataFrame) -> None:
    """A place to drop the dictionary; what it said, and a way to do without its words."""
    words = words_now(source)
    with st.expander("REDCap data dictionary"):
        if words[LABELS] or words[CHOICES]:
            of = f" of {literal(words[SOURCE])}" if words[SOURCE] else ""
            st.caption(
                f"In use{of}: labels of {plural(len(words[LABELS]), 'column')}, named values of "
                f"{len(words[CHOICES])}. Types and ranges stand in the table of columns."
            )
            if st.button("Do without its labels", type="tertiary", icon=":material/label_off:"):
                _use(source, {LABELS: {}, CHOICES: {}, SOURCE: ""})
        upload = st.file_uploader(
            "The dictionary of the project (CSV)",
            key=f"dictionary-{st.session_state.get(Key.UPLOADS, 0)}-{words[SOURCE]}",
            help="In REDCap: Data Dictionary, download the current one. Its labels and choices "
            "name columns and values; its types, ranges and codes for 'refused' and the like go "
            "into the table of columns, where they can be changed and undone. Identifiers and free "
            "text are ignored.",
        )
        if upload is None:
            return
        with errors_as_messages():
            found = read_dictionary(upload.getvalue(), name=upload.name)
            columns = list(dict.fromkeys([*map(str, source.frame.columns), *roles["column"]]))
            found.require_any(columns)
            change_roles(source, f"data dictionary {upload.name}", described_by(roles, found))
            labels, choices = found.labels(columns), found.choices(columns)
            _name_actions(choices)
            _use(source, {LABELS: labels, CHOICES: choices, SOURCE: found.source})


def _name_actions(choices: Mapping[str, Mapping[str, str]]) -> None:
    """Levels of an action that nobody gave a name are called as the dictionary calls them."""
    for column, named in choices.items():
        for level, label in named.items():
            if kept(f"label:{column}:{level}", level) == level:
                keep(f"label:{column}:{level}", label)


def _use(source: LoadedTable, words: dict[str, Any]) -> None:
    st.session_state[Key.UPLOADS] = st.session_state.get(Key.UPLOADS, 0) + 1
    keep(_name(source), words)
    start_visit_anew()
    st.rerun()


def _name(source: LoadedTable) -> str:
    return f"dictionary:{source.token}"


def _plain(choices: Any) -> dict[str, dict[str, str]]:
    return {name: dict(each) for name, each in choices.items()}

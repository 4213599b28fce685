"""1 Data: which column is what, and what the program understood."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dashboard import data_widgets as widgets
from dashboard import (
    dictionary_widgets,
    leak_widgets,
    role_widgets,
    shape_widgets,
    study_questions,
)
from dashboard.controls import select
from dashboard.gate import changed_notice, same_settings
from dashboard.loading import upload_box
from dashboard.page import COLUMNS, next_page
from dashboard.session import State, kept, memo, result, run, state
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    heading,
    literal,
    my_note,
    part,
    say_error,
    says,
    table,
)
from dashboard.table import loaded
from smdp.data.checks import find_problems
from smdp.data.compliance import DECISION, days_of, describe_compliance, describe_days
from smdp.data.describe import describe_people, describe_study
from smdp.data.measured import measured, places
from smdp.data.missing_codes import mark_missing
from smdp.data.participants import NOTE, as_in_papers, describe_variables, participants_table
from smdp.data.problem import counted
from smdp.data.role_table import roles_from_table
from smdp.errors import SmdpError
from smdp.steps import DATA
from smdp.steps.step_plans import ReadingSettings
from smdp.text import plural

if TYPE_CHECKING:
    from smdp.data.leaks import Leak
    from smdp.data.reshape import Layout
    from smdp.data.study import Study

heading("Data", DATA.question)

source = loaded()
if source is None:
    with st.container(border=True):
        st.markdown("No file is loaded yet. Load your own table here, or take a sample study.")
        upload_box()
        st.page_link("views/start.py", label="Take a sample study", icon=":material/science:")
    st.stop()


def show_study(study: Study) -> None:
    from smdp.figures.data import decisions_figure
    from smdp.figures.measured import (
        distribution_figure,
        outcome_by_action_figure,
        outcome_by_action_note,
        over_time_figure,
    )

    says(describe_study(study), "What the program understood")
    figure(decisions_figure(study), "decisions")
    # Only what is looked at is worked out: a large study takes a second or two.
    variables, over_time, by_treatment, compliance = st.tabs(
        ["Variables", "Over time", "By treatment", "Compliance"], key="look", on_change="rerun"
    )
    if variables.open:
        with variables:
            found = memo("participants", study, lambda: describe_variables(study))
            numbers = participants_table(found)
            table(as_in_papers(found), "participants", export=numbers, whole="Variable")
            st.caption(NOTE)
    if over_time.open:
        with over_time:
            every = {place.title: place for place in memo("places", study, lambda: places(study))}
            outcome = list(every)[-1]
            chosen = select("Variable", "look.variable", list(every), outcome, "What to look at.")
            seen = measured(study, every[chosen])
            left, right = st.columns((1.8, 1))
            with left:
                if seen.of_people:
                    st.info("The same at every decision of a person, so shown over people.")
                else:
                    figure(over_time_figure(study, seen), "over-time")
            with right:
                figure(distribution_figure(study, seen), "distribution")
    if by_treatment.open:
        with by_treatment:
            figure(outcome_by_action_figure(study), "outcome-by-action")
            st.caption(outcome_by_action_note(study))
    if compliance.open:
        with compliance:
            show_compliance(study)


def show_compliance(study: Study) -> None:
    from smdp.figures.data import compliance_figure

    days = {each.called: each for each in memo("days", study, lambda: days_of(study))}
    over = None
    if days:
        ways = [*days, DECISION]
        over = select("Over", "look.compliance", ways, ways[0], "Days, or single decisions.")
    chosen = days.get(over or "")
    figure(compliance_figure(study, chosen), "compliance")
    st.caption(literal(describe_compliance(study) if chosen is None else describe_days(chosen)))


def look_at(study: Study) -> None:
    """What there is to see in a study without treatments."""
    from smdp.figures.measured import distribution_figure, over_time_figure
    from smdp.figures.missing_values import missing_heatmap

    shown = ("background", "state", *(["outcome"] if np.isfinite(study.utilities).any() else []))
    part("What the program understood")
    st.markdown("\n".join(f"- {literal(text)}" for text in describe_people(study)))
    variables, over_time, missing, compliance = st.tabs(
        ["Variables", "Over time", "Missing values", "Compliance"], key="look", on_change="rerun"
    )
    if variables.open:
        with variables:
            found = [each for each in describe_variables(study) if each.role in shown]
            table(as_in_papers(found), "participants", participants_table(found), whole="Variable")
            st.caption(NOTE)
    if over_time.open:
        with over_time:
            every = {place.title: place for place in places(study) if place.role in shown}
            chosen = select(
                "Variable", "look.variable", list(every), list(every)[-1], "What to look at."
            )
            seen = measured(study, every[chosen])
            if not seen.of_people:
                figure(over_time_figure(study, seen), "over-time")
            figure(distribution_figure(study, seen), "distribution")
    if missing.open:
        with missing:
            figure(missing_heatmap(study), "missing")
    if compliance.open:
        with compliance:
            show_compliance(study)


questions = st.container(border=True)
settings_column, main = st.columns(COLUMNS, gap="large")
with settings_column:
    with st.expander("Load another file"):
        upload_box()
    widgets.choose_sheet(source)
    widgets.point_at_other_sheets(source)
    layout_place = st.container()
    everywhere = widgets.missing_codes_everywhere()
    dictionary_place = st.container()
try:
    with layout_place:
        long = widgets.choose_layout(source)
except SmdpError as error:
    say_error(error)
    st.stop()
with main:
    shaping = shape_widgets.shape_the_table(source, long, everywhere)
    shaped = shaping.frame
    edited = role_widgets.edit_roles(source, shaped)
    shape_widgets.again_if_changed(shaping, edited)
    size = f"{plural(len(shaped), 'row')}, {plural(shaped.shape[1], 'column')}"
    with st.expander(f"Preview of the table ({size})"):
        st.dataframe(shaped.head(200), hide_index=True, key="preview")

with dictionary_place:
    dictionary_widgets.choose_dictionary(source, edited)

BUTTON = "Use these roles"
answers: study_questions.Answers | None = None
with settings_column, errors_as_messages():  # here, for below the table nobody would see them
    shaping.require_done()
    codes = shape_widgets.codes_now(source, long, everywhere, edited)
    codes_now = widgets.codes_as_planned(codes, long, shaped)
    shape = shaping.operations
    tables = shape_widgets.files_joined(shape)
    words = dictionary_widgets.words_now(source)
    named = {name: words[name] for name in ("labels", "choices")}
    laid_out: Layout = kept("layout", "long")
    reading = ReadingSettings(source.sheet, laid_out, codes_now, shape, tables, **named)
    read_as = (source.token, reading)
    frame = shaped
    if not shape:
        marked = partial(mark_missing, long, dict(reading.missing_codes))
        frame = memo("marked", read_as, marked)
    levels = widgets.name_actions(frame, study_questions.column_with("action", edited))
    with questions:
        answers = study_questions.ask(source, frame, edited)

if answers is not None and answers.how == "none":
    settings_column.button(BUTTON, disabled=True, width="stretch", icon=":material/check:")
    with questions:
        study_questions.explain_no_treatment()
    with errors_as_messages():
        look_at(study_questions.without_treatment(frame, read_as, edited))
    st.stop()

chosen_now: dict[str, Any] | None = None
problems = None
leaks: tuple[Leak, ...] = ()
if answers is not None:
    with settings_column, errors_as_messages():
        chosen = roles_from_table(
            answers.of(edited),
            next_value=answers.next_value,
            probability=answers.probability,
            action_levels=levels,
            assignment=answers.assignment,
            nothing_hidden=answers.nothing_hidden,
            outcome=answers.outcome,
            **widgets.choose_look_back(),
        )
        chosen = leak_widgets.with_answers(widgets.with_planned_units(chosen))
        chosen_now = {"reading": reading, "roles": chosen}
        leaks = leak_widgets.leaks_of(frame, read_as, chosen)
        problems = memo("problems", (read_as, chosen), lambda: find_problems(frame, chosen, leaks))
        if st.button(
            BUTTON,
            type="primary",
            disabled=any(p.severity == "error" for p in problems),
            width="stretch",
            icon=":material/check:",
            help="Arranges the table by subject and decision.",
        ):
            with st.spinner("Arranging the table …"):
                run(DATA, **chosen_now)
            st.rerun()
        if state(DATA) == State.DONE and same_settings(DATA, **chosen_now):
            st.caption("Done. What was understood is shown below the table.")
        elif found := counted(problems):
            st.caption(f"{found}: see Check, below the table.")
if problems is None:
    settings_column.button(BUTTON, disabled=True, width="stretch", icon=":material/check:")
else:
    leak_widgets.ask(source, leaks, chosen)
    check(problems)
    widgets.offer_suspected_codes(source, long, frame, edited)

if state(DATA) in (State.DONE, State.OUT_OF_DATE):
    if chosen_now is not None:
        changed_notice(DATA, **chosen_now)
    show_study(result(DATA))
    my_note(DATA)
    next_page(DATA)

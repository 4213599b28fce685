"""Could this trial have found it, and how much do results move with what is missing?

`twin_part` and `imputation_part` draw the settings, the button, the job and what was found, each
for a part of a page.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, run_button, section_now
from dashboard.running import job_box
from dashboard.session import State, done, result, state, the_analysis
from dashboard.show import check, errors_as_messages, figure, my_note, says, table
from smdp.figures.imputations import effects_figure, kept_figure, missing_over_time_figure
from smdp.figures.twin import found_figure, gains_figure
from smdp.steps import FEATURES, IMPUTATIONS, POLICY, RESCALING, SCREENING, TWIN
from smdp.text import duration
from smdp.validation.imputation_draws import ImputationDraws
from smdp.validation.twin_study import TwinStudy
from smdp.words.imputations import effects_table, kept_table, patterns_table
from smdp.words.twin import twin_table

#: The value takes the analysis anew without each of about so many folds.
FOLDS_TOO = 5

WHAT_A_TWIN_IS = (
    "A twin of the study is fitted: people with the same lengths, gaps and chances of treatment, "
    "whose answers and outcomes follow what was learned here, with the deviations of real people. "
    "Studies are drawn from it and analysed as this one was. In some of them what was learned is "
    "true; in others the outcome depends on nothing. How often is the truth found, and how often "
    "something that is not there?"
)
WHAT_DRAWING_IS = (
    "Missing values were filled in once, each with its likeliest value. Here they are drawn "
    "several times, with the person's own ups and downs: what changes from draw to draw depends on "
    "values that nobody saw. Beside it, whether values are missing by chance: does it go with time "
    "in the study, with the treatment before, or with earlier answers?"
)


def twin_part() -> None:
    """The whole part of the page: settings on the left, what was found on the right."""
    settings_column, main = st.columns(COLUMNS, gap="large")
    sections: dict[str, Any] = {}
    with settings_column, errors_as_messages():
        form = Form(TWIN.name, section_now(TWIN))
        form.draw("repetitions", "repeated")
        form.more()
        sections = {"twin": form.value()}
        deep = sections["twin"].settings.repeated
        lacks = deep != "screening" and state(POLICY) != State.DONE
        _time(sections["twin"].settings.repetitions, deep)
        run_button(TWIN, "Analyse drawn studies", sections, icon=":material/group:", disabled=lacks)
        if lacks:
            st.caption("Policies come first for this; screening alone can be repeated now.")
        _partly(result(TWIN))
    with main:
        job_box(TWIN)
        found = result(TWIN)
        if found is None:
            with st.container(border=True, height=340):
                st.markdown(WHAT_A_TWIN_IS)
            return
        if sections:
            changed_notice(TWIN, **sections)
        figure(found_figure(found), "twin-found")
        gains = gains_figure(found, the_analysis().outcome_name)
        if gains is not None:
            with st.expander("What policies learned from drawn studies are worth"):
                figure(gains, "twin-gains")
        says(TWIN.says(the_analysis()))
        check(TWIN.warns(found, the_analysis()))
        with st.expander("Tables"):
            table(twin_table(found), "twin", found.table)
            table(found.each, "twin-studies", found.each)
        my_note(TWIN)


def _time(repetitions: int, deep: str) -> None:
    """About how long, by what the analysis itself took; nothing where that is not known."""
    own = [done(step) for step in (SCREENING, FEATURES, POLICY)]
    screening, *others = (None if each is None else each.seconds for each in own)
    if screening is None:
        return
    seconds = 2 * screening
    if deep != "screening":
        if None in others:
            return
        once = screening + sum(each for each in others if each is not None)
        seconds = screening + (once if deep == "policy" else 2 * (1 + FOLDS_TOO) * once)
    st.caption(f"About {duration(repetitions * seconds)} with one worker.")


def _partly(found: TwinStudy | ImputationDraws | None) -> None:
    if found is None or found.complete:
        return
    if isinstance(found, TwinStudy):
        st.caption(f"{len(found.repetitions)} drawn studies are analysed and will be used.")
    else:
        st.caption(f"{len(found.draws)} draws are analysed and will be used.")


def imputation_part() -> None:
    """The same for missing values."""
    settings_column, main = st.columns(COLUMNS, gap="large")
    sections: dict[str, Any] = {}
    with settings_column, errors_as_messages():
        form = Form(IMPUTATIONS.name, section_now(IMPUTATIONS))
        form.draw("draws", "repeated")
        form.more()
        sections = {"imputations": form.value()}
        run_button(
            IMPUTATIONS,
            "Draw the missing values",
            sections,
            icon=":material/casino:",
            disabled=state(RESCALING) != State.DONE,
        )
        _partly(result(IMPUTATIONS))
    with main:
        job_box(IMPUTATIONS)
        found = result(IMPUTATIONS)
        if found is None:
            with st.container(border=True, height=260):
                st.markdown(WHAT_DRAWING_IS)
            return
        if sections:
            changed_notice(IMPUTATIONS, **sections)
        if found.draws:
            figure(kept_figure(found), "drawn-kept")
            effects = effects_figure(found)
            if effects is not None:
                figure(effects, "drawn-effects")
        if found.patterns.missing:
            figure(missing_over_time_figure(found.patterns), "missing-over-time")
        says(IMPUTATIONS.says(the_analysis()))
        check(IMPUTATIONS.warns(found, the_analysis()))
        with st.expander("Tables"):
            if found.draws:
                table(kept_table(found), "drawn-kept", found.kept)
                table(effects_table(found), "drawn-effects", found.effects)
            if len(found.patterns.tests):
                shown = patterns_table(found.patterns)
                table(shown, "missing-patterns", found.patterns.tests)
            table(found.patterns.by_variable, "missing-by-variable", found.patterns.by_variable)
        my_note(IMPUTATIONS)

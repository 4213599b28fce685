"""Effects: what each treatment did in the trial, on average, for whom and when."""

from __future__ import annotations

import streamlit as st

from dashboard import history
from dashboard.form import Form
from dashboard.gate import changed_notice, same_settings
from dashboard.page import COLUMNS, next_page, run_button, section_now, step_heading
from dashboard.policy_choice import assignment, chosen_policy, show_notice
from dashboard.policy_widgets import beside_other_pages
from dashboard.running import is_running, job_box
from dashboard.session import is_done, keep, result, run, start_controls_anew, the_analysis
from dashboard.show import check, errors_as_messages, figure, literal, my_note, says, table
from smdp.figures.effects import effect_figures, figure_words
from smdp.steps import POLICY, RESCALING, SCREENING, TRIAL
from smdp.steps.trial import telling
from smdp.text import capital, listing, percent
from smdp.words.effects import by_variable_words, delayed_words, direction, trial_words
from smdp.words.explanation import action_name
from smdp.words.policy_value import observational_notice

#: Decisions times variables up to which the answer is there before a button could be pressed.
AT_ONCE = 400_000
#: What is drawn under each tab.
TABS = {"by-variable": "For whom", "over-time": "When", "later": "Later outcomes"}


def choose(name: str, value: object) -> None:
    """For the user, in a control that was drawn already."""
    keep(name, value)
    start_controls_anew()
    st.rerun()


def as_screening_found() -> None:
    """One click that takes the variables that screening kept as controls."""
    screened = result(SCREENING)
    if screened is None:
        st.caption("After Screening, this page offers the variables that it kept to adjust for.")
        return
    names = [name for name in screened.selected if name in trajectories.wholes]
    if names and st.button(
        "Adjust for what screening kept",
        icon=":material/tune:",
        help=f"Screening kept {listing(names, 12)}: they go with the outcome, so that adjusting "
        "for them narrows the intervals. The choice was made with the same data, which does no "
        "harm to the effects: these are right whatever is adjusted for.",
    ):
        choose("trial.controls", tuple(names))


def were_they_learned() -> None:
    """Asks about probabilities that seem to have been learned, where the answer decides."""
    with st.container(border=True):
        st.markdown(
            "**Were the chances of treatment learned during the study, from several people's "
            "data?** They look like it: the same state had other chances later on, for everybody. "
            "Until you say, intervals are not called "
            f"{percent(found.coverage)}."
        )
        yes, no = st.columns(2)
        for place, answer, words, hint in (
            (yes, "yes", "Yes, they were", "Ordinary intervals are then too narrow."),
            (no, "no", "No, they were fixed", "By state or by schedule, before the study began."),
        ):
            if place.button(words, help=hint, width="stretch", key=f"effects.learned.{answer}"):
                choose("trial.learned", answer)


step_heading(TRIAL)
trajectories = result(RESCALING).trajectories
show_notice(observational_notice(trajectories, assignment()))
names = list(trajectories.wholes)
numbers = [name for name, places in trajectories.wholes.items() if len(places) == 1]

settings_column, main = st.columns(COLUMNS, gap="large")
sections = {}
at_once = trajectories.valid.size * len(names) <= AT_ONCE
with settings_column, errors_as_messages():
    form = Form(TRIAL.name, section_now(TRIAL))
    form.draw(
        options={
            "controls": names,
            "moderators": names,
            "reference": ["", *trajectories.action_labels[1:]],
            "time": ["", *numbers],
        },
        shown={
            "reference": lambda label: action_name(label or trajectories.action_labels[0]),
            "time": lambda name: name or "number of the decision",
        },
    )
    as_screening_found()
    form.more()
    sections = {"trial": form.value()}
    if not at_once:
        run_button(TRIAL, "Estimate the effects", sections)
    st.caption("This page can be skipped: no later step needs it.")
    if at_once and not is_running(TRIAL) and not (
        same_settings(TRIAL, **sections) and is_done(TRIAL)
    ):  # fmt: skip
        as_planned = section_now(TRIAL) == sections["trial"]
        run(TRIAL, **sections)  # it takes a moment, so nobody has to ask for it
        if as_planned:
            history.take_in()
        st.rerun()  # the sidebar was drawn before it

found = result(TRIAL)
with main:
    job_box(TRIAL)
    if found is None:
        with st.container(border=True, height=340):
            st.markdown(
                "What did each treatment do to the outcome that follows it: on average, for whom, "
                "and when? Before any policy, from every decision at which chance had a say. The "
                "figure appears here."
            )
    else:
        if sections:
            changed_notice(TRIAL, **sections)
        told = telling(the_analysis())
        if found.learned and sections and sections["trial"].learned == "not said":
            were_they_learned()
        drawn = effect_figures(found, told)
        figure(drawn["average"], "effects")
        if way := direction(found, told):
            st.caption(literal(f"{capital(way)}."))
        shown = {name: heading for name, heading in TABS.items() if name in drawn}
        headings = [*shown.values(), "Table"]
        places = st.tabs(headings, key="effects.tabs")
        tabs = dict(zip([*shown, "table"], places, strict=True))
        for name in shown:
            with tabs[name]:
                figure(drawn[name], f"effects-{name}")
                st.caption(literal(figure_words(name, told)[1]))
        if "by-variable" in tabs:
            with tabs["by-variable"]:
                table(by_variable_words(found, told), "effects-by-variable", found.by_variable)
        if "over-time" in tabs:
            with tabs["over-time"], st.expander("The numbers"):
                table(found.over_time, "effects-over-time")
        if "later" in tabs:
            with tabs["later"]:
                table(delayed_words(found, told), "effects-later", found.delayed)
        with tabs["table"]:
            table(trial_words(found, told), "trial-summary", found.effects)
            if found.freedom:
                st.caption(
                    f"Errors are robust within subjects, with {found.freedom} degrees of freedom. "
                    "The file holds every digit; ratios are there as logarithms."
                )
        says(TRIAL.says(the_analysis()))
        if is_done(POLICY):
            beside_other_pages(chosen_policy())
        check(TRIAL.warns(found, the_analysis()))
        my_note(TRIAL)
    next_page(TRIAL, even_if_open=True)

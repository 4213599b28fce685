"""4 Screening: which variables the outcome depends on."""

from __future__ import annotations

import streamlit as st

from dashboard.data_widgets import change_state_and_go_on
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, next_page, run_button, section_now, step_heading
from dashboard.running import job_box
from dashboard.session import result, the_analysis
from dashboard.show import check, errors_as_messages, figure, my_note, says, table
from smdp.figures.screening import growth_figure, screening_figure, time_heatmap
from smdp.figures.screening_paths import paths_figure
from smdp.steps import RESCALING, SCREENING
from smdp.text import plural
from smdp.words.screening import (
    arrows_table,
    check_screening,
    describe_screening,
    rounds_table,
    screening_table,
)

BY_PERSON = ("past_actions", "ranks")
OF_THE_PAPER = ("test", "pooling")

step_heading(SCREENING)
names = tuple(result(RESCALING).trajectories.wholes)

settings_column, main = st.columns(COLUMNS, gap="large")
sections = {}
with settings_column, errors_as_messages():
    form = Form(SCREENING.name, section_now(SCREENING))
    form.draw("level")
    form.draw("force_in", options={"force_in": names})
    left = [name for name in names if name not in form["force_in"]]
    form.draw("force_out", options={"force_out": left})

    def by_method() -> None:
        """The way of looking, and the settings that it has."""
        form.draw("method")
        form.draw(*(OF_THE_PAPER if form["method"] == "paper" else BY_PERSON))

    form.more(skip=("method", *OF_THE_PAPER, *BY_PERSON), also=by_method)
    sections = {"screening": form.value()}
    run_button(
        SCREENING,
        f"Screen {len(left) - len(form['force_out'])} variables",
        sections,
        icon=":material/filter_alt:",
    )

found = result(SCREENING)
with main:
    job_box(SCREENING)
    if found is None:
        with st.container(border=True, height=480):
            st.markdown(
                f"{len(names)} variables can be screened. What is looked for is the smallest set "
                "that, with the treatment, is all that the outcome and the set's own next values "
                "depend on: first what goes with the outcome among people who received the same, "
                "then what those still depend on once they are known. The figure appears here."
            )
    else:
        changed_notice(SCREENING, **sections)
        figure(screening_figure(found, the_analysis().outcome_name), "screening")
        paths = paths_figure(found, the_analysis().outcome_name)
        headings = ["Ranked table"]
        headings += ["How they lead to the outcome"] if paths is not None else []
        headings += ["By decision"] if found.rounds and not found.by_person else []
        headings += ["Round by round"] if found.rounds else []
        tabs = dict(zip(headings, st.tabs(headings, key="screening.tabs"), strict=True))
        with tabs["Ranked table"]:
            table(screening_table(found), "screening", found.table.reset_index())
            if found.by_person:
                st.caption(
                    "In brackets: where it leads most clearly, though not clearly by itself. q: "
                    "the share of false ones among all that are as clear as this or clearer."
                )
        if paths is not None:
            with tabs["How they lead to the outcome"]:
                figure(paths, "screening-paths")
                st.caption(
                    "All arrows are tested together, so a variable can be kept although none of "
                    "its own arrows is clear; then its clearest one is dashed."
                )
                table(arrows_table(found), "screening-arrows", found.arrows)
        if "By decision" in tabs:
            with tabs["By decision"]:
                numbers = [r.number for r in found.rounds]
                number = st.segmented_control(
                    "Round", numbers, default=1, required=True, key="screening.round"
                )
                figure(time_heatmap(found, number), "screening-by-decision")
        if "Round by round" in tabs:
            with tabs["Round by round"]:
                figure(growth_figure(found), "screening-growth")
                table(rounds_table(found), "screening-rounds")
        says(describe_screening(found, the_analysis().outcome_name))
        check(check_screening(found))
        if found.needs_earlier_actions and not the_analysis().plan.roles.action_lags:
            count = plural(found.past_actions or 0, "earlier treatment")
            if st.button(
                f"Add {count} to the state",
                icon=":material/history:",
                help="They become variables of the state, are screened like the others, and those "
                "that are kept can decide on treatment. The first decisions of each person, which "
                "have no earlier ones, are then left out.",
            ):
                change_state_and_go_on(
                    f"The state now has {count}.", action_lags=found.past_actions
                )
        my_note(SCREENING)
        next_page(SCREENING)

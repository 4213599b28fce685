"""4 Screening: which variables the outcome depends on."""

from __future__ import annotations

import streamlit as st

from dashboard import inputs
from dashboard.gate import needs, stale_notice
from dashboard.page_words import POOLINGS, TESTS
from dashboard.running import job_box, run_or_start
from dashboard.session import State, Step, result, state
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    heading,
    my_note,
    next_step,
    says,
    table,
)
from smdp.figures.screening import growth_figure, pooled_figure, time_heatmap
from smdp.settings import ScreeningSettings
from smdp.words.screening import (
    check_screening,
    describe_screening,
    screening_summary,
    screening_table,
)

heading("Screening", "Which variables does the outcome depend on, directly or through others?")
if not needs(Step.SCREENING):
    st.stop()
trajectories = result(Step.RESCALING).trajectories
names = trajectories.variables

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    level = inputs.level(
        "False-alarm level (tau)",
        "screening.level",
        0.10,
        "How often a variable that has nothing to do with the outcome may be kept. The paper "
        "takes 0.10.",
    )
    force_in = inputs.several(
        "Always keep",
        "screening.in",
        names,
        "Variables that theory asks for. They are not tested.",
    )
    force_out = inputs.several(
        "Never keep",
        "screening.out",
        tuple(n for n in names if n not in force_in),
        "Variables that a policy must not use. They are not tested.",
    )
    with st.expander("More"):
        test = inputs.radio(
            "Test",
            "screening.test",
            list(TESTS),
            next(iter(TESTS)),
            "Distance covariance sees any kind of dependence. The likelihood-ratio test is for "
            "variables and outcomes with a handful of levels.",
        )
        pooling = inputs.radio(
            "Put decisions together",
            "screening.pooling",
            list(POOLINGS),
            next(iter(POOLINGS)),
            "Each decision on its own: a p-value for each, pooled by Rüger's rule, valid under any "
            "dependence over time. Whole trajectories: more power, but a stronger null hypothesis: "
            "a variable's whole course has nothing to do with the outcome's or the treatments'. It "
            "keeps far more noise.",
        )
        permutations = inputs.whole_number(
            "Permutations (B), 0 for the default",
            "screening.permutations",
            0,
            0,
            1_000_000,
            "The default is ten times what it takes to be able to reject, at least 999.",
        )
        seed = inputs.seed("screening.seed")

with errors_as_messages():
    settings = ScreeningSettings(
        level=level,
        test=TESTS[test],
        pooling=POOLINGS[pooling],
        permutations=permutations or None,
        force_in=tuple(force_in),
        force_out=tuple(force_out),
    )
    with settings_column:
        start = st.button(
            f"Screen {len(names) - len(force_in) - len(force_out)} variables",
            type="primary",
            width="stretch",
            icon=":material/filter_alt:",
            disabled=state(Step.SCREENING) == State.RUNNING,
            help="Runs in the background; you may leave the page. Seconds for most studies.",
        )
    if start:
        run_or_start(Step.SCREENING, "screen", trajectories, settings, seed, screening_summary)

found = result(Step.SCREENING)
with main:
    job_box(Step.SCREENING)
    if found is None:
        with st.container(border=True, height=480):
            st.markdown(
                f"{len(names)} variables can be screened. Round by round, each is tested "
                "against the utility and against the next values of the variables kept so "
                "far, among people who received the same treatment. The figure appears here."
            )
    else:
        stale_notice(Step.SCREENING)
        figure(pooled_figure(found), "screening")
        tabs = st.tabs(["Ranked table", "By decision", "Round by round"])
        with tabs[0]:
            table(screening_table(found), "screening", found.table.reset_index())
        with tabs[1]:
            numbers = [r.number for r in found.rounds]
            number = st.segmented_control(
                "Round", numbers, default=1, required=True, key="screening.round"
            )
            figure(time_heatmap(found, number), "screening-by-decision")
        with tabs[2]:
            figure(growth_figure(found), "screening-growth")
        says(describe_screening(found))
        check(check_screening(found))
        my_note(Step.SCREENING)
        if state(Step.SCREENING) == State.DONE:
            next_step("Next: feature dimension", "feature_dimension")

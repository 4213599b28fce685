"""5 Feature dimension: how many features it takes, by test."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard import inputs
from dashboard.gate import changed_notice, needs
from dashboard.running import is_running, job_box, milestones, run_or_start
from dashboard.session import State, Step, result, state
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    heading,
    literal,
    my_note,
    next_step,
    says,
    table,
)
from smdp.data.describe import plural
from smdp.figures.feature_dimension import dimension_figure, loss_figure
from smdp.settings import FeatureMapSettings
from smdp.words.feature_map import (
    KIND_NAMES,
    candidate_table,
    check_feature_map,
    describe_feature_map,
    dimensions_so_far,
    feature_map_summary,
    pass_table,
    stopped_notice,
)

heading(
    "Feature dimension",
    "How few numbers can stand for a patient's state without losing what matters for treatment?",
)
if not needs(Step.FEATURES):
    st.stop()
trajectories = result(Step.RESCALING).trajectories
screening = result(Step.SCREENING)  # None where an opened analysis did without
selected = screening.selected if screening is not None else ()
TESTS: tuple[Literal["relative", "absolute"], ...] = ("relative", "absolute")

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    use_all = inputs.checkbox(
        "Use all variables",
        "features.all",
        not selected,
        "Not only those that screening kept. Slower, and noise gets a chance.",
    )
    interpretable = inputs.checkbox(
        "Interpretable: one layer",
        "features.interpretable",
        True,
        "Each feature is a weighted sum of the variables, bent by the arctangent: its weights can "
        "be read. Not ticked: a deeper map, which can need fewer features.",
    )
    level = inputs.level(
        "False-alarm level (tau)",
        "features.level",
        0.05,
        "A dimension is rejected when its p-value is at most this. The paper takes 0.05.",
    )
    dimension_box = st.container()
    with st.expander("More"):
        kind = inputs.select(
            "Kind of map",
            "features.kind",
            list(KIND_NAMES),
            "adnn",
            "The others are there to compare with.",
            KIND_NAMES.__getitem__,
        )
        test = inputs.radio(
            "Test that decides",
            "features.test",
            TESTS,
            "relative",
            "Absolute: the paper's test of the residuals against the state. Relative: are "
            "predictions from the features worse than from the full state? Both are shown.",
        )
        seed = inputs.seed("features.seed")
    names = trajectories.variables if use_all else selected
    by_hand, why = 0, ""
    if kind == "adnn" and names:
        with dimension_box:
            by_hand = inputs.whole_number(
                "Dimension by hand (0: by test)",
                "features.by_hand",
                0,
                0,
                len(trajectories.variables),
                "Overrides the test. Say why below: it goes with the result.",
            )
            if by_hand:
                why = inputs.text(
                    "Why this dimension?",
                    "features.why",
                    "The reason is part of the result and of the report.",
                ).strip()

missing = ""
if not names:
    missing = (
        "Nothing has been screened yet: tick 'Use all variables'."
        if screening is None
        else "Screening kept no variable: tick 'Use all variables'."
    )
elif by_hand > len(names):
    are = "variable is" if len(names) == 1 else "variables are"
    missing = f"Only {len(names)} {are} used: set a dimension of at most {len(names)}."
elif by_hand and not why:
    missing = "A dimension set by hand needs a reason."
with errors_as_messages():
    settings = FeatureMapSettings(
        interpretable=interpretable,
        level=level,
        test=test,
        dimensions=(by_hand,) if by_hand else None,
        reason=why,
    )
    with settings_column:
        go = st.button(
            "Fit the feature map",
            type="primary",
            width="stretch",
            icon=":material/hub:",
            disabled=state(Step.FEATURES) == State.RUNNING or bool(missing),
            help="Runs in the background, about half a minute for a study of 30 people and 7 "
            "variables; longer with more variables. You may leave the page.",
        )
        if missing:
            st.caption(missing)
    if go:
        run_or_start(
            Step.FEATURES,
            kind,
            trajectories.select(names),
            settings,
            seed,
            feature_map_summary,
            use_all=use_all,
        )

fitted = result(Step.FEATURES)
with main:
    job_box(Step.FEATURES)
    if fitted is None:
        with st.container(border=True, height=440):
            if is_running(Step.FEATURES):
                st.markdown("Each dimension appears here as soon as it is tested.")
                milestones(Step.FEATURES, dimensions_so_far)
            elif names:
                milestones(Step.FEATURES, dimensions_so_far)
                st.markdown(
                    f"A network will learn a map of {plural(len(names), 'variable')} to one "
                    "feature, two, three, and so on, until the test no longer finds that something "
                    "is lost. The p-value of each dimension appears here."
                )
            else:
                st.markdown(
                    "Screening kept no variable. Tick **Use all variables**, or screen at a "
                    "higher level."
                )
    else:
        milestones(Step.FEATURES, dimensions_so_far)
        if is_running(Step.FEATURES):
            st.caption("Until the new result is there, the one below is the earlier one.")
        else:
            changed_notice(Step.FEATURES, settings)
        if stopped_notice(fitted):
            st.warning(literal(stopped_notice(fitted)), icon=":material/stop_circle:")
        if fitted.settings.reason:
            st.info(
                f"Dimension set by hand. Reason given: {literal(fitted.settings.reason)}",
                icon=":material/edit_note:",
            )
        if fitted.kind == "adnn":
            numbers = fitted.steps["pass"].tolist()
            number = numbers[-1]
            if len(numbers) > 1:
                number = st.segmented_control(
                    "Pass", numbers, default=number, required=True, key=f"features.pass of {number}"
                )
            figure(dimension_figure(fitted, number), "dimension")
            tabs = st.tabs(["Candidates", "Error out of fold", "Passes"])
            with tabs[0]:
                table(candidate_table(fitted), "candidates", fitted.candidates)
            with tabs[1]:
                figure(loss_figure(fitted, number), "loss")
            with tabs[2]:
                table(pass_table(fitted), "passes", fitted.steps)
        says(describe_feature_map(fitted))
        check(check_feature_map(fitted))
        my_note(Step.FEATURES)
        if state(Step.FEATURES) == State.DONE:
            next_step("Next: weights", "weights")

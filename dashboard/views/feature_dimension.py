"""5 Feature dimension: how many features it takes, exactly and in practice."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, next_page, run_button, section_now, step_heading
from dashboard.running import is_running, job_box, milestones
from dashboard.session import result
from dashboard.show import check, errors_as_messages, figure, literal, my_note, says, table
from smdp.feature_map.kinds import map_kind, map_kinds
from smdp.figures.feature_dimension import dimension_figure, loss_figure, value_figure
from smdp.steps import FEATURES, RESCALING, SCREENING
from smdp.steps.step_plans import FeatureMapPlan
from smdp.text import plural
from smdp.words.feature_map import (
    candidate_table,
    check_feature_map,
    describe_feature_map,
    dimensions_so_far,
    pass_table,
    stopped_notice,
    value_caption,
)

#: Of the tests, those that a new fit can be asked for.
TESTS = ("closed", "next_state", "absolute")

step_heading(FEATURES)
trajectories = result(RESCALING).trajectories
screening = result(SCREENING)  # None where an opened analysis did without
selected = screening.selected if screening is not None else ()
plan: FeatureMapPlan = section_now(FEATURES)


def dimension_by_hand(form: Form, own: Any, most: int) -> str:
    """A control to override the test, which asks for the reason; what is missing, if anything."""
    one = own.dimensions if own.dimensions is not None and len(own.dimensions) == 1 else (0,)
    by_hand = controls.whole_number(
        "Dimension by hand (0: by test)",
        "features.by_hand",
        one[0],
        0,
        len(trajectories.variables),
        "Overrides the test. Say why below: it goes with the result.",
    )
    why = ""
    if by_hand:
        why = controls.text(
            "Why this dimension?",
            "features.why",
            "The reason is part of the result and of the report.",
            own.reason,
        ).strip()
    # Several candidates of a plan stay as long as nothing else is chosen.
    untouched = by_hand == one[0] == 0
    form.set(dimensions=own.dimensions if untouched else (by_hand,) if by_hand else None)
    form.set(reason=own.reason if untouched else why)
    if by_hand > most:
        are = "variable is" if most == 1 else "variables are"
        return f"Only {most} {are} used: set a dimension of at most {most}."
    return "A dimension set by hand needs a reason." if by_hand and not why else ""


settings_column, main = st.columns(COLUMNS, gap="large")
sections, names, missing = {}, (), ""
with settings_column, errors_as_messages():
    form = Form(FEATURES.name, plan)
    form.draw("use_all", default={"use_all": plan.use_all or not selected})
    names = tuple(trajectories.wholes) if form["use_all"] else selected
    boxes = st.container()  # what depends on the kind of map, which is chosen below
    with st.expander("More"):
        kinds = [kind.name for kind in map_kinds()]
        form.draw(
            "kind", options={"kind": kinds}, shown={"kind": lambda name: map_kind(name).title}
        )
        kind = map_kind(form["kind"])
        own = plan.settings if plan.kind == kind.name else kind.settings()
        settings = Form(FEATURES.name, own)
        for name in filter(settings.is_more, settings.names):
            settings.draw(name, options={"test": TESTS})
        form.draw("seed")
    with boxes:
        settings.draw(skip=("dimensions", "reason"))  # which have controls of their own
        if kind.tests_dimension and names:
            missing = dimension_by_hand(settings, own, len(names))
    if not names:
        missing = (
            "Nothing has been screened yet: tick 'Use all variables'."
            if screening is None
            else "Screening kept no variable: tick 'Use all variables'."
        )
    form.set(settings=settings.value())
    sections = {"features": form.value()}
    run_button(
        FEATURES,
        "Fit the feature map",
        sections,
        icon=":material/hub:",
        disabled=bool(missing),
        help="Runs in the background, longer with more variables; how much is left is said "
        "while it runs. You may leave the page.",
    )
    if missing:
        st.caption(missing)

fitted = result(FEATURES)
with main:
    job_box(FEATURES)
    if fitted is None:
        with st.container(border=True, height=440):
            if is_running(FEATURES):
                st.markdown("Each dimension appears here as soon as it is tested.")
                milestones(FEATURES, dimensions_so_far)
            elif names:
                milestones(FEATURES, dimensions_so_far)
                st.markdown(
                    f"A network will learn a map of {plural(len(names), 'variable')} to one "
                    "feature, two, three, and so on. Of each number two things appear here: "
                    "whether a test finds that more features are needed (exactly), and how much "
                    "they keep of what the state says of the outcome (in practice)."
                )
            else:
                st.markdown(
                    "Screening kept no variable. Tick **Use all variables**, or screen at a "
                    "higher level."
                )
    else:
        milestones(FEATURES, dimensions_so_far)
        if is_running(FEATURES):
            st.caption("Until the new result is there, the one below is the earlier one.")
        else:
            changed_notice(FEATURES, **sections)
        if stopped_notice(fitted):
            st.warning(literal(stopped_notice(fitted)), icon=":material/stop_circle:")
        tested = map_kind(fitted.kind).tests_dimension
        if tested and fitted.settings.test == "relative":
            st.caption(
                "An earlier version of this program has found this dimension, by a comparison with "
                "the full state. A new fit asks whether features are enough exactly, and whether "
                "they are in practice."
            )
        if tested and fitted.settings.reason:
            st.info(
                f"Dimension set by hand. Reason given: {literal(fitted.settings.reason)}",
                icon=":material/edit_note:",
            )
        if tested:
            numbers = fitted.steps["pass"].tolist()
            number = numbers[-1]
            if len(numbers) > 1:
                number = st.segmented_control(
                    "Pass", numbers, default=number, required=True, key=f"features.pass of {number}"
                )
            figure(dimension_figure(fitted, number), "dimension")
            value = value_figure(fitted, number)
            titles = [
                "Candidates",
                "Error out of fold",
                *(["Value"] if value is not None else []),
                "Passes",
            ]
            tabs = dict(zip(titles, st.tabs(titles, key="features.tabs"), strict=True))
            with tabs["Candidates"]:
                table(candidate_table(fitted), "candidates", fitted.candidates)
            with tabs["Error out of fold"]:
                figure(loss_figure(fitted, number), "loss")
            if value is not None:
                with tabs["Value"]:
                    figure(value, "value")
                    st.caption(literal(value_caption(fitted)))
            with tabs["Passes"]:
                table(pass_table(fitted), "passes", fitted.steps)
        says(describe_feature_map(fitted))
        check(check_feature_map(fitted))
        my_note(FEATURES)
        next_page(FEATURES)

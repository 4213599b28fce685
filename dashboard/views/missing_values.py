"""2 Missing values: what is missing, who is left out, how the rest is filled in."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard import inputs
from dashboard.gate import changed_notice, needs, same_settings
from dashboard.session import State, Step, result, run, state
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
from smdp.data.describe import (
    blocked_by,
    describe_completed,
    exclusion_table,
    missing_problems,
    percent,
    variable_table,
)
from smdp.data.exclude import exclude
from smdp.data.prepare import CompletedStudy, complete
from smdp.figures.missing_values import (
    exclusion_figure,
    missing_by_variable,
    missing_heatmap,
    series_figure,
)
from smdp.settings import ImputationSettings, PreparationSettings

heading("Missing values", "What is missing, whom does it rule out, and what takes its place?")
if not needs(Step.MISSING):
    st.stop()
study = result(Step.DATA)

DEGREES: dict[Literal[0, 1, 2], str] = {
    0: "0: local average",
    1: "1: local line",
    2: "2: local parabola",
}

settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    threshold = inputs.slider(
        "Leave out subjects with more missing than (%)",
        "missing.threshold",
        50,
        0,
        100,
        1,
        "The share of a subject's own state values that may be missing. Variables that never "
        "change within a subject do not count.",
    )
    by_hand = inputs.several(
        "Leave out by hand",
        "missing.by_hand",
        study.subjects,
        "For reasons that the data do not show, such as a withdrawn consent.",
    )
    span = inputs.slider(
        "Neighbourhood (span)",
        "missing.span",
        0.75,
        0.1,
        1.5,
        0.05,
        "The share of a subject's observations that each imputed value is fitted to. Smaller "
        "follows the ups and downs, larger is smoother.",
    )
    degree = inputs.radio(
        "Degree of the local polynomial",
        "missing.degree",
        tuple(DEGREES),
        1,
        "What is fitted to the neighbourhood of each gap. The same as R's loess.",
        DEGREES.__getitem__,
    )
    unobserved = inputs.checkbox(
        "Leave out empty series",
        "missing.unobserved",
        False,
        "A subject who has no value at all of some variable cannot be imputed from her own series. "
        "Ticked: such subjects are left out. Not ticked: you are told who they are.",
    )
    remaining = None
    settings = PreparationSettings(
        exclude_above=threshold / 100,
        also_exclude=tuple(by_hand),
        unobserved="exclude" if unobserved else "refuse",
        imputation=ImputationSettings(span=span, degree=degree),
    )
    with errors_as_messages():
        remaining, left_out = exclude(study, settings)
        in_the_way = missing_problems(remaining)
    if remaining is None:
        st.stop()
    cells = int(remaining.missing.sum())
    go = st.button(
        f"Leave out {len(left_out)} and impute" if left_out else "Impute",
        type="primary",
        width="stretch",
        icon=":material/auto_fix_high:",
        disabled=bool(in_the_way),
        help=f"{cells:,} missing values; takes about {max(1, round(cells * 6e-5))} s.",
    )
    if in_the_way:
        st.caption(blocked_by(in_the_way))
    elif state(Step.MISSING) == State.DONE and same_settings(Step.MISSING, settings):
        st.caption("Done. What was filled in is said below the figures.")

if go:
    with main, errors_as_messages(), st.spinner("Imputing …"):
        bar = st.progress(0.0)

        def report(share: float, message: str) -> None:
            bar.progress(min(share, 1.0), literal(message))

        def summary(done: CompletedStudy) -> str:
            return f"{len(done.imputed.study.subjects)} of {len(study.subjects)} subjects kept"

        run(Step.MISSING, settings, lambda: complete(study, settings, progress=report), summary)
        st.rerun()

with main:
    check(in_the_way)
    if in_the_way:
        st.page_link(
            "views/data.py",
            label="Set a variable to 'ignore' on Data",
            icon=":material/arrow_back:",
        )
    figure(missing_heatmap(study), "missing-heatmap")
    overview, series, variables = st.tabs(["Who is left out", "One subject's series", "Variables"])
    with overview:
        out = [e.subject for e in left_out]
        figure(exclusion_figure(study, settings.exclude_above, out), "exclusions")
    with series:
        one, two = st.columns(2)
        subject = one.selectbox(
            "Subject", study.subjects, key="series.subject", help="Whose values to show over time."
        )
        names = [v.name for v in study.variables]
        first = int(study.missing.sum(axis=(0, 1)).argmax())
        variable = two.selectbox(
            "Variable",
            names,
            index=first,
            key="series.variable",
            help="At first the one with the most gaps.",
        )
        with errors_as_messages():
            i, j = study.subjects.index(subject), names.index(variable)
            figure(series_figure(study, i, j, settings.imputation), "series")
            st.caption("A preview with the settings on the left; nothing is changed by it.")
    with variables:
        figure(missing_by_variable(study), "missing-by-variable")
        table(variable_table(study), "missing-by-variable")

finished = result(Step.MISSING)
if finished is None:
    share = study.missing.sum() / max(study.on_grid.sum() * len(study.variables), 1)
    says(
        [
            f"{percent(share, 1)} of all state values are missing. With the settings on the left, "
            f"{len(left_out)} of {len(study.subjects)} subjects would be left out.",
            "Nothing has been left out or imputed yet.",
        ]
    )
else:
    changed_notice(Step.MISSING, settings)
    says(describe_completed(finished))
    if finished.exclusions:
        with st.expander(f"Who was left out and why ({len(finished.exclusions)})", expanded=True):
            table(exclusion_table(finished), "left-out")
    my_note(Step.MISSING)
    if state(Step.MISSING) == State.DONE:
        next_step("Next: rescaling", "rescaling")

"""2 Missing values: what is missing, who is left out, how the rest is filled in."""

from __future__ import annotations

import streamlit as st

from dashboard.data_widgets import do_without
from dashboard.form import Form
from dashboard.gate import changed_notice, same_settings
from dashboard.page import COLUMNS, next_page, step_heading
from dashboard.session import State, result, run, state, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    literal,
    my_note,
    says,
    table,
)
from smdp.data.describe import (
    blocked_by,
    describe_completed,
    exclusion_table,
    missing_problems,
    variable_table,
)
from smdp.data.exclude import exclude
from smdp.figures.missing_values import (
    exclusion_figure,
    missing_by_variable,
    missing_heatmap,
    series_figure,
)
from smdp.steps import DATA, MISSING
from smdp.text import percent, plural, shorten

step_heading(MISSING)
study = result(DATA)
planned = the_analysis().plan.preparation


def button_label(people: int, cells: int) -> str:
    if not people:
        return "Impute" if cells else "Keep everybody, nothing is missing"
    return f"Leave out {people} and impute" if cells else f"Leave out {people}"


settings_column, main = st.columns(COLUMNS, gap="large")
with settings_column:
    form = Form(MISSING.name, planned)
    form.draw(options={"also_exclude": study.subjects})
    remaining = None
    settings = form.value()
    sections = {"preparation": settings}
    with errors_as_messages():
        remaining, left_out = exclude(study, settings)
        in_the_way = missing_problems(remaining)
    if remaining is None:
        st.stop()
    cells = int(remaining.missing.sum())
    go = st.button(
        button_label(len(left_out), cells),
        type="primary",
        width="stretch",
        icon=":material/auto_fix_high:",
        disabled=bool(in_the_way),
        help=f"{cells:,} missing values.",
    )
    if in_the_way:
        st.caption(f"{blocked_by(in_the_way)} See Check for the two ways on.")
    elif state(MISSING) == State.DONE and same_settings(MISSING, **sections):
        st.caption(
            "Done. What was filled in is said below the figures."
            if cells
            else "Done. No value is missing, so nothing had to be filled in."
        )

if go:
    with main, errors_as_messages(), st.spinner("Imputing …"):
        bar = st.progress(0.0)

        def report(share: float, message: str) -> None:
            bar.progress(min(share, 1.0), literal(message))

        run(MISSING, progress=report, **sections)
        st.rerun()

with main:
    check(in_the_way)
    if in_the_way:
        blocking = {problem.about for problem in in_the_way}
        lacking = sorted({v.column for v in remaining.variables if v.name in blocking})
        named = literal(shorten(", ".join(lacking), 60))
        if st.button(
            f"Do without {plural(len(lacking), 'variable')}: {named}",
            icon=":material/visibility_off:",
            help="They are set to 'ignore' on Data. Undo, on top of the sidebar, takes it back.",
        ):
            do_without(lacking)
    figure(missing_heatmap(study), "missing-heatmap")
    overview, series, variables = st.tabs(
        ["Who is left out", "One subject's series", "Variables"], key="missing.tabs"
    )
    with overview:
        out = [e.subject for e in left_out]
        figure(exclusion_figure(study, settings.exclude_above, out), "exclusions")
        if gaps := int((study.on_grid & ~study.present).sum()):
            st.caption(
                f"{plural(gaps, 'decision')} without a row {'counts' if gaps == 1 else 'count'} as "
                "missing. Where rows were left out on purpose, raise the limit to keep the person."
            )
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

finished = result(MISSING)
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
    changed_notice(MISSING, **sections)
    says(describe_completed(finished))
    if finished.exclusions:
        with st.expander(f"Who was left out and why ({len(finished.exclusions)})", expanded=True):
            table(exclusion_table(finished), "left-out")
    my_note(MISSING)
    next_page(MISSING)

"""3 Rescaling: one set of levels for all variables, or their own units."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import COLUMNS, next_page, step_heading
from dashboard.session import State, done, result, run, state, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    literal,
    my_note,
    says,
    table,
)
from smdp.data.describe import check_prepared, describe_prepared, rescaling_table
from smdp.data.long_table import prepared_table
from smdp.data.preparation_settings import RescalingSettings
from smdp.data.rescale import default_reference, unique_counts
from smdp.figures.rescaling import before_after_figure, levels_figure
from smdp.steps import MISSING, RESCALING
from smdp.steps.rescaling import suits_common_levels
from smdp.text import plural

ORDINAL, OWN_UNITS = "Ordinal: common levels", "Own units"

step_heading(RESCALING)
completed = result(MISSING)
planned = the_analysis().plan.rescaling
was_done = done(RESCALING) is not None
counts = unique_counts(completed.study)
widest = default_reference(completed.study)
as_levels = planned is not None if was_done else suits_common_levels(completed.study)

MOST_LEVELS = 100
settings_column, main = st.columns(COLUMNS, gap="large")
with settings_column:
    way = controls.radio(
        "Scale",
        "rescaling.way",
        [ORDINAL, OWN_UNITS],
        ORDINAL if as_levels else OWN_UNITS,
        "Common levels suit a study of questionnaire items and counts, as in the paper. Keep own "
        "units where variables are continuous.",
    )
    reference = None
    if way == ORDINAL:
        form = Form(RESCALING.name, planned or RescalingSettings())
        form.draw(
            "reference",
            options={"reference": list(counts)},
            shown={"reference": lambda n: f"{n} ({plural(counts[n], 'value')})"},
            default={"reference": (planned or RescalingSettings()).reference or widest},
        )
        reference = form["reference"]
    rescaling = RescalingSettings(reference) if way == ORDINAL else None
    if planned == RescalingSettings() and reference == widest:
        rescaling = planned  # an opened plan may leave it open which one it is
    if rescaling is not None and counts[reference or widest] > MOST_LEVELS:
        st.warning(
            f"{literal(reference)} has {counts[reference or widest]:,} different values, which is "
            "hardly a scale of levels. Choose a reference with fewer, or keep own units.",
            icon=":material/warning:",
        )
    go = st.button(
        "Rescale all variables" if rescaling else "Keep own units",
        type="primary",
        width="stretch",
        icon=":material/straighten:",
        help="Takes less than a second for most studies.",
    )
    if state(RESCALING) == State.DONE and not rescaling and not planned:
        st.caption(
            "Done: variables keep their own units. Choose common levels above if that suits your "
            "study better."
        )
sections: dict[str, Any] = {"rescaling": rescaling}
if go:
    with errors_as_messages():
        run(RESCALING, **sections)
        st.rerun()

prepared = result(RESCALING)
with main:
    if prepared is None:
        with st.container(border=True, height=340):
            chosen = reference or widest
            st.markdown(
                f"**{literal(chosen)}** has {plural(counts[chosen], 'different value')}. Every "
                "other variable is moved to the nearest of them. The figure appears here."
                if rescaling
                else "Every variable keeps the units of your table: nothing is moved or rounded. "
                "This suits continuous variables; the feature map standardises them on its own."
            )
    else:
        changed_notice(RESCALING, **sections)
        if prepared.study.levels is not None:
            figure(levels_figure(prepared.study), "levels")
        before = prepared.completed.study
        tabs = st.tabs(
            ["Before and after", "Ranges", "What was done", "Prepared data"], key="rescaling.tabs"
        )
        with tabs[0]:
            if prepared.study.levels is None:
                st.markdown("The variables keep their own units: before and after are the same.")
            else:
                name = st.selectbox(
                    "Variable",
                    [v.name for v in before.variables],
                    key="rescaling.variable",
                    help="Which variable to show before and after.",
                )
                figure(before_after_figure(before, prepared.study, name), "before-after")
        with tabs[1]:
            table(rescaling_table(prepared), "ranges")
        with tabs[2]:
            table(prepared.log, "log")
        with tabs[3]:
            table(prepared_table(prepared), "prepared-data")
        says(describe_prepared(prepared))
        check(check_prepared(prepared))
        my_note(RESCALING)
        next_page(RESCALING)

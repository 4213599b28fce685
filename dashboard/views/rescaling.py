"""3 Rescaling: one set of levels for all variables, or their own units."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import inputs
from dashboard.gate import changed_notice, needs
from dashboard.page_words import ORDINAL, OWN_UNITS
from dashboard.session import State, Step, done, result, run, state
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
from smdp.data.describe import check_prepared, describe_prepared, plural, rescaling_table
from smdp.data.long_table import prepared_table
from smdp.data.prepare import finish
from smdp.data.rescale import default_reference, unique_counts
from smdp.figures.rescaling import before_after_figure, levels_figure
from smdp.settings import RescalingSettings

heading("Rescaling", "Should all variables share one scale, and which variable sets its levels?")
if not needs(Step.RESCALING):
    st.stop()
completed = result(Step.MISSING)
earlier = done(Step.MISSING)
counts = unique_counts(completed.imputed)
all_ordinal = all(v.kind != "continuous" for v in completed.imputed.study.variables)
widest = default_reference(completed.imputed)

MOST_LEVELS = 100
settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    way = inputs.radio(
        "Scale",
        "rescaling.way",
        [ORDINAL, OWN_UNITS],
        ORDINAL if all_ordinal else OWN_UNITS,
        "Common levels suit a study of questionnaire items and counts, as in the paper. Keep own "
        "units where variables are continuous.",
    )
    reference = None
    if way == ORDINAL:
        reference = inputs.select(
            "Reference variable",
            "rescaling.reference",
            list(counts),
            widest,
            "Divided by its maximum, its values are the levels that all other variables are "
            "rounded to. Usually the one with the most different values, from 0 or nearly 0 on.",
            lambda n: f"{n} ({plural(counts[n], 'value')})",
        )
    rescaling = RescalingSettings(reference) if way == ORDINAL else None
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
if earlier is None:
    st.stop()
settings = replace(earlier.settings, rescaling=rescaling)
if go:
    with errors_as_messages():
        run(
            Step.RESCALING,
            settings,
            lambda: finish(completed, settings),
            lambda p: (
                f"{plural(int(p.trajectories.valid.sum()), 'transition')}, "
                + (f"{len(p.rescaled.levels)} levels" if p.rescaled else "own units")
            ),
        )
        st.rerun()

prepared = result(Step.RESCALING)
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
        changed_notice(Step.RESCALING, settings)
        if prepared.rescaled is not None:
            figure(levels_figure(prepared.rescaled), "levels")
        before = prepared.completed.imputed.study
        tabs = st.tabs(["Before and after", "Ranges", "What was done", "Prepared data"])
        with tabs[0]:
            if prepared.rescaled is None:
                st.markdown("The variables keep their own units: before and after are the same.")
            else:
                name = st.selectbox(
                    "Variable",
                    [v.name for v in before.variables],
                    key="rescaling.variable",
                    help="Which variable to show before and after.",
                )
                figure(before_after_figure(before, prepared.rescaled, name), "before-after")
        with tabs[1]:
            table(rescaling_table(prepared), "ranges")
        with tabs[2]:
            table(prepared.log, "log")
        with tabs[3]:
            table(prepared_table(prepared), "prepared-data")
        says(describe_prepared(prepared))
        check(check_prepared(prepared))
        my_note(Step.RESCALING)
        if state(Step.RESCALING) == State.DONE:
            next_step("Next: screening", "screening")

"""The part of the Simulation page that says how large a study has to be."""

from __future__ import annotations

import streamlit as st

from dashboard.form import Form
from dashboard.gate import other_settings_notice
from dashboard.running import is_running, job_box, start_simulation
from dashboard.session import simulated
from dashboard.show import check, errors_as_messages, figure, says, table
from smdp.figures.simulation import power_figure, value_figure
from smdp.simulation.names import MODEL_NAMES
from smdp.simulation.planning import StudyPlan
from smdp.simulation.requests import StudyPlanRequest
from smdp.simulation.study_settings import PlanningSettings
from smdp.words.simulation import check_plan, describe_plan, plan_table

STUDY_PLAN = "study plan"


def plan_a_study() -> None:
    settings_column, main = st.columns([1, 2.6], gap="large")
    chosen = None
    with settings_column, errors_as_messages():
        chosen = _settings_and_button()
    with main:
        job_box(STUDY_PLAN)
        finished = simulated(STUDY_PLAN)
        if finished is None:
            _empty()
        else:
            if chosen is not None and chosen != finished.settings:
                other_settings_notice()
            _result(
                finished.result,
                finished.settings.replications,
                finished.stopped_early,
            )


def plan_summary(plan: StudyPlan) -> str:
    return f"{len(plan.table)} sizes, {len(plan.study.rows)} simulated studies"


def _settings_and_button() -> PlanningSettings:
    form = Form("simulation.plan", PlanningSettings())
    form.draw()
    form.more(skip=("further_discount",))
    chosen = form.value()
    if st.button(
        f"Simulate {len(chosen.cells):,} studies",
        type="primary",
        width="stretch",
        icon=":material/experiment:",
        disabled=is_running(STUDY_PLAN),
        help="Runs in the background; you may leave the page. How long it still takes is shown "
        "once the first are finished. Cancel keeps what is finished.",
    ):
        start_simulation(STUDY_PLAN, "Study plan", StudyPlanRequest(chosen), chosen, plan_summary)
    return chosen


def _empty() -> None:
    with st.container(border=True, height=480):
        st.markdown(
            "How many people does it take? Studies of several sizes are simulated from a model "
            "whose truth is known, and each is analysed.\n\n"
            "- **Power**: in how many of them are all four variables that matter found? With a "
            "95 % interval, since only so many studies are simulated.\n"
            "- **Value**: what does the policy learned from such a study earn, on fresh people?\n\n"
            "Choose the model that is nearest to what you expect, type in the sizes that you can "
            "afford, and press the button on the left. No file is needed."
        )


def _result(plan: StudyPlan, planned: int, stopped: bool) -> None:
    st.markdown(
        f"**Model: {MODEL_NAMES[plan.model]}; {plan.noise} noise variables; discount "
        f"{plan.discount:g}; "
        f"{'screening only' if plan.depth == 'screening' else 'the whole analysis'}**"
    )
    if stopped:
        st.warning(
            f"Stopped early: fewer than the {planned} studies of each size asked for were "
            "simulated.",
            icon=":material/stop_circle:",
        )
    figure(power_figure(plan), "plan-power")
    st.caption("Bars: 95 % Wilson intervals of the share of simulated studies.")
    tabs = st.tabs(["Value, neural Q", "Value, linear Q", "Table"], key="plan.tabs")
    with tabs[0]:
        figure(value_figure(plan, "neural"), "plan-value-neural")
    with tabs[1]:
        figure(value_figure(plan, "linear"), "plan-value-linear")
    with tabs[2]:
        table(plan_table(plan), "plan", plan.table)
    says(describe_plan(plan))
    check(check_plan(plan))

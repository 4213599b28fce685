"""The part of the Simulation page that says how large a study has to be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import controls, simulation_inputs
from dashboard.gate import other_settings_notice
from dashboard.running import is_running, job_box, start_simulation
from dashboard.session import simulated
from dashboard.show import check, errors_as_messages, figure, says, table
from smdp.figures.simulation import power_figure, value_figure
from smdp.simulation.names import StudyMap
from smdp.simulation.planning import Depth, StudyPlan
from smdp.simulation.requests import StudyPlanRequest
from smdp.simulation.study_settings import (
    SimulationSetting,
    StudySettings,
    planned_cells,
    quick,
)
from smdp.words.simulation import MODEL_NAMES, check_plan, describe_plan, plan_table

STUDY_PLAN = "study plan"
DEPTHS: dict[str, Depth] = {"Screening only": "screening", "The whole analysis": "whole"}


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
                finished.settings["replications"],
                finished.stopped_early,
            )


def plan_summary(plan: StudyPlan) -> str:
    return f"{len(plan.table)} sizes, {len(plan.study.rows)} simulated studies"


def _settings_and_button() -> dict[str, Any]:
    model = simulation_inputs.model("simulation.plan.model")
    noise = simulation_inputs.noise("simulation.plan.noise", 50)
    subjects = simulation_inputs.sizes(
        "Subjects (n)",
        "simulation.plan.subjects",
        "15, 30, 60",
        "The sizes to try, separated by commas.",
    )
    times = simulation_inputs.sizes(
        "Decisions of each (T)",
        "simulation.plan.times",
        "90",
        "How often each person is observed and treated. Several numbers give several curves.",
    )
    replications = controls.whole_number(
        "Simulated studies of each size",
        "simulation.plan.replications",
        20,
        1,
        1000,
        "The share of studies that succeed is known to within about 20 points from 20, and 10 from "
        "100.",
    )
    depth = DEPTHS[
        controls.radio(
            "How far to go",
            "simulation.plan.depth",
            list(DEPTHS),
            next(iter(DEPTHS)),
            "Screening only: policies are learned on the variables that it keeps; seconds for each "
            "study. The whole analysis: the feature map too; a variable is found when the map uses "
            "it; a minute or more for each study.",
        )
    ]
    with st.expander("More"):
        discount = simulation_inputs.discount("simulation.plan.discount", 0.9)
        quickly = simulation_inputs.quick_training("simulation.plan.quick", False)
        seed = controls.seed("simulation.plan.seed")
    settings: dict[str, Any] = {
        "model": model,
        "noise": noise,
        "subjects": subjects,
        "times": times,
        "discount": discount,
        "replications": replications,
        "depth": depth,
        "how": replace(quick(StudySettings()) if quickly else StudySettings(), seed=seed),
    }
    each = [
        SimulationSetting(model, noise, n, count, discount) for n in subjects for count in times
    ]
    kind: StudyMap = "adnn" if depth == "whole" else "screened"
    cells = planned_cells(each, [kind], replications)
    if st.button(
        f"Simulate, {simulation_inputs.about(cells, quickly=quickly)}",
        type="primary",
        width="stretch",
        icon=":material/experiment:",
        disabled=is_running(STUDY_PLAN),
        help=f"{len(cells)} studies. Runs in the background; you may leave the page. Cancel keeps "
        "what is finished.",
    ):
        request = StudyPlanRequest(settings)
        start_simulation(STUDY_PLAN, "Study plan", request, settings, plan_summary)
    return settings


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
    tabs = st.tabs(["Value, neural Q", "Value, linear Q", "Table"])
    with tabs[0]:
        figure(value_figure(plan, "neural"), "plan-value-neural")
    with tabs[1]:
        figure(value_figure(plan, "linear"), "plan-value-linear")
    with tabs[2]:
        table(plan_table(plan), "plan", plan.table)
    says(describe_plan(plan))
    check(check_plan(plan))

"""The part of the Simulation page that sets our figures beside the paper's."""

from __future__ import annotations

import streamlit as st

from dashboard.form import Form
from dashboard.gate import other_settings_notice
from dashboard.running import is_running, job_box, milestones, start_simulation
from dashboard.session import simulated
from dashboard.show import check, errors_as_messages, figure, literal, says, table
from smdp.figures.simulation import kept_figure, outcome_figure
from smdp.simulation.compare import Comparison, compare_with_paper, shown_oracle, verdict
from smdp.simulation.names import MAP_NAMES, MODEL_NAMES
from smdp.simulation.paper_tables import optimal_outcome
from smdp.simulation.requests import SimulationRequest
from smdp.simulation.study_settings import PaperComparison, SimulationSetting, StudySettings
from smdp.simulation.study_store import StudyRows
from smdp.simulation.study_tables import kept_by_kind
from smdp.words.simulation import (
    KIND_MEANINGS,
    beside_the_paper,
    check_study,
    describe_study,
    notes_on,
    others_behind,
    study_summary,
    trials_so_far,
)

SIMULATION = "simulation"


def compare_with_the_paper() -> None:
    settings_column, main = st.columns([1, 2.6], gap="large")
    chosen = None
    with settings_column, errors_as_messages():
        chosen = _settings_and_button()
    with main:
        job_box(SIMULATION)
        finished = simulated(SIMULATION)
        if is_running(SIMULATION):
            with st.container(border=True, height=480 if finished is None else "content"):
                st.markdown("Each trial appears here as soon as it is analysed.")
                milestones(SIMULATION, trials_so_far)
        elif finished is None:
            _empty()
        if finished is not None:
            if chosen is not None and chosen != finished.settings:
                other_settings_notice()
            asked = finished.settings
            if finished.stopped_early:
                st.warning(
                    f"Stopped early: fewer than the {asked.replications} replications asked for "
                    "are in the figures.",
                    icon=":material/stop_circle:",
                )
            show_study(finished.result, asked.trial)


def _settings_and_button() -> PaperComparison:
    form = Form(SIMULATION, PaperComparison())
    form.draw()
    form.more()
    chosen = form.value()
    if not chosen.maps:
        st.caption("Choose at least one feature map.")
    start = st.button(
        "Simulate",
        type="primary",
        width="stretch",
        icon=":material/experiment:",
        disabled=not chosen.maps or is_running(SIMULATION),
        help="Runs in the background; you may leave the page. How long it still takes is shown "
        "once the first replications are finished. Cancel keeps those. For large studies on "
        "several processors: smdp simulate, on the command line.",
    )
    if start:
        request = SimulationRequest(chosen, known=_already_done(chosen.done_how))
        start_simulation(SIMULATION, "Simulation", request, chosen, study_summary)
    return chosen


def _already_done(how: StudySettings) -> StudyRows | None:
    """The result shown, where its trials may be among those asked for: more are then added."""
    finished = simulated(SIMULATION)
    return finished.result if finished is not None and finished.result.how == how else None


def _empty() -> None:
    with st.container(border=True, height=480):
        st.markdown(
            "Trials are simulated in which only four variables, **S1 to S4**, matter. Each is "
            "analysed as a real one would be: feature map, then Q-learning. The policy is then "
            "tried on fresh people, and what it earns is shown here beside the paper's figure.\n\n"
            "- How close does the method (**ADNN**) come to an analysis that knows the truth "
            "(**S1 to S4**)?\n"
            "- Which variables does it keep: the true ones, or noise too?\n"
            "- Is it as good as in the paper?\n\n"
            "No file is needed. Press the button on the left for a first look."
        )


def show_study(study: StudyRows, setting: SimulationSetting) -> None:
    """Our figures beside the paper's, for a study of one setting."""
    comparison = compare_with_paper(study)
    st.markdown(
        f"**Model: {MODEL_NAMES[setting.model]}; {setting.noise} noise variables; "
        f"{setting.subjects} subjects with {setting.times} decisions**"
    )
    if study.done.empty:
        check(check_study(study, comparison))
        return
    figure(outcome_figure(study, setting, "neural", comparison), "simulation-neural")
    further = study.done["neural_further"].notna().any()
    titles = ["Beside the paper", "Linear Q", "Variables kept", "Against the truth"]
    tabs = st.tabs([*titles, *(["Further ahead"] if further else [])], key="compare.tabs")
    with tabs[0]:
        table(beside_the_paper(comparison), "simulation", comparison.table)
        st.caption(literal(f"In brackets: standard errors. {verdict(comparison)[-1]}"))
    with tabs[1]:
        figure(outcome_figure(study, setting, "linear", comparison), "simulation-linear")
    with tabs[2]:
        _kept_variables(study, setting)
    with tabs[3]:
        _against_the_truth(comparison)
    if further:
        with tabs[4]:
            figure(outcome_figure(study, setting, "neural_further"), "simulation-further")
            discount = study.how.further_discount
            st.caption(
                f"The dashed line: what the policy earns that is optimal for a discount of "
                f"{discount:g}, by value iteration on the model itself."
                if optimal_outcome(setting.model, setting.times, discount) is not None
                else "What the optimal policy earns is not known for this discount and length."
            )
    says([*describe_study(study, comparison), *others_behind(comparison)])
    check([*check_study(study, comparison), *notes_on(study, setting)])


def _kept_variables(study: StudyRows, setting: SimulationSetting) -> None:
    kinds = kept_by_kind(study)
    if not kinds["feature_map"].isin(("adnn", "tnn")).any():
        st.markdown(
            "The feature maps chosen do not select variables. Add ADNN or tNN to see what they "
            "keep."
        )
        return
    figure(kept_figure(study, setting), "simulation-kept")
    present = [kind for kind in KIND_MEANINGS if (kinds["kind"] == kind).any()]
    maps = [MAP_NAMES[m] for m in ("adnn", "tnn") if (kinds["feature_map"] == m).any()]
    lines = [f"{kind.capitalize()}: {KIND_MEANINGS[kind]}" for kind in present]
    st.caption(
        literal(f"Kept by {' and '.join(maps)}. In brackets: how many there are.")
        + "".join(f"\n- {literal(line)}" for line in lines)
    )


def _against_the_truth(comparison: Comparison) -> None:
    if comparison.oracle.empty:
        st.markdown("Choose both ADNN and S1 to S4 to see how close they are.")
        return
    # One setting: downwards, where all of it can be seen.
    shown = shown_oracle(comparison).iloc[0].drop(["model", "noise"])
    shown = shown.rename_axis("measure").reset_index(name="here")
    table(shown, "simulation-oracle", comparison.oracle)
    st.caption(
        "Outcomes of ADNN in per cent of those of an analysis that knows S1 to S4, on the same "
        "simulated trials."
    )

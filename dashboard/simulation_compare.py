"""The part of the Simulation page that sets our figures beside the paper's."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import inputs, simulation_inputs
from dashboard.gate import changed_notice
from dashboard.running import job_box, run_or_start
from dashboard.session import STOPPED_EARLY, State, Step, done, keep, kept, state
from dashboard.show import check, errors_as_messages, figure, literal, says, table
from smdp.data.problem import Problem
from smdp.figures.simulation import kept_figure, outcome_figure
from smdp.simulation.compare import (
    MAP_NAMES,
    MARK,
    MEASURE_NAMES,
    PAPER_SUBJECTS,
    PAPER_TIMES,
    Comparison,
    compare_with_paper,
    figure_text,
    shown_oracle,
    verdict,
)
from smdp.simulation.names import PAPER_MAPS, MapKind
from smdp.simulation.study_settings import (
    SimulationSetting,
    StudySettings,
    planned_cells,
    quick,
)
from smdp.simulation.study_store import StudyRows
from smdp.simulation.summary import kept_by_kind
from smdp.words.simulation import (
    KIND_MEANINGS,
    MAP_MEANINGS,
    MODEL_NAMES,
    check_study,
    describe_study,
    study_summary,
)

PAPER_DISCOUNT = 0.5
FURTHER_DISCOUNT = 0.95
DEFAULT_MAPS: tuple[MapKind, ...] = ("adnn", "oracle")


def compare_with_the_paper() -> None:
    settings_column, main = st.columns([1, 2.6], gap="large")
    chosen = None
    with settings_column, errors_as_messages():
        chosen = _settings_and_button()
    with main:
        job_box(Step.SIMULATION)
        finished = done(Step.SIMULATION)
        if finished is None:
            _empty()
        else:
            if chosen is not None:
                changed_notice(Step.SIMULATION, chosen)
            setting, _, planned, _ = finished.settings
            _result(finished.result, setting, planned, finished.token.endswith(STOPPED_EARLY))


def _settings_and_button() -> tuple:
    model = simulation_inputs.model("simulation.model")
    noise = simulation_inputs.noise("simulation.noise", 0)
    maps: list[MapKind] = keep(
        "simulation.maps",
        st.multiselect(
            "Feature maps",
            PAPER_MAPS,
            kept("simulation.maps", list(DEFAULT_MAPS)),
            format_func=lambda name: MAP_NAMES[name],
            key="simulation.maps",
            placeholder="Choose at least one",
            help="What the policy is learned on. "
            + " ".join(f"**{MAP_NAMES[name]}**: {MAP_MEANINGS[name]}" for name in PAPER_MAPS),
        ),
    )
    replications = inputs.whole_number(
        "Replications",
        "simulation.replications",
        2,
        1,
        500,
        "Simulated trials. Each is analysed with every feature map. Two are a first look; the "
        "standard errors need ten or more.",
    )
    quickly = simulation_inputs.quick_training("simulation.quick", True)
    with st.expander("More"):
        subjects = inputs.whole_number(
            "Subjects (n)",
            "simulation.subjects",
            PAPER_SUBJECTS,
            4,
            1000,
            "People in each simulated trial. The paper has figures for 30 only.",
        )
        times = inputs.whole_number(
            "Decisions of each (T)",
            "simulation.times",
            PAPER_TIMES,
            5,
            1000,
            "The paper has figures for 90 only.",
        )
        discount = simulation_inputs.discount("simulation.discount", PAPER_DISCOUNT)
        further = inputs.checkbox(
            f"Also with a discount of {FURTHER_DISCOUNT}",
            "simulation.further",
            False,
            "A neural policy that looks further ahead, beside the best that any policy can reach "
            "(exact value iteration).",
        )
        seed = inputs.seed("simulation.seed")
    how = StudySettings(further_discount=FURTHER_DISCOUNT if further else None)
    how = quick(how) if quickly else how
    setting = SimulationSetting(model, noise, subjects, times, discount)
    settings = (setting, tuple(name for name in PAPER_MAPS if name in maps), replications, how)
    if not maps:
        st.caption("Choose at least one feature map.")
    cells = planned_cells([setting], maps, replications) if maps else []
    start = st.button(
        f"Simulate {replications} trial{'s' if replications > 1 else ''}, "
        f"{simulation_inputs.about(cells, quickly=quickly)}",
        type="primary",
        width="stretch",
        icon=":material/experiment:",
        disabled=not maps or state(Step.SIMULATION) == State.RUNNING,
        help="Runs in the background; you may leave the page. Cancel keeps the replications that "
        "are finished. For large studies on several processors: smdp simulate, on the command "
        "line.",
    )
    if start:
        run_or_start(Step.SIMULATION, "simulate", None, settings, seed, study_summary)
    return settings


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


def _result(study: StudyRows, setting: SimulationSetting, planned: int, stopped: bool) -> None:
    comparison = compare_with_paper(study)
    st.markdown(
        f"**Model: {MODEL_NAMES[setting.model]}; {setting.noise} noise variables; "
        f"{setting.subjects} subjects with {setting.times} decisions**"
    )
    if stopped:
        st.warning(
            f"Stopped early: fewer than the {planned} replications asked for are in the figures.",
            icon=":material/stop_circle:",
        )
    if study.done.empty:
        check(check_study(study, comparison))
        return
    figure(outcome_figure(study, setting, "neural", comparison), "simulation-neural")
    tabs = st.tabs(["Beside the paper", "Linear Q", "Variables kept", "Against the truth"])
    with tabs[0]:
        table(beside_the_paper(comparison), "simulation", comparison.table)
        st.caption(literal(f"In brackets: standard errors. {verdict(comparison)[-1]}"))
    with tabs[1]:
        figure(outcome_figure(study, setting, "linear", comparison), "simulation-linear")
    with tabs[2]:
        _kept_variables(study, setting)
    with tabs[3]:
        _against_the_truth(comparison)
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
    columns = [name for name in shown_oracle(comparison) if name not in ("model", "noise")]
    table(shown_oracle(comparison)[columns], "simulation-oracle", comparison.oracle)
    st.caption(
        "Outcomes of ADNN in per cent of those of an analysis that knows S1 to S4, on the same "
        "simulated trials."
    )


def beside_the_paper(comparison: Comparison) -> pd.DataFrame:
    """One row for each feature map and measure: ours, the paper's, and the judgement."""
    rows = []
    for row in comparison.table.to_dict("records"):
        for measure, title in MEASURE_NAMES.items():
            digits = 2 if measure in ("linear", "neural") else 1
            ours, paper = (
                figure_text(row[f"{who}{measure}"], row[f"{who}{measure}_se"], digits)
                for who in ("", "paper_")
            )
            judged = digits == 2 or row["feature_map"] == "adnn"
            behind = f"behind {MARK}" if row[f"behind_{measure}"] else "not behind"
            rows.append(
                {
                    "feature map": MAP_NAMES[row["feature_map"]],
                    "measure": title,
                    "here": ours,
                    "paper": paper or "none",
                    "judgement": behind if judged and paper and ours else "",
                    "replications": row["replications"],
                }
            )
    return pd.DataFrame(rows)


def others_behind(comparison: Comparison) -> list[str]:
    """Where feature maps other than ADNN fall short of the paper's, as a sentence."""
    found = [
        f"{MAP_NAMES[row['feature_map']]}, {MEASURE_NAMES[name]} "
        f"({row[name]:.2f}, paper {row[f'paper_{name}']:.2f})"
        for row in comparison.table.to_dict("records")
        for name in ("linear", "neural")
        if row["feature_map"] != "adnn" and row[f"behind_{name}"]
    ]
    return [f"Other feature maps behind the paper's: {'; '.join(found)}."] if found else []


def notes_on(study: StudyRows, setting: SimulationSetting) -> list[Problem]:
    """What keeps our figures and the paper's from being comparable."""
    found = []
    if study.how == quick(study.how):
        found.append(
            Problem(
                "note",
                "quick",
                "Training was quick: these figures are a first look.",
                "Untick 'Quick training' for figures to report.",
            )
        )
    if (setting.subjects, setting.times) != (PAPER_SUBJECTS, PAPER_TIMES):
        found.append(
            Problem(
                "note",
                "subjects",
                "The paper has no figures for trials of this size.",
                f"Choose {PAPER_SUBJECTS} subjects and {PAPER_TIMES} decisions to compare.",
            )
        )
    elif setting.discount != PAPER_DISCOUNT:
        found.append(
            Problem(
                "note",
                "discount",
                f"The paper's figures are for a discount of {PAPER_DISCOUNT}, these for "
                f"{setting.discount:g}.",
                f"Choose {PAPER_DISCOUNT} to compare like with like.",
            )
        )
    return found

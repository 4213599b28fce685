"""The part of the Simulation page that shows a study made on the command line."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import controls
from dashboard.session import keep, kept
from dashboard.show import errors_as_messages, literal
from dashboard.simulation_compare import show_study
from smdp.simulation.study_settings import SimulationSetting
from smdp.simulation.study_store import StudyRows, read_study
from smdp.simulation.study_tables import rows_of, settings_of
from smdp.words.simulation import setting_name, study_summary

OPENED = "simulation.opened"


def open_a_study() -> None:
    choices, main = st.columns([1, 2.6], gap="large")
    with choices:
        _upload()
        opened: tuple[str, StudyRows] | None = kept(OPENED, None)
        shown = None if opened is None else _one_setting(*opened)
    with main:
        if shown is None:
            _empty()
        else:
            show_study(*shown)


def _one_setting(name: str, study: StudyRows) -> tuple[StudyRows, SimulationSetting]:
    st.caption(literal(f"{name}: {study_summary(study)}"))
    by_name = {setting_name(each): each for each in settings_of(study)}
    chosen = controls.select(
        "Setting",
        "simulation.opened.setting",
        list(by_name),
        next(iter(by_name)),
        "The simulated trials to show: their model, noise variables and size.",
    )
    setting = by_name[chosen]
    return replace(study, rows=rows_of(study.rows, setting)), setting


def _upload() -> None:
    upload = st.file_uploader(
        "A simulation study (study.sqlite)",
        type=["sqlite"],
        key="simulation.upload",
        help="The file that 'smdp simulate' keeps in the folder given with --out; also while the "
        "study is still running.",
    )
    if upload is not None:
        with errors_as_messages():
            study = read_study(upload.getvalue(), upload.name)
            if study.rows.empty:
                st.info("No replication of this study is finished yet.", icon=":material/info:")
            else:
                keep(OPENED, (upload.name, study))


def _empty() -> None:
    with st.container(border=True, height=480):
        st.markdown(
            "Large studies run on the command line, on several processors or a cluster:\n\n"
            "    smdp simulate --paper --replications 20 --jobs 2 --out study\n\n"
            "Drop the file **study.sqlite** from that folder on the left to see it here: every "
            "outcome by feature map, the table beside the paper's, and which variables were kept. "
            "Nothing is simulated anew. The study that comes with this program is in "
            "**docs/simulation**."
        )

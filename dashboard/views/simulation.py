"""Simulation: the method where the truth is known, and how large a study has to be."""

from __future__ import annotations

import streamlit as st

from dashboard.session import keep, kept
from dashboard.show import heading
from dashboard.simulation_compare import compare_with_the_paper
from dashboard.simulation_open import open_a_study
from dashboard.simulation_plan import plan_a_study
from dashboard.simulation_size import size_a_trial

heading(
    "Simulation",
    "Does the method find what is true, where the truth is known, and how large must a study be?",
)
PARTS = {
    "Compare with the paper": compare_with_the_paper,
    "Plan a study": plan_a_study,
    "Size a trial": size_a_trial,
    "Open a study": open_a_study,
}
names = list(PARTS)
part = keep(
    "simulation.part",
    st.radio(
        "What for",
        names,
        names.index(kept("simulation.part", names[0])),
        key="simulation.part",
        horizontal=True,
        help="Compare: trials as in the paper, with our figures beside its own. Plan: how often "
        "studies of several sizes find the variables that matter. Size: how many people a "
        "micro-randomised trial needs to find an effect, by formula. None needs a file. Open: show "
        "a study that 'smdp simulate' made.",
    ),
)
PARTS[part]()

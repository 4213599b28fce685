"""The controls that both parts of the Simulation page have, and how long a run will take."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dashboard import controls
from dashboard.session import keep, kept
from smdp.errors import SettingError
from smdp.simulation.generative_model import Model
from smdp.simulation.names import MODELS, StudyMap
from smdp.simulation.study_settings import StudyCell
from smdp.text import duration
from smdp.words.simulation import MODEL_NAMES

NOISE = (0, 50, 200)
PAPER_ROWS = 30 * 90

#: Seconds of one replication of the paper's size, without and with 200 noise variables: with full
#: training, and with quick training.
SECONDS: dict[StudyMap, tuple[tuple[float, float], tuple[float, float]]] = {
    "identity": ((2.5, 4), (1, 2)),
    "oracle": ((1, 1), (0.5, 0.5)),
    "adnn": ((65, 250), (9, 25)),
    "tnn": ((26, 150), (8.5, 40)),
    "pca": ((2.5, 3.5), (1, 2)),
    "screened": ((2.5, 4.5), (1.5, 4)),
}
#: A worker has to start, too.
SECONDS_TO_START = 3


def model(name: str) -> Model:
    return controls.select(
        "Model (g)",
        name,
        MODELS,
        MODELS[0],
        "How the next state follows from the present one. Linear is the easiest to learn, "
        "exponential the hardest.",
        lambda each: MODEL_NAMES[each].capitalize(),
    )


def noise(name: str, default: int) -> int:
    return controls.select(
        "Noise variables (m)",
        name,
        NOISE,
        default,
        "Variables beside the 64 states that have nothing to do with the utility: some follow each "
        "other, some are new at every decision, some never change.",
    )


def discount(name: str, default: float) -> float:
    return controls.slider(
        "Discount (gamma)",
        name,
        default,
        0.0,
        0.99,
        0.01,
        "How much the future counts when a policy is learned. The paper takes 0.5.",
    )


def quick_training(name: str, default: bool) -> bool:
    return controls.checkbox(
        "Quick training",
        name,
        default,
        "Networks learn for a short while, and policies are judged on fewer fresh people. For a "
        "first look, not for reporting.",
    )


def sizes(label: str, name: str, default: str, help_text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas or blanks."""
    typed = keep(name, st.text_input(label, kept(name, default), key=name, help=help_text))
    words = typed.replace(",", " ").replace(";", " ").split()
    wrong = [word for word in words if not (word.isascii() and word.isdigit() and int(word) > 0)]
    if wrong or not words:
        raise SettingError(
            f"'{label}' must be whole numbers, not '{wrong[0] if wrong else typed}'.",
            f"Separate them by commas, as in: {default}",
        )
    return tuple(sorted({int(word) for word in words}))


def about(cells: Iterable[StudyCell], *, quickly: bool) -> str:
    """'about 2 min', from what such replications usually take."""
    total = float(SECONDS_TO_START)
    for cell in cells:
        none, most = SECONDS[cell.feature_map][quickly]
        share = min(1.0, cell.setting.noise / max(NOISE))
        size = cell.setting.subjects * cell.setting.times / PAPER_ROWS
        total += (none + share * (most - none)) * (0.3 + 0.7 * size)
    rounded = max(5, 5 * round(total / 5)) if total < 90 else total
    return f"about {duration(rounded)}"

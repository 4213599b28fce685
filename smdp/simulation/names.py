"""The names of models, feature maps and measures, for all who only need to list them."""

from __future__ import annotations

from typing import Literal

StudyMap = Literal["identity", "oracle", "adnn", "tnn", "pca", "screened"]

#: The feature maps of the paper's tables, in their order.
PAPER_MAPS: tuple[StudyMap, ...] = ("identity", "oracle", "adnn", "tnn", "pca")
MAPS: tuple[StudyMap, ...] = (*PAPER_MAPS, "screened")
MAP_NAMES = {
    "identity": "all states",
    "oracle": "S1 to S4",
    "adnn": "ADNN",
    "tnn": "tNN",
    "pca": "PCA",
    "screened": "screened",
}
MAP_MEANINGS = {
    "identity": "All state variables as they are.",
    "oracle": "Only the four variables that matter, which no real analysis knows.",
    "adnn": "Screening, then the alternating deep neural network: the method of this program.",
    "tnn": "A separate sparse network for each action; their features side by side.",
    "pca": "Principal components that explain 90 % of the variance.",
    "screened": "The variables that screening keeps, as they are.",
}
MODELS: tuple[Literal["linear", "quad", "exp"], ...] = ("linear", "quad", "exp")
MODEL_NAMES = {
    "linear": "linear",
    "quad": "quadratic, cut off at 3",
    "exp": "exponential, cut off at 3",
}

#: As the paper calls them.
MEASURE_NAMES = {
    "linear": "Linear Q",
    "neural": "NN Q",
    "variables_count": "nVar",
    "dimension": "nDim",
}

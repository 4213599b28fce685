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
MODELS: tuple[Literal["linear", "quad", "exp"], ...] = ("linear", "quad", "exp")

#: As the paper calls them.
MEASURE_NAMES = {
    "linear": "Linear Q",
    "neural": "NN Q",
    "variables_count": "nVar",
    "dimension": "nDim",
}

"""The names of models and feature maps, for everyone who only needs to list them."""

from __future__ import annotations

from typing import Literal

MapKind = Literal["identity", "oracle", "adnn", "tnn", "pca", "screened"]

#: The feature maps of the paper's tables, in their order.
PAPER_MAPS: tuple[MapKind, ...] = ("identity", "oracle", "adnn", "tnn", "pca")
MAPS: tuple[MapKind, ...] = (*PAPER_MAPS, "screened")
MODELS: tuple[Literal["linear", "quad", "exp"], ...] = ("linear", "quad", "exp")

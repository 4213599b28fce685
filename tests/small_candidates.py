"""Numbers of features that were tried, made by hand, for tests of what only reads them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.fitted_map import FittedFeatureMap

#: Dimension, p-value of the exact test, share kept, and its one-sided bound.
Row = tuple[int, float, float, float]
ROWS: tuple[Row, ...] = (
    (1, 0.001, 0.62, 0.41),
    (2, 0.004, 0.974, 0.953),
    (3, 0.02, 1.01, 0.97),
    (4, 0.21, 1.02, 0.98),
)


def tried(
    rows: Sequence[Row] = ROWS,
    chosen: int = 2,
    by: str = "practical",
    *,
    level: float = 0.05,
    negligible: float = 0.05,
    **columns: Any,
) -> pd.DataFrame:
    """A frame as a fit gives it; `columns` are put in place of what is made up here."""
    frame = pd.DataFrame(rows, columns=["dimension", "p_exact", "share_kept", "share_at_least"])
    width = frame["share_kept"] - frame["share_at_least"]
    made: dict[str, Any] = {
        "pass": 1,
        "kept_count": 7,
        "width": 20,
        "depth": 1,
        "penalty": 0.01,
        "cv_loss": 0.8123,
        "refit_loss": np.nan,
        "refit_weight_decay": 0.001,
        "p_form": np.nan,
        "share_low": frame["share_kept"] - 1.2 * width,
        "share_high": frame["share_kept"] + 1.2 * width,
        "explained": 0.3 * frame["share_kept"],
        "explained_by_state": 0.3,
        "practical": frame["share_at_least"] > 1 - negligible,
        "value_lost": 0.08 / frame["dimension"] - 0.02,
        "value_lost_low": 0.08 / frame["dimension"] - 0.05,
        "value_lost_high": 0.08 / frame["dimension"] + 0.01,
        "same_choice": 0.99 - 0.12 / frame["dimension"],
        "rejected": frame["p_exact"] <= level,
        "chosen": frame["dimension"] == chosen,
        "chosen_by": np.where(frame["dimension"] == chosen, by, ""),
    }
    return frame.assign(**made | columns)


def with_tried(
    fitted: FittedFeatureMap,
    rows: Sequence[Row] = ROWS,
    chosen: int = 2,
    by: str = "practical",
    *,
    settings: FeatureMapSettings | None = None,
    **columns: Any,
) -> FittedFeatureMap:
    """The map, as if these had been tried."""
    how = settings or FeatureMapSettings()
    frame = tried(rows, chosen, by, level=how.level, negligible=how.negligible, **columns)
    steps = frame[frame["chosen"]].assign(variables="a, b", variables_count=7, kept="a, b")
    return replace(fitted, candidates=frame, steps=steps, settings=how)


def without_value(fitted: FittedFeatureMap) -> FittedFeatureMap:
    """As a version made it that did not know what decisions by the features cost."""
    names = ["value_lost", "value_lost_low", "value_lost_high", "same_choice"]
    return replace(
        fitted,
        candidates=fitted.candidates.drop(columns=names),
        steps=fitted.steps.drop(columns=names),
    )

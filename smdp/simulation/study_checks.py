"""Whether rows are what a simulation study writes: a file may come from anywhere."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields

import numpy as np
import pandas as pd

from smdp.errors import SettingError
from smdp.simulation.generative_model import GenerativeModel
from smdp.simulation.names import MAPS
from smdp.simulation.study_settings import SimulationSetting

#: Far above any study, and few enough to list the names of all variables.
MOST_NOISE = 10_000
SETTING = [each.name for each in fields(SimulationSetting)]
NUMBERS = ("linear", "neural", "neural_further", "variables_count", "dimension")


def check_rows(rows: pd.DataFrame) -> None:
    """Raise ValueError, with the value that no study writes, where there is one."""
    for key in rows[SETTING].drop_duplicates().itertuples(index=False, name=None):
        try:
            SimulationSetting(*key)
        except SettingError as error:
            raise ValueError(error.problem) from error
    if rows["noise"].max() > MOST_NOISE:
        raise ValueError(f"{rows['noise'].max():,} noise variables")
    _among("feature map", rows["feature_map"], MAPS)
    _among("status", rows["status"], ("done", "failed"))
    done = rows[rows["status"] == "done"]
    if np.isinf(done[list(NUMBERS)].to_numpy(dtype=np.float64)).any():
        raise ValueError("an infinite outcome")
    for (model, noise), own in done.groupby(["model", "noise"]):
        used = {name for text in own["variables"] for name in str(text).split()}
        _among("variable", used, set(GenerativeModel(model, noise).variables))


def _among(what: str, values: Collection, allowed: Collection[str]) -> None:
    for value in sorted(set(map(str, values))):
        if value not in allowed:
            raise ValueError(f"the {what} {value!r}")

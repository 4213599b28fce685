"""The tables of a simulation study, as functions of its finished cells alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp.simulation.generative_model import GenerativeModel
from smdp.simulation.names import MAPS, MODELS
from smdp.simulation.study_settings import SimulationSetting
from smdp.simulation.study_store import StudyRows

SETTING = ["model", "noise", "subjects", "times", "discount"]
MEASURES = ("linear", "neural", "neural_further", "variables_count", "dimension")

#: The kinds of variables: what is to be found, what may be found, and what is noise.
KINDS = ("true", "other states", "dependent noise", "white noise", "constant")


def settings_of(study: StudyRows) -> list[SimulationSetting]:
    """The settings of which there are rows, in the paper's order."""
    rows = _in_order(study.rows).drop_duplicates(SETTING)
    return [SimulationSetting(*key) for key in rows[SETTING].itertuples(index=False, name=None)]


def rows_of(table: pd.DataFrame, setting: SimulationSetting) -> pd.DataFrame:
    """The rows of one setting."""
    same = np.ones(len(table), dtype=bool)
    for name in SETTING:
        same &= (table[name] == getattr(setting, name)).to_numpy()
    return table[same]


def summarise(study: StudyRows) -> pd.DataFrame:
    """One row for each setting and feature map: the mean of each measure and its standard error.

    Over the replications that did not fail; `replications` and `failed` count them.
    """
    found = []
    for key, rows in study.rows.groupby([*SETTING, "feature_map"], sort=False):
        done = rows[rows["status"] == "done"]
        entry = dict(zip([*SETTING, "feature_map"], key, strict=True))
        entry |= {"replications": len(done), "failed": len(rows) - len(done)}
        for name in MEASURES:
            entry[name], entry[f"{name}_se"] = mean_and_error(done[name])
        found.append(entry)
    columns = [*SETTING, "feature_map", "replications", "failed"]
    columns += [name for each in MEASURES for name in (each, f"{each}_se")]
    frame = pd.DataFrame(found, columns=columns)
    return _in_order(frame)


def timings(study: StudyRows) -> pd.DataFrame:
    """Mean seconds of a cell, by setting and feature map; `map_seconds` until the map was there."""
    keys = [*SETTING, "feature_map"]
    means = study.done.groupby(keys, sort=False)[["map_seconds", "seconds"]].mean()
    return _in_order(means.reset_index())


def kept_by_kind(study: StudyRows) -> pd.DataFrame:
    """Which kinds of variables the maps use, one row for each setting, feature map and kind.

    `variables`: how many of the kind there are; `kept`: how many are used, on average; `share`:
    kept / variables; `ever`: the share of replications that use any of them; `all`: .. use all.
    """
    found = []
    for key, rows in study.done.groupby([*SETTING, "feature_map"], sort=False):
        setting = dict(zip([*SETTING, "feature_map"], key, strict=True))
        kind_of = kinds_of_variables(setting["model"], setting["noise"])
        used = [str(text).split() for text in rows["variables"]]
        for kind in KINDS:
            total = sum(each == kind for each in kind_of.values())
            if total == 0:
                continue
            counts = np.array([sum(kind_of[name] == kind for name in names) for names in used])
            found.append(
                setting
                | {
                    "kind": kind,
                    "variables": total,
                    "kept": counts.mean(),
                    "share": counts.mean() / total,
                    "ever": (counts > 0).mean(),
                    "all": (counts == total).mean(),
                    "replications": len(rows),
                }
            )
    columns = [*SETTING, "feature_map", "kind", "variables", "kept", "share", "ever", "all"]
    return _in_order(pd.DataFrame(found, columns=[*columns, "replications"]))


def kinds_of_variables(model: str, noise: int) -> dict[str, str]:
    """The kind of each variable of a model."""
    law = GenerativeModel(model, noise)  # type: ignore[arg-type]
    by_letter = {"S": "other states", "D": "dependent noise", "W": "white noise", "C": "constant"}
    found = {name: by_letter[name[0]] for name in law.variables}
    return found | dict.fromkeys(law.true_variables, "true")


def mean_and_error(values: pd.Series) -> tuple[float, float]:
    """The mean and its standard error; NaN where there are too few values for them."""
    known = values.to_numpy(dtype=np.float64)
    known = known[np.isfinite(known)]
    if len(known) == 0:
        return np.nan, np.nan
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    return float(known.mean()), float(error)


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """As in the paper: models, then noise, then feature maps; rows of one cell as they are."""
    order = pd.DataFrame(
        {
            "model": frame["model"].map({name: i for i, name in enumerate(MODELS)}),
            **{name: frame[name] for name in SETTING[1:]},
            "feature_map": frame["feature_map"].map({name: i for i, name in enumerate(MAPS)}),
        }
    )
    ordered = order.sort_values([*SETTING, "feature_map"], kind="stable").index
    return frame.loc[ordered].reset_index(drop=True)

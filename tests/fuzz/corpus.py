"""Real files of every kind that the program opens, made anew and kept small."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
from hostile_study import quick_plan, study_frame
from sas_file import SAS_FILE

from smdp.analysis.analysis import run_analysis
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.data.read_table import read_table
from smdp.export.policy_file import policy_text
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.samples import sample_file
from smdp.simulation.study_settings import StudySettings
from smdp.simulation.study_store import COLUMNS, FILE_NAME, open_study
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan

#: Read by a process of its own, which takes most of a second to start.
STATISTICAL = (".sav", ".zsav", ".dta", ".xpt", ".sas7bdat")
TEXT = (".csv", ".tsv", ".txt")
TABLES = (*TEXT, ".xlsx", ".parquet", *STATISTICAL)


@cache
def corpus(folder: Path) -> dict[str, bytes]:
    """The files by name; `folder` is for those that a library can only write to a path."""
    return {
        **_texts(),
        **_workbooks_and_columns(),
        **_statistical(folder),
        **_analyses(),
        "study.sqlite": _simulation_study(folder),
    }


def _diary() -> pd.DataFrame:
    frame = read_table(sample_file("basics_mobile_synthetic.csv"))
    return frame.iloc[: 3 * 28, :9]


def _texts() -> dict[str, bytes]:
    diary = _diary()
    german = diary.to_csv(index=False, sep=";", decimal=",").replace("student", "Schüler")
    hostile = study_frame().iloc[:30]
    quoted = pd.DataFrame(
        {"id": [1, 1, 2], "said": ['a "word", two', "one\ntwo", "ü; ß"], "when": ["1", "2", "3"]}
    )
    wide = read_table(sample_file("basics_mobile_synthetic_wide.csv")).iloc[:8]
    first = [name for name in wide.columns if not name[-1].isdigit() or name.endswith(("_1", "_2"))]
    return {
        "diary.csv": diary.to_csv(index=False).encode(),
        "diary.tsv": diary.to_csv(index=False, sep="\t", lineterminator="\r\n").encode(),
        "german.csv": german.encode("cp1252"),
        "wide.csv": wide[first].to_csv(index=False).encode(),
        "hostile.csv": hostile.to_csv(index=False).encode("utf-8-sig"),
        "quoted.csv": quoted.to_csv(index=False).encode(),
        "utf16.txt": quoted.to_csv(index=False, sep=";").encode("utf-16"),
    }


def _workbooks_and_columns() -> dict[str, bytes]:
    diary = _diary()
    kinds = pd.DataFrame(
        {
            "id": ["007", "008", None],
            "day": pd.to_datetime(["2020-01-01 00:00:00", None, "2020-01-03 04:05:06"]),
            "flag": [True, False, True],
            "level": pd.Categorical(["low", None, "high"]),
            "share": [0.1, np.nan, 1e300],
        }
    )
    found = {}
    for name, frame in {"diary": diary, "kinds": kinds}.items():
        book, columns = BytesIO(), BytesIO()
        frame.to_excel(book, index=False)
        frame.to_parquet(columns)
        found |= {f"{name}.xlsx": book.getvalue(), f"{name}.parquet": columns.getvalue()}
    return found


def _statistical(folder: Path) -> dict[str, bytes]:
    frame = _diary().iloc[:20]
    labels = {"variable_value_labels": {frame.columns[-1]: {1: "low", 2: "<b>high</b>"}}}
    pyreadstat.write_sav(frame, folder / "labels.sav", **labels)
    pyreadstat.write_sav(frame, folder / "packed.zsav", compress=True)
    pyreadstat.write_dta(frame, folder / "labels.dta", **labels)
    pyreadstat.write_dta(frame, folder / "old.dta", version=10)
    pyreadstat.write_xport(frame.iloc[:, :4], folder / "transport.xpt")
    names = ("labels.sav", "packed.zsav", "labels.dta", "old.dta", "transport.xpt")
    return {**{n: (folder / n).read_bytes() for n in names}, "visits.sas7bdat": SAS_FILE}


def _analyses() -> dict[str, bytes]:
    """Every step that takes no training, its plan, and its policy as an exported file."""
    plan = quick_plan(
        stability=None,
        rule=None,
        placebo=None,
        features=FeatureMapPlan("identity", use_all=True),
        policies=(PolicyPlan(PolicySettings(discount=0.5, bootstraps=12), 4),),
    )
    analysis = run_analysis(study_frame(), plan)
    assert not analysis.stopped
    return {
        "analysis.smdp": analysis_to_bytes(analysis),
        "plan.toml": plan.to_toml().encode(),
        "plan.json": plan.to_json().encode(),
        "policy.json": policy_text(analysis.policies[0], analysis.prepared).encode(),
    }


def _simulation_study(folder: Path) -> bytes:
    from smdp.simulation.replication import CellResult

    example = dict.fromkeys(COLUMNS, 1) | {
        "model": "quad",
        "discount": 0.5,
        "feature_map": "pca",
        "status": "done",
        "variables": "S1 S2 W1",
        "screened": "",
        "message": "",
    }
    with open_study(folder / "study", StudySettings(), "0.1.0") as store:
        for replication in range(20):
            store.append(CellResult(**example | {"replication": replication}))
    return (folder / "study" / FILE_NAME).read_bytes()


def members(data: bytes) -> dict[str, bytes] | None:
    """The parts of a packed file, None where it is none."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as file:
            return {name: file.read(name) for name in file.namelist()}
    except Exception:
        return None


def structure(data: bytes) -> object | None:
    """The value in a JSON text, None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None

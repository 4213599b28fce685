"""One small table as a file of every format that the program reads, and each of them damaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
from pandas import DataFrame
from sas_file import SAS_FILE

TABLE = DataFrame(
    {
        "subject": ["007", "008", "009"],
        "mood": [1.5, np.nan, 3.0],
        "when": ["a", "ü", "c"],
    }
)
_VALUE_LABELS = {"variable_value_labels": {"mood": {1: "low"}}}
_LABELS = ["Subject", "Mood now", "Time"]


@dataclass(frozen=True)
class Example:
    """A file with `TABLE` in it (SAS: one like it), what is read from it, and its broken twin."""

    content: bytes
    damaged: bytes
    frame: DataFrame
    variable_labels: dict[str, str]
    value_labels: dict[str, dict[float, str]]
    decimal_comma: bool = False


def examples(folder: Path) -> dict[str, Example]:
    """By the usual ending of the format's files."""
    pyreadstat.write_sav(TABLE, folder / "t.sav", column_labels=_LABELS, **_VALUE_LABELS)
    pyreadstat.write_dta(TABLE, folder / "t.dta", column_labels=_LABELS, **_VALUE_LABELS)
    pyreadstat.write_xport(TABLE, folder / "t.xpt", column_labels=_LABELS)
    TABLE.to_excel(folder / "t.xlsx", index=False)
    TABLE.to_parquet(folder / "t.parquet")
    TABLE.to_csv(folder / "t.csv", sep=";", decimal=",", index=False)
    labels = dict(zip(TABLE.columns, _LABELS, strict=True))
    values = {"mood": {1.0: "low"}}
    cut = {ending: (folder / f"t{ending}").read_bytes() for ending in (".xlsx", ".parquet")}
    text, spss, stata, transport = (
        (folder / f"t{ending}").read_bytes() for ending in (".csv", ".sav", ".dta", ".xpt")
    )
    sas = TABLE[["subject", "mood"]].rename(columns=str.upper)
    sas["VISIT"] = pd.to_datetime(["2020-01-01", "2020-01-02", None]).astype("datetime64[us]")
    sas_labels = {"SUBJECT": "Subject", "MOOD": "Mood today"}
    return {
        ".csv": Example(text, text.replace(b"a", b'"a'), TABLE, {}, {}, decimal_comma=True),
        **{ending: Example(data, data[:-40], TABLE, {}, {}) for ending, data in cut.items()},
        ".sav": Example(spss, spss[:300], TABLE, labels, values),
        ".dta": Example(stata, stata[:300], TABLE, labels, values),
        ".xpt": Example(transport, transport[:300], TABLE, labels, {}),
        ".sas7bdat": Example(SAS_FILE, SAS_FILE[:1500], sas, sas_labels, {}),
    }

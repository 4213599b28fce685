"""Where a result comes from: its input, its settings, its seed, and the versions that made it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd

from smdp import __version__
from smdp.data.problem import Problem
from smdp.result import Content

PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels", "torch")


@dataclass(frozen=True)
class TableSource:
    """The table that an analysis works on, without its cells.

    `fingerprint`: SHA-256 of the names, types and values of its columns, whatever file they came
    from. `file_fingerprint`: of the file's bytes, "" if there was none. `synthetic`: whether its
    people are made up, as in the samples.
    """

    name: str
    file_fingerprint: str
    fingerprint: str
    rows: int
    columns: int
    synthetic: bool = False


@dataclass(frozen=True, eq=False)
class StepRecord(Content):
    """How one step's result came to be.

    `inputs`: the fingerprint of each thing that the step worked on. `asked`: its settings and
    seeds. `output`: the fingerprint of what the later steps take from it. `complete`: False where
    the work was stopped before its end, so that doing it again gives something else.
    """

    step: str
    inputs: Mapping[str, str]
    asked: Any
    output: str
    summary: str
    seconds: float | None = None
    complete: bool = True
    warnings: tuple[Problem, ...] = ()
    finished: str = ""  # UTC
    versions: Mapping[str, str] = field(default_factory=dict)


def versions() -> dict[str, str]:
    """Of everything that the numbers may depend on; nothing is imported for it."""
    return dict(_versions())


@cache  # found in files that are read and parsed, and asked for by every step
def _versions() -> dict[str, str]:
    found = {"smdp": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, "system": f"{platform.system()} {platform.machine()}"}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def source_of(frame: pd.DataFrame) -> TableSource:
    """What can be said of a table without showing it."""
    return TableSource(
        name=str(frame.attrs.get("source", "a table in memory")),
        file_fingerprint=str(frame.attrs.get("fingerprint", "")),
        fingerprint=table_fingerprint(frame),
        rows=len(frame),
        columns=frame.shape[1],
        synthetic=bool(frame.attrs.get("synthetic", False)),
    )


def table_fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 of a table's content: names, types and cells of its columns, in order."""
    found = hashlib.sha256(f"{frame.shape}".encode())
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        head = f"{len(str(name))}:{name}{column.dtype}"
        found.update(head.encode("utf-8", "surrogatepass"))
        for part in _content(column):
            found.update(part)
    return found.hexdigest()


def _content(column: pd.Series) -> tuple[bytes, bytes]:
    """Which cells are filled or how long their texts are, and what stands in them."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuM":
        return b"", np.ascontiguousarray(column.to_numpy()).tobytes()
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        values = column.to_numpy()
        gone = np.isnan(values)  # there is more than one way to write NaN
        return gone.tobytes(), np.where(gone, 0.0, values).tobytes()
    cells = [None if gone else str(v) for v, gone in zip(column, column.isna(), strict=True)]
    lengths = np.array([-1 if cell is None else len(cell) for cell in cells], dtype=np.int64)
    text = "".join(cell for cell in cells if cell is not None)
    return lengths.tobytes(), text.encode("utf-8", "surrogatepass")

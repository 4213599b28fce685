"""The tables that an analysis joins to its own: found beside it, and known by what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from smdp.analysis.provenance import TableSource, source_of
from smdp.data.read_table import read_table
from smdp.errors import ReadError
from smdp.steps.step_plans import TableFile
from smdp.text import shorten


@dataclass(frozen=True, eq=False)
class FurtherTable:
    """`table`: as it was read, None where it was left out of a file."""

    source: TableSource
    table: pd.DataFrame | None


def further_tables(frames: Mapping[str, pd.DataFrame]) -> dict[str, FurtherTable]:
    return {name: FurtherTable(source_of(frame), frame) for name, frame in frames.items()}


def tables_beside(files: Iterable[TableFile], main: Any) -> dict[str, pd.DataFrame]:
    """The further tables of a plan, from the folder of the main one; none if that is no file."""
    if not isinstance(main, str | PathLike):
        return {}
    folder, found = Path(main).parent, {}
    for each in files:
        path = folder / each.file
        if not each.file or not path.is_file():
            raise ReadError(
                f"The plan joins the table '{shorten(each.name)}', and its file "
                f"'{shorten(each.file)}' is not beside '{shorten(Path(main).name)}'.",
                f"Put it into the folder '{folder}'.",
            )
        found[each.name] = read_table(path, sheet=each.sheet)
    return found

"""Studies made by hand, for tests of single steps."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from smdp.data.column_roles import ColumnRoles, StateVariable
from smdp.data.study import Study
from smdp.data.variables import Variable


def study_of(values: Any, variables: Sequence[StateVariable], lengths: Any = None) -> Study:
    """A study with these state values (n, R, p) and nothing of interest in the other fields."""
    values = np.array(values, dtype=float)
    n, rows, _ = values.shape
    lengths = np.full(n, rows) if lengths is None else np.asarray(lengths)
    on_grid = np.arange(rows)[None, :] < lengths[:, None]
    return Study(
        roles=ColumnRoles("id", "day", "action", variables, "utility"),
        subjects=tuple(f"s{i}" for i in range(n)),
        variables=tuple(
            Variable(v.name, kind=v.kind or "continuous", low=v.low, high=v.high) for v in variables
        ),
        action_labels=("0", "1"),
        values=np.where(on_grid[:, :, None], values, np.nan),
        present=on_grid,
        actions=np.zeros((n, rows), dtype=np.int64),
        utilities=np.arange(n * rows, dtype=float).reshape(n, rows),
        available=on_grid,
        probabilities=np.full((n, rows, 2), 0.5),
        times=np.full((n, rows), "x"),
        lengths=lengths,
    )

"""A trial arranged by subject and decision: as observed, completed, or on common levels."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from smdp.data.column_roles import ColumnRoles
from smdp.data.memory_layout import in_c_order
from smdp.data.text_embedding import TextEmbedding
from smdp.data.variables import Variable
from smdp.result import Result


class Cell(IntEnum):
    """Where the value of a state cell comes from."""

    OBSERVED = 0
    IMPUTED = 1  # between the first and the last observation, or carried in a constant series
    EXTRAPOLATED = 2  # before the first or after the last observation
    ABSENT = 3  # after the subject's last row


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """n subjects on a grid of R decisions; a subject's rows are 0 .. lengths[i] - 1 of its grid.

    A decision that has no row in the table (a gap) lies on the grid with `present` False and
    missing values. After a subject's last row everything is missing. A study that was rescaled
    has the `levels` of its `reference` variable. A nominal variable is a column of codes; a text is
    the columns of numbers that its embedding makes of it.
    """

    roles: ColumnRoles
    subjects: tuple[str, ...]
    variables: tuple[Variable, ...]  # p
    action_labels: tuple[str, ...]  # K, in the order of the codes
    values: NDArray[np.float64]  # (n, R, p), NaN where missing
    present: NDArray[np.bool_]  # (n, R), whether the table has this row
    actions: NDArray[np.int64]  # (n, R), 0 .. K-1; -1 where not known or not available
    utilities: NDArray[np.float64]  # (n, R), NaN where missing; all NaN for a NextValue utility
    available: NDArray[np.bool_]  # (n, R)
    probabilities: NDArray[np.float64]  # (n, R, K), NaN where not known
    times: NDArray[np.str_]  # (n, R), the table's own time as text, "" where there is no row
    lengths: NDArray[np.int64]  # (n,)
    notes: tuple[str, ...] = ()  # how time was turned into decisions, in words
    reference: str | None = None  # None in own units
    levels: NDArray[np.float64] | None = None  # (L,), increasing, within 0 to 1; None in own units
    embeddings: tuple[TextEmbedding, ...] = ()  # of the texts

    def __post_init__(self) -> None:
        in_c_order(self)

    @property
    def on_grid(self) -> NDArray[np.bool_]:
        """(n, R): whether the decision lies within the subject's own trajectory."""
        return np.arange(self.present.shape[1])[None, :] < self.lengths[:, None]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(n, R, p): cells within the trajectory that have no observed value."""
        return np.isnan(self.values) & self.on_grid[:, :, None]

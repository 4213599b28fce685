"""The decisions of a trial as rows of states: what estimates of a policy's value work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import Rows, require_complete, require_every_action
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError


@dataclass(frozen=True)
class ValueRows(Rows):
    """R usable decisions.

    Where nothing could be chosen, no action is allowed and the level is K. After the last decision
    of the study nobody knows whether there would have been a choice: `open_next` is then the
    share of decisions with a choice.
    """

    level: NDArray[np.int64]  # (R,): the action, or K
    utility: NDArray[np.float64]  # (R,)
    allowed: NDArray[np.bool_]  # (R, K)
    allowed_next: NDArray[np.bool_]  # (R, K)
    open_next: NDArray[np.float64]  # (R,): the probability that something can be chosen next
    actions: int  # K
    notes: tuple[str, ...]

    @property
    def available(self) -> NDArray[np.bool_]:
        """(R,)"""
        return np.asarray(self.level < self.actions)


def value_rows(
    trajectories: Trajectories, variables: tuple[str, ...], *, following: bool = True
) -> ValueRows:
    """The valid decisions; with `following` only those whose next state is known too.

    Known in these variables: others may be missing.
    """
    chosen = trajectories.select(variables)
    rows, labels = chosen.rows(), chosen.action_labels
    if len(rows.row) == 0:
        raise DataError(
            "No transition is valid, so nothing can be estimated.",
            "Check the roles of the columns and the exclusions.",
        )
    require_complete(rows.at(chosen.states), rows.at(chosen.utilities))
    known = np.isfinite(rows.after(chosen.states)).all(axis=1)
    notes = []
    if following and not known.all():
        notes.append(f"{(~known).sum()} decisions whose next state is missing were left out.")
        rows = rows.take(known)
    level = rows.at(chosen.strata)
    require_every_action(level, labels, "so nothing can be said about a policy that would give it")
    last = rows.time + 1 == rows.shape[1]
    then = np.minimum(rows.time + 1, rows.shape[1] - 1)
    choice = (level < len(labels)).mean()
    allowed_next = np.where(last[:, None], True, chosen.possible[rows.row, then])
    return ValueRows(
        row=rows.row,
        time=rows.time,
        subject=rows.subject,
        shape=rows.shape,
        level=level,
        utility=rows.at(chosen.utilities),
        allowed=rows.at(chosen.possible),
        allowed_next=allowed_next,
        open_next=np.where(last, choice, allowed_next.any(axis=1).astype(float)),
        actions=len(labels),
        notes=tuple(notes),
    )

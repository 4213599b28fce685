"""Prepared trajectories as a table again: one row for each subject and decision."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.prepare import PreparedData
from smdp.data.study import Cell
from smdp.data.trajectories import Trajectories


def prepared_table(prepared: PreparedData) -> pd.DataFrame:
    """Every decision with its state as the analysis sees it, and how much of it was imputed.

    The last decision of a subject has a state but no transition: its action and utility are empty.
    """
    inside = prepared.imputed[:, :, 0] != Cell.ABSENT
    filled = np.isin(prepared.imputed, (Cell.IMPUTED, Cell.EXTRAPOLATED)).sum(axis=2)
    table = _decisions(prepared.trajectories, inside, prepared_lags(prepared) + 1)
    return table.assign(**{"imputed values": filled[inside]})


def trajectory_table(trajectories: Trajectories) -> pd.DataFrame:
    """Every decision of every subject, likewise; the first is 1."""
    inside = np.asarray(~np.isnan(trajectories.states).all(axis=2))
    return _decisions(trajectories, inside, 1)


def _decisions(t: Trajectories, inside: NDArray[np.bool_], first: int) -> pd.DataFrame:
    """A row for each state within its subject's trajectory."""
    n, rows, _ = t.states.shape
    last = np.zeros((n, 1))
    action = np.concatenate([t.actions, last.astype(int) - 1], axis=1)
    label = np.array([*t.action_labels, ""], object)[action]
    valid = np.concatenate([t.valid, last.astype(bool)], axis=1)
    utility = np.concatenate([t.utilities, last + np.nan], axis=1)
    decision = np.broadcast_to(np.arange(rows) + first, (n, rows))
    columns = {
        "subject": np.repeat(t.subjects, rows).reshape(n, rows)[inside],
        "decision": decision[inside],
        **{name: t.states[:, :, j][inside] for j, name in enumerate(t.variables)},
        "action": label[inside],
        "utility": utility[inside],
        "used": valid[inside].astype(int),
    }
    return pd.DataFrame(columns)


def prepared_lags(prepared: PreparedData) -> int:
    return prepared.completed.arranged.roles.look_back

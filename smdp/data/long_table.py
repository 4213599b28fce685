"""Prepared trajectories as a table again: one row for each subject and decision."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp.data.prepare import PreparedData
from smdp.data.study import Cell


def prepared_table(prepared: PreparedData) -> pd.DataFrame:
    """Every decision with its state as the analysis sees it, and how much of it was imputed.

    The last decision of a subject has a state but no transition: its action and utility are empty.
    """
    t = prepared.trajectories
    n, rows, _ = t.states.shape
    inside = prepared.imputed[:, :, 0] != Cell.ABSENT
    last = np.zeros((n, 1))
    action = np.concatenate([t.actions, last.astype(int) - 1], axis=1)
    label = np.array([*t.action_labels, ""], object)[action]
    valid = np.concatenate([t.valid, last.astype(bool)], axis=1)
    utility = np.concatenate([t.utilities, last + np.nan], axis=1)
    filled = np.isin(prepared.imputed, (Cell.IMPUTED, Cell.EXTRAPOLATED)).sum(axis=2)
    decision = np.broadcast_to(np.arange(1, rows + 1) + prepared_lags(prepared), (n, rows))
    columns = {
        "subject": np.repeat(t.subjects, rows).reshape(n, rows)[inside],
        "decision": decision[inside],
        **{name: t.states[:, :, j][inside] for j, name in enumerate(t.variables)},
        "action": label[inside],
        "utility": utility[inside],
        "used": valid[inside].astype(int),
        "imputed values": filled[inside],
    }
    return pd.DataFrame(columns)


def prepared_lags(prepared: PreparedData) -> int:
    return prepared.completed.arranged.roles.lags

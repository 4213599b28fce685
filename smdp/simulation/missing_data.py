"""A simulated trial as a raw table with what real ones have: lost values, gaps and dropout.

For stress tests of preparation and of what follows it: `study_table` turns trajectories into a long
table, one row for each subject and decision (and one for the state after the last), and takes
values and rows out of it; `study_roles` says what its columns are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import ColumnRoles
from smdp.data.trajectories import Trajectories
from smdp.settings import require

Mechanism = Literal["at random", "after a bad outcome", "when high"]
MECHANISMS: tuple[Mechanism, ...] = ("at random", "after a bad outcome", "when high")


@dataclass(frozen=True)
class MissingData:
    """What is lost. A state value is missing with a mean probability of `values`, which

    - "at random" is the same for all;
    - "after a bad outcome" is 2 `values` (1 - r), with r the rank of the subject's last utility
      among all (0 to 1): missing at random given what was seen;
    - "when high" is 2 `values` r, with r the rank of the value itself among all values of its
      variable: missing not at random, which no imputation repairs.

    `occasions`: the probability that a whole row is absent (never the first of a subject).
    `dropout`: the share of subjects who leave, at a decision that is equally likely to be any after
    the first third.

    Reference: Little & Rubin (2019), "Statistical analysis with missing data", chapter 1.
    """

    values: float = 0.0
    mechanism: Mechanism = "at random"
    occasions: float = 0.0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        most = {"values": 0.5, "occasions": 0.5, "dropout": 1.0}
        for name, limit in most.items():
            value = getattr(self, name)
            require(0 <= value <= limit, name, f"a share from 0 to {limit:g}", value)
        names = " or ".join(map(repr, MECHANISMS))
        require(self.mechanism in MECHANISMS, "mechanism", names, self.mechanism)


def study_table(
    trajectories: Trajectories,
    missing: MissingData = MissingData(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """The trajectories as a long table: subject, time, action, utility, then the states."""
    values, rows, leaving = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)
    )
    states = trajectories.states.copy()
    states[values.random(states.shape) < _chances(trajectories, missing)] = np.nan
    n, times = trajectories.actions.shape
    present = np.isfinite(trajectories.states).any(axis=2)
    gaps = rows.random(present.shape) < missing.occasions
    gaps[:, 0] = False
    last = np.where(
        leaving.random(n) < missing.dropout, leaving.integers(times // 3, times, n), times
    )
    present &= ~gaps & (np.arange(times + 1)[None, :] <= last[:, None])
    subject, time = np.nonzero(present)
    decision = np.minimum(time, times - 1)
    made = (time < last[subject]) & trajectories.valid[subject, decision]
    labels = np.array([*trajectories.action_labels, None], dtype=object)
    frame = pd.DataFrame(
        {
            "subject": np.array(trajectories.subjects)[subject],
            "time": time + 1,
            "action": labels[np.where(made, trajectories.actions[subject, decision], -1)],
            "utility": np.where(made, trajectories.utilities[subject, decision], np.nan),
        }
    )
    kept = pd.DataFrame(states[subject, time], columns=list(trajectories.variables))
    return pd.concat([frame, kept], axis=1)


def study_roles(trajectories: Trajectories) -> ColumnRoles:
    """The roles of the columns of `study_table`; actions were randomised with equal chances."""
    labels = trajectories.action_labels
    return ColumnRoles(
        subject="subject",
        time="time",
        action="action",
        states=trajectories.variables,
        utility="utility",
        probability={label: 1 / len(labels) for label in labels},
        action_levels={label: label for label in labels},
        known_before=trajectories.variables,
    )


def _chances(trajectories: Trajectories, missing: MissingData) -> NDArray[np.float64] | float:
    """The probability of each state value to be missing; its mean is `missing.values`."""
    if missing.mechanism == "at random":
        return missing.values
    if missing.mechanism == "when high":
        n, rows, p = trajectories.states.shape
        ranks = _ranks(trajectories.states.reshape(n * rows, p)).reshape(n, rows, p)
        return 2 * missing.values * ranks
    n, times = trajectories.utilities.shape
    ranks = np.full((n, times + 1), 0.5)  # nothing has gone before the first state
    ranks[:, 1:] = _ranks(trajectories.utilities.reshape(n * times, 1)).reshape(n, times)
    return 2 * missing.values * (1 - ranks)[:, :, None]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each column, from 0 (lowest) to 1; missing values in the middle."""
    ranks = pd.DataFrame(values).rank(axis=0)
    count = ranks.count(axis=0).clip(lower=2)
    return np.asarray(((ranks - 1) / (count - 1)).fillna(0.5), dtype=np.float64)

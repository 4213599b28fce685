"""What a policy recommends at the decisions of the study: over time, and to whom.

By the rule that may abstain (`LearnedPolicy.decide`); where nothing could be chosen, nothing is
recommended, and such decisions are counted but are in no share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.policy.decision_rule import NO_ACTION, Reason
from smdp.policy.learned_policy import LearnedPolicy

ABSTAINED = "no recommendation"

#: A variable with more values than this is divided at its median.
MOST_VALUES = 5

#: Stretches of time; more decisions than this are put together.
MOST_POINTS = 40


def recommendations(trajectories: Trajectories, policy: LearnedPolicy) -> pd.DataFrame:
    """One row for each decision of the study.

    `row`: the place in `trajectories.subjects`; `decision`: 1, 2, ..; `taken` and `recommended`:
    the number of the action, -1 for none; `reason`: why, as a `Reason`.
    """
    rows = trajectories.rows()
    states = rows.at(trajectories.select(policy.variables).states)
    decisions = policy.decide(states, rows.at(trajectories.possible))
    return pd.DataFrame(
        {
            "row": rows.row,
            "decision": rows.time + 1,
            "taken": rows.at(np.where(trajectories.available, trajectories.actions, NO_ACTION)),
            "recommended": decisions.recommended,
            "reason": decisions.reason,
        }
    )


def shares_over_time(
    table: pd.DataFrame, labels: tuple[str, ...], *, most_points: int = MOST_POINTS
) -> pd.DataFrame:
    """`table` from `recommendations`; see `_shares` for the columns, after `first` and `last`.

    `first` and `last`: the decisions that are put together, one where there is room for all.
    """
    last = int(table["decision"].max())
    width = -(-last // most_points)
    begins = (table["decision"] - 1) // width * width + 1
    found = _shares(table, begins, labels).rename(columns={"group": "first"})
    found.insert(1, "last", np.minimum(found["first"] + width - 1, last))
    return found


def shares_by_group(
    table: pd.DataFrame,
    trajectories: Trajectories,
    variable: str,
) -> pd.DataFrame:
    """Decisions grouped by the variable's values, or divided at its median if it has many.

    The groups are named in the variable's own units.
    """
    states = trajectories.select([variable]).states[:, :, 0]
    values = states[table["row"], table["decision"] - 1]
    about = trajectories.variable(variable)
    group, names = _groups(values, lambda value: about.in_own_units().text(about.own(value)))
    found = _shares(table, pd.Series(group, index=table.index), trajectories.action_labels)
    return found.assign(group=found["group"].map(names))


def abstentions(table: pd.DataFrame) -> dict[int, float]:
    """The share of the decisions with a choice that has no recommendation, by `Reason`."""
    choice = table[table["reason"] != Reason.UNAVAILABLE]
    shares = choice["reason"].value_counts(normalize=True)
    return {int(k): float(v) for k, v in shares.items() if k != Reason.RECOMMENDED}


def _shares(table: pd.DataFrame, group: pd.Series, labels: tuple[str, ...]) -> pd.DataFrame:
    """A row for each group and outcome (the actions, then `ABSTAINED`), groups in order.

    `decisions`: with a choice; `no_choice`: without; `action`; `share` of the decisions with a
    choice at which it is recommended; `taken`: at which it was taken (NaN for abstaining).
    """
    rows = []
    for key, own in table.groupby(group, sort=True):
        choice = own[own["reason"] != Reason.UNAVAILABLE]
        for k, label in enumerate((*labels, ABSTAINED)):
            code = k if k < len(labels) else NO_ACTION
            rows.append(
                {
                    "group": key,
                    "decisions": len(choice),
                    "no_choice": len(own) - len(choice),
                    "action": label,
                    "share": (choice["recommended"] == code).mean() if len(choice) else np.nan,
                    "taken": (choice["taken"] == k).mean()
                    if len(choice) and code != NO_ACTION
                    else np.nan,
                }
            )
    return pd.DataFrame(rows)


def _groups(
    values: NDArray[np.float64], text: Callable[[float], str]
) -> tuple[NDArray[np.int64], Mapping[int, str]]:
    """The group of each value, and the groups' names in the order of the values."""
    different = np.unique(values)
    if len(different) <= MOST_VALUES:
        return np.searchsorted(different, values), dict(enumerate(map(text, different)))
    middle = float(np.median(values))
    if middle == different[-1]:
        names = {0: f"below {text(middle)}", 1: f"{text(middle)} (the highest)"}
        return (values >= middle).astype(np.int64), names
    names = {0: f"at most {text(middle)} (median)", 1: f"above {text(middle)}"}
    return (values > middle).astype(np.int64), names

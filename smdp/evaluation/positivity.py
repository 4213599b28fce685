"""Was each action tried often enough? Where one hardly ever was, no estimate helps."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.evaluation.value_rows import ValueRows
from smdp.policy.support import MOST_POINTS, Support
from smdp.propensity import Propensities

#: A state lacks support for an action if fewer than this share of its neighbours had it.
NEIGHBOURS = 50
LEAST_SHARE = 0.05

#: Decisions without support of an action are worth a warning from this share on.
WORTH_A_WORD = 0.05

Floats = NDArray[np.float64]


def positivity_table(
    rows: ValueRows,
    known: Propensities,
    points: Floats,  # (R, q): the features, or states, in which neighbours are sought
    labels: tuple[str, ...],
    rare: float,
    neighbours: int = NEIGHBOURS,
    least_share: float = LEAST_SHARE,
) -> pd.DataFrame:
    """One row for each action, over the decisions with a choice.

    `taken`: how often; `smallest` and `below`: the least probability of it, and the share of
    decisions at which it was under `rare`; `unsupported`: the share of decisions among whose
    nearest neighbours in feature space fewer than 5 % had it.
    """
    choice = rows.available
    taken, given = rows.level[choice], known.given[choice]
    shares = _neighbours(points[choice], taken, len(labels), neighbours)
    return pd.DataFrame(
        {
            "action": list(labels),
            "taken": [float((taken == k).mean()) for k in range(len(labels))],
            "smallest": given.min(axis=0),
            "below": (given < rare).mean(axis=0),
            "unsupported": (shares < least_share).mean(axis=0),
        }
    )


def positivity_warnings(table: pd.DataFrame, rare: float) -> list[str]:
    """Sentences with what to do, none if all is well."""
    found = []
    for action, below, unsupported in zip(
        table["action"], table["below"], table["unsupported"], strict=True
    ):
        if below > 0:
            found.append(
                f"At {_percent(below)} of the decisions the action '{action}' had a probability "
                f"below {rare:g}. What the trial says about it there rests on few people: leave "
                "these decisions out, or let the policy choose among the usual actions only."
            )
        if unsupported >= WORTH_A_WORD:
            found.append(
                f"At {_percent(unsupported)} of the decisions the action '{action}' was hardly "
                "ever tried in similar states. Values there are extrapolated: read the estimate "
                "with caution, or use fewer features."
            )
    return found


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"


def _neighbours(points: Floats, taken: NDArray[np.int64], actions: int, neighbours: int) -> Floats:
    """(decisions, K): the share of each action among the nearest decisions."""
    if points.shape[1] == 0:
        return np.broadcast_to(np.eye(actions)[taken].mean(axis=0), (len(taken), actions))
    sd = points.std(axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    count = min(MOST_POINTS, len(points))
    kept = np.linspace(0, len(points) - 1, count).astype(np.int64)
    nearest = min(neighbours, max(1, count // 4))
    shares, _ = Support(scaled[kept], taken[kept], actions, nearest, radius=1.0)(scaled)
    return shares

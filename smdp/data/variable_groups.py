"""State variables in groups that say what they can tell a feature."""

from __future__ import annotations

import re

import numpy as np

from smdp.data.trajectories import Trajectories

BACKGROUND = "background"  # the same at every decision of a subject: tells subjects apart
CHANGING = "changing"  # from one decision to the next
EARLIER = "earlier values"  # of a state variable or the action, added by a look-back
GROUPS = (BACKGROUND, CHANGING, EARLIER)

_LAG = re.compile(r"_lag\d+$")


def variable_groups(trajectories: Trajectories) -> dict[str, str]:
    """The group of each state variable."""
    steps = np.diff(trajectories.states, axis=1)
    moves = (np.isfinite(steps) & (steps != 0)).any(axis=(0, 1))
    return {
        name: EARLIER if _LAG.search(name) else CHANGING if moving else BACKGROUND
        for name, moving in zip(trajectories.variables, moves, strict=True)
    }

"""The states of a trial's decisions as they were measured: what rules for people are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.prepare import CompletedStudy, PreparedData
from smdp.data.to_trajectories import to_trajectories
from smdp.data.trajectories import Trajectories


@dataclass(frozen=True)
class AsMeasured:
    """The same decisions as those that a policy was learned from, in the variables' own units.

    `first_levels`: of nominal variables, the level that has no column; "" where it has no name.
    """

    trajectories: Trajectories
    first_levels: Mapping[str, str] = field(default_factory=dict)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> AsMeasured:
        """Only these trajectories."""
        return replace(self, trajectories=self.trajectories.take(chosen))


def as_measured(
    data: PreparedData | Trajectories, completed: CompletedStudy | None = None
) -> AsMeasured:
    """Before any rescaling; trajectories without the study they are of are taken as they are.

    Numbers of trajectories that were rescaled are said in own units all the same, as far as the
    levels that they were moved to allow.
    """
    if isinstance(data, PreparedData):
        return as_measured(data.trajectories, data.completed)
    if completed is None:
        return AsMeasured(data)
    own = completed.study
    found = data
    if any(variable.rescaled_from is not None for variable in data.about):
        found = to_trajectories(own, own.values, completed.origin)[0]
    levels = {variable.name: variable.levels for variable in own.variables}
    first = {
        variable.whole: levels[variable.column][0][1]
        for variable in found.about
        if variable.whole_kind == "nominal"
    }
    return AsMeasured(found, first)

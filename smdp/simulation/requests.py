"""What a worker is asked of simulations: plain data that knows what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smdp.progress import Cancelled, Progress
from smdp.simulation.names import StudyMap
from smdp.simulation.study_settings import SimulationSetting, StudySettings
from smdp.simulation.study_store import StudyRows


@dataclass(frozen=True, eq=False)
class SimulationRequest:
    """A simulation study of one setting with several maps; `known`: its cells done earlier."""

    setting: SimulationSetting
    maps: tuple[StudyMap, ...]
    replications: int
    how: StudySettings
    known: StudyRows | None = None

    def do(self, progress: Progress) -> object:
        from smdp.simulation.study_run import StudyCancelled, run_study

        try:
            return run_study(
                [self.setting],
                maps=self.maps,
                replications=self.replications,
                how=self.how,
                known=self.known,
                progress=progress,
            )
        except StudyCancelled as stop:
            if stop.finished.rows.empty:
                raise Cancelled from stop
            raise


@dataclass(frozen=True, eq=False)
class StudyPlanRequest:
    """What to expect of studies of several sizes; `options`: those of `plan_study`."""

    options: Mapping[str, Any]

    def do(self, progress: Progress) -> object:
        from smdp.simulation.planning import plan_study

        return plan_study(**self.options, progress=progress)

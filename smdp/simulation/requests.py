"""What a worker is asked of simulations: plain data that knows what to do."""

from __future__ import annotations

from dataclasses import dataclass

from smdp.progress import Cancelled, Progress
from smdp.simulation.study_settings import PaperComparison, PlanningSettings
from smdp.simulation.study_store import StudyRows


@dataclass(frozen=True, eq=False)
class SimulationRequest:
    """A simulation study of one setting with several maps; `known`: its cells done earlier."""

    asked: PaperComparison
    known: StudyRows | None = None

    def do(self, progress: Progress) -> object:
        from smdp.simulation.study_run import StudyCancelled, run_study

        try:
            return run_study(
                [self.asked.trial],
                maps=self.asked.maps,
                replications=self.asked.replications,
                how=self.asked.done_how,
                known=self.known,
                progress=progress,
            )
        except StudyCancelled as stop:
            if stop.finished.rows.empty:
                raise Cancelled from stop
            raise


@dataclass(frozen=True, eq=False)
class StudyPlanRequest:
    """What to expect of studies of several sizes."""

    asked: PlanningSettings

    def do(self, progress: Progress) -> object:
        from smdp.simulation.planning import plan_study

        asked = self.asked
        return plan_study(
            asked.model,
            noise=asked.noise,
            subjects=asked.subjects,
            times=asked.times,
            discount=asked.discount,
            replications=asked.replications,
            depth=asked.depth,
            how=asked.done_how,
            progress=progress,
        )

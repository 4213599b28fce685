"""Jobs for tests of workers: what they are asked, and waiting for their state."""

from __future__ import annotations

from typing import Any

from waiting import wait_until

from dashboard.jobs import Job
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.provenance import TableSource
from smdp.analysis.step_request import StepRequest
from smdp.data.column_roles import ColumnRoles
from smdp.data.guess_roles import guess_roles
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.data.trajectories import Trajectories
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.samples import sample_file
from smdp.steps.step_plans import FeatureMapPlan, ScreeningPlan

ENDLESS = ScreeningSettings(method="paper", permutations=3_000_000)


def sample_trajectories() -> Trajectories:
    frame = read_table(sample_file("basics_mobile_synthetic.csv"))
    return prepare(frame, guess_roles(frame)).trajectories


def screening(
    trajectories: Trajectories, settings: ScreeningSettings | None = None, *, seed: int = 0
) -> StepRequest:
    own = ScreeningPlan(settings or ScreeningSettings(), seed)
    return _request("screening", trajectories, screening=own)


def feature_map(trajectories: Trajectories, settings: FeatureMapSettings) -> StepRequest:
    own = FeatureMapPlan(use_all=True, settings=settings)
    return _request("features", trajectories, features=own)


def _request(step: str, trajectories: Trajectories, **sections: Any) -> StepRequest:
    """As a page asks for it: a worker gets what the step works on, and the plan."""
    roles = ColumnRoles("subject", "time", "action", ["state"], "utility")
    plan = AnalysisPlan(roles=roles, **sections)
    source = TableSource("study.csv", "", "", 0, 0)
    return StepRequest(step, plan.to_json(), {"rescaling": trajectories}, source)


def wait(job: Job, *states: str, seconds: float = 240.0) -> None:
    """Until the job is in one of the states."""
    wait_until(
        lambda: job.state in states, seconds, told=lambda: (job.state, job.message, job.error)
    )

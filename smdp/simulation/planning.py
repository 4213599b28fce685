"""Planning a study: how often the true variables are found, and the value reached, by its size.

For each number of subjects and of decisions, trials of the paper's model are simulated and
analysed. `found` is how many of them kept all variables that matter (S1 .. S4); its share has a
Wilson interval. The value is the mean utility a step of the learned policy on fresh trajectories.

Reference: Wilson (1927), "Probable inference, the law of succession, and statistical inference".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from smdp.independence.shares import wilson_interval
from smdp.progress import Cancelled, Progress
from smdp.result import Result
from smdp.simulation.generative_model import GenerativeModel, Model
from smdp.simulation.names import StudyMap
from smdp.simulation.study_run import StudyCancelled, run_study
from smdp.simulation.study_settings import (
    Depth,
    PlanningSettings,
    SimulationSetting,
    StudySettings,
)
from smdp.simulation.study_store import StudyRows
from smdp.simulation.study_tables import mean_and_error, rows_of

_DEFAULT = PlanningSettings()


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan(Result):
    """What to expect of studies of several sizes.

    `table`: one row for each size: subjects, times, replications, found, share, lower, upper (95 %
    Wilson interval), others (mean number of further variables kept), linear and neural (mean
    values with `.._se`), policies (replications in which a policy was learned).
    """

    model: Model
    noise: int
    discount: float
    depth: Depth
    table: pd.DataFrame
    study: StudyRows


class PlanCancelled(Cancelled):
    """Planning was stopped; `finished` is the plan from what was simulated until then."""

    def __init__(self, finished: StudyPlan | None) -> None:
        super().__init__("Planning was stopped.")
        self.finished = finished


def plan_study(
    model: Model,
    *,
    noise: int = _DEFAULT.noise,
    subjects: Sequence[int] = _DEFAULT.subjects,
    times: Sequence[int] = _DEFAULT.times,
    discount: float = _DEFAULT.discount,
    replications: int = _DEFAULT.replications,
    depth: Depth = _DEFAULT.depth,
    how: StudySettings = _DEFAULT.how,
    folder: Path | str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> StudyPlan:
    """Simulate studies of all combinations of `subjects` and `times`.

    `depth`: "screening" stops there and learns policies on the variables kept as they are, which
    takes seconds; "whole" also fits the feature map, and a variable is found when the map uses it.
    A replication that fails, because screening kept nothing, say, has not found the variables.
    Stopped by `progress`, it raises `PlanCancelled`.
    """
    asked = PlanningSettings(
        model, noise, tuple(subjects), tuple(times), replications, depth, discount
    )
    settings, kind = asked.settings, asked.feature_map
    try:
        study = run_study(
            settings,
            maps=[kind],
            replications=replications,
            how=how,
            folder=folder,
            jobs=jobs,
            progress=progress,
        )
    except StudyCancelled as stop:
        study = stop.finished
        begun = _sizes(study, settings, kind, replications)
        plan = None if begun.empty else StudyPlan(model, noise, discount, depth, begun, study)
        raise PlanCancelled(plan) from stop
    table = _sizes(study, settings, kind, replications)
    return StudyPlan(model, noise, discount, depth, table, study)


def _sizes(
    study: StudyRows, settings: Sequence[SimulationSetting], kind: StudyMap, replications: int
) -> pd.DataFrame:
    """A row for each size that was simulated at all."""
    rows = study.rows[
        (study.rows["feature_map"] == kind) & (study.rows["replication"] < replications)
    ]
    each = [(setting, rows_of(rows, setting)) for setting in settings]
    return pd.DataFrame([_size(own, setting) for setting, own in each if len(own)])


def _size(own: pd.DataFrame, setting: SimulationSetting) -> dict[str, float]:
    true = set(GenerativeModel(setting.model, setting.noise).true_variables)
    done = own["status"] == "done"
    kept = [set(str(text).split()) if ok else set() for text, ok in
            zip(own["variables"], done, strict=True)]  # fmt: skip
    found = sum(true <= names for names in kept)
    lower, upper = wilson_interval(found, len(own))
    linear, linear_se = mean_and_error(own.loc[done, "linear"])
    neural, neural_se = mean_and_error(own.loc[done, "neural"])
    return {
        "subjects": setting.subjects,
        "times": setting.times,
        "replications": len(own),
        "found": found,
        "share": found / len(own),
        "lower": lower,
        "upper": upper,
        "others": float(np.mean([len(names - true) for names in kept])),
        "linear": linear,
        "linear_se": linear_se,
        "neural": neural,
        "neural_se": neural_se,
        "policies": int(done.sum()),
    }

"""Between the pages' settings and the plan that `smdp run` carries out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from dashboard.session import Done, How, Step
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    PlaceboPlan,
    PolicyPlan,
    ReadingSettings,
    ScreeningPlan,
    StabilityPlan,
    TrialPlan,
)
from smdp.data.column_roles import ColumnRoles
from smdp.settings import PreparationSettings

if TYPE_CHECKING:
    from dashboard.table import LoadedTable
    from smdp.analysis.result import AnalysisResult
    from smdp.feature_map.result import Kind

#: Stands in a plan until somebody says which column is what.
NOT_CHOSEN = ColumnRoles("subject?", "time?", "action?", ["state?"], "utility?")


def plan_of(
    dones: Mapping[Step, Done],
    table: LoadedTable,
    *,
    notes: Mapping[str, str] | None = None,
    trial: TrialPlan | None = None,
) -> AnalysisPlan:
    """The plan that does what was done on the pages.

    A step that can no longer be planned as it was done (a placebo check of a policy that is not
    among the present ones) is left out; its result is then out of date.
    """
    reading, roles = (
        dones[Step.DATA].settings
        if Step.DATA in dones
        else (ReadingSettings(sheet=table.sheet), NOT_CHOSEN)
    )
    screening, features, policies = (
        dones.get(step) for step in (Step.SCREENING, Step.FEATURES, Step.POLICY)
    )
    return AnalysisPlan(
        roles=roles,
        reading=reading,
        preparation=_preparation(dones),
        screening=ScreeningPlan(screening.settings, screening.how.seed) if screening else None,
        features=_feature_map(features) if features else None,
        stability=_stability(dones) if features else None,
        policies=_policies(policies) if features and policies else (),
        evaluation=_evaluation(dones) if policies else None,
        placebo=_placebo(dones) if policies else None,
        trial=trial,
        stop_after=_stop_after(dones),
        notes=notes or {},
        data_name=table.name,
        data_fingerprint=table.fingerprint,
    )


def _preparation(dones: Mapping[Step, Done]) -> PreparationSettings:
    if Step.MISSING not in dones:
        return PreparationSettings()
    own: PreparationSettings = dones[Step.MISSING].settings
    if Step.RESCALING not in dones:
        return own
    return replace(own, rescaling=dones[Step.RESCALING].settings.rescaling)


def _stop_after(dones: Mapping[Step, Done]) -> str | None:
    """A plan prepares the data to the end unless it is told where to stop."""
    if Step.RESCALING in dones:
        return None
    return str(Step.MISSING if Step.MISSING in dones else Step.DATA)


def _feature_map(finished: Done) -> FeatureMapPlan:
    how = finished.how
    return FeatureMapPlan(cast("Kind", how.task), how.use_all, finished.settings, how.seed)


def _stability(dones: Mapping[Step, Done]) -> StabilityPlan | None:
    finished = dones.get(Step.STABILITY)
    if finished is None or dones[Step.FEATURES].how.task != "adnn":
        return None
    return StabilityPlan(finished.settings, finished.how.seed)


def _policies(finished: Done) -> tuple[PolicyPlan, ...]:
    learned = zip(finished.settings, finished.result, strict=True)
    return tuple(PolicyPlan(settings, policy.seed) for settings, policy in learned)


def _evaluation(dones: Mapping[Step, Done]) -> EvaluationPlan | None:
    finished = dones.get(Step.EVALUATION)
    return EvaluationPlan(finished.settings, finished.how.seed) if finished else None


def _placebo(dones: Mapping[Step, Done]) -> PlaceboPlan | None:
    finished = dones.get(Step.PLACEBO)
    if finished is None:
        return None
    kind, repeats, settings = finished.settings
    models = [each.model for each in dones[Step.POLICY].settings]
    if kind not in models:
        return None
    return PlaceboPlan(models.index(kind) + 1, repeats, settings, finished.how.seed)


def page_settings(step: Step, analysis: AnalysisResult) -> tuple[Any, How]:
    """What the step's page compares its controls with, from how the step was recorded."""
    asked = analysis.records[step].asked
    if step == Step.RESCALING:
        rescaling = None if isinstance(asked, str) else asked
        return replace(analysis.records[Step.MISSING].asked, rescaling=rescaling), How()
    if step in (Step.DATA, Step.MISSING):
        return asked, How()
    if step == Step.FEATURES:
        return asked.settings, How(asked.kind, asked.seed, asked.use_all)
    if step == Step.STABILITY:
        return asked.bootstraps, How("stability", asked.seed)
    if step == Step.POLICY:
        return tuple(each.settings for each in asked), How("policies", asked[0].seed)
    if step == Step.PLACEBO:
        place = min(asked.policy, len(analysis.policies)) - 1
        kind = analysis.policies[place].kind
        return (kind, asked.repeats, asked.settings), How("placebo", asked.seed)
    task = "screen" if step == Step.SCREENING else "evaluation"
    return asked.settings, How(task, asked.seed)

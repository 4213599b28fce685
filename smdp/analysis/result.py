"""An analysis as far as it has come: plan, table, and each step's result with its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.provenance import StepRecord, TableSource, now, source_of, versions
from smdp.analysis.step_facts import handed_on, inputs_of, is_complete, summary_of, warnings_of
from smdp.analysis.steps import Step
from smdp.data.problem import Problem
from smdp.plain_data import fingerprint

if TYPE_CHECKING:
    import pandas as pd

    from smdp.data.prepare import CompletedStudy, PreparedData
    from smdp.data.study import Study
    from smdp.feature_map.result import FittedFeatureMap
    from smdp.feature_map.stability import FeatureMapStability
    from smdp.policy.evaluation import PolicyValue
    from smdp.policy.learned_policy import LearnedPolicy
    from smdp.policy.placebo import PlaceboCheck
    from smdp.policy.trial_summary import TrialSummary
    from smdp.screening import ScreeningResult


@dataclass(frozen=True)
class AnalysisResult:
    """What was asked for, what it was asked of, and what has been found so far.

    `table`: the table as it was read, None where it was left out of a file. `results`: by step.
    `records`: by step, how each came to be; a result may be older than the plan (see
    `smdp.analysis.currency`). `choices`: plain data that a program wants to find again.
    """

    plan: AnalysisPlan
    source: TableSource
    table: pd.DataFrame | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, StepRecord] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""  # why the plan was not done to its end

    @classmethod
    def begin(cls, plan: AnalysisPlan, table: pd.DataFrame) -> AnalysisResult:
        """Nothing done yet."""
        return cls(plan, source_of(table), table)

    def with_step(
        self,
        step: Step,
        result: Any,
        *,
        seconds: float | None = None,
        warnings: tuple[Problem, ...] | None = None,
    ) -> AnalysisResult:
        """With a step just done as the plan says, on the results so far."""
        record = StepRecord(
            step=str(step),
            inputs=inputs_of(step, self),
            asked=self.plan.asked(step),
            output=fingerprint(handed_on(step, result)),
            summary=summary_of(step, result, self.policies),
            seconds=seconds,
            complete=is_complete(step, result),
            warnings=tuple(warnings_of(step, result)) if warnings is None else warnings,
            finished=now(),
            versions=versions(),
        )
        return replace(
            self,
            results={**self.results, str(step): result},
            records={**self.records, str(step): record},
        )

    @property
    def study(self) -> Study | None:
        return self.results.get(Step.DATA)

    @property
    def completed(self) -> CompletedStudy | None:
        return self.results.get(Step.MISSING)

    @property
    def prepared(self) -> PreparedData | None:
        return self.results.get(Step.RESCALING)

    @property
    def screening(self) -> ScreeningResult | None:
        return self.results.get(Step.SCREENING)

    @property
    def feature_map(self) -> FittedFeatureMap | None:
        return self.results.get(Step.FEATURES)

    @property
    def stability(self) -> FeatureMapStability | None:
        return self.results.get(Step.STABILITY)

    @property
    def policies(self) -> tuple[LearnedPolicy, ...]:
        return self.results.get(Step.POLICY, ())

    @property
    def values(self) -> tuple[PolicyValue, ...]:
        """Of the policies, in their order."""
        return self.results.get(Step.EVALUATION, ())

    @property
    def placebo(self) -> PlaceboCheck | None:
        return self.results.get(Step.PLACEBO)

    @property
    def trial(self) -> TrialSummary | None:
        return self.results.get(Step.TRIAL)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Of all steps, in their order, those of the analysis as a whole first."""
        from smdp.analysis.currency import whole_warnings

        own = [p for step in Step if step in self.records for p in self.records[step].warnings]
        return (*whole_warnings(self), *own)

"""Every table of an analysis, as the pages export them: full figures, fit for another program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from smdp.analysis.currency import out_of_date
from smdp.analysis.result import AnalysisResult
from smdp.analysis.steps import Step
from smdp.data.describe import exclusion_table, rescaling_table, variable_table
from smdp.data.long_table import prepared_table
from smdp.policy.explanation import explain_policy
from smdp.policy.placebo import PlaceboCheck
from smdp.policy.recommendations import recommendations, shares_over_time


@dataclass(frozen=True)
class ResultTable:
    """One table, the step that it belongs to, and whether that step is out of date."""

    name: str
    step: Step
    frame: pd.DataFrame
    out_of_date: bool
    synthetic: bool

    @property
    def file_name(self) -> str:
        marks = ("synthetic-" if self.synthetic else "") + (
            "out-of-date-" if self.out_of_date else ""
        )
        return f"{marks}{self.name}.csv"


def result_tables(analysis: AnalysisResult) -> tuple[ResultTable, ...]:
    """The tables of every step that has a result, in the order of the steps."""
    stale = set(out_of_date(analysis))
    return tuple(
        ResultTable(name, step, frame, step in stale, analysis.source.synthetic)
        for step, name, frame in _tables(analysis)
    )


def _tables(analysis: AnalysisResult) -> Iterator[tuple[Step, str, pd.DataFrame]]:
    study, completed, prepared = analysis.study, analysis.completed, analysis.prepared
    if study is not None:
        yield Step.DATA, "variables", variable_table(study)
    if completed is not None:
        yield Step.MISSING, "left-out", exclusion_table(completed)
    if prepared is not None:
        yield Step.RESCALING, "ranges", rescaling_table(prepared)
        yield Step.RESCALING, "log", prepared.log
        yield Step.RESCALING, "prepared-data", prepared_table(prepared)
    screening = analysis.screening
    if screening is not None:
        yield Step.SCREENING, "screening", screening.table.reset_index()
        by_decision = [_round(r.number, r.p_values, r.statistics) for r in screening.rounds]
        yield Step.SCREENING, "screening-by-decision", pd.concat(by_decision)
    for name, frame in _feature_tables(analysis):
        yield Step.FEATURES, name, frame
    if analysis.stability is not None:
        chosen = analysis.stability.selection.rename_axis("variable").reset_index()
        yield Step.STABILITY, "stability", analysis.stability.weights
        yield Step.STABILITY, "stability-selection", chosen
        dimensions = analysis.stability.dimensions.reset_index()
        yield Step.STABILITY, "stability-dimensions", dimensions
    for name, frame in _policy_tables(analysis):
        yield Step.POLICY, name, frame
    for number, value in enumerate(analysis.values, start=1):
        yield Step.EVALUATION, f"value-{number}", value.table
        yield Step.EVALUATION, f"value-{number}-differences", value.differences
        yield Step.EVALUATION, f"value-{number}-positivity", value.positivity
    if analysis.placebo is not None:
        yield Step.PLACEBO, "placebo", _placebo(analysis.placebo)
    if analysis.trial is not None:
        yield Step.TRIAL, "trial-summary", analysis.trial.effects


def _policy_tables(analysis: AnalysisResult) -> Iterator[tuple[str, pd.DataFrame]]:
    """Of each policy; what it recommends and why needs the data."""
    for number, policy in enumerate(analysis.policies, start=1):
        name = f"policy-{number}-{policy.kind}"
        if policy.kind == "linear":
            yield f"{name}-parameters", policy.parameter_intervals
        yield f"{name}-convergence", policy.convergence
        if analysis.prepared is None:
            continue
        trajectories = analysis.prepared.trajectories
        every = recommendations(trajectories, policy)
        yield f"{name}-over-time", shares_over_time(every, policy.action_labels)
        reasons = explain_policy(policy, trajectories)
        yield f"{name}-by-feature", reasons.features
        yield f"{name}-by-variable", reasons.variables


def _placebo(check: PlaceboCheck) -> pd.DataFrame:
    """The gain with the actions as they were, then those with shuffled actions."""
    gains = [check.gain, *check.placebo.tolist()]
    return pd.DataFrame({"shuffled": [0] + [1] * len(check.placebo), "gain": gains})


def _round(number: int, p_values: pd.DataFrame, statistics: pd.DataFrame) -> pd.DataFrame:
    """One row for each variable and decision that was tested."""
    long = pd.DataFrame(
        {
            "round": number,
            "variable": [name for name in p_values.index for _ in p_values.columns],
            "decision": list(p_values.columns) * len(p_values),
            "p_value": p_values.to_numpy().ravel(),
            "statistic": statistics.to_numpy().ravel(),
        }
    )
    return long.dropna(subset=["p_value", "statistic"], how="all").reset_index(drop=True)


def _feature_tables(analysis: AnalysisResult) -> Iterator[tuple[str, pd.DataFrame]]:
    fitted = analysis.feature_map
    if fitted is None:
        return
    yield "weights", fitted.weights.rename_axis("feature").reset_index()
    yield "column-norms", fitted.column_norms.rename_axis("variable").reset_index()
    if not fitted.candidates.empty:
        yield "candidates", fitted.candidates
    if not fitted.steps.empty:
        yield "passes", fitted.steps

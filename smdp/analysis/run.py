"""A plan carried out on a table, step by step, as the pages of the dashboard do it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.result import AnalysisResult
from smdp.analysis.step_facts import variables_for_features, warnings_of
from smdp.analysis.steps import PERSONAL, Step
from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.files.file_source import Source
from smdp.data.missing_codes import mark_missing
from smdp.data.prepare import complete, finish
from smdp.data.problem import Problem
from smdp.data.read_table import read_table
from smdp.data.reshape import to_long
from smdp.errors import SmdpError
from smdp.progress import Cancelled, Progress, silent

#: About how long the steps take, relative to each other.
EFFORT = {
    Step.DATA: 1,
    Step.MISSING: 3,
    Step.RESCALING: 1,
    Step.SCREENING: 10,
    Step.FEATURES: 60,
    Step.STABILITY: 600,
    Step.POLICY: 20,
    Step.EVALUATION: 40,
    Step.PLACEBO: 100,
    Step.TRIAL: 2,
}


class AnalysisCancelled(Cancelled):
    """The work was stopped; `finished` has the steps that were done by then."""

    finished: AnalysisResult

    def __init__(self, finished: AnalysisResult) -> None:
        super().__init__("The analysis was stopped.")
        self.finished = finished


def run_analysis(
    table: pd.DataFrame | Source, plan: AnalysisPlan, *, progress: Progress | None = None
) -> AnalysisResult:
    """Do what the plan says with a table, or with the file that holds it.

    The result depends on the table and the plan only: the same functions run with the same
    settings and seeds as on the dashboard's pages. Where a step leaves nothing to go on with
    (screening keeps no variable), the analysis ends there and says so. Stopped by `progress` or
    the keyboard, it raises `AnalysisCancelled`.
    """
    say = progress or silent
    if not isinstance(table, pd.DataFrame):
        say(0.0, "Reading the table")
        table = read_table(table, sheet=plan.reading.sheet)
    analysis = AnalysisResult.begin(plan, table)
    total = sum(EFFORT[step] for step in plan.steps)
    done = 0
    try:
        for step in plan.steps:
            stopped = _cannot_be_done(step, analysis)
            if stopped:
                return replace(analysis, stopped=stopped)
            start, finish_at = done / total, (done + EFFORT[step]) / total
            began = time.perf_counter()
            try:
                result = _DO[step](analysis, _part(say, start, finish_at, step))
            except SmdpError as error:
                raise type(error)(f"Step '{step}': {error.problem}", error.remedy) from error
            seconds = time.perf_counter() - began
            found = _data_warnings(analysis) if step == Step.DATA else warnings_of(step, result)
            analysis = analysis.with_step(step, result, seconds=seconds, warnings=tuple(found))
            done += EFFORT[step]
    except (Cancelled, KeyboardInterrupt) as stop:
        raise AnalysisCancelled(analysis) from stop
    say(1.0, "The analysis is done")
    return analysis


def with_table(analysis: AnalysisResult, table: pd.DataFrame) -> AnalysisResult:
    """An analysis that was saved without its data, with them again.

    The steps up to rescaling are done anew as the plan says. If the table is the same, the later
    results are current; if not, they are out of date (see `smdp.analysis.currency`).
    """
    planned = [step for step in analysis.plan.steps if step in PERSONAL]
    early = run_analysis(table, replace(analysis.plan, stop_after=str(planned[-1])))
    late = [str(step) for step in Step if step not in planned]
    return replace(
        early,
        plan=analysis.plan,
        results={**early.results, **{s: r for s, r in analysis.results.items() if s in late}},
        records={**early.records, **{s: r for s, r in analysis.records.items() if s in late}},
        stopped=analysis.stopped,
    )


def long_table(table: pd.DataFrame, plan: AnalysisPlan) -> pd.DataFrame:
    """The table in long form, with missing values where its codes for them were."""
    return mark_missing(to_long(table, plan.reading.layout), dict(plan.reading.missing_codes))


def _data_warnings(analysis: AnalysisResult) -> tuple[Problem, ...]:
    assert analysis.table is not None
    return find_problems(long_table(analysis.table, analysis.plan), analysis.plan.roles)


def _part(progress: Progress, start: float, end: float, step: Step) -> Progress:
    name = str(step).capitalize()
    return lambda share, what: progress(start + share * (end - start), f"{name}: {what}")


def _cannot_be_done(step: Step, analysis: AnalysisResult) -> str:
    """Why the plan cannot go on, "" if it can."""
    if step == Step.FEATURES and variables_for_features(analysis) == ():
        return (
            "Screening kept no variable, so the steps after it were not done. Screen at a higher "
            "level, force variables in, or set 'use_all' of 'features'."
        )
    return ""


def _arrange(analysis: AnalysisResult, progress: Progress) -> Any:
    assert analysis.table is not None
    progress(0.0, "Arranging the table")
    return arrange(long_table(analysis.table, analysis.plan), analysis.plan.roles)


def _complete(analysis: AnalysisResult, progress: Progress) -> Any:
    assert analysis.study is not None
    return complete(analysis.study, analysis.plan.preparation, progress=progress)


def _finish(analysis: AnalysisResult, progress: Progress) -> Any:
    assert analysis.completed is not None
    progress(0.0, "Rescaling")
    return finish(analysis.completed, analysis.plan.preparation)


def _screen(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.screening import screen

    plan, prepared = analysis.plan.screening, analysis.prepared
    assert plan is not None
    assert prepared is not None
    return screen(prepared.trajectories, plan.settings, seed=plan.seed, progress=progress)


def _fit(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.feature_map.kinds import FITTERS

    plan, prepared = analysis.plan.features, analysis.prepared
    assert plan is not None
    assert prepared is not None
    chosen = variables_for_features(analysis)
    names = prepared.trajectories.variables if chosen is None else chosen
    own = prepared.trajectories.select(names)
    return FITTERS[plan.kind](own, plan.settings, seed=plan.seed, progress=progress)


def _stability(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.feature_map.stability import feature_map_stability

    plan, prepared, fitted = analysis.plan.stability, analysis.prepared, analysis.feature_map
    assert plan is not None
    assert prepared is not None
    assert fitted is not None
    return feature_map_stability(
        prepared.trajectories.select(fitted.variables),
        fitted.settings,
        bootstraps=plan.bootstraps,
        seed=plan.seed,
        progress=progress,
        fitted=fitted,
    )


def _learn(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.policy.q_learning import learn_policy

    prepared, fitted, plans = analysis.prepared, analysis.feature_map, analysis.plan.policies
    assert prepared is not None
    assert fitted is not None
    return tuple(
        learn_policy(
            prepared.trajectories,
            fitted,
            plan.settings,
            seed=plan.seed,
            progress=_share(progress, k, len(plans)),
        )
        for k, plan in enumerate(plans)
    )


def _evaluate(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.policy.evaluation import evaluate_policy

    prepared, plan, policies = analysis.prepared, analysis.plan.evaluation, analysis.policies
    assert prepared is not None
    assert plan is not None
    return tuple(
        evaluate_policy(
            prepared.trajectories,
            policy,
            plan.settings,
            seed=plan.seed,
            progress=_share(progress, k, len(policies)),
        )
        for k, policy in enumerate(policies)
    )


def _shuffle(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.policy.placebo import placebo_check

    prepared, plan = analysis.prepared, analysis.plan.placebo
    assert prepared is not None
    assert plan is not None
    return placebo_check(
        prepared.trajectories,
        analysis.policies[plan.policy - 1],
        plan.settings,
        repeats=plan.repeats,
        seed=plan.seed,
        progress=progress,
    )


def _summarise(analysis: AnalysisResult, progress: Progress) -> Any:
    from smdp.policy.trial_summary import trial_summary

    prepared, plan = analysis.prepared, analysis.plan.trial
    assert prepared is not None
    assert plan is not None
    progress(0.0, "The average effect of treatment")
    return trial_summary(
        prepared.trajectories,
        moderators=plan.moderators,
        controls=plan.controls,
        coverage=plan.coverage,
    )


def _share(progress: Progress, k: int, total: int) -> Progress:
    return lambda share, what: progress((k + share) / total, what)


_DO: dict[Step, Callable[[AnalysisResult, Progress], Any]] = {
    Step.DATA: _arrange,
    Step.MISSING: _complete,
    Step.RESCALING: _finish,
    Step.SCREENING: _screen,
    Step.FEATURES: _fit,
    Step.STABILITY: _stability,
    Step.POLICY: _learn,
    Step.EVALUATION: _evaluate,
    Step.PLACEBO: _shuffle,
    Step.TRIAL: _summarise,
}

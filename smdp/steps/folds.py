"""The step Analyses without each fold: nobody is judged by what was chosen with her own data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smdp.data.problem import Problem
from smdp.feature_map.kinds import map_kind
from smdp.progress import Progress
from smdp.steps.code import code, home
from smdp.steps.step import Step
from smdp.steps.step_plans import FoldsPlan, ScreeningPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.evaluation.whole_analysis import FoldAnalyses, WholeAnalysis


def asked(plan: AnalysisPlan) -> FoldsPlan | None:
    """What the plan says elsewhere; errors of margins and numbers of threads change nothing."""
    own = plan.evaluation
    if own is None or not own.whole or plan.features is None or not plan.policies:
        return None
    return done_anew(plan, own.settings.folds, own.seed)


def done_anew(plan: AnalysisPlan, folds: int, seed: int) -> FoldsPlan:
    """The analysis of a plan that is repeated with other people, or without some."""
    screening = None if plan.features.use_all else plan.screening
    if screening is not None:
        screening = replace(screening, settings=replace(screening.settings, jobs=1))
    policies = (replace(p, settings=p.settings.to_be_judged) for p in plan.policies)
    return FoldsPlan(folds, seed, screening, plan.features, tuple(policies))


def screened_anew(plan: AnalysisPlan) -> WholeAnalysis:
    """Screening alone, as the plan has it, or by default."""
    from smdp.evaluation.whole_analysis import WholeAnalysis
    from smdp.feature_map.identity import IDENTITY, IdentitySettings

    own = plan.screening or ScreeningPlan()
    return WholeAnalysis(
        own.settings, IdentitySettings(), policies=(), kind=IDENTITY.name, seeds=(own.seed, 0)
    )


def how(own: FoldsPlan) -> WholeAnalysis:
    from smdp.evaluation.whole_analysis import WholeAnalysis

    return WholeAnalysis(
        screening=own.screening.settings if own.screening else None,
        features=own.features.settings,
        policies=tuple(policy.settings for policy in own.policies),
        kind=own.features.kind,
        seeds=(
            own.screening.seed if own.screening else 0,
            own.features.seed,
            *(policy.seed for policy in own.policies),
        ),
    )


def run(analysis: Analysis, progress: Progress) -> FoldAnalyses:
    from smdp.evaluation.whole_analysis import analyses_without_each

    own, prepared, earlier = asked(analysis.plan), analysis.prepared, analysis.fold_analyses
    assert own is not None
    assert prepared is not None
    return analyses_without_each(
        prepared.trajectories,
        how(own),
        folds=own.folds,
        seed=own.seed,
        progress=progress,
        earlier=None if earlier is None or earlier.complete else earlier,
    )


def summary(result: FoldAnalyses, analysis: Analysis) -> str:
    from smdp.words.whole_analysis import folds_summary

    return folds_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.whole_analysis import describe_folds

    assert analysis.fold_analyses is not None
    return describe_folds(analysis.fold_analyses)


def warns(result: FoldAnalyses, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.whole_analysis import check_folds

    return check_folds(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    assert analysis.fold_analyses is not None
    yield "folds", analysis.fold_analyses.table


def figures(result: FoldAnalyses) -> Mapping[str, go.Figure]:
    from smdp.figures.whole_analysis import kept_figure

    return {"folds": kept_figure(result)}


def methods(analysis: Analysis, asked: FoldsPlan) -> str:
    parts = "screening, feature map and policies" if asked.screening else "feature map and policies"
    return (
        "So that nobody was judged by anything that had been chosen or learned with the same "
        f"person's data, the whole analysis ({parts}) was done anew without each of {asked.folds} "
        "folds of people, with the same settings (Varma & Simon, 2006; Chernozhukov et al., 2018). "
        "Where nothing was kept, the policy was the best constant action. Missing values and "
        "rescaling stayed as they were."
    )


def script(plan: AnalysisPlan) -> str:
    own = asked(plan)
    assert own is not None
    return (
        "analyses = smdp.analyses_without_each(\n"
        "    prepared.trajectories,\n"
        f"    {code(how(own), 1)},\n"
        f"    folds={own.folds},\n"
        f"    seed={own.seed},\n"
        ")"
    )


def script_imports(plan: AnalysisPlan) -> set[str]:
    return {home(map_kind(plan.features.kind).settings)}


FOLDS = Step(
    name="folds",
    title="Analyses without each fold of people",
    question="What does the analysis find when the people whom it is judged by have no part in it?",
    result="smdp.evaluation.whole_analysis:FoldAnalyses",
    needs=("policy",),
    takes={"trajectories": "rescaling"},
    asked=asked,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    script=script,
    script_imports=script_imports,
    script_end="print(analyses.table)",
    shown_with="evaluation",
    effort=250,
    keeps_what_is_finished=True,
    goes_on=True,
)

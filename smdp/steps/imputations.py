"""The step Drawn values: how much results move with what is missing, and what is missing where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smdp.blocks import bullets, table
from smdp.data.problem import Problem
from smdp.plain_data import fingerprint
from smdp.progress import Progress
from smdp.steps.code import code, home
from smdp.steps.folds import done_anew, how, screened_anew
from smdp.steps.step import PlanSection, ReportSection, Step
from smdp.steps.step_plans import AS_RECOGNISED, ImputationsPlan, TrialPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.whole_analysis import WholeAnalysis
    from smdp.validation.imputation_draws import ImputationDraws


def repeated(plan: AnalysisPlan) -> WholeAnalysis:
    """Screening and feature map as the plan has them, or by default."""
    from smdp.evaluation.whole_analysis import WholeAnalysis

    deep = plan.imputations is not None and plan.imputations.settings.repeated == "features"
    if plan.features is None or not deep:
        return screened_anew(plan)
    own = how(done_anew(plan, 2, 0))
    return WholeAnalysis(own.screening, own.features, (), own.kind, own.seeds[:2])


def told(plan: AnalysisPlan) -> dict[str, Any]:
    """What the effect of treatment is estimated with, as on the page Effects."""
    own = plan.trial or TrialPlan()
    found: dict[str, Any] = {"controls": own.controls, "moderators": own.moderators}
    if own.own_probabilities or own.numerator is not None:
        found["numerator"] = "own" if own.own_probabilities else own.numerator
    if own.reference:
        found["reference"] = own.reference
    if own.kind != AS_RECOGNISED:
        found["kind"] = own.kind
    return found


def also_takes(analysis: Analysis) -> Mapping[str, str]:
    plan = analysis.plan
    asked = (repeated(plan), told(plan), plan.rescaling)
    return {"what is repeated": fingerprint(asked)}


def run(analysis: Analysis, progress: Progress) -> ImputationDraws:
    from smdp.validation.imputation_draws import repeat_imputation

    plan, completed = analysis.plan, analysis.completed
    assert completed is not None
    return repeat_imputation(
        completed,
        plan.rescaling,
        repeated(plan),
        plan.imputations.settings,
        effects=told(plan),
        seed=plan.imputations.seed,
        progress=progress,
        earlier=analysis.imputations,
    )


def summary(result: ImputationDraws, analysis: Analysis) -> str:
    from smdp.words.imputations import imputations_summary

    return imputations_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.imputations import describe_imputations

    assert analysis.imputations is not None
    return describe_imputations(analysis.imputations, analysis.outcome_name)


def warns(result: ImputationDraws, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.imputations import check_imputations

    return check_imputations(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    found = analysis.imputations
    assert found is not None
    yield "drawn-kept", found.kept
    if len(found.effects):
        yield "drawn-effects", found.effects
    yield "drawn-each", found.each
    if len(found.patterns.by_variable):
        yield "missing-by-variable", found.patterns.by_variable
    yield "missing-by-time", found.patterns.by_time
    if len(found.patterns.tests):
        yield "missing-patterns", found.patterns.tests


def figures(result: ImputationDraws) -> Mapping[str, go.Figure]:
    from smdp.figures.imputations import (
        effects_figure,
        kept_figure,
        missing_over_time_figure,
    )

    drawn = {"missing-over-time": missing_over_time_figure(result.patterns)}
    if not result.draws:
        return drawn
    effects = effects_figure(result)
    moved = {} if effects is None else {"drawn-effects": effects}
    return {"drawn-kept": kept_figure(result), **moved, **drawn}


def methods(analysis: Analysis, asked: ImputationsPlan) -> str:
    also = " and the feature map" if asked.settings.repeated == "features" else ""
    return (
        "To see how much depends on missing values, these were drawn "
        f"{asked.settings.draws} times: a local polynomial through values bootstrapped around the "
        "person's own fit, plus a residual of the same person, those of one decision for all that "
        "was missing at another; nominal values from the person's own levels. The average effect "
        f"of treatment, screening{also} were done anew with each, and effects were combined by "
        "Rubin's rules (Rubin, 1987). Whether values were missing by time, by the treatment before "
        "or by earlier answers was tested by people's signs, adjusted for all tests together."
    )


def script(plan: AnalysisPlan) -> str:
    own: ImputationsPlan = plan.imputations
    return (
        "imputations = smdp.repeat_imputation(\n"
        "    prepared.completed,\n"
        f"    {code(plan.rescaling, 1)},\n"
        f"    {code(repeated(plan), 1)},\n"
        f"    {code(own.settings, 1)},\n"
        f"    effects={code(told(plan), 1)},\n"
        f"    seed={own.seed},\n"
        ")"
    )


def script_imports(plan: AnalysisPlan) -> set[str]:
    return set() if plan.imputations is None else {home(type(repeated(plan).features))}


def imputations_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.imputations import (
        effects_figure,
        kept_figure,
        missing_over_time_figure,
    )
    from smdp.words.imputations import (
        describe_imputations,
        effects_table,
        kept_table,
        patterns_table,
    )

    found, outcome = analysis.imputations, analysis.outcome_name
    assert found is not None
    shown = bullets(describe_imputations(found, outcome))
    if found.draws:
        title = "What screening keeps with drawn values"
        shown.append(draw("drawn-kept", title, kept_figure(found)))
        effects = effects_figure(found)
        if effects is not None:
            shown.append(draw("drawn-effects", "Effects with fitted and drawn values", effects))
            shown += table("Effects with drawn values", effects_table(found))
        shown += table(title, kept_table(found))
    when = missing_over_time_figure(found.patterns)
    shown.append(draw("missing-over-time", "What is missing over the study", when))
    if len(found.patterns.tests):
        shown += table("What missing values go with", patterns_table(found.patterns))
    return shown


IMPUTATIONS = Step(
    name="imputations",
    title="Drawn values",
    question="How much do results move with what is missing?",
    sections=(PlanSection("imputations", ImputationsPlan),),
    result="smdp.validation.imputation_draws:ImputationDraws",
    needs=("rescaling",),
    takes={"completed study": "missing"},
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(
        ReportSection("imputations", "Missing values drawn", ("imputations",), imputations_section),
    ),
    script=script,
    script_imports=script_imports,
    script_end="print(imputations.kept)",
    shown_with="twin",
    effort=30,
    of_effects=True,
    keeps_what_is_finished=True,
    goes_on=True,
)

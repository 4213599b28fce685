"""The step Twin: could a study like this one have found what this one found?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smdp.blocks import bullets, table
from smdp.data.problem import Problem
from smdp.plain_data import fingerprint
from smdp.progress import Progress
from smdp.steps.code import code, home
from smdp.steps.folds import done_anew, how, screened_anew
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import RulePlan, TwinPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.evaluation_settings import EvaluationSettings
    from smdp.evaluation.whole_analysis import WholeAnalysis
    from smdp.validation.twin_study import Distilling, TwinStudy


def needs(plan: AnalysisPlan) -> tuple[str, ...]:
    return ("policy",) if with_policy(plan) else ("features",)


def with_policy(plan: AnalysisPlan) -> bool:
    return plan.twin is not None and plan.twin.settings.repeated != "screening"


def repeated(plan: AnalysisPlan) -> WholeAnalysis:
    """What is done with each study that is drawn: what the plan says, for the first policy."""
    if not with_policy(plan):
        return screened_anew(plan)
    own = how(done_anew(plan, 2, 0))
    return type(own)(own.screening, own.features, own.policies[:1], own.kind, own.seeds[:3])


def judged(plan: AnalysisPlan) -> EvaluationSettings | None:
    from smdp.evaluation.evaluation_settings import EvaluationSettings

    if plan.twin is None or plan.twin.settings.repeated != "value":
        return None
    return plan.evaluation.settings if plan.evaluation is not None else EvaluationSettings()


def distilled(plan: AnalysisPlan) -> Distilling | None:
    """How the first policy's rule card is found anew: as the plan says of one, or by default."""
    from smdp.validation.twin_study import Distilling

    if not with_policy(plan):
        return None
    own = plan.rule or RulePlan()
    return Distilling(replace(own.settings, resamples=0), own.evaluation, own.seed)


def also_takes(analysis: Analysis) -> Mapping[str, str]:
    plan = analysis.plan
    if plan.twin is None:
        return {}
    parts = (repeated(plan), judged(plan), distilled(plan))
    found = {"what is repeated": fingerprint(parts)}
    if with_policy(plan):
        record = analysis.records.get("policy")
        found["policies"] = "" if record is None else record.output
    return found


def run(analysis: Analysis, progress: Progress) -> TwinStudy:
    from smdp.validation.twin_study import repeat_on_twin

    plan, prepared, fitted = analysis.plan, analysis.prepared, analysis.feature_map
    assert prepared is not None
    assert fitted is not None
    return repeat_on_twin(
        prepared.trajectories,
        fitted,
        analysis.policies[0] if with_policy(plan) else None,
        repeated(plan),
        plan.twin.settings,
        evaluation=judged(plan),
        rule=distilled(plan),
        seed=plan.twin.seed,
        progress=progress,
        earlier=analysis.twin,
    )


def summary(result: TwinStudy, analysis: Analysis) -> str:
    from smdp.words.twin import twin_summary

    return twin_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.twin import describe_twin

    assert analysis.twin is not None
    return describe_twin(analysis.twin, analysis.outcome_name)


def warns(result: TwinStudy, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.twin import check_twin

    return check_twin(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    assert analysis.twin is not None
    yield "twin", analysis.twin.table
    yield "twin-studies", analysis.twin.each


def figures(result: TwinStudy) -> Mapping[str, go.Figure]:
    from smdp.figures.twin import found_figure, gains_figure

    drawn = {"found": found_figure(result)}
    gains = gains_figure(result)
    return drawn if gains is None else {**drawn, "gains": gains}


def methods(analysis: Analysis, asked: TwinPlan) -> str:
    own = asked.settings
    done = {
        "screening": "screening was",
        "policy": "screening, feature map, policy and its rule card were",
        "value": "screening, feature map, policy, its rule card and its value were",
    }[own.repeated]
    text = (
        "To see what a study like this one can find, a generative twin was fitted: utility and "
        "next state by additive regressions on the variables and features of the map, a surface "
        "for each action (cubic splines; ridges by cross-validation over people), with residuals "
        "for people whom the regression had not seen, resampled as whole series of people "
        "(Davison & Hinkley, 1997). Variables that the map does not use followed their own past, "
        "the action and those that it does use, without any bearing on the utility. "
        f"{own.repetitions} studies were drawn with what was learned planted, and "
        "as many in which the utility depended on nothing"
    )
    if own.repeated == "value":
        text += ", and as many in which no action was better than another"
    return (
        f"{text}; {done} done anew on the first, screening on the second. Shares have 95 % Wilson "
        "intervals."
    )


def script(plan: AnalysisPlan) -> str:
    own: TwinPlan = plan.twin
    policy = "policies[0]" if with_policy(plan) else "None"
    evaluation = judged(plan)
    judging = "" if evaluation is None else f"    evaluation={code(evaluation, 1)},\n"
    card = distilled(plan)
    judging += "" if card is None else f"    rule={code(card, 1)},\n"
    return (
        "twin = smdp.repeat_on_twin(\n"
        "    prepared.trajectories,\n"
        "    feature_map,\n"
        f"    {policy},\n"
        f"    {code(repeated(plan), 1)},\n"
        f"    {code(own.settings, 1)},\n"
        f"{judging}"
        f"    seed={own.seed},\n"
        ")"
    )


def script_imports(plan: AnalysisPlan) -> set[str]:
    return set() if plan.twin is None else {home(type(repeated(plan).features))}


def twin_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.twin import found_figure, gains_figure
    from smdp.words.twin import describe_twin, twin_table

    found, outcome = analysis.twin, analysis.outcome_name
    assert found is not None
    shown: list[Block] = [
        draw(
            "found",
            "How often each variable is found in studies drawn from the twin",
            found_figure(found),
            "Shares of drawn studies with 95 % Wilson intervals. Blue: planted; orange: not.",
        )
    ]
    shown += bullets(describe_twin(found, outcome))
    gains = gains_figure(found, outcome)
    if gains is not None:
        title = "What policies learned from drawn studies are worth in the twin"
        shown.append(draw("gains", title, gains))
    return shown + table("How often each variable is found", twin_table(found))


TWIN = Step(
    name="twin",
    title="Could this trial have found it?",
    question="How often would studies like this one find what is there, and what is not?",
    sections=(PlanSection("twin", TwinPlan),),
    result="smdp.validation.twin_study:TwinStudy",
    needs=needs,
    takes={"trajectories": "rescaling", "feature map": "features"},
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("twin", "Could this trial have found it?", ("twin",), twin_section),),
    script=script,
    script_imports=script_imports,
    script_end="print(twin.table)",
    ready="can be skipped",
    page=Page(
        "Could this trial have found it?",
        "See what a study of this size finds, and what it makes up",
        "twin",
        after_patient=True,
    ),
    effort=150,
    of_effects=True,
    keeps_what_is_finished=True,
    goes_on=True,
)

"""The step The trial itself: what treatment did on average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smdp.blocks import Heading, bullets, table
from smdp.data.problem import Problem
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.policies import policy_names
from smdp.steps.step import PlanSection, ReportSection, Step
from smdp.steps.step_plans import TrialPlan
from smdp.text import listing, percent, plural

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.trial_effects import TrialSummary


def run(analysis: Analysis, progress: Progress) -> TrialSummary:
    from smdp.evaluation.trial_effects import trial_summary

    prepared, plan = analysis.prepared, analysis.plan.trial
    assert prepared is not None
    progress(0.0, "The average effect of treatment")
    return trial_summary(
        prepared.trajectories,
        moderators=plan.moderators,
        controls=plan.controls,
        coverage=plan.coverage,
    )


def summary(result: TrialSummary, analysis: Analysis) -> str:
    return f"{plural(result.decisions, 'decision')} of {plural(result.subjects, 'subject')}"


def says(analysis: Analysis) -> list[str]:
    assert analysis.trial is not None
    return _described(analysis)


def _described(analysis: Analysis) -> list[str]:
    from smdp.words.trial_effect import describe_trial

    assert analysis.trial is not None
    return describe_trial(
        analysis.trial,
        logarithm=analysis.records["trial"].asked.logarithm,
        outcome=analysis.outcome_name,
        observed=analysis.plan.roles.assignment == "observed",
    )


def warns(result: TrialSummary, analysis: Analysis) -> Sequence[Problem]:
    return [Problem("note", "", note) for note in result.notes]


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    assert analysis.trial is not None
    yield "trial-summary", analysis.trial.effects


def figures(result: TrialSummary) -> Mapping[str, go.Figure]:
    from smdp.figures.policy import trial_figure

    return {"trial": trial_figure(result)}


def methods(analysis: Analysis, asked: TrialPlan) -> str:
    text = (
        "Average effects of treatment on the utility that follows were estimated by weighted and "
        "centred least squares (Boruvka et al., 2018) at the decisions with a choice, with "
        "standard errors robust within subjects, corrected for few subjects (Mancl & DeRouen, "
        f"2001), and Student's t; intervals are of {percent(asked.coverage)}"
    )
    text += _also("Estimates were adjusted for", asked.controls)
    return text + _also("The effect was allowed to change with", asked.moderators) + "."


def _also(text: str, names: Any) -> str:
    return f". {text} {listing(names, 12)}" if names else ""


def script(plan: AnalysisPlan) -> str:
    own = plan.trial
    return (
        "trial = smdp.trial_summary(\n"
        "    prepared.trajectories,\n"
        f"    moderators={code(own.moderators, 1)},\n"
        f"    controls={code(own.controls, 1)},\n"
        f"    coverage={own.coverage},\n"
        ")"
    )


def checks_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.policy import placebo_figure, trial_figure
    from smdp.words.trial_effect import describe_placebo, trial_words

    found: list[Block] = []
    if analysis.trial is not None:
        observed = analysis.plan.roles.assignment == "observed"
        found.append(Heading("Average effects in the trial"))
        found += bullets(_described(analysis))
        found.append(
            draw(
                "trial",
                f"Average {'difference of' if observed else 'effect on'} "
                f"{analysis.outcome_name.the}",
                trial_figure(analysis.trial, analysis.outcome_name, observed=observed),
                "Before any policy: weighted and centred least squares.",
            )
        )
        found += table("Average effects", trial_words(analysis.trial))
        found += bullets(analysis.trial.notes)
    if analysis.placebo is not None:
        number = analysis.records["placebo"].asked.policy
        names = policy_names(analysis.policies)
        name = names[number - 1] if number <= len(names) else "learned"
        found.append(Heading("Placebo check"))
        found += bullets(describe_placebo(analysis.placebo, name))
        found.append(
            draw(
                "placebo",
                "Gains with shuffled treatments",
                placebo_figure(analysis.placebo),
                "Each dot is the gain claimed with treatments that did nothing.",
            )
        )
    return found


TRIAL = Step(
    name="trial",
    title="The trial itself",
    question="What did each treatment do, on average?",
    sections=(PlanSection("trial", TrialPlan),),
    result="smdp.evaluation.trial_effects:TrialSummary",
    needs=("rescaling",),
    takes={"trajectories": "rescaling"},
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(
        ReportSection(
            "checks",
            "The trial itself, and the placebo check",
            ("trial", "placebo"),
            checks_section,
            steps=("trial", "placebo"),
        ),
    ),
    script=script,
    script_end="print(trial.effects)",
    shown_with="evaluation",
    effort=2,
    of_effects=True,
)

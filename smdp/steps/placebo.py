"""The step Placebo check: the gain with treatments that did nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from smdp.blocks import bullets
from smdp.data.problem import Problem
from smdp.errors import SettingError
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.policies import policy_names
from smdp.steps.step import PlanSection, ReportSection, Step
from smdp.steps.step_plans import PlaceboPlan
from smdp.text import plural

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.placebo import PlaceboCheck


def check_plan(plan: AnalysisPlan) -> None:
    if plan.placebo is not None and plan.placebo.policy > len(plan.policies):
        raise SettingError(
            f"The plan's 'placebo' is for policy {plan.placebo.policy}, but there are only "
            f"{len(plan.policies)}.",
            "Set 'policy' of 'placebo' to one of them.",
        )


def run(analysis: Analysis, progress: Progress) -> PlaceboCheck:
    from smdp.evaluation.placebo import placebo_check

    prepared, plan = analysis.prepared, analysis.plan.placebo
    assert prepared is not None
    return placebo_check(
        prepared.trajectories,
        analysis.policies[plan.policy - 1],
        plan.settings,
        repeats=plan.repeats,
        seed=plan.seed,
        progress=progress,
    )


def summary(result: PlaceboCheck, analysis: Analysis) -> str:
    from smdp.words.placebo import placebo_summary

    return placebo_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.placebo import describe_placebo

    assert analysis.placebo is not None
    number = analysis.records["placebo"].asked.policy
    return describe_placebo(analysis.placebo, analysis.policies[number - 1].kind)


def warns(result: PlaceboCheck, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.placebo import check_placebo

    return check_placebo(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    """The gain with the actions as they were, then those with shuffled actions."""
    check = analysis.placebo
    assert check is not None
    gains = [check.gain, *check.placebo.tolist()]
    yield "placebo", pd.DataFrame({"shuffled": [0] + [1] * len(check.placebo), "gain": gains})


def figures(result: PlaceboCheck) -> Mapping[str, go.Figure]:
    from smdp.figures.policy import placebo_figure

    return {"placebo": placebo_figure(result)}


def methods(analysis: Analysis, asked: PlaceboPlan) -> str:
    return (
        "As a check, the actions were shuffled among the subjects who had a choice at each "
        f"decision, {plural(asked.repeats, 'time')}, and the policy was learned and evaluated anew "
        f"each time ({asked.settings.folds} folds), with the feature map as it was; the p-value is "
        "the share of gains at least as large as the one found."
    )


def script(plan: AnalysisPlan) -> str:
    own = plan.placebo
    return (
        "placebo = smdp.placebo_check(\n"
        "    prepared.trajectories,\n"
        f"    policies[{own.policy - 1}],\n"
        f"    {code(own.settings, 1)},\n"
        f"    repeats={own.repeats},\n"
        f"    seed={own.seed},\n"
        ")"
    )


def checks_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.policy import placebo_figure
    from smdp.words.placebo import describe_placebo

    assert analysis.placebo is not None
    number = analysis.records["placebo"].asked.policy
    names = policy_names(analysis.policies)
    name = names[number - 1] if number <= len(names) else "learned"
    found = bullets(describe_placebo(analysis.placebo, name))
    found.append(
        draw(
            "placebo",
            "Gains with shuffled treatments",
            placebo_figure(analysis.placebo),
            "Each dot is the gain claimed with treatments that did nothing.",
        )
    )
    return found


PLACEBO = Step(
    name="placebo",
    title="Placebo check",
    question="Does the gain vanish with treatments that did nothing?",
    sections=(PlanSection("placebo", PlaceboPlan),),
    result="smdp.evaluation.placebo:PlaceboCheck",
    needs=("policy",),
    takes={"trajectories": "rescaling", "policies": "policy"},
    check_plan=check_plan,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("checks", "Placebo check", ("placebo",), checks_section),),
    script=script,
    script_end='print("Gain:", placebo.gain, "with shuffled actions:", placebo.mean)',
    shown_with="evaluation",
    effort=100,
    of_effects=True,
)

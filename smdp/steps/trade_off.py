"""The step Cost of treating: how many treatments, and what outcome, as they cost more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import bullets, table
from smdp.data.problem import Problem
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.evaluation import also_takes, needs
from smdp.steps.step import PlanSection, ReportSection, Step
from smdp.steps.step_plans import TradeOffPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.trade_off import TradeOff


def run(analysis: Analysis, progress: Progress) -> TradeOff:
    from smdp.evaluation.trade_off import trade_off
    from smdp.policy.as_measured import as_measured

    prepared, plan = analysis.prepared, analysis.plan.section("trade_off")
    assert prepared is not None
    return trade_off(
        prepared.trajectories,
        analysis.policies[0],
        plan.settings,
        plan.evaluation,
        measured=as_measured(prepared.trajectories, analysis.completed),
        analyses=analysis.fold_analyses if "folds" in needs(analysis.plan) else None,
        seed=plan.seed,
        progress=progress,
    )


def summary(result: TradeOff, analysis: Analysis) -> str:
    from smdp.words.trade_off import trade_off_summary

    return trade_off_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.trade_off import describe_trade_off

    return describe_trade_off(analysis.results["trade_off"], analysis.outcome_name)


def warns(result: TradeOff, analysis: Analysis) -> Sequence[Problem]:
    return []


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    found = analysis.results["trade_off"]
    yield "cost-of-treating", found.curve
    if found.parts is not None:
        yield "cost-of-treating-each-outcome", found.parts


def figures(result: TradeOff) -> Mapping[str, go.Figure]:
    from smdp.figures.trade_off import trade_off_figure

    return {"cost-of-treating": trade_off_figure(result)}


def methods(analysis: Analysis, asked: TradeOffPlan) -> str:
    from smdp.words.trade_off import trade_off_methods

    return trade_off_methods(asked.settings)


def script(plan: AnalysisPlan) -> str:
    own = plan.section("trade_off")
    folds = "    analyses=analyses,\n" * ("folds" in needs(plan))
    return (
        "costs = smdp.trade_off(\n"
        "    prepared.trajectories,\n"
        "    policies[0],\n"
        f"    {code(own.settings, 1)},\n"
        f"    {code(own.evaluation, 1)},\n"
        "    measured=smdp.as_measured(prepared),\n"
        f"{folds}"
        f"    seed={own.seed},\n"
        ")"
    )


def section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.trade_off import trade_off_figure
    from smdp.words.trade_off import describe_trade_off, trade_off_words

    found, outcome = analysis.results["trade_off"], analysis.outcome_name
    blocks = bullets(describe_trade_off(found, outcome))
    blocks.append(
        draw(
            "cost-of-treating",
            "Treatments given, and what they earn",
            trade_off_figure(found, outcome=outcome),
            "Each dot is a policy learned at the cost beside it; lines are intervals.",
        )
    )
    return blocks + table("The cost of treating", trade_off_words(found, outcome))


TRADE_OFF = Step(
    name="trade_off",
    title="Cost of treating",
    question="What would fewer treatments cost?",
    sections=(PlanSection("trade_off", TradeOffPlan),),
    result="smdp.evaluation.trade_off:TradeOff",
    needs=needs,
    takes={"trajectories": "rescaling", "policies": "policy", "completed study": "missing"},
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("trade_off", "Cost of treating", ("trade_off",), section),),
    script=script,
    script_end="print(costs.curve)",
    shown_with="evaluation",
    effort=30,
    of_effects=True,
)

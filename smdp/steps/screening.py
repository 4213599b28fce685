"""The step Screening: which variables the outcome depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from smdp.blocks import bullets, table
from smdp.data.problem import Problem
from smdp.progress import Progress
from smdp.steps.code import call
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import ScreeningPlan
from smdp.text import listing, plural

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.screening import ScreeningResult


def run(analysis: Analysis, progress: Progress) -> ScreeningResult:
    from smdp.screening import screen

    plan, prepared = analysis.plan.screening, analysis.prepared
    assert prepared is not None
    return screen(prepared.trajectories, plan.settings, seed=plan.seed, progress=progress)


def summary(result: ScreeningResult, analysis: Analysis) -> str:
    from smdp.words.screening import screening_summary

    return screening_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.screening import describe_screening

    assert analysis.screening is not None
    return describe_screening(analysis.screening)


def warns(result: ScreeningResult, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.screening import check_screening

    return check_screening(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    screening = analysis.screening
    assert screening is not None
    yield "screening", screening.table.reset_index()
    by_decision = [_round(r.number, r.p_values, r.statistics) for r in screening.rounds]
    yield "screening-by-decision", pd.concat(by_decision)


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


def figures(result: ScreeningResult) -> Mapping[str, go.Figure]:
    from smdp.figures.screening import growth_figure, pooled_figure

    return {"screening": pooled_figure(result), "screening-growth": growth_figure(result)}


def methods(analysis: Analysis, asked: ScreeningPlan) -> str:
    own, result = asked.settings, analysis.screening
    test = {
        "distance_covariance": "the distance covariance of standardised values "
        "(Székely et al., 2007)",
        "likelihood_ratio": "the likelihood-ratio statistic for discrete values",
    }[own.test]
    permutations = own.permutations if result is None else result.permutations
    count = "permutations" if permutations is None else f"{permutations:,} permutations"
    text = (
        "State variables were screened by Algorithm 1 of Wang et al. (2017). In each "
        "round, every variable not yet selected was tested for dependence on the utility and on "
        "the next values of those selected so far, among subjects with the same action, by "
        f"{test}. "
    )
    if own.pooling == "ruger":
        rank = own.rank if result is None else result.rank
        u = "the default rank" if rank is None else str(rank)
        text += (
            f"The null distribution came from {count} within levels of the action at each "
            "decision, and the p-values of the T decisions were pooled by T p_(u) / u with u = "
            f"{u} (Rüger, 1978). "
        )
    else:
        text += (
            f"The statistic was summed over the decisions, and its null distribution came from "
            f"{count} of whole trajectories among the subjects. "
        )
    text += f"Variables with a pooled p-value of at most {own.level:g} joined"
    if result is not None:
        ended = {
            "none joined": "when no further variable joined",
            "all variables are in": "when all variables had joined",
            "max_rounds reached": "at the largest number of rounds allowed",
        }[result.stopped]
        text += f"; screening ended {ended}, after {plural(len(result.rounds), 'round')}"
    text += "."
    for names, how in ((own.force_in, "included"), (own.force_out, "left out")):
        if names:
            were = "was" if len(names) == 1 else "were"
            text += f" {listing(names, 12)} {were} {how} without a test."
    return text


def script(plan: AnalysisPlan) -> str:
    own = plan.screening
    return call("screening", "smdp.screen", "prepared.trajectories", own.settings, own.seed)


def screening_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.screening import pooled_figure, time_heatmap
    from smdp.words.screening import describe_screening, screening_table

    result = analysis.screening
    assert result is not None
    found = bullets(describe_screening(result))
    if result.table["p_value"].notna().any():
        found.append(
            draw(
                "pooled",
                "How clearly each variable depends on what comes next",
                pooled_figure(result),
                "Pooled p-values; the variable joins if its bar reaches the dashed line.",
            )
        )
    found += table("Screening", screening_table(result))
    first = result.rounds[0] if result.rounds else None
    if first is not None and np.isfinite(first.p_values.to_numpy(dtype=float)).any():
        found.append(
            draw(
                "by-decision",
                "The first round, decision by decision",
                time_heatmap(result, first.number),
                "The p-value of each variable at each decision, before pooling.",
            )
        )
    return found


def asked(plan: AnalysisPlan) -> ScreeningPlan | None:
    """The number of threads changes nothing in the result."""
    own = plan.screening
    return None if own is None else replace(own, settings=replace(own.settings, jobs=1))


SCREENING = Step(
    name="screening",
    title="Screening",
    question="Which variables does the outcome depend on, directly or through others?",
    sections=(PlanSection("screening", ScreeningPlan),),
    result="smdp.screening:ScreeningResult",
    needs=("rescaling",),
    takes={"trajectories": "rescaling"},
    asked=asked,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(
        ReportSection("screening", "Screening of variables", ("screening",), screening_section),
    ),
    script=script,
    script_end='print("Kept by screening:", ", ".join(screening.selected))',
    page=Page("Screening", "Find the variables that matter", "screening", 4),
    effort=10,
)

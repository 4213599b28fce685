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
from smdp.text import capital, listing, plural

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.screening import ScreeningResult
    from smdp.screening_settings import ScreeningSettings


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
    return describe_screening(analysis.screening, analysis.outcome_name)


def warns(result: ScreeningResult, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.screening import check_screening

    return check_screening(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    from smdp.screening_paths import UTILITY

    screening = analysis.screening
    assert screening is not None
    yield "screening", screening.table.reset_index()
    tests = [each.tests.assign(round=each.number, stage=each.stage) for each in screening.rounds
             if each.tests is not None]  # fmt: skip
    if tests:
        yield "screening-rounds", _first_columns(pd.concat(tests).reset_index(), "round", "stage")
    if screening.arrows is not None and len(screening.arrows):
        arrows = screening.arrows.replace({"target": {UTILITY: "utility"}})
        yield "screening-arrows", arrows
    by_decision = [_round(r.number, r.p_values, r.statistics) for r in screening.rounds]
    if by_decision and not screening.by_person:
        yield "screening-by-decision", pd.concat(by_decision)


def _first_columns(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    return frame[[*names, *(name for name in frame.columns if name not in names)]]


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
    from smdp.figures.screening import growth_figure, screening_figure
    from smdp.figures.screening_paths import paths_figure

    paths = paths_figure(result)
    return {
        "screening": screening_figure(result),
        **({} if paths is None else {"screening-paths": paths}),
        "screening-growth": growth_figure(result),
    }


def methods(analysis: Analysis, asked: ScreeningPlan) -> str:
    own, result = asked.settings, analysis.screening
    text = _paper(own, result) if own.method == "paper" else _by_person(own, result)
    if result is not None:
        text += f" {capital(_ended(result))}."
    for names, how in ((own.force_in, "included"), (own.force_out, "left out")):
        if names:
            were = "was" if len(names) == 1 else "were"
            text += f" {listing(names, 12)} {were} {how} without a test."
    return text


def _ended(result: ScreeningResult) -> str:
    rounds = plural(len(result.rounds), "round")
    return {
        "none joined": f"screening ended when no further variable joined, after {rounds}",
        "all variables are in": f"screening ended when all variables had joined, after {rounds}",
        "max_rounds reached": f"screening ended at the largest number of rounds allowed, {rounds}",
        "nothing to test": "no variable was left to test",
    }[result.stopped]


def _by_person(own: ScreeningSettings, result: ScreeningResult | None) -> str:
    past = own.past_actions if result is None else result.past_actions or 0
    before = {0: "", 1: " and the same action before"}.get(past, f" and the same {past} before")
    draws = own.permutations if result is None else result.permutations
    signs = "random signs" if draws is None else f"{draws:,} patterns of signs"
    values = "the ranks of values" if own.ranks else "values"
    test = (
        f"the distance covariance (Székely et al., 2007) of {values} standardised at each "
        f"decision, over all decisions with the same action{before}, with the outcome as it was "
        "and without each person's own mean"
    )
    null = (
        f"People were the sample: the null distribution came from {signs} of their scores "
        "(a wild bootstrap; Chwialkowski et al., 2014), with residuals restored to the size of "
        "their errors (Bell & McCaffrey, 2002). In each round, p-values were adjusted for all its "
        f"tests together by step-down with shared signs (Romano & Wolf, 2005), and {own.level:g} "
        "was the level of that family. As strength we report the bias-corrected distance "
        "correlation with the utility, with a 95 % jackknife interval over people."
    )
    if own.method == "rounds":
        return (
            "State variables were screened by the rounds of Algorithm 1 of Wang et al. (2017): in "
            "each, every variable not yet selected was tested for dependence on the utility and on "
            f"the next values of those selected so far, by {test}. {null}"
        )
    return (
        "State variables were screened for the smallest closed set: variables that, with the "
        "action, are all that the utility and their own next values depend on, as Theorem 3.5 of "
        "Wang et al. (2017) asks. First, every variable was tested for dependence on the utility "
        f"by {test}. Forward rounds then asked whether the utility and the next values of those "
        "selected still depend on another variable given these and the actions: the products of "
        "what flexible regressions for each action leave of the outcome and of six functions of "
        "the variable were summed for each person. Backwards from the utility, variables stayed "
        "that the utility, or the next value of one that stayed, depends on given all others; "
        f"those that had hidden each other could return. {null}"
    )


def _paper(own: ScreeningSettings, result: ScreeningResult | None) -> str:
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
    return f"{text}Variables with a pooled p-value of at most {own.level:g} joined."


def script(plan: AnalysisPlan) -> str:
    own = plan.screening
    return call("screening", "smdp.screen", "prepared.trajectories", own.settings, own.seed)


def screening_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.screening import pooled_figure, strength_figure, time_heatmap
    from smdp.figures.screening_paths import paths_figure
    from smdp.words.screening import describe_screening, screening_table

    result = analysis.screening
    assert result is not None
    found = bullets(describe_screening(result, analysis.outcome_name))
    tested = result.table["p_value"].notna().any()
    if tested and result.by_person:
        found.append(
            draw(
                "strength",
                f"How strongly each variable goes with {analysis.outcome_name.the}",
                strength_figure(result, analysis.outcome_name),
                "Bias-corrected distance correlation among decisions with the same recent "
                "treatments, with 95 % intervals; beside it the p-value, for all variables of a "
                "round together.",
            )
        )
    elif tested:
        found.append(
            draw(
                "pooled",
                "How clearly each variable depends on what comes next",
                pooled_figure(result),
                "Pooled p-values; the variable joins if its bar reaches the dashed line.",
            )
        )
    paths = paths_figure(result, analysis.outcome_name)
    if paths is not None:
        found.append(
            draw(
                "paths",
                "How the variables kept lead to the outcome",
                paths,
                "An arrow: the utility, or a variable's next value, depends on the variable given "
                "all others that were kept. Names in brackets in the table are dashed here.",
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

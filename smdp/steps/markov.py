"""The step Markov check: how far back one must look, and whether all is the same throughout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import bullets, table
from smdp.data.problem import Problem
from smdp.plain_data import fingerprint
from smdp.progress import Progress
from smdp.steps.code import call
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import MarkovPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.markov.markov_check import MarkovCheck

#: Stands for the variables where screening does not decide on them.
ALL_VARIABLES = "all"


def follows_screening(plan: AnalysisPlan) -> bool:
    """Whether the variables are those that screening keeps."""
    chosen = plan.markov is not None and plan.markov.use_all
    return plan.screening is not None and not chosen


def needs(plan: AnalysisPlan) -> tuple[str, ...]:
    return ("rescaling", "screening") if follows_screening(plan) else ("rescaling",)


def kept_variables(analysis: Analysis) -> tuple[str, ...] | None:
    """Those that screening kept; None: all, also where it kept none."""
    screening = analysis.screening
    if screening is None or not follows_screening(analysis.plan):
        return None
    return tuple(screening.selected) or None


def also_takes(analysis: Analysis) -> dict[str, str]:
    names = kept_variables(analysis)
    return {"variables": ALL_VARIABLES if names is None else fingerprint(names)}


def run(analysis: Analysis, progress: Progress) -> MarkovCheck:
    from smdp.markov.markov_check import check_markov

    plan, prepared = analysis.plan.markov, analysis.prepared
    assert prepared is not None
    names = kept_variables(analysis) or prepared.trajectories.variables
    own = prepared.trajectories.select(names)
    return check_markov(own, plan.settings, seed=plan.seed, progress=progress)


def summary(result: MarkovCheck, analysis: Analysis) -> str:
    from smdp.words.markov import markov_summary

    return markov_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.markov import describe_markov, of_which_variables

    assert analysis.markov is not None
    screened = analysis.records["markov"].inputs["variables"] != ALL_VARIABLES
    return [*describe_markov(analysis.markov, analysis.outcome_name), of_which_variables(screened)]


def warns(result: MarkovCheck, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.markov import markov_problems

    return markov_problems(result)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    found = analysis.markov
    assert found is not None
    yield "look-back", found.ladder
    yield "stationarity", found.stationarity
    if not found.effect.empty:
        yield "effect-over-time", found.effect


def figures(result: MarkovCheck) -> Mapping[str, go.Figure]:
    from smdp.figures.markov import markov_figure

    return {"markov": markov_figure(result)}


def methods(analysis: Analysis, asked: MarkovPlan) -> str:
    own = asked.settings
    return (
        "Whether the process is Markov was tested by a ladder of look-backs, as Shi et al. (2020) "
        "do: with the state of the present and of m earlier decisions and their actions known, do "
        "utility and next state still depend on what lies before? Products of what flexible "
        "regressions for each action leave of the outcome and of functions of the earlier states "
        "and actions were summed for each person, and people were the sample: null distributions "
        f"came from {own.draws:,} patterns of signs of their scores (a wild bootstrap; "
        "Chwialkowski et al., 2014), with residuals restored to the size of their errors (Bell & "
        f"McCaffrey, 2002). The smallest m of 0 to {own.most} that was not rejected at "
        f"{own.level:g} is reported. Each test was done once more with people's own levels allowed "
        "for, by forward orthogonal deviations (Arellano & Bover, 1995). Stationarity was tested "
        "in the same way against smooth functions of the decision number: of utility and next "
        "state given state and action, within people; and of the effect of treatment on the "
        "utility given the state, with actions centred by their probabilities. The effect over the "
        "study was estimated by weighted and centred least squares (Boruvka et al., 2018) with a "
        "quadratic in the decision number, and errors robust within subjects (Mancl & DeRouen, "
        "2001)."
    )


def script(plan: AnalysisPlan) -> str:
    own = plan.markov
    lines = []
    given = "prepared.trajectories"
    if follows_screening(plan):
        lines.append("names = screening.selected or prepared.trajectories.variables")
        given = "prepared.trajectories.select(names)"
    return "\n".join([*lines, call("markov", "smdp.check_markov", given, own.settings, own.seed)])


def markov_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.markov import markov_figure
    from smdp.words.markov import effect_table, ladder_table, stationarity_table

    found = analysis.markov
    assert found is not None
    shown = bullets(says(analysis))
    shown.append(
        draw(
            "ladder",
            "Look-back, and the effect of treatment over the study",
            markov_figure(found, analysis.outcome_name),
            "Left: small p-values reject a look-back, for what lies before it is still needed. "
            "Right: the effect on the next utility by decision, with pointwise 95 % intervals over "
            "people.",
        )
    )
    shown += table("Look-back", ladder_table(found))
    shown += table("Change over the study", stationarity_table(found))
    if not found.effect.empty:
        shown += table("Effect of treatment over the study", effect_table(found))
    return shown


MARKOV = Step(
    name="markov",
    title="Markov check",
    question="Does the present state say all that the past could tell, and is it the same "
    "throughout the study?",
    sections=(PlanSection("markov", MarkovPlan),),
    result="smdp.markov.markov_check:MarkovCheck",
    needs=needs,
    takes={"trajectories": "rescaling"},
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("markov", "Markov check", ("markov",), markov_section),),
    script=script,
    script_end='print("Look-back that is enough:", markov.look_back)\nprint(markov.ladder)',
    ready="can be skipped",
    page=Page("Markov check", "See whether the past still matters", "markov_check"),
    effort=10,
    of_effects=True,
)

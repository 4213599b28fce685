"""The step Effects: what treatment did in the trial, on average, for whom and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smdp.blocks import bullets, table
from smdp.data.column_roles import NextValue
from smdp.data.problem import Problem
from smdp.data.shaping.compute import ComputeColumn
from smdp.data.shaping.evaluate import read_formula
from smdp.data.shaping.formula import Call, ColumnName
from smdp.data.shaping.rows_and_names import RenameColumn
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import AS_RECOGNISED, TrialPlan
from smdp.text import listing, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.trial_effects import TrialSummary
    from smdp.words.effects import Telling


#: What a record's inputs call what the effects were estimated from.
TRANSITIONS, DECISIONS = "trajectories", "completed study"


def each_decision(plan: AnalysisPlan) -> bool:
    return plan.trial is None or plan.trial.each_decision


def also_takes(analysis: Analysis) -> dict[str, str]:
    label, earlier = (
        (DECISIONS, "missing") if each_decision(analysis.plan) else (TRANSITIONS, "rescaling")
    )
    return {label: analysis.records[earlier].output if earlier in analysis.records else ""}


def run(analysis: Analysis, progress: Progress) -> TrialSummary:
    from smdp.evaluation.trial_effects import OWN, trial_summary

    plan, completed, prepared = analysis.plan.trial, analysis.completed, analysis.prepared
    assert completed is not None
    assert prepared is not None
    progress(0.0, "The effects of treatment")
    return trial_summary(
        completed if plan.each_decision else prepared.trajectories,
        moderators=plan.moderators,
        controls=plan.controls,
        coverage=plan.coverage,
        numerator=OWN if plan.own_probabilities else plan.numerator,
        reference=plan.reference or None,
        kind=None if plan.kind == AS_RECOGNISED else plan.kind,
        time=plan.time,
        each_decision=plan.each_decision,
    )


#: Functions of formulas that are logarithms, by their base, and those that only move one in time.
LOGARITHMS = {"log": math.e, "log10": 10.0}
MOVED = ("lag",)


def base_of_outcome(plan: AnalysisPlan) -> float | None:
    """The base of the logarithm that the steps of shaping made the outcome, if they made it one."""
    utility = plan.roles.utility
    name = utility.variable if isinstance(utility, NextValue) else utility
    for step in reversed(plan.reading.shape):
        if name not in step.makes():
            continue
        if isinstance(step, RenameColumn):
            name = step.column
            continue
        if not isinstance(step, ComputeColumn):
            return None
        node = read_formula(step.formula).root
        while isinstance(node, Call) and node.function in MOVED:
            node = node.arguments[0]
        if not isinstance(node, ColumnName):
            return LOGARITHMS.get(node.function) if isinstance(node, Call) else None
        name = node.name
    return None


def telling(analysis: Analysis) -> Telling:
    """How the result is put into words: of what, in which units, and how far it can be trusted."""
    from smdp.words.effects import Telling

    asked = analysis.records["trial"].asked if "trial" in analysis.records else TrialPlan()
    roles = analysis.plan.roles
    result = analysis.trial
    assert result is not None
    outcome = roles.measured_outcome if asked.each_decision else analysis.outcome_name
    return Telling(
        outcome=outcome,
        base=math.e if asked.logarithm else base_of_outcome(analysis.plan),
        observed=roles.assignment == "observed"
        or (roles.assignment is None and result.estimated > 0),
        learned=asked.learned == "yes" or (asked.learned == "not said" and result.learned),
        screened=controls_as_screened(analysis, result.controls),
    )


def controls_as_screened(analysis: Analysis, controls: Sequence[str]) -> bool:
    kept = analysis.screening
    return bool(controls) and kept is not None and set(controls) == set(kept.selected)


def summary(result: TrialSummary, analysis: Analysis) -> str:
    from smdp.words.effects import trial_line

    return trial_line(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.effects import describe_trial

    assert analysis.trial is not None
    return describe_trial(analysis.trial, telling(analysis))


def warns(result: TrialSummary, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.effects import check_trial

    asked = analysis.plan.trial or TrialPlan()
    return check_trial(result, asked.learned)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    found = analysis.trial
    assert found is not None
    yield "trial-summary", found.effects
    for name, frame in (
        ("effects-as-differences", found.differences),
        ("effects-standardised", found.standardised),
        ("effects-by-variable", found.by_variable),
        ("effects-over-time", found.over_time),
        ("effects-later", found.delayed),
    ):
        if frame is not None:
            yield name, frame


def figures(result: TrialSummary) -> Mapping[str, go.Figure]:
    from smdp.figures.effects import effect_figures

    return effect_figures(result)


def methods(analysis: Analysis, asked: TrialPlan) -> str:
    result = analysis.trial
    ratio = result is not None and result.scale == "ratio"
    how = (
        "as ratios of the expected outcomes, by the estimator of the marginal excursion effect "
        "(Qian et al., 2021),"
        if ratio
        else "by weighted and centred least squares (Boruvka et al., 2018)"
    )
    which = (
        "every decision with a choice and an outcome"
        if asked.each_decision
        else "the decisions with a choice that a next state follows"
    )
    what = "the outcome" if asked.each_decision else "the utility"
    text = (
        f"Average effects of treatment on {what} that follows were estimated {how} at {which}, "
        "with standard errors robust within subjects, corrected for few subjects (Mancl & "
        "DeRouen, 2001), and Student's t"
    )
    if result is not None and result.freedom:
        text += f" with {result.freedom} degrees of freedom"
    text += f"; intervals are of {percent(asked.coverage)}"
    if asked.own_probabilities:
        text += ". Treatments were centred by each decision's own probabilities"
    elif asked.numerator is not None:
        text += f". The numerator of the weights was {asked.numerator:g}"
    text += _also("Estimates were adjusted for", asked.controls)
    if controls_as_screened(analysis, asked.controls):
        text += ", the variables that screening of the same data kept"
    text += _also("The effect was allowed to change with", asked.moderators)
    if result is not None and result.by_variable is not None:
        text += (
            ". Each variable was looked at as a moderator on its own, with p-values for the family "
            "of all by Holm's method"
        )
    return text + "."


def _also(text: str, names: Any) -> str:
    return f". {text} {listing(names, 12)}" if names else ""


def script(plan: AnalysisPlan) -> str:
    own = plan.trial
    lines = [
        "trial = smdp.trial_summary(",
        "    prepared,",
        f"    moderators={code(own.moderators, 1)},",
        f"    controls={code(own.controls, 1)},",
        f"    coverage={own.coverage},",
    ]
    further = {
        "numerator": "own" if own.own_probabilities else own.numerator,
        "reference": own.reference or None,
        "kind": None if own.kind == AS_RECOGNISED else own.kind,
        "time": own.time or None,
        "each_decision": None if own.each_decision else False,
    }
    lines += [f"    {name}={code(v, 1)}," for name, v in further.items() if v is not None]
    return "\n".join([*lines, ")"])


def effects_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.effects import effect_figures, figure_words
    from smdp.words.effects import effect_tables

    assert analysis.trial is not None
    told = telling(analysis)
    found: list[Block] = [*bullets(says(analysis))]
    for name, drawn in effect_figures(analysis.trial, told).items():
        title, note = figure_words(name, told)
        found.append(draw(f"effects-{name}", title, drawn, note))
    for title, frame, note in effect_tables(analysis.trial, told):
        found += table(title, frame, note)
    found += bullets(analysis.trial.notes)
    return found


TRIAL = Step(
    name="trial",
    title="Effects",
    question="What did each treatment do, on average, for whom, and when?",
    sections=(PlanSection("trial", TrialPlan),),
    result="smdp.evaluation.trial_effects:TrialSummary",
    needs=("missing", "rescaling"),
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("effects", "What treatment did", ("trial",), effects_section),),
    script=script,
    script_end="print(trial.effects)",
    ready="can be skipped",
    page=Page("Effects", "See what each treatment did, for whom and when", "effects"),
    effort=2,
    of_effects=True,
)

"""The step Passport: what the conclusions rest on, one row for each thing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import Paragraph, bullets, table
from smdp.plain_data import fingerprint
from smdp.progress import Progress
from smdp.steps.code import INDENT, code
from smdp.steps.data import long_table
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import PassportPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.problem import Problem
    from smdp.validation.passport import Passport
    from smdp.validation.passport_rows import Thing

#: What it gathers, where it is there.
GATHERS = (
    "markov", "features", "stability", "evaluation", "placebo", "rule", "imputations", "twin",
)  # fmt: skip
#: Of these, the results that a script calls by the step's name.
OWN_NAMES = ("placebo", "rule", "imputations", "twin")


def also_takes(analysis: Analysis) -> dict[str, str]:
    """The tables that are joined, and what was said of the assignment."""
    known, roles = analysis.tables, analysis.plan.roles
    found = {
        f"table '{each.name}'": known[each.name].source.fingerprint if each.name in known else ""
        for each in analysis.plan.reading.joined
    }
    return {**found, "assignment": fingerprint((roles.assignment, roles.nothing_hidden))}


def run(analysis: Analysis, progress: Progress) -> Passport:
    from smdp.validation.passport import make_passport

    plan, completed, prepared = analysis.plan, analysis.completed, analysis.prepared
    own: PassportPlan = plan.passport
    assert completed is not None
    assert prepared is not None
    assert analysis.table is not None
    values, place = analysis.values, _place(plan)
    return make_passport(
        completed,
        prepared.trajectories,
        long_table(analysis.table, plan.reading, plan.roles, analysis.frames),
        own.settings,
        markov=analysis.markov,
        feature_map=analysis.feature_map,
        stability=analysis.stability,
        value=values[place] if place < len(values) else None,
        placebo=analysis.placebo,
        rule=analysis.rule,
        imputations=analysis.imputations,
        twin=analysis.twin,
        seed=own.seed,
        progress=progress,
    )


def _place(plan: AnalysisPlan) -> int:
    """Of the policy that the placebo check is of."""
    return 0 if plan.placebo is None else plan.placebo.policy - 1


def out_of_date_rows(analysis: Analysis) -> tuple[Thing, ...]:
    """The rows that were gathered from results that are out of date now."""
    from smdp.validation.passport_rows import GATHERED

    old = set(analysis.out_of_date)
    found = analysis.passport
    told = {} if found is None else {row.thing: row for row in found.rows}
    return tuple(
        thing
        for thing, sources in GATHERED.items()
        if old & set(sources) and thing in told and told[thing].verdict != "not checked"
    )


def summary(found: Passport, analysis: Analysis) -> str:
    from smdp.words.passport import passport_summary

    return passport_summary(found)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.passport import describe_passport

    assert analysis.passport is not None
    return describe_passport(analysis.passport)


def warns(found: Passport, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.passport import passport_problems

    return passport_problems(found)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    from smdp.words.passport import rows_table

    found = analysis.passport
    assert found is not None
    yield "passport", rows_table(found, out_of_date_rows(analysis), analysis.outcome_name)
    more = {
        "passport-randomisation": found.randomisation.tests,
        "passport-shares-treated": found.randomisation.shares,
        "passport-missing": found.missing.counts,
        "passport-missing-tests": found.missing.tests,
        "passport-reliability": found.reliability,
    }
    yield from ((name, frame) for name, frame in more.items() if len(frame))


def figures(found: Passport) -> Mapping[str, go.Figure]:
    from smdp.figures.passport import passport_figure

    return {"passport": passport_figure(found)}


def methods(analysis: Analysis, asked: PassportPlan) -> str:
    own = asked.settings
    text = (
        "What the conclusions rest on was put together in one table, without an overall score. "
        "Whether treatment was randomised as planned was tested by the sums, over each person's "
        "decisions, of treatment less its stated probability times functions of what was known "
        "before (state, earlier outcomes, earlier treatment, time, and a constant for the share "
        "treated); where no probabilities were stated, a logit on the state stood in for them, and "
        "scores were made orthogonal to its errors. Whether gaps are related to what was measured "
        "was tested in the same way with indicators of what is missing, smooth functions of the "
        "decision number taken out, against the state, treatment, and outcomes before and after. "
        f"People were the sample: null distributions came from {own.draws:,} patterns of signs of "
        "their scores (Chwialkowski et al., 2014), adjusted for all groups of one question by "
        f"step-down (Romano & Wolf, 2005), at {own.level:g}. Values that had been filled in took "
        "no part."
    )
    if own.studies:
        text += (
            f" How often the checks are right was asked of {own.studies} simulated studies of this "
            "size without a fault, drawn from regressions of utility and next state on state and "
            "action with their residuals taken anew at each decision, and of as many with each of "
            "four planted faults."
        )
    return text


def script(plan: AnalysisPlan) -> str:
    own: PassportPlan = plan.passport
    given = ["prepared.completed", "prepared.trajectories", "frame", code(own.settings, 1)]
    by_name = {"markov": "markov", "features": "feature_map", "stability": "stability"}
    given += [f"{name}={name}" for step, name in by_name.items() if plan.does(step)]
    if plan.does("evaluation"):
        given.append(f"value=values[{_place(plan)}]")
    given += [f"{name}={name}" for name in OWN_NAMES if plan.does(name)]
    given.append(f"seed={own.seed}")
    inner = "".join(f"{INDENT}{each},\n" for each in given)
    return f"passport = smdp.make_passport(\n{inner})"


def passport_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.passport import passport_figure
    from smdp.words.passport import MEANINGS, VERDICTS, describe_passport, rows_table

    found = analysis.passport
    assert found is not None
    old: Collection[Thing] = out_of_date_rows(analysis)
    meanings = "; ".join(f"{VERDICTS[key]}: {means}" for key, means in MEANINGS.items())
    blocks: list[Block] = [
        draw(
            "verdicts",
            "What the conclusions rest on",
            passport_figure(found),
            f"{meanings}.",
        ),
        Paragraph("There is no overall score: each thing stands for itself."),
    ]
    rows = rows_table(found, old, analysis.outcome_name)
    blocks += table("Passport", rows.drop(columns="How often this check is right"))
    rates = rows[["What the conclusions rest on", "How often this check is right"]]
    blocks += table("How often these checks are right", rates)
    return blocks + bullets(describe_passport(found))


PASSPORT = Step(
    name="passport",
    title="Can this be trusted?",
    question="What do the conclusions rest on, and does it hold?",
    sections=(PlanSection("passport", PassportPlan),),
    result="smdp.validation.passport:Passport",
    needs=("rescaling",),
    takes={"completed study": "missing", "trajectories": "rescaling"},
    gathers=GATHERS,
    reads_table=True,
    files=lambda plan: plan.reading.joined,
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("passport", "Can this be trusted?", ("passport",), passport_section),),
    script=script,
    script_end="print(passport.to_frame().to_string())",
    ready="can be skipped",
    page=Page(
        "Can this be trusted?",
        "See what the conclusions rest on",
        "passport",
        after_patient=True,
    ),
    effort=10,
)

"""The step New data: a second table before the frozen analysis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from smdp.blocks import Bullets, Heading, Paragraph, bullets, table
from smdp.data.prepare import finish
from smdp.errors import SettingError
from smdp.progress import Progress
from smdp.steps.code import INDENT, code
from smdp.steps.data import long_table, reading_lines
from smdp.steps.policies import policy_names
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import NEW_TABLE, NewDataPlan, TableFile
from smdp.validation.device_log import is_device_log

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.problem import Problem
    from smdp.validation.new_data import NewDataCheck


def needs(plan: AnalysisPlan) -> tuple[str, ...]:
    """What was predicted comes from the evaluation, if there is one."""
    return ("policy",) if plan.evaluation is None else ("policy", "evaluation")


def files(plan: AnalysisPlan) -> tuple[TableFile, ...]:
    return () if plan.new_data is None else (plan.new_data.table,)


def also_takes(analysis: Analysis) -> dict[str, str]:
    """The new table, the tables that are joined to it, and what was predicted."""
    known = analysis.tables
    names = [each.name for each in (*files(analysis.plan), *analysis.plan.reading.joined)]
    found = {
        f"table '{name}'": known[name].source.fingerprint if name in known else "" for name in names
    }
    record = analysis.records.get("evaluation")
    predicted = analysis.plan.evaluation is not None and record is not None
    return {**found, "values": record.output if predicted and record is not None else ""}


def run(analysis: Analysis, progress: Progress) -> NewDataCheck:
    from smdp.validation.new_data import check_new_data

    plan, completed = analysis.plan, analysis.completed
    own: NewDataPlan = plan.new_data
    assert completed is not None
    assert analysis.table is not None
    new = analysis.frames.get(own.table.name)
    if new is None:
        raise SettingError(
            "The table of the new data is not here.",
            "Give it on the page New data, or to 'smdp validate' with --data.",
        )
    first = finish(completed, plan.rescaling)
    progress(0.0, "Reading the new table as the first")
    if not is_device_log(new, first.trajectories.action_labels):
        new = long_table(new, plan.reading, plan.roles, analysis.frames, lacking="ignore")
    first_table = long_table(analysis.table, plan.reading, plan.roles, analysis.frames)
    policies = analysis.policies
    judged = analysis.values if plan.evaluation is not None else ()
    return check_new_data(
        new,
        first_table,
        first,
        dict(zip(policy_names(policies), policies, strict=True)),
        own.settings,
        predicted=judged if len(judged) == len(policies) else (),
        completion=plan.preparation,
        seed=own.seed,
        progress=progress,
    )


def summary(found: NewDataCheck, analysis: Analysis) -> str:
    from smdp.words.new_data import new_data_summary

    return new_data_summary(found)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.new_data import describe_new_data

    assert analysis.new_data is not None
    return describe_new_data(analysis.new_data, analysis.outcome_name)


def warns(found: NewDataCheck, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.new_data import new_data_problems

    return new_data_problems(found)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    found = analysis.new_data
    assert found is not None
    verdicts = [
        {"policy": each.policy, "verdict": each.verdict.decision, "gain": each.verdict.gain,
         "gain_lower": each.verdict.gain_lower, "gain_upper": each.verdict.gain_upper}
        for each in found.policies
    ]  # fmt: skip
    yield "new-data-verdicts", pd.DataFrame(verdicts)
    if found.likeness is not None:
        yield "new-data-variables", found.likeness.table
    for number, own in enumerate(found.policies, start=1):
        if own.value is not None:
            yield f"new-data-value-{number}", own.value.table
        if own.beside is not None:
            yield f"new-data-predicted-{number}", own.beside
        if own.calibration is not None:
            yield f"new-data-calibration-{number}", own.calibration.table
    if not found.counts.empty:
        yield "new-data-ranges", found.counts


def figures(found: NewDataCheck) -> Mapping[str, go.Figure]:
    from smdp.figures.new_data import beside_figure, calibration_figure, moved_figure

    drawn = {}
    if found.likeness is not None:
        drawn["moved"] = moved_figure(found.likeness, found.settings.refit_level)
    beside = beside_figure(found.policies)
    if beside is not None:
        drawn["predicted-and-observed"] = beside
    for number, own in enumerate(found.policies, start=1):
        if own.calibration is not None:
            drawn[f"calibration-{number}"] = calibration_figure(own.calibration)
    if not drawn:
        from smdp.figures.style import new_figure

        drawn["moved"] = new_figure()
    return drawn


def methods(analysis: Analysis, asked: NewDataPlan) -> str:
    from smdp.words.new_data import rules

    own = asked.settings
    return (
        "The analysis was frozen and judged on a second table, which was read, imputed and "
        "rescaled by the first study's settings, ranges and levels. Whether its people are like "
        "the first was tested by the energy distance (Székely & Rizzo, 2013) between people, each "
        f"summed up by quantiles of her own values, with {own.draws:,} permutations of people "
        "between the tables and a step-down adjustment over variables (Romano & Wolf, 2005). "
        "Whether as many features as the map has are enough for the new people was tested with "
        "heads fitted to them out of fold, by scores orthogonal to errors of map and heads. What "
        "each frozen policy is worth was estimated as in the first study, but without learning it "
        "anew, since it knows nobody of them; calibration compares predicted advantages with "
        "doubly robust ones. The verdict follows rules that were fixed beforehand. "
    ) + " ".join(rules(own))


def script(plan: AnalysisPlan) -> str:
    own: NewDataPlan = plan.new_data
    file = code(own.table.file or own.table.name, 0)
    sheet = "" if own.table.sheet is None else f", sheet={code(own.table.sheet, 0)}"
    read = f"new = smdp.read_table(pathlib.Path(DATA).with_name({file}){sheet})"
    named = 'names = [f"{policy.kind} {k}" for k, policy in enumerate(policies, start=1)]'
    given = [
        "new",
        "frame",
        "prepared",
        "dict(zip(names, policies))",
        code(own.settings, 1),
        f"predicted={'values' if plan.evaluation is not None else '()'}",
        f"completion={code(plan.preparation, 1)}",
        f"seed={own.seed}",
    ]
    inner = "".join(f"{INDENT}{each},\n" for each in given)
    call = f"new_data = smdp.check_new_data(\n{inner})"
    return "\n".join([read, *reading_lines(plan, "new", "ignore"), named, call])


def new_data_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.new_data import beside_figure, calibration_figure, moved_figure
    from smdp.words.new_data import (
        HEADINGS,
        advised_table,
        beside_table,
        describe_new_data,
        moved_table,
        reasons,
        rules,
    )

    found, outcome = analysis.new_data, analysis.outcome_name
    assert found is not None
    shown: list[Block] = []
    for own in found.policies:
        text = f"{own.policy.capitalize()} policy: {HEADINGS[own.verdict.decision].lower()}"
        shown += [Paragraph(text, strong=True), *bullets(reasons(own, found.settings, found))]
    shown += [Paragraph("Rules, fixed beforehand:"), Bullets(tuple(rules(found.settings)))]
    shown += bullets(describe_new_data(found, outcome))
    if found.likeness is not None:
        shown.append(Heading("Which variables moved"))
        shown.append(
            draw(
                "moved",
                "New people less first study",
                moved_figure(found.likeness, found.settings.refit_level),
                "Differences of people's means with their intervals; a diamond has moved, all "
                "variables considered together.",
            )
        )
        shown += table("Which variables moved", moved_table(found))
    beside = beside_figure(found.policies, outcome)
    if beside is not None:
        title = "Predicted beside observed"
        shown.append(draw("predicted", title, beside, "Predicted: by the first study."))
        shown += table(title, beside_table(found))
    for number, own in enumerate(found.policies, start=1):
        if own.calibration is not None:
            shown.append(
                draw(
                    f"calibration-{number}",
                    f"Calibration of the {own.policy} policy",
                    calibration_figure(own.calibration, outcome),
                    "Decisions in groups by what following the policy was predicted to bring; "
                    "observed by doubly robust estimates, with intervals over people.",
                )
            )
    return shown + table("What is recommended", advised_table(found))


NEW_DATA = Step(
    name="new_data",
    title="New data",
    question="Does it hold for other people, or for the same people later?",
    sections=(PlanSection("new_data", NewDataPlan),),
    result="smdp.validation.new_data:NewDataCheck",
    needs=needs,
    takes={
        "completed study": "missing",
        "trajectories": "rescaling",
        "policies": "policy",
    },
    reads_table=True,
    files=files,
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("new_data", "New data", ("new_data",), new_data_section),),
    script=script,
    script_imports=lambda plan: set() if plan.new_data is None else {"pathlib"},
    script_end="for each in new_data.policies:\n    print(each.policy, each.verdict.decision)",
    ready="can be skipped",
    page=Page(
        "New data",
        "See whether the policy holds for new people",
        "new_data",
        after_patient=True,
    ),
    effort=25,
    of_effects=True,
)

__all__ = ["NEW_DATA", "NEW_TABLE"]

"""The step Data: which column is what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from smdp.blocks import bullets, table
from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles, NextValue
from smdp.data.compliance import days_of, describe_compliance, describe_days
from smdp.data.data_dictionary import with_labels
from smdp.data.describe import describe_study, exclusion_table, variable_table
from smdp.data.flow import causes, flow_counts, study_flow
from smdp.data.guess_roles import guess_columns
from smdp.data.measured import outcome_kind
from smdp.data.missing_codes import mark_missing
from smdp.data.participants import NOTE, as_in_papers, describe_variables, participants_table
from smdp.data.problem import Problem
from smdp.data.reshape import to_long
from smdp.data.shaping.shape import shape
from smdp.data.variables import wholes
from smdp.progress import Progress
from smdp.steps.code import INDENT, code
from smdp.steps.step import REQUIRED, Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import ReadingSettings
from smdp.text import listing, plural

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.flow import StudyFlow
    from smdp.data.study import Study


WANG = "(Wang et al., 2017)"
#: The seed with which a hidden outcome is shuffled; it says nothing of the order.
SHUFFLE = 20_250_101
MOST_SUBJECTS = 120  # with more, a row a subject cannot be read


def long_table(
    table: pd.DataFrame,
    reading: ReadingSettings,
    roles: ColumnRoles | None = None,
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    lacking: Literal["refuse", "ignore"] = "refuse",
) -> pd.DataFrame:
    """The table in long form, with missing values where its codes for them were, and shaped.

    `roles`: they say who is the person and what is the time; where there are none yet, that is
    guessed. `tables`: those that are joined, by name. `lacking`: see `mark_missing`.
    """
    labelled = with_labels(table, reading.labels, reading.choices)
    long = to_long(labelled, reading.layout)
    long = mark_missing(long, dict(reading.missing_codes), lacking=lacking)
    if not reading.shape:
        return long
    if roles is None:
        guess = guess_columns(long)
        person, time = guess.first("subject"), guess.first("time")
    else:
        person, time = roles.subject, roles.time
    return shape(long, reading.shape, person=person, time=time, tables=tables).frame


def run(analysis: Analysis, progress: Progress) -> Study:
    progress(0.0, "Arranging the table")
    return arrange(_shaped(analysis), analysis.plan.roles)


def _shaped(analysis: Analysis) -> pd.DataFrame:
    assert analysis.table is not None
    plan = analysis.plan
    long = long_table(analysis.table, plan.reading, plan.roles, analysis.frames)
    return with_hidden_outcome(long, plan.roles) if analysis.outcome_hidden else long


def with_hidden_outcome(long: pd.DataFrame, roles: ColumnRoles) -> pd.DataFrame:
    """The outcome's values shuffled among all rows: nothing can be learned from them."""
    column = roles.outcome_name.column
    if column not in long.columns:
        return long  # arranging says that it is not there
    order = np.random.default_rng(SHUFFLE).permutation(len(long))
    hidden = long.copy()
    hidden[column] = long[column].iloc[order].to_numpy()
    hidden.attrs = long.attrs
    return hidden


def also_takes(analysis: Analysis) -> dict[str, str]:
    """The tables that are joined, and whether the outcome is hidden."""
    known = analysis.tables
    return ({"outcome": "hidden"} if analysis.outcome_hidden else {}) | {
        f"table '{each.name}'": known[each.name].source.fingerprint if each.name in known else ""
        for each in analysis.plan.reading.joined
    }


def summary(study: Study, analysis: Analysis) -> str:
    people = plural(len(study.subjects), "subject")
    return f"{people}, {plural(len(wholes(study.variables)), 'state variable')}"


def warns(study: Study, analysis: Analysis) -> Sequence[Problem]:
    return find_problems(_shaped(analysis), analysis.plan.roles)


def says(analysis: Analysis) -> list[str]:
    assert analysis.study is not None
    return describe_study(analysis.study)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    assert analysis.study is not None
    yield "variables", variable_table(analysis.study)
    yield "participants", participants_table(describe_variables(analysis.study))
    yield "flow", flow_counts(flow_of(analysis))


def figures(study: Study) -> Mapping[str, go.Figure]:
    from smdp.figures.data import compliance_figure, decisions_figure
    from smdp.figures.measured import outcome_by_action_figure

    drawn = {
        "decisions": decisions_figure(study),
        "compliance": compliance_figure(study),
        "outcome-by-action": outcome_by_action_figure(study),
    }
    for days in days_of(study)[:1]:
        drawn["compliance-by-day"] = compliance_figure(study, days)
    return drawn


def methods(analysis: Analysis, asked: Any) -> str:
    roles: ColumnRoles = asked[1]
    study = analysis.study
    who = "" if study is None else f" of {plural(len(study.subjects), 'subject')}"
    text = f"We analysed the decisions{who} as a Markov decision process {WANG}. "
    reading: ReadingSettings = asked[0]
    if reading.shape:
        done = " ".join(operation.describe() for operation in reading.shape)
        text += (
            f"Before that, the table was shaped in {plural(len(reading.shape), 'step')}. {done} "
        )
    text += f"The action was '{roles.action}'"
    if study is not None:
        text += f" (with the levels {listing(study.action_labels, 12)})"
    variables = [variable.name for variable in roles.variables]
    text += f"; the state had {plural(len(variables), 'variable')} ({listing(variables, 20)})"
    if roles.lags:
        text += f", with {plural(roles.lags, 'earlier value')} of each and of the action"
    if roles.action_lags > roles.lags:
        text += f", and the {plural(roles.action_lags, 'action')} before"
    if roles.add_time:
        text += ", and the number of the decision"
    text += f". The outcome was {_utility(roles, study)}. "
    answered = [name for name in roles.known_before if name in roles.state_names]
    if answered and NEVER_ASKED not in roles.known_before:
        text += f"By our account, known before each decision: {listing(answered, 12)}. "
    if roles.available is not None:
        text += f"Decisions at which no action could be taken were marked by '{roles.available}'. "
    if roles.assignment == "observed":
        return text + (
            "Treatment was observed, not randomised, so that effects are to be read as "
            "associations; the probabilities of treatment were estimated by a (multinomial) logit "
            "on the state where they were needed."
            if roles.probability is None
            else "Treatment was observed, not randomised, so that effects are to be read as "
            "associations; its probabilities were given."
        )
    if roles.randomised and roles.probability is None:
        return text + (
            "Treatment was randomised with probabilities that are not known: where they were "
            "needed, they were estimated by a (multinomial) logit on the state."
        )
    if roles.probability is None:
        return text + (
            "The probabilities of treatment were not given: where they were needed, they were "
            "estimated by a (multinomial) logit on the state, and effects are to be read as in an "
            "observational study."
        )
    return text + "The probabilities with which the actions were randomised were known."


def _utility(roles: ColumnRoles, study: Study | None) -> str:
    called = roles.outcome_name
    text = f"'{called.column}'"
    if isinstance(roles.utility, NextValue):
        text = f"the next value of {text}"
    kind = roles.outcome.kind if study is None else outcome_kind(study)
    about = [each for each in (kind, called.unit and f"in {called.unit}") if each]
    text += f" ({', '.join(about)})" if about else ""
    if called.sign > 0:
        return f"{text}, more of which is better; it was taken as the utility"
    return f"{text}, less of which is better; minus it was taken as the utility"


def script(plan: AnalysisPlan) -> str:
    reading = plan.reading
    sheet = "" if reading.sheet is None else f", sheet={code(reading.sheet, 0)}"
    lines = [f"frame = smdp.read_table(DATA{sheet})", *reading_lines(plan, "frame")]
    lines.append(f"roles = {code(plan.roles, 0)}")
    if not plan.does("missing"):
        lines.append("study = smdp.arrange(frame, roles)")
    return "\n".join(lines)


def reading_lines(
    plan: AnalysisPlan, name: str, lacking: Literal["refuse", "ignore"] = "refuse"
) -> list[str]:
    """What a script does to a table after it is read, up to its roles."""
    reading, lines = plan.reading, []
    if reading.labels or reading.choices:
        given = [name, code(dict(reading.labels), 1)]
        if reading.choices:
            given.append(code({key: dict(each) for key, each in reading.choices.items()}, 1))
        inner = "".join(f"{INDENT}{each},\n" for each in given)
        lines.append(f"{name} = smdp.with_labels(\n{inner})")
    if reading.layout != "long":
        lines.append(f"{name} = smdp.to_long({name}, {code(reading.layout, 0)})")
    if reading.missing_codes:
        codes = code(dict(reading.missing_codes), 0)
        more = "" if lacking == "refuse" else f", lacking={code(lacking, 0)}"
        lines.append(f"{name} = smdp.mark_missing({name}, {codes}{more})")
    if reading.shape:
        who = f"person={code(plan.roles.subject, 0)}, time={code(plan.roles.time, 0)}"
        given = [name, code(reading.shape, 1), who, *_tables_in_script(reading)]
        inner = "".join(f"{INDENT}{each},\n" for each in given)
        lines.append(f"{name} = smdp.shape(\n{inner}).frame")
    return lines


def _tables_in_script(reading: ReadingSettings) -> list[str]:
    """The tables that are joined, read from beside the main one."""
    if not reading.joined:
        return []
    files = []
    for each in reading.joined:
        sheet = "" if each.sheet is None else f", sheet={code(each.sheet, 0)}"
        path = f"pathlib.Path(DATA).with_name({code(each.file or each.name, 0)})"
        files.append(f"{INDENT * 2}{code(each.name, 0)}: smdp.read_table({path}{sheet}),\n")
    return [f"tables={{\n{''.join(files)}{INDENT}}}"]


def script_imports(plan: AnalysisPlan) -> set[str]:
    return {"pathlib"} if plan.reading.joined else set()


def study_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.data import compliance_figure, decisions_figure
    from smdp.figures.flow import flow_figure

    study = analysis.study
    assert study is not None
    found = bullets(describe_study(study))
    found += table("Flow of participants", flow_table(analysis))
    found.append(
        draw(
            "flow",
            "Flow of people and decisions",
            flow_figure(flow_of(analysis)),
            "From the table to what was analysed. Analysed: with an outcome and a next row.",
        )
    )
    if analysis.completed is not None:
        found += table("Who was left out, and why", exclusion_table(analysis.completed))
    described = as_in_papers(describe_variables(study)).drop(columns="Role")  # said above
    found += table("Participants and variables", described, NOTE)
    if len(study.subjects) <= MOST_SUBJECTS:
        found.append(
            draw(
                "decisions",
                "Treatments over time",
                decisions_figure(study),
                "Which treatment each subject received at each decision: a row a subject, in the "
                "table's order.",
            )
        )
    found.append(
        draw(
            "compliance",
            "Compliance over time",
            compliance_figure(study),
            "Share of all people with a row, and with the outcome observed. "
            f"{describe_compliance(study)}",
        )
    )
    for days in days_of(study)[:1]:
        found.append(
            draw(
                "compliance-by-day",
                "Compliance by day",
                compliance_figure(study, days),
                describe_days(days),
            )
        )
    return found


def flow_of(analysis: Analysis) -> StudyFlow:
    """People and decisions from the table to what was analysed, as far as it has come."""
    assert analysis.study is not None
    return study_flow(analysis.study, analysis.completed, analysis.prepared, analysis.source.rows)


def flow_table(analysis: Analysis) -> pd.DataFrame:
    """From the table to what was analysed: how many at each stage, and why not more."""
    study, completed, prepared = analysis.study, analysis.completed, analysis.prepared
    assert study is not None
    as_read = f"{plural(analysis.source.rows, 'row')}, as read"
    if analysis.plan.reading.shape:
        as_read += f", then shaped in {plural(len(analysis.plan.reading.shape), 'step')}"
    rows = [("In the table", len(study.subjects), as_read)]
    if completed is not None:
        kept = completed.study
        out = len(completed.exclusions)
        why = "; ".join(f"{count}: {cause}" for cause, count in causes(completed.exclusions))
        rows.append(("Left out", out, why or "nobody"))
        decisions = f"{int(kept.on_grid.sum()):,} decisions, gaps included"
        rows.append(("Analysed", len(kept.subjects), decisions))
        if prepared is not None:
            used = int(prepared.trajectories.valid.sum())
            possible = int(sum(max(n - 1, 0) for n in kept.lengths))
            choice = prepared.trajectories.valid & prepared.trajectories.available
            text = f"{used:,} of {possible:,} steps from one decision to the next"
            if choice.sum() < used:
                text += f", {int(choice.sum()):,} of them with a choice of treatment"
            people = int(prepared.trajectories.valid.any(axis=1).sum())
            rows.append(("With usable transitions", people, text))
    return pd.DataFrame(rows, columns=["stage", "subjects", "details"])


DATA = Step(
    name="data",
    title="Data",
    question="Which column is what? Correct the guesses, then see what was understood.",
    sections=(
        PlanSection("roles", ColumnRoles, REQUIRED),
        PlanSection("reading", ReadingSettings, ReadingSettings()),
    ),
    result="smdp.data.study:Study",
    reads_table=True,
    files=lambda plan: plan.reading.joined,
    also_takes=also_takes,
    asked=lambda plan: (plan.reading, plan.roles),
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("study", "Study and participants", ("data",), study_section),),
    script=script,
    script_imports=script_imports,
    script_end='print(len(study.subjects), "subjects")',
    page=Page("Data", "Say what each column is", "data", 1),
    personal=True,
)

"""Whether a result is still that of its plan: which steps are out of date, and the warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.step_facts import inputs_of, needed_by
from smdp.analysis.steps import Step
from smdp.data.problem import Problem

if TYPE_CHECKING:
    from smdp.analysis.result import AnalysisResult

Currency = Literal["not done", "current", "out of date"]


def currency(plan: AnalysisPlan, analysis: AnalysisResult) -> dict[Step, Currency]:
    """Each step's state under the plan.

    A result is current if it was made as the plan says, from the present results of the steps that
    it works on, and if these are current too.
    """
    found: dict[Step, Currency] = {}
    for step in Step:
        record = analysis.records.get(step)
        if record is None:
            found[step] = "not done"
            continue
        fresh = (
            record.asked == plan.asked(step)
            and record.inputs == inputs_of(step, analysis)
            and all(found[earlier] == "current" for earlier in needed_by(step, plan))
        )
        found[step] = "current" if fresh else "out of date"
    return found


def is_current(plan: AnalysisPlan, analysis: AnalysisResult, step: Step | None = None) -> bool:
    """Whether a step's result is the plan's; without a step, whether all that were done are."""
    states = currency(plan, analysis)
    if step is not None:
        return states[step] == "current"
    return "out of date" not in states.values()


def out_of_date(analysis: AnalysisResult) -> tuple[Step, ...]:
    """The steps whose results are not those of the analysis' own plan."""
    states = currency(analysis.plan, analysis)
    return tuple(step for step, state in states.items() if state == "out of date")


def whole_warnings(analysis: AnalysisResult) -> tuple[Problem, ...]:
    """What has to be said of an analysis wherever it is shown or exported."""
    found = [
        Problem(
            "warning",
            str(step),
            f"The result of the step '{step}' is out of date: since it was made, its settings or "
            "something before it has changed.",
            "Run this step again before you use it.",
        )
        for step in out_of_date(analysis)
    ]
    found += [
        Problem(
            "warning",
            record.step,
            f"The step '{record.step}' was stopped before its end: done again with the same "
            "settings, it gives another result.",
            "Run it to its end before you report it.",
        )
        for record in analysis.records.values()
        if not record.complete
    ]
    if analysis.stopped:
        found.append(Problem("warning", "", analysis.stopped))
    made_with, given = analysis.plan.data_fingerprint, analysis.source.file_fingerprint
    if made_with and given and made_with != given:
        found.append(
            Problem(
                "note",
                "data",
                f"The plan was made with another file ('{analysis.plan.data_name}') than the one "
                f"analysed here ('{analysis.source.name}').",
            )
        )
    return tuple(found)

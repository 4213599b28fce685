"""What a step of an analysis is: all that the program knows of it, in one object.

A step is declared in a module of its own and listed once (`smdp.steps`). The plan, the engine, the
worker, the command line, the report, the sidebar and the saved file ask that list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from smdp.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.problem import Problem
    from smdp.steps.step_plans import TableFile


class StepState(StrEnum):
    """Of a step in an analysis."""

    NOT_STARTED = "not started"  # something that it works on is not done, or out of date
    READY = "ready"
    DONE = "done"
    OUT_OF_DATE = "out of date"  # made with other settings, or from earlier results, than now


#: The default of a section that a plan must have.
REQUIRED = object()


@dataclass(frozen=True)
class PlanSection:
    """A key of the plan: its type (a settings dataclass, or a tuple of one), and its default.

    `split`: where what is given under the key may speak of several sections, what it says of each.
    """

    name: str
    kind: Any
    default: Any = None
    split: Callable[[Any], Mapping[str, Any]] = lambda given: {}


@dataclass(frozen=True)
class Page:
    """Where the dashboard shows a step; `view` is a file of its own, "" for the common skeleton.

    `after_patient`: it stands after the page of single patients, which has no step.
    """

    title: str
    purpose: str
    view: str = ""
    number: int | None = None
    after_patient: bool = False


@dataclass(frozen=True)
class ReportSection:
    """A section of the report: there if any of the steps in `shows` has a result.

    `steps`: all whose results and notes it holds.
    """

    key: str
    title: str
    shows: tuple[str, ...]
    blocks: Callable[[Analysis, Draw], list[Block]]
    steps: tuple[str, ...] = ()


def _nothing(*_: Any) -> Any:
    return ()


@dataclass(frozen=True, eq=False)
class Step:
    """One step of an analysis.

    `name`: in plans, files and on the command line; it never changes. `result`: the class of its
    result, as "module:Class", imported when it is needed, for some bring torch along. `needs`: the
    steps whose results must be fresh, which may depend on the plan. `takes`: what it works on, each
    with the step that hands it on. `gathers`: steps whose results it works on too, where they are
    there. `reads_table`: it works on the table itself, and on the
    further tables `files`. `also_takes`:
    whatever else its result depends on, as text.
    `asked`: what the plan says that the result depends on. `effort`: about how long it takes,
    relative to the others. `personal`: its result holds the values of single people.
    `keeps_what_is_finished`: stopped early, it has a result all the same, which may depend on the
    plan. `goes_on`: such a result is not worked on, but gone on from. `blocked`: why it cannot be
    done although the steps before are, "" if it can. `nothing_to_decide`: with these data and this
    plan nobody would choose anything, so that the dashboard does it without being asked.
    `hands_on`: the part of its result that later steps work
    on; `received`: what stands for the result where only that part is known, as in a worker.
    """

    name: str
    title: str
    question: str
    result: str
    run: Callable[[Analysis, Progress], Any]
    summary: Callable[[Any, Analysis], str]
    sections: tuple[PlanSection, ...] = ()
    needs: tuple[str, ...] | Callable[[AnalysisPlan], tuple[str, ...]] = ()
    takes: Mapping[str, str] = field(default_factory=dict)
    gathers: tuple[str, ...] = ()
    reads_table: bool = False
    files: Callable[[AnalysisPlan], tuple[TableFile, ...]] = _nothing
    also_takes: Callable[[Analysis], Mapping[str, str]] | None = None
    asked: Callable[[AnalysisPlan], Any] | None = None
    check_plan: Callable[[AnalysisPlan], None] = _nothing
    blocked: Callable[[Analysis], str] = lambda analysis: ""
    nothing_to_decide: Callable[[Analysis], bool] = lambda analysis: False
    hands_on: Callable[[Any], Any] = lambda result: result
    received: Callable[[Any], Any] = lambda handed: handed
    says: Callable[[Analysis], Sequence[str]] = _nothing
    warns: Callable[[Any, Analysis], Sequence[Problem]] = _nothing
    tables: Callable[[Analysis], Iterator[tuple[str, pd.DataFrame]]] = _nothing
    figures: Callable[[Any], Mapping[str, go.Figure]] = lambda result: {}
    methods: Callable[[Analysis, Any], str] = lambda analysis, asked: ""
    report: tuple[ReportSection, ...] = ()
    script: Callable[[AnalysisPlan], str] = lambda plan: ""
    script_end: str = ""
    script_imports: Callable[[AnalysisPlan], set[str]] = lambda plan: set()
    page: Page | None = None
    ready: str = ""  # said in the sidebar where it can be done, but is not
    shown_with: str = ""  # the step on whose page it is, if it has none
    effort: float = 1.0
    personal: bool = False
    of_effects: bool = False  # it speaks of what treatment does
    keeps_what_is_finished: bool | Callable[[AnalysisPlan], bool] = False
    goes_on: bool = False

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<step {self.name}>"

    def needed(self, plan: AnalysisPlan) -> tuple[str, ...]:
        return self.needs(plan) if callable(self.needs) else self.needs

    def keeps(self, plan: AnalysisPlan) -> bool:
        """Whether it has a result all the same when it is stopped early."""
        own = self.keeps_what_is_finished
        return own(plan) if callable(own) else own

    def asked_by(self, plan: AnalysisPlan) -> Any:
        """The settings and seeds of the step, None where the plan has no such step."""
        if self.asked is not None:
            return self.asked(plan)
        return plan.section(self.sections[0].name) or None

    def result_type(self) -> type:
        home, _, name = self.result.partition(":")
        kind: type = getattr(import_module(home), name)
        return kind

"""What a browser session holds: one analysis, what the user last chose, and what is running.

A step's result comes and goes with the analysis' plan: changing a setting back brings the earlier
result back at once, for what was made in this session is remembered by what was asked and what it
was made from, as far as it fits into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

import streamlit as st

from smdp.analysis.analysis import Analysis
from smdp.analysis.further_tables import FurtherTable
from smdp.analysis.known_results import Known, KnownResults
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.provenance import StepRecord
from smdp.progress import Progress
from smdp.steps import Step, step_named, steps
from smdp.steps.step import StepState

T = TypeVar("T")


class State(StrEnum):
    """Of a step on the pages: as the analysis says, or at work."""

    NOT_STARTED = StepState.NOT_STARTED
    READY = StepState.READY
    DONE = StepState.DONE
    OUT_OF_DATE = StepState.OUT_OF_DATE
    RUNNING = "running"


class Key(StrEnum):
    TABLE = "table"
    ANALYSIS = "analysis"
    PLANS = "plans"
    KNOWN = "known"
    HISTORY = "history"
    SIMULATED = "simulated"
    KEPT = "kept"
    VISIT = "visit"
    UPLOADS = "uploads"
    MEMO = "memo"
    JOBS = "jobs"
    CHOICES_OPENED = "choices opened"  # whether those kept came from a file
    WAITING = "waiting"
    AUTOSAVE = "autosave"
    ASIDE = "aside"
    PAGE_STEP = "page step"
    NEWS = "news"
    SKELETONS = "skeletons"
    WENT_BACK = "went back"


@dataclass(frozen=True, eq=False)
class Simulated:
    """What came out of a simulation, and the settings that it was asked for with."""

    settings: Any
    result: Any
    stopped_early: bool


def _state(key: Key, new: Callable[[], Any]) -> Any:
    if key not in st.session_state:
        st.session_state[key] = new()
    return st.session_state[key]


# The analysis.


def analysis() -> Analysis | None:
    """The session's analysis; None before a table is loaded."""
    found: Analysis | None = st.session_state.get(Key.ANALYSIS)
    return found


def the_analysis() -> Analysis:
    found = analysis()
    assert found is not None, "no table is loaded"
    return found


def put(changed: Analysis) -> None:
    """Make this the session's analysis, and remember its results."""
    st.session_state[Key.ANALYSIS] = changed
    for name, record in changed.records.items():
        if name in changed.results:
            remember_result(record, changed.results[name])
    known().let_go(changed)


def known() -> KnownResults:
    """What was made in this session, and is remembered."""
    found: KnownResults = _state(Key.KNOWN, KnownResults)
    return found


def remember_result(record: StepRecord, result: Any) -> None:
    known().remember(record, result)


def known_results(step: str) -> Iterator[Known]:
    """What this session has made of a step, the latest first."""
    return known().of(step)


def asked(step: Step, **sections: Any) -> Analysis:
    """The analysis as it would be asked for by these sections of the plan."""
    return replace(the_analysis(), plan=the_analysis().plan.adjusted(**sections))


def recall(step: Step, wanted: Analysis) -> bool:
    """Take the step's result from this session's earlier ones; whether it was among them."""
    found = known().find(step.name, step.asked_by(wanted.plan), wanted.inputs(step))
    if found is not None:
        put(wanted.with_record(found.record, found.result))
    return found is not None


def run(step: Step, *, progress: Progress | None = None, **sections: Any) -> None:
    """Do a step that takes moments, as these sections of the plan say.

    Those right after it in which there is nothing to decide are done, too.
    """
    wanted = asked(step, **sections)
    if not recall(step, wanted):
        put(wanted.run_one(step, progress=progress))
    for following in steps():
        own = the_analysis()
        if (
            step.name in following.needed(own.plan)
            and own.state(following) in (StepState.READY, StepState.OUT_OF_DATE)
            and following.nothing_to_decide(own)
        ):
            run(following)


def did_itself(step: Step) -> bool:
    """Whether it is done, and there was nothing to decide."""
    return state(step) == State.DONE and step.nothing_to_decide(the_analysis())


def state(step: Step | str) -> State:
    name = str(step)
    job = st.session_state.get(Key.JOBS, {}).get(name)
    if job is not None and job.state in ("waiting", "running", "done"):
        return State.RUNNING  # a job that has just ended waits for the next run to be recorded
    own = analysis()
    if name in _simulations() or own is None:
        return State.NOT_STARTED
    found = State(own.state(name))
    if found == State.NOT_STARTED and first_open(step_named(name)) is None:
        return State.READY
    return found


def is_done(step: Step) -> bool:
    """Whether its result is there and fresh; also while it is being made anew."""
    own = analysis()
    return own is not None and own.state(step) == StepState.DONE


def done(step: Step | str) -> StepRecord | None:
    """How the step's result came to be; None if it has none."""
    own = analysis()
    return own.records.get(str(step)) if own is not None and result(step) is not None else None


def result(step: Step | str) -> Any:
    own = analysis()
    return own.results.get(str(step)) if own is not None else None


def first_open(step: Step) -> Step | None:
    """The first of the steps before it that is not done; None if it can be done now.

    Those on its own page are done with it.
    """
    own = the_analysis()
    for needed in map(step_named, step.needed(own.plan)):
        if own.state(needed) != StepState.DONE:
            on_its_page = needed.shown_with == step.name
            earlier = first_open(needed)
            if earlier is not None or not on_its_page:
                return earlier or needed
    return None


# Simulations, which need no table.


def _simulations() -> dict[str, Simulated]:
    found: dict[str, Simulated] = _state(Key.SIMULATED, dict)
    return found


def simulated(name: str) -> Simulated | None:
    return _simulations().get(name)


def put_simulated(name: str, found: Simulated) -> None:
    _simulations()[name] = found


# Beginning anew.


def another_table(begun: Analysis) -> None:
    """Go over to another table of this work: nothing is planned for it, unless it was here before.

    What was done stays, out of date as long as its own table is not back.
    """
    plans: dict[str, AnalysisPlan] = _state(Key.PLANS, dict)
    before = analysis()
    tables: Mapping[str, FurtherTable] = {}
    if before is not None:
        plans[before.source.fingerprint] = before.plan
        begun = replace(begun, results=before.results, records=before.records)
        tables = before.tables
    plan = plans.get(begun.source.fingerprint, begun.plan)
    joined = {each.name for each in plan.tables}
    kept_ones = {name: table for name, table in tables.items() if name in joined}
    put(replace(begun, plan=plan, tables=kept_ones))


def forget_everything() -> None:
    for job in st.session_state.get(Key.JOBS, {}).values():
        job.end()
    st.session_state.clear()


def forget_results() -> None:
    """Every result of the table's analysis, and whatever is being worked out; not simulations."""
    running = _state(Key.JOBS, dict)
    for name in [name for name, job in running.items() if job.of_analysis]:
        running.pop(name).end()
    for key in (Key.ANALYSIS, Key.PLANS, Key.KNOWN, Key.MEMO, Key.HISTORY):
        st.session_state.pop(key, None)


SIMULATION_CHOICES = "simulation."


def forget_choices() -> None:
    """What was chosen for one file is not meant for another; simulations need no file."""
    chosen = _state(Key.KEPT, dict)
    st.session_state[Key.KEPT] = {
        name: value for name, value in chosen.items() if name.startswith(SIMULATION_CHOICES)
    }


#: Of nothing that an analysis was asked, so that they stay when one goes back in its history.
OF_NO_STEP = (
    SIMULATION_CHOICES, "note.", "report.", "figures.", "glossary.", "guided", "look.", "patient.",
    "the policy", "shape.forms", "rule.added", "joined sheet:",
)  # fmt: skip


def choices_of_steps() -> dict[str, Any]:
    """What was chosen on the pages for the analysis."""
    chosen = _state(Key.KEPT, dict)
    return {name: own for name, own in chosen.items() if not name.startswith(OF_NO_STEP)}


def put_choices_of_steps(chosen: Mapping[str, Any]) -> None:
    """These in place of the present ones; what is not among them starts from the plan."""
    rest = _state(Key.KEPT, dict)
    others = {name: own for name, own in rest.items() if name.startswith(OF_NO_STEP)}
    st.session_state[Key.KEPT] = {**others, **chosen}


# What was chosen on the pages.


def kept(name: str, default: T) -> T:
    """What the user last chose for `name`, else the default."""
    value: T = _state(Key.KEPT, dict).get(name, default)
    return value if _is_like(value, default) else default


def _is_like(value: object, default: object) -> bool:
    """Whether a control could have given it: what is kept may come from anybody's file."""
    if value is None or default is None or isinstance(default, bool):
        return value is None or default is None or isinstance(value, bool)
    for kinds in ((int, float), (list, tuple), (str,), (dict,)):
        if isinstance(default, kinds):
            return isinstance(value, kinds) and not isinstance(value, bool)
    return True


def keep(name: str, value: T) -> T:
    """Remember a choice beyond the page: widgets forget theirs when the page is left."""
    _state(Key.KEPT, dict)[name] = value
    return value


def forget_kept(beginning: str) -> None:
    """Forget what was chosen under names that begin so."""
    chosen = _state(Key.KEPT, dict)
    for name in [name for name in chosen if name.startswith(beginning)]:
        del chosen[name]


def memo(name: str, key: object, work: Callable[[], T]) -> T:
    """The last value of `work` under `name`, worked out anew only when the key has changed."""
    last = _state(Key.MEMO, dict).get(name)
    if last is None or last[0] != key:
        last = (key, work())
        _state(Key.MEMO, dict)[name] = last
    value: T = last[1]
    return value


def remembered(name: str) -> tuple[Any, Any] | None:
    """The key and the value that `memo` last kept under that name."""
    last: tuple[Any, Any] | None = _state(Key.MEMO, dict).get(name)
    return last


def remember(name: str, key: object, value: object) -> None:
    """Let `memo` find this."""
    _state(Key.MEMO, dict)[name] = (key, value)


# Visits of pages.


def tell(text: str) -> None:
    """Say this on the page that is shown next, under its heading."""
    _state(Key.NEWS, list).append((text, None))


def news() -> list[str]:
    """What is to be said on this page, from now until it is left."""
    visit = st.session_state.get(Key.VISIT, ("", 0))[1]
    still = [(text, told or visit) for text, told in _state(Key.NEWS, list)]
    st.session_state[Key.NEWS] = [each for each in still if each[1] == visit]
    return [text for text, _ in st.session_state[Key.NEWS]]


def start_visit_anew() -> None:
    """Let the page's widgets start again from what was kept."""
    page, visit = st.session_state.get(Key.VISIT, ("", 0))
    st.session_state[Key.VISIT] = (page, visit + 1)


def start_controls_anew() -> None:
    """The same of all controls, wherever they are: of the page that is open, too."""
    st.session_state[Key.WENT_BACK] = st.session_state.get(Key.WENT_BACK, 0) + 1
    start_visit_anew()


def control_key(name: str) -> str:
    """The key of the control of that name: another one after each `start_controls_anew`."""
    times = st.session_state.get(Key.WENT_BACK, 0)
    return f"{name} ({times})" if times else name


def begin_visit(page: str) -> int:
    """Count page visits; widgets keyed by the visit start from what was kept."""
    last = st.session_state.get(Key.VISIT, ("", 0))
    if last[0] != page:
        last = (page, last[1] + 1)
        st.session_state[Key.VISIT] = last
    visit: int = last[1]
    return visit

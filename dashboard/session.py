"""What a browser session holds: the table, each step's result, and what the user last chose.

Each step's result carries a token made from the step before and its own settings. A step is out
of date when the token it was made from is no longer that of the step before; changing a setting
back brings the old result back at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


class Step(StrEnum):
    """The steps of an analysis, in order."""

    DATA = "data"
    MISSING = "missing"
    RESCALING = "rescaling"
    SCREENING = "screening"
    FEATURES = "features"
    STABILITY = "stability"
    POLICY = "policy"
    EVALUATION = "evaluation"
    PLACEBO = "placebo"
    SIMULATION = "simulation"
    STUDY_PLAN = "study plan"


#: Steps that do not work on the result of the one before them in the list.
_WORKS_ON = {
    Step.POLICY: Step.FEATURES,
    Step.PLACEBO: Step.POLICY,
}
#: Steps that need no table: they simulate their data.
SIMULATED = (Step.SIMULATION, Step.STUDY_PLAN)


#: Ends the token of a result that was not worked out to its end.
STOPPED_EARLY = ", stopped early"


class State(StrEnum):
    NOT_STARTED = "not started"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    OUT_OF_DATE = "out of date"


class Key(StrEnum):
    TABLE = "table"
    DONE = "done"
    RESULTS = "results"
    KEPT = "kept"
    VISIT = "visit"
    UPLOADS = "uploads"
    MEMO = "memo"
    JOBS = "jobs"
    ORIGINS = "origins"
    SCREENED = "screened"
    WAITING = "waiting"
    AUTOSAVE = "autosave"
    PAGE_STEP = "page step"
    NEWS = "news"


@dataclass(frozen=True)
class How:
    """What a plan has to know of a step besides its settings."""

    task: str = ""
    seed: int = 0
    use_all: bool = False  # all variables, not only those that screening kept


BY_SETTINGS_ALONE = How()


@dataclass(frozen=True)
class Done:
    """A finished step: what it was made from, with which settings, and its one-line result."""

    made_from: str
    token: str
    settings: Any
    result: Any
    summary: str
    how: How = BY_SETTINGS_ALONE


def _state(key: Key, new: Callable[[], Any]) -> Any:
    if key not in st.session_state:
        st.session_state[key] = new()
    return st.session_state[key]


def before(step: Step, how: How = BY_SETTINGS_ALONE) -> Step | None:
    """The step whose result this one works on; a map of all variables needs no screening."""
    if step in SIMULATED:
        return None
    if step == Step.FEATURES and how.use_all:
        return Step.RESCALING
    order = list(Step)
    place = order.index(step)
    return _WORKS_ON.get(step, order[place - 1]) if place else None


def done(step: Step) -> Done | None:
    finished: Done | None = _state(Key.DONE, dict).get(step)
    return finished


def works_on(step: Step) -> Step | None:
    """The step whose result the present result of this one was made from, or a new one will be."""
    finished = done(step)
    return before(step, finished.how) if finished else before(step)


def token_before(step: Step, how: How = BY_SETTINGS_ALONE) -> str:
    """The token that a result of this step would be made from; the table's for the first."""
    if step in SIMULATED:
        return ""
    earlier = before(step, how)
    if earlier == Step.SCREENING and done(earlier) is None:  # all variables, then
        earlier = Step.RESCALING
    if earlier is None:
        table = st.session_state.get(Key.TABLE)
        return table.token if table is not None else ""
    finished = done(earlier)
    return finished.token if finished else ""


def state(step: Step) -> State:
    job = st.session_state.get(Key.JOBS, {}).get(step)
    if job is not None and job.state in ("waiting", "running", "done"):
        return State.RUNNING  # a job that has just ended waits for the next run to be recorded
    finished = done(step)
    earlier = works_on(step)
    earlier_ready = (
        step in SIMULATED or st.session_state.get(Key.TABLE) is not None
        if earlier is None
        else state(earlier) == State.DONE
    )
    if finished is None:
        return State.READY if earlier_ready else State.NOT_STARTED
    fresh = earlier_ready and finished.made_from == token_before(step, finished.how)
    return State.DONE if fresh else State.OUT_OF_DATE


def token_for(step: Step, settings: object, how: How = BY_SETTINGS_ALONE) -> str:
    """The token of this step with these settings on the present data."""
    text = f"{token_before(step, how)}|{step}|{settings!r}"
    return hashlib.sha256(text.encode()).hexdigest()


def token_of_job(step: Step, how: How, variables: tuple[str, ...], settings: object) -> str:
    """The token of a step that a worker does."""
    return token_for(step, (how, variables, settings), how)


def run(step: Step, settings: object, work: Callable[[], T], summary: Callable[[T], str]) -> None:
    """Do the step's work, or take it from this session's earlier results, and record it."""
    token = token_for(step, settings)
    if not known(token):
        remember_result(token, work())
    record(step, token_before(step), token, settings, summary)


def known(token: str) -> bool:
    """Whether this session has the result of that step and settings already."""
    return token in _state(Key.RESULTS, dict)


def remember_result(token: str, value: object) -> None:
    _state(Key.RESULTS, dict)[token] = value


def record(
    step: Step,
    made_from: str,
    token: str,
    settings: object,
    summary: Callable[[Any], str],
    how: How = BY_SETTINGS_ALONE,
) -> None:
    """Make a known result the step's present one."""
    value = _state(Key.RESULTS, dict)[token]
    if how.use_all:  # whatever was screened before
        made_from = _state(Key.SCREENED, dict).get(made_from, made_from)
    put_back(step, Done(made_from, token, settings, value, summary(value), how))


def put_back(step: Step, finished: Done) -> None:
    """Make this result, such as one from a saved analysis, the step's present one."""
    remember_result(finished.token, finished.result)
    _state(Key.DONE, dict)[step] = finished
    if step == Step.SCREENING:
        _state(Key.SCREENED, dict)[finished.token] = finished.made_from


def result(step: Step) -> Any:
    finished = done(step)
    return finished.result if finished else None


def forget_everything() -> None:
    for job in st.session_state.get(Key.JOBS, {}).values():
        job.end()
    st.session_state.clear()


def forget_results() -> None:
    """Every result of the table's analysis, and whatever is being worked out; not simulations."""
    running = _state(Key.JOBS, dict)
    for step in [step for step in running if step not in SIMULATED]:
        running.pop(step).end()
    stays = {step: done for step, done in _state(Key.DONE, dict).items() if step in SIMULATED}
    st.session_state[Key.DONE] = stays
    st.session_state[Key.RESULTS] = {done.token: done.result for done in stays.values()}
    for key in (Key.ORIGINS, Key.MEMO, Key.SCREENED):
        st.session_state.pop(key, None)


def forget_choices() -> None:
    """What was chosen for one file is not meant for another; simulations need no file."""
    chosen = _state(Key.KEPT, dict)
    st.session_state[Key.KEPT] = {
        name: value for name, value in chosen.items() if name.startswith(f"{Step.SIMULATION}.")
    }


def kept(name: str, default: T) -> T:
    """What the user last chose for `name`, else the default."""
    value: T = _state(Key.KEPT, dict).get(name, default)
    return value


def keep(name: str, value: T) -> T:
    """Remember a choice beyond the page: widgets forget theirs when the page is left."""
    _state(Key.KEPT, dict)[name] = value
    return value


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


def begin_visit(page: str) -> int:
    """Count page visits; widgets keyed by the visit start from what was kept."""
    last = st.session_state.get(Key.VISIT, ("", 0))
    if last[0] != page:
        last = (page, last[1] + 1)
        st.session_state[Key.VISIT] = last
    visit: int = last[1]
    return visit

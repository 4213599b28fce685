"""From the session to an analysis that can be saved, and back.

Each result gets its record on the run after it was made, from the results that it was made from:
also where these are no longer the present ones, as when a page was changed while a worker ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.plan_choices import plan_choices
from dashboard.policy_choice import EARLIER, LEARNED_FROM, learned_from
from dashboard.session import Done, Key, Step
from dashboard.session_plan import page_settings, plan_of
from dashboard.table import LoadedTable, loaded, sheets_of
from smdp.analysis import steps
from smdp.analysis.currency import currency
from smdp.analysis.provenance import StepRecord, TableSource, source_of
from smdp.analysis.result import AnalysisResult
from smdp.analysis.step_plans import TrialPlan
from smdp.plain_data import fingerprint, to_plain

NOTE = "note."
KEPT, SUMMARIES, LEARNED = "kept", "summaries", "learned from"
#: Kept for the session only: large, and not needed to go on.
LARGE = (LEARNED_FROM, EARLIER)
TRIAL, TRIAL_RECORD = "policy.trial", "trial record"
#: Those of the table's analysis.
STEPS = tuple(step for step in Step if step not in session.SIMULATED)


@dataclass(frozen=True)
class Origin:
    """A result as it was recorded."""

    done: Done
    record: StepRecord


def keep_records() -> None:
    """Record what was done since the last run of the page."""
    table = loaded()
    if table is None:
        return
    known = _origins()
    for step in STEPS:
        finished = session.done(step)
        if finished is None or finished.token in known or step in session.SIMULATED:
            continue
        chain = _made_from(step, finished)
        if chain is not None:
            known[finished.token] = Origin(finished, _record(step, finished, chain, table))


def _origins() -> dict[str, Origin]:
    found: dict[str, Origin] = st.session_state.setdefault(Key.ORIGINS, {})
    return found


def _made_from(step: Step, finished: Done) -> dict[Step, Origin] | None:
    """The recorded results that this one was made from; None if it cannot be said how."""
    if finished.settings is None or (step not in steps.PERSONAL and not finished.how.task):
        return None
    found = {}
    token, earlier = finished.made_from, session.before(step, finished.how)
    while earlier is not None:
        if token not in _origins():
            return None
        origin = found[earlier] = _origins()[token]
        token, earlier = origin.done.made_from, session.before(earlier, origin.done.how)
    return found


def _record(
    step: Step, finished: Done, chain: Mapping[Step, Origin], table: LoadedTable
) -> StepRecord:
    plan = plan_of({step: finished} | {each: origin.done for each, origin in chain.items()}, table)
    analysis = AnalysisResult(
        plan,
        _source(table),
        table.frame,
        {str(each): origin.done.result for each, origin in chain.items()},
        {str(each): origin.record for each, origin in chain.items()},
    )
    warnings = None
    if step == Step.DATA:
        from smdp.analysis.run import long_table
        from smdp.data.checks import find_problems

        warnings = tuple(find_problems(long_table(table.frame, plan), plan.roles))
    added = analysis.with_step(steps.Step(step), finished.result, warnings=warnings)
    return added.records[step]


def _source(table: LoadedTable) -> TableSource:
    return session.memo("source", table.token, lambda: source_of(table.frame))


def current_analysis() -> AnalysisResult | None:
    """Everything so far; None before a table is loaded."""
    table = loaded()
    if table is None:
        return None
    keep_records()
    known = _origins()
    present = {step: done for step in STEPS if (done := session.done(step)) is not None}
    dones = {step: done for step, done in present.items() if done.token in known}
    results = {str(step): done.result for step, done in dones.items()}
    records = {str(step): known[done.token].record for step, done in dones.items()}
    trial = _trial(dones)
    plan = plan_of(dones, table, notes=notes(), trial=trial)
    analysis = AnalysisResult(plan, _source(table), table.frame, results, records, _choices(dones))
    return analysis if trial is None else _with_trial(analysis, dones)


def notes() -> dict[str, str]:
    """What the author wrote on each step."""
    kept: dict[str, Any] = st.session_state.get(Key.KEPT, {})
    found = {name: text for name, text in kept.items() if name.startswith(NOTE)}
    return {name.removeprefix(NOTE): text for name, text in found.items() if text.strip()}


def _trial(dones: Mapping[Step, Done]) -> TrialPlan | None:
    """The trial summary of the Policy page, if it was looked at and is of the present data."""
    last = session.remembered(TRIAL)
    prepared = dones.get(Step.RESCALING)
    if last is None or prepared is None or last[0][0] != prepared.token:
        return None
    _, controls, moderators, coverage = last[0]
    return TrialPlan(controls, moderators, coverage, session.kept("policy.logarithm", False))


def _with_trial(analysis: AnalysisResult, dones: Mapping[Step, Done]) -> AnalysisResult:
    last = session.remembered(TRIAL)
    assert last is not None
    key = (last[0], analysis.plan.trial)
    added = analysis.with_step(steps.Step.TRIAL, last[1])
    record = session.memo(TRIAL_RECORD, key, lambda: added.records[steps.Step.TRIAL])
    return AnalysisResult(
        added.plan,
        added.source,
        added.table,
        added.results,
        {**added.records, str(steps.Step.TRIAL): record},
        added.choices,
    )


def _choices(dones: Mapping[Step, Done]) -> dict[str, Any]:
    """What the pages want to find again."""
    found: dict[str, Any] = {
        KEPT: _kept_choices(),
        SUMMARIES: {str(step): done.summary for step, done in dones.items()},
    }
    policy, prepared = dones.get(Step.POLICY), learned_from()
    if policy is not None and prepared is not None and prepared is not _result(dones):
        found[LEARNED] = prepared
    return found


def choices_so_far() -> str:
    """A digest of what was chosen on the pages."""
    return fingerprint(_kept_choices())


def _kept_choices() -> dict[str, Any]:
    kept: dict[str, Any] = st.session_state.get(Key.KEPT, {})
    return {n: v for n, v in kept.items() if n not in LARGE and _is_plain(v)}


def _result(dones: Mapping[Step, Done]) -> Any:
    return dones[Step.RESCALING].result if Step.RESCALING in dones else None


def _is_plain(value: object) -> bool:
    try:
        to_plain(value, {})
    except (TypeError, ValueError):
        return False
    return True


def put_into_session(analysis: AnalysisResult, workbook: bytes = b"") -> None:
    """Open an analysis with its table in place of whatever the session holds.

    `workbook`: the file that the table was read from just now, if it was.
    """
    assert analysis.table is not None
    frame = analysis.table
    frame.attrs.setdefault("fingerprint", analysis.source.fingerprint)
    session.forget_results()
    name = analysis.source.name
    table = LoadedTable(
        name, workbook, analysis.plan.reading.sheet, sheets_of(name, workbook), frame
    )
    st.session_state[Key.TABLE] = table
    session.forget_choices()
    kept = analysis.choices.get(KEPT)
    for name, value in (plan_choices(analysis, table) if kept is None else kept).items():
        session.keep(name, value)
    for step, text in analysis.plan.notes.items():
        session.keep(f"{NOTE}{step}", text)
    states = currency(analysis.plan, analysis)
    for step in STEPS:
        if step in analysis.results:
            is_current = states[steps.Step(step)] == "current"
            finished = _as_done(step, analysis, is_current)
            session.put_back(step, finished)
            _origins()[finished.token] = Origin(finished, analysis.records[step])
    _put_back_policy(analysis)
    session.start_visit_anew()


def _as_done(step: Step, analysis: AnalysisResult, is_current: bool) -> Done:
    record, result = analysis.records[step], analysis.results[step]
    settings, how = page_settings(step, analysis)
    if not how.task:
        token = session.token_for(step, settings)
    else:
        variables: tuple[str, ...] = ()
        if step == Step.SCREENING and analysis.prepared is not None:
            variables = analysis.prepared.trajectories.variables
        elif step == Step.FEATURES:
            variables = result.variables
        token = session.token_of_job(step, how, variables, settings)
    if not record.complete:
        token += session.STOPPED_EARLY
    made_from = session.token_before(step, how)
    if not is_current:
        token, made_from = f"{token}, earlier", f"{made_from}, earlier"
    summary = analysis.choices.get(SUMMARIES, {}).get(step, record.summary)
    return Done(made_from, token, settings, result, summary, how)


def _put_back_policy(analysis: AnalysisResult) -> None:
    """What the policy was learned from, and the trial summary beside it."""
    learned, prepared = session.done(Step.POLICY), session.done(Step.RESCALING)
    if learned is not None:
        data = analysis.choices.get(LEARNED, analysis.prepared)
        session.keep(LEARNED_FROM, {learned.made_from: data})
    if analysis.trial is not None and prepared is not None:
        record = analysis.records[steps.Step.TRIAL]
        asked: TrialPlan = record.asked
        key = (prepared.token, tuple(asked.controls), tuple(asked.moderators), asked.coverage)
        session.remember(TRIAL, key, analysis.trial)
        session.remember(TRIAL_RECORD, (key, asked), record)

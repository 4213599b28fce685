"""What an analysis was at each of its turns, and the way back to any of them.

A turn is whatever a person did that changed the plan, or what was found. Nothing that was once
reached is lost by going back: undo moves to the turn before, redo forward again; another change
after an undo ends what can be redone, and what was undone stays in the list, to go back to. Going
back to any turn is a turn itself, so that it can be undone.

A turn holds plan and records, not results: these are found by their records (`KnownResults`), or
made again from the same settings. What was locked stays locked, and notes stay as they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from smdp.analysis.analysis import Analysis
from smdp.analysis.changes import what_changed
from smdp.analysis.known_results import KnownResults
from smdp.analysis.plan import plan_from_json, plan_to_json
from smdp.analysis.provenance import StepRecord, now
from smdp.errors import SmdpError
from smdp.steps import Step, step_named, steps
from smdp.text import listing, shorten

MOST_TURNS = 80
#: Of results of earlier turns that go into a saved file.
MOST_SAVED_BYTES = 16_000_000
LONGEST_LINE = 200


@dataclass(frozen=True, eq=False)
class Turn:
    """`at`: when, UTC. `said`: what was done, a line for each thing. `before`: the number of the
    turn that undo leads to, None at the beginning. `state`: the analysis without its results.
    `back`: one went back to an earlier turn, and `said` is what was done there.
    """

    number: int
    at: str
    said: tuple[str, ...]
    before: int | None
    state: Analysis
    back: bool = False

    @property
    def headline(self) -> str:
        first = self.said[0] if self.said else ""
        return f"Back to: {first}" if self.back else first

    @cached_property
    def plan_text(self) -> str:
        """The plan as it is saved."""
        return plan_to_json(self.state.plan)


@dataclass(frozen=True, eq=False)
class BroughtBack:
    """An analysis as it was, and the steps whose results have to be made again."""

    analysis: Analysis
    lost: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class AnalysisHistory:
    """`turns`: in the order of time. `at`: the number of the present one. `ahead`: those that redo
    leads to, the next first.
    """

    turns: tuple[Turn, ...]
    at: int
    ahead: tuple[int, ...] = ()

    @classmethod
    def begin(cls, analysis: Analysis) -> AnalysisHistory:
        """With what is there already."""
        done = [step.title for step in steps() if step.name in analysis.results]
        said = f"Loaded: {shorten(analysis.source.name)}"
        if done:
            said = f"Opened: {shorten(analysis.source.name)}, with {listing(done, 20)}"
        return cls((Turn(1, now(), (said,), None, bare(analysis)),), 1)

    @property
    def present(self) -> Turn:
        return self[self.at]

    def __getitem__(self, number: int) -> Turn:
        return next(turn for turn in self.turns if turn.number == number)

    @property
    def undone(self) -> AnalysisHistory | None:
        """One turn back; None at the beginning."""
        before = self.present.before
        return None if before is None else replace(self, at=before, ahead=(self.at, *self.ahead))

    @property
    def redone(self) -> AnalysisHistory | None:
        """Forward again; None where nothing was undone since the last change."""
        return replace(self, at=self.ahead[0], ahead=self.ahead[1:]) if self.ahead else None

    def changed(self, analysis: Analysis) -> AnalysisHistory:
        """With another turn where the analysis is no longer what it was at the present one."""
        state = bare(analysis)
        said = what_changed(self.present.state, state)
        return self._with(said, state) if said else self

    def with_more(self, analysis: Analysis) -> AnalysisHistory:
        """The present turn with what was made since, which nobody asked for."""
        present = replace(self.present, state=bare(analysis))
        turns = (present if turn.number == self.at else turn for turn in self.turns)
        return replace(self, turns=tuple(turns))

    def back_to(self, number: int) -> AnalysisHistory:
        """Another turn, at which everything is as it was at that one."""
        return self._with(self[number].said, self[number].state, back=True)

    def _with(
        self, said: tuple[str, ...], state: Analysis, *, back: bool = False
    ) -> AnalysisHistory:
        number = max(turn.number for turn in self.turns) + 1
        turn = Turn(number, now(), said, self.at, state, back)
        whole = AnalysisHistory((*self.turns, turn), number)
        over = [each.number for each in self.turns if each.number != self.at]
        return whole.without(set(over[: max(len(whole.turns) - MOST_TURNS, 0)]))

    def without(self, numbers: set[int]) -> AnalysisHistory:
        """Without these turns, of which the present one is none: undo passes over them."""
        left_out = numbers - {self.at}
        before = {turn.number: turn.before for turn in self.turns}

        def first_kept(number: int | None) -> int | None:
            while number in left_out:
                number = before[number]
            return number

        def kept(turn: Turn) -> Turn:
            led_to = first_kept(turn.before)
            return turn if led_to == turn.before else replace(turn, before=led_to)

        return AnalysisHistory(
            tuple(kept(turn) for turn in self.turns if turn.number not in left_out),
            self.at,
            tuple(number for number in self.ahead if number not in left_out),
        )

    def brought_back(self, known: KnownResults, present: Analysis) -> BroughtBack:
        """The analysis as it was at this history's present turn.

        Results that are not known any more are made anew where that takes moments.
        """
        state = self.present.state
        every = {name: known.find_record(record) for name, record in state.records.items()}
        held = {name: own for name, own in every.items() if own is not None}
        analysis = replace(
            state,
            plan=state.plan.replace(notes=present.plan.notes),
            table=state.table if state.table is not None else present.table,
            results={name: own.result for name, own in held.items()},
            records={name: own.record for name, own in held.items()},
            locked=present.locked,
            choices={},
        )
        lost = [step for step in steps() if every.get(step.name, analysis) is None]
        for step in lost:
            if analysis.table is not None:
                analysis = _made_again(analysis, step, state.records[step.name])
        return BroughtBack(
            analysis, tuple(step for step in lost if step.name not in analysis.results)
        )


def _made_again(analysis: Analysis, step: Step, record: StepRecord) -> Analysis:
    """With that step done as the record says, if that gives the same again."""
    if not _can_be_made_again(analysis, step, record):
        return analysis
    with contextlib.suppress(SmdpError):
        made = analysis.run_one(step)
        if made.records[step.name].output == record.output:
            return made.with_record(record, made.results[step.name])
    return analysis


def _can_be_made_again(analysis: Analysis, step: Step, record: StepRecord) -> bool:
    """Whether it takes moments, and is what the plan asks for."""
    asked = record.asked == step.asked_by(analysis.plan)
    return step.personal and asked and record.inputs == analysis.inputs(step)


def bare(analysis: Analysis) -> Analysis:
    """What of an analysis a turn holds: no results, and nothing of the author's own words."""
    plan = analysis.plan
    if plan.notes or plan.stop_after is not None:
        plan = plan.replace(notes={}, stop_after=None)
    return replace(analysis, plan=plan, results={}, stopped="", locked=None)


# As plain data, of kinds that every version of saved files knows.


def history_to_plain(
    history: AnalysisHistory,
    known: KnownResults,
    analysis: Analysis,
    most_bytes: int = MOST_SAVED_BYTES,
) -> dict[str, Any]:
    """To go with that analysis, with results of other turns, the latest first, up to the bound.

    Results that take moments to make again are left out, and turns of another table, which does not
    go with it.
    """
    other = {turn.number for turn in history.turns if not _of_these_tables(turn.state, analysis)}
    history = history.without(other)
    plans: dict[str, int] = {}
    records: dict[int, tuple[int, StepRecord]] = {}

    def of_turn(turn: Turn) -> dict[str, Any]:
        made = turn.state.records.values()
        return {
            "number": turn.number,
            "at": turn.at,
            "said": turn.said,
            "back": turn.back,
            "before": turn.before,
            "plan": plans.setdefault(turn.plan_text, len(plans)),
            "records": tuple(records.setdefault(id(r), (len(records), r))[0] for r in made),
            "outcome hidden": turn.state.outcome_hidden,
            "choices": dict(turn.state.choices),
        }

    turns = tuple(map(of_turn, history.turns))
    return {
        "turns": turns,
        "at": history.at,
        "ahead": history.ahead,
        "plans": tuple(plans),
        "records": tuple(record for _, record in records.values()),
        "results": tuple(_worth_saving(history, known, analysis, most_bytes)),
    }


def _of_these_tables(state: Analysis, analysis: Analysis) -> bool:
    return (
        state.source.fingerprint == analysis.source.fingerprint
        and len(state.versions) == len(analysis.versions)
        and all(
            each.name in state.tables
            and each.name in analysis.tables
            and state.tables[each.name].source == analysis.tables[each.name].source
            for each in state.plan.tables
        )
    )


def _worth_saving(
    history: AnalysisHistory, known: KnownResults, analysis: Analysis, most_bytes: int
) -> Iterator[tuple[StepRecord, Any]]:
    room, seen = most_bytes, {id(result) for result in analysis.results.values()}
    ahead = [history[number] for number in history.ahead]
    for turn in (*ahead, *reversed(history.turns)):
        for record in turn.state.records.values():
            found = known.find_record(record)
            if found is None or id(found.result) in seen or found.size > room:
                continue
            if _can_be_made_again(turn.state, step_named(record.step), record):
                continue
            seen.add(id(found.result))
            room -= found.size
            yield found.record, found.result


def history_from_plain(found: Any, analysis: Analysis) -> AnalysisHistory | None:
    """What `history_to_plain` wrote; None where it is not that: a file may hold anything."""
    try:
        history = _read(found, analysis)
        numbers = {turn.number for turn in history.turns}
        led_to = {history.at, *history.ahead} | {turn.before for turn in history.turns} - {None}
        whole = led_to <= numbers and len(numbers) == len(history.turns) <= MOST_TURNS
        forward = all(turn.before is None or turn.before < turn.number for turn in history.turns)
        return history if whole and forward else None
    except (SmdpError, TypeError, ValueError, KeyError, AttributeError, LookupError):
        return None


def results_from_plain(found: Any) -> Iterator[tuple[StepRecord, Any]]:
    """The results of earlier turns in it, those that are what they are called."""
    pairs = found.get("results", ()) if isinstance(found, Mapping) else ()
    for pair in pairs if isinstance(pairs, tuple) else ():
        with contextlib.suppress(SmdpError, TypeError, ValueError, KeyError):
            record, result = pair
            known = isinstance(record, StepRecord)
            if known and isinstance(result, step_named(record.step).result_type()):
                yield record, result


def _read(found: Any, analysis: Analysis) -> AnalysisHistory:
    if max(len(found["turns"]), len(found["plans"])) > MOST_TURNS:
        raise ValueError
    plans = [plan_from_json(text) for text in found["plans"]]
    records = [_of_kind(record, StepRecord) for record in found["records"]]

    def turn(own: Mapping[str, Any]) -> Turn:
        made = [records[_of_kind(place, int)] for place in own["records"]]
        before = own["before"]
        at = _of_kind(own["at"], str)
        datetime.fromisoformat(at)
        state = replace(
            bare(analysis),
            plan=plans[_of_kind(own["plan"], int)],
            records={step_named(record.step).name: record for record in made},
            outcome_hidden=bool(own["outcome hidden"]),
            choices=dict(_of_kind(own["choices"], dict)),
        )
        said = tuple(shorten(_of_kind(line, str), LONGEST_LINE) for line in own["said"])
        return Turn(
            _of_kind(own["number"], int),
            at,
            said,
            None if before is None else _of_kind(before, int),
            state,
            _of_kind(own["back"], bool),
        )

    ahead = tuple(_of_kind(number, int) for number in found["ahead"])
    return AnalysisHistory(tuple(map(turn, found["turns"])), _of_kind(found["at"], int), ahead)


def _of_kind(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value

"""What was done between two states of an analysis, in the clinic's words, a line for each thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smdp.analysis.analysis import Analysis
from smdp.analysis.deviations import ADDED, LEFT_OUT, NONE, WORDS, Deviation, plan_deviations
from smdp.analysis.provenance import StepRecord
from smdp.steps import Step, steps
from smdp.text import listing, shorten

MOST_LINES = 8
MOST_NAMES = 4
LONGEST = 160
ADDING = f"{ADDED}: "


def what_changed(before: Analysis, after: Analysis) -> tuple[str, ...]:
    """Nothing where they ask for the same, and what was made is the same.

    Results that are no longer there are no change: nobody did that.
    """
    lines = list(_lines(before, after))
    more = len(lines) - MOST_LINES
    return tuple(lines) if more <= 1 else (*lines[:MOST_LINES], f"and {more} more changes")


def _lines(before: Analysis, after: Analysis) -> Iterator[str]:
    another = before.source.fingerprint != after.source.fingerprint
    if len(after.versions) > len(before.versions):
        yield f"A new version begun: {_file(after)}"
    elif another:
        yield f"Another table: {_file(after)}"
    if before.outcome_hidden != after.outcome_hidden:
        yield "Outcome hidden" if after.outcome_hidden else "Outcome shown"
    found = () if another else plan_deviations(before.plan, after.plan)
    for step in steps():
        own = [each for each in found if each.place.split(".")[0] == step.name]
        yield from _of_step(step, before, after, own)


def _file(analysis: Analysis) -> str:
    sheet = analysis.plan.reading.sheet
    name = shorten(analysis.source.name)
    return name if sheet is None else f"{name}, sheet {shorten(sheet)}"


def _of_step(
    step: Step, before: Analysis, after: Analysis, found: Sequence[Deviation]
) -> Iterator[str]:
    old, new = before.records.get(step.name), after.records.get(step.name)
    made = new is not None and not same_record(old, new)
    if new is not None and made and old is None:
        yield f"{step.title}: {shorten(new.summary, LONGEST)}"
        return
    told = list(_settings(step, before, after, found))
    yield from told
    if new is not None and old is not None and made:
        summary = shorten(new.summary, LONGEST)
        if not told:
            yield f"{step.title}, again: {summary}"
        elif new.summary != old.summary:
            yield f"{step.title}: now {summary}"


def same_record(one: StepRecord | None, other: StepRecord) -> bool:
    """Whether both are of the same result, made in the same way."""
    return one is other or (
        one is not None
        and (one.output, one.complete) == (other.output, other.complete)
        and dict(one.inputs) == dict(other.inputs)
        and one.asked == other.asked
    )


def _settings(
    step: Step, before: Analysis, after: Analysis, found: Sequence[Deviation]
) -> Iterator[str]:
    files = set(step.files(before.plan))
    loaded = [each.file for each in step.files(after.plan) if each not in files and each.file]
    if loaded and found and step.name != "data":  # joining says it in the words of its own step
        yield f"{step.title}: {listing(loaded)} loaded"
        return
    states = [each for each in found if each.what == WORDS["states"]]
    yield from _columns([each.planned for each in states if each.done == LEFT_OUT], LEFT_OUT)
    added = [each.done.removeprefix(ADDING) for each in states if each.done.startswith(ADDING)]
    yield from _columns(added, ADDED)
    for each in found:
        if each in states and (each.done == LEFT_OUT or each.done.startswith(ADDING)):
            continue
        yield shorten(_words(step, each), LONGEST)


def _columns(names: Sequence[str], what: str) -> Iterator[str]:
    where = "out of the state" if what == LEFT_OUT else "to the state"
    done = "left" if what == LEFT_OUT else "added"
    if names:
        column = "Column" if len(names) == 1 else "Columns"
        yield f"{column} {listing(names, MOST_NAMES)} {done} {where}"


def _words(step: Step, each: Deviation) -> str:
    if each.what == "The step":
        return f"{step.title}: {'planned' if each.done == ADDED else each.done}"
    what = f"{each.what[:1].lower()}{each.what[1:]}"
    if each.done == LEFT_OUT:
        return f"{step.title}: {what} {each.planned} left out"
    if each.done.startswith(ADDING) and each.planned == NONE:
        return f"{step.title}: {what} {each.done.removeprefix(ADDING)} added"
    return f"{step.title}: {what} {each.planned} → {each.done}"

"""What was run against what was planned: every setting that differs, in the clinic's words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from smdp.analysis.plan import AnalysisPlan
from smdp.data.shaping.operation import Operation
from smdp.result import same_content
from smdp.settings import Setting
from smdp.steps import Step, steps
from smdp.text import listing, shorten

#: What fields are called that are not settings of a form.
WORDS = {
    "subject": "Who is the person",
    "time": "Time of a decision",
    "action": "Action",
    "states": "State variables",
    "utility": "Outcome",
    "available": "Availability",
    "probability": "Probability of treatment",
    "action_levels": "Levels of the action",
    "lags": "Earlier values in the state",
    "action_lags": "Earlier actions in the state",
    "add_time": "Number of the decision in the state",
    "known_before": "Known before the decision, by the author's account",
    "assignment": "Randomised or observed",
    "outcome": "About the outcome",
    "kind": "Kind",
    "unit": "Unit",
    "low": "Lowest value",
    "high": "Highest value",
    "group": "Vector",
    "variable": "Next value of",
    "sign": "More or less is better",
    "less_is_better": "Less is better",
    "sheet": "Sheet",
    "layout": "Layout of the table",
    "missing_codes": "Codes for missing values",
    "shape": "Shaping",
    "tables": "Joined tables",
    "labels": "Names of columns",
    "choices": "Names of values",
    "settings": "",
    "imputation": "",
}
#: So many columns with one and the same change are told in one line.
MANY = 8
NONE, LEFT_OUT, ADDED, NOT_DONE = "none", "left out", "added", "not done"


@dataclass(frozen=True)
class Deviation:
    """One thing that differs. `what`: in words; `place`: its key in the plan."""

    step: str  # its title
    what: str
    planned: str
    done: str
    place: str


def plan_deviations(planned: AnalysisPlan, done: AnalysisPlan) -> tuple[Deviation, ...]:
    """Everything in which one plan asks for something else than another; notes do not count."""
    return tuple(_each(planned, {step.name: step.asked_by(done) for step in _included(done)}))


def _included(plan: AnalysisPlan) -> tuple[Step, ...]:
    return plan.steps


def deviations_from(
    planned: AnalysisPlan,
    now: AnalysisPlan,
    done: Mapping[str, Any],
) -> tuple[Deviation, ...]:
    """The same of an analysis: steps that were done as they were done, others as `now` asks.

    `done`: what each step that has a result was asked. A planned step that was not done is one.
    """
    asked = {step.name: step.asked_by(now) for step in now.steps} | dict(done)
    return tuple(_each(planned, asked, set(done)))


def _each(
    planned: AnalysisPlan, asked: Mapping[str, Any], done: set[str] | None = None
) -> Iterator[Deviation]:
    wanted = {step.name: step.asked_by(planned) for step in planned.steps}
    for step in steps():
        if not step.sections:
            continue  # it is asked for by what the plan says of others
        before, after = wanted.get(step.name), asked.get(step.name)
        if before is None and after is None:
            continue
        if before is None:
            yield Deviation(step.title, "The step", NONE, ADDED, step.name)
        elif after is None:
            yield Deviation(step.title, "The step", "planned", LEFT_OUT, step.name)
        else:
            yield from _differences(step.title, before, after, step.name, "")
            if done is not None and step.name not in done:
                yield Deviation(step.title, "The step", "planned", NOT_DONE, step.name)


def _differences(step: str, before: Any, after: Any, place: str, what: str) -> Iterator[Deviation]:
    if same_content(before, after):
        return
    if _list_of(before, after, Operation):
        yield from _shaping(step, before, after, place, what)
    elif _named(before) and _named(after):
        yield from _by_name(step, before, after, place, what)
    elif _parts(before) and _parts(after):
        yield from _numbered(step, before, after, place, what)
    elif is_dataclass(before) and type(before) is type(after):
        for each in fields(before):
            known = each.metadata.get("setting")
            own = _label(each.name, known)
            inner = ": ".join(filter(None, (what, own)))
            yield from _differences(
                step,
                getattr(before, each.name),
                getattr(after, each.name),
                f"{place}.{each.name}",
                inner,
            )
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for keys in _changed_alike(before, after):
            old, new = before.get(keys[0]), after.get(keys[0])
            if len(keys) > MANY:
                told = f"{what}: {len(keys)} columns, {listing(map(repr, keys), MANY)}"
                yield Deviation(step, told, _text(old), _text(new), f"{place}.{keys[0]}")
                continue
            for key in keys:
                title, where = f"{what}: '{_cut(key)}'", f"{place}.{key}"
                yield from _differences(step, before.get(key), after.get(key), where, title)
        if list(before) != list(after) and dict(before) == dict(after):
            order = (listing(before, 20), listing(after, 20))
            yield Deviation(step, f"{what}: order", *order, place)
    else:
        yield Deviation(step, what or "Settings", _text(before), _text(after), place)


def _changed_alike(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[str]]:
    """The keys whose value differs, those with the same change together."""
    found: dict[tuple[str, str], list[str]] = {}
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if not same_content(old, new):
            found.setdefault((repr(old), repr(new)), []).append(key)
    return list(found.values())


def _label(name: str, known: Setting | None) -> str:
    if known is not None and known.title:
        return known.title
    return WORDS.get(name, name.replace("_", " ").capitalize())


def _list_of(before: Any, after: Any, kind: type) -> bool:
    both = isinstance(before, tuple) and isinstance(after, tuple)
    return both and bool(before + after) and all(isinstance(e, kind) for e in (*before, *after))


def _named(value: Any) -> bool:
    """A list of things that each have a name of their own."""
    if not isinstance(value, tuple) or not value:
        return False
    names = [getattr(each, "name", None) for each in value if is_dataclass(each)]
    return len(names) == len(value) == len(set(names)) and all(isinstance(n, str) for n in names)


def _by_name(step: str, before: Any, after: Any, place: str, what: str) -> Iterator[Deviation]:
    old, new = ({each.name: each for each in own} for own in (before, after))
    for name in dict.fromkeys((*old, *new)):
        key = f"{place}.{name}"
        if name not in new:
            yield Deviation(step, what, f"'{_cut(name)}'", LEFT_OUT, key)
        elif name not in old:
            yield Deviation(step, what, NONE, f"{ADDED}: '{_cut(name)}'", key)
        else:
            yield from _differences(step, old[name], new[name], key, f"{what}: '{_cut(name)}'")
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        yield Deviation(step, f"{what}: order", listing(old, 20), listing(new, 20), place)


def _parts(value: Any) -> bool:
    return isinstance(value, tuple) and any(is_dataclass(each) for each in value)


def _numbered(step: str, before: Any, after: Any, place: str, what: str) -> Iterator[Deviation]:
    """Lists of settings, such as several policies: by their place."""
    several = max(len(before), len(after)) > 1 and len({type(e) for e in (*before, *after)}) == 1
    for k in range(max(len(before), len(after))):
        number = f"No. {k + 1}" if several else ""
        inner = ": ".join(filter(None, (what, number)))
        key = f"{place}.{k + 1}"
        if k >= len(after):
            yield Deviation(step, inner or "Settings", _text(before[k]), LEFT_OUT, key)
        elif k >= len(before):
            yield Deviation(step, inner or "Settings", NONE, f"{ADDED}: {_text(after[k])}", key)
        else:
            yield from _differences(step, before[k], after[k], key, inner)


def _shaping(step: str, before: Any, after: Any, place: str, what: str) -> Iterator[Deviation]:
    """Operations in their order: what was left out, what was added."""
    old, new = [repr(each) for each in before], [repr(each) for each in after]
    found = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for kind, a, b, c, d in found.get_opcodes():
        if kind == "equal":
            continue
        pairs = min(b - a, d - c)
        for k in range(pairs):
            texts = (before[a + k].describe(), after[c + k].describe())
            if texts[0] == texts[1]:
                texts = (old[a + k], new[c + k])
            yield Deviation(step, f"{what}: step {a + k + 1}", *texts, f"{place}.{a + k + 1}")
        for k in range(a + pairs, b):
            told = before[k].describe()
            yield Deviation(step, f"{what}: step {k + 1}", told, LEFT_OUT, f"{place}.{k + 1}")
        for k in range(c + pairs, d):
            told = f"{ADDED}: {after[k].describe()}"
            yield Deviation(step, f"{what}: step {k + 1}", NONE, told, f"{place}.{k + 1}")


def _text(value: Any) -> str:
    if value is None or value == "" or value == ():
        return "not set" if value is None else NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, tuple | list):
        return listing([_text(each) for each in value], 40)
    if is_dataclass(value):
        parts = ((each.name, getattr(value, each.name)) for each in fields(value))
        told = [f"{_label(name, None) or name}: {_text(own)}" for name, own in parts]
        return shorten(", ".join(told), 300)
    if isinstance(value, Mapping):
        return listing([f"{_cut(key)}: {_text(own)}" for key, own in value.items()], 40)
    return shorten(value, 120)


def _cut(name: object) -> str:
    return shorten(name, 60)


def deviation_table(found: Iterable[Deviation]) -> pd.DataFrame:
    rows = [(each.step, each.what, each.planned, each.done) for each in found]
    return pd.DataFrame(rows, columns=["step", "what", "planned", "done"])

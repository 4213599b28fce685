"""The appendix: every setting and seed, the data's fingerprint, the programs' versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from smdp.blocks import Block, Listing, Paragraph, table
from smdp.steps import steps
from smdp.steps.versions import VERSIONS_NOTE, versions_table
from smdp.text import plural
from smdp.typed_text import to_table

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

ALL_ROWS = 100_000
FINGERPRINT = 16  # characters that tell results apart
NOT_SET = "not set"  # the default, which may depend on the data


def appendix_blocks(analysis: Analysis) -> list[Block]:
    found: list[Block] = [
        Paragraph(
            "The same plan on the same data gives the same numbers: 'smdp run' takes the plan "
            "below, or the saved analysis itself."
        )
    ]
    found += table("Data", data_table(analysis), most=ALL_ROWS)
    found += table("How each result came to be", record_table(analysis), most=ALL_ROWS)
    found += table(
        "Settings that the results were made with",
        settings_table(analysis),
        "Empty: left to the program.",
        most=ALL_ROWS,
    )
    if analysis.versions:
        found += table(
            "Versions of this analysis",
            versions_table(analysis),
            VERSIONS_NOTE,
            most=ALL_ROWS,
        )
    found += table("Versions", version_table(analysis), most=ALL_ROWS)
    found.append(Listing("The plan", analysis.plan.to_toml()))
    return found


def data_table(analysis: Analysis) -> pd.DataFrame:
    source = analysis.source
    rows = [
        ("Name", source.name),
        ("Size", f"{plural(source.rows, 'row')}, {plural(source.columns, 'column')}"),
        ("SHA-256 of the content", source.fingerprint),
    ]
    if source.file_fingerprint:
        rows.append(("SHA-256 of the file", source.file_fingerprint))
    if source.synthetic:
        rows.append(("Origin", "Synthetic: made by a program, about nobody"))
    for name, each in analysis.tables.items():
        own = each.source
        size = f"{plural(own.rows, 'row')}, {plural(own.columns, 'column')}"
        rows.append((f"Table '{name}'", f"{size}; SHA-256 of the content {own.fingerprint}"))
    rows += [
        (
            f"Version {place}",
            f"{each.data_name}: {each.people:,} people, {each.decisions:,} decisions; SHA-256 of "
            f"the content {each.fingerprint}",
        )
        for place, each in enumerate(analysis.versions, start=1)
    ]
    return pd.DataFrame(rows, columns=["", "data"])


def record_table(analysis: Analysis) -> pd.DataFrame:
    """Each step: when, how long, with which seed, and the result's fingerprint."""
    states = analysis.states()
    rows = [
        {
            "step": step.title,
            "state": states[step.name] + ("" if record.complete else ", stopped before its end"),
            "finished (UTC)": record.finished.replace("T", " ").replace("+00:00", ""),
            "seconds": None if record.seconds is None else round(record.seconds, 1),
            "seed": ", ".join(_seeds(record.asked)),
            "fingerprint of the result": f"{record.output[:FINGERPRINT]}…",
        }
        for step in steps()
        if (record := analysis.records.get(step.name)) is not None
    ]
    return pd.DataFrame(rows)


def settings_table(analysis: Analysis) -> pd.DataFrame:
    """Every setting of every step that has a result, as that result was made."""
    rows = [
        (step.title if place == 0 else "", name, shown(value))
        for step in steps()
        if step.name in analysis.records
        for place, (name, value) in enumerate(flat_settings(analysis.records[step.name].asked))
    ]
    return pd.DataFrame(rows, columns=["step", "setting", "value"])


def version_table(analysis: Analysis) -> pd.DataFrame:
    """Of the programs that made the results, each with all that were in use."""
    found: dict[str, list[str]] = {}
    for record in analysis.records.values():
        for name, number in record.versions.items():
            if number not in found.setdefault(name, []):
                found[name].append(number)
    rows = [(name, ", ".join(numbers)) for name, numbers in found.items()]
    return pd.DataFrame(rows, columns=["program", "version"])


def flat_settings(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(name, value) of every setting, names of nested ones with a dot."""
    if isinstance(value, tuple) and any(is_dataclass(each) for each in value):
        several = len(value) > 1 and len({type(each) for each in value}) == 1
        for place, each in enumerate(value, start=1):
            yield from flat_settings(each, f"{name}{place}" if several else name)
    elif is_dataclass(value):
        for key, own in to_table(value, nulls=True).items():
            inner = f"{name}.{key}" if name else key
            if isinstance(own, Mapping) and own:
                yield from ((f"{inner}.{k}", v) for k, v in own.items())
            else:
                yield inner, own
    else:
        yield name or "units", value


def shown(value: Any) -> str:
    if value is None or value == "":
        return NOT_SET
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        parts = {k: shown(v) for k, v in value.items() if v is not None}
        name = parts.pop("name", "")
        rest = ", ".join(text if k == "kind" else f"{k} {text}" for k, text in parts.items())
        return f"{name} ({rest})" if name and rest else name or rest or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) if value else "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _seeds(asked: Any) -> Iterator[str]:
    for each in asked if isinstance(asked, tuple) else (asked,):
        if hasattr(each, "seed"):
            yield str(each.seed)

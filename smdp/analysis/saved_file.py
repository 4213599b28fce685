"""A whole analysis in one file: a zip of JSON, Parquet and npz, never a pickle.

    manifest.json     the format's number, and the size and SHA-256 of every other part
    plan.json         the plan
    analysis.json     which table it was, and how each result came to be
    results/*.json    each step's result
    arrays.npz        the arrays of the results, each once
    table.parquet     the data as they were read, and table.json: labels and the like
    choices.json      what the dashboard wants to find again: controls, and the history

Without the data, table and choices are left out, and with them the steps whose results are the
values of single people. What stays: the plan, with the names of people left out by hand, and in
a policy the features of the trial's decisions, without names.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smdp import __version__
from smdp.analysis.array_file import Budget, arrays_from_npz, arrays_to_npz
from smdp.analysis.formats import MIGRATIONS
from smdp.analysis.further_tables import FurtherTable
from smdp.analysis.locked_plan import locked_from_toml
from smdp.analysis.plan import AnalysisPlan, plan_from_json, plan_to_json
from smdp.analysis.provenance import StepRecord, TableSource
from smdp.analysis.table_file import (
    ATTRIBUTES,
    checked_attributes,
    table_from_parquet,
    table_to_parquet,
)
from smdp.archive import Archive, changed, is_sealed, pack
from smdp.atomic_write import ORDINARY, write_whole
from smdp.data.files.file_source import UNNAMED, Source, load
from smdp.errors import ReadError, SmdpError
from smdp.plain_data import from_plain, plain_json, to_plain
from smdp.steps import step_named, steps
from smdp.text import listing, shorten
from smdp.validation.versions import Version

if TYPE_CHECKING:
    import pandas as pd

    from smdp.analysis.analysis import Analysis

#: Of the file. Raise it when older versions of smdp could no longer read what is written.
FORMAT = 6
KIND = "smdp analysis"
MANIFEST, PLAN, ANALYSIS, ARRAYS = "manifest.json", "plan.json", "analysis.json", "arrays.npz"
TABLE, TABLE_FACTS, CHOICES = "table.parquet", "table.json", "choices.json"
NEEDED = (PLAN, ANALYSIS, ARRAYS)
POSSIBLE = (*NEEDED, TABLE, TABLE_FACTS, CHOICES)
RESULTS = "results/"
#: Of tables that are joined: the cells and the facts of each, numbered in the order of their names.
FURTHER = re.compile(r"tables/[0-9]+\.(parquet|json)")


def save_analysis(
    analysis: Analysis,
    path: str | PathLike[str],
    *,
    with_data: bool = True,
    mode: int = ORDINARY,
) -> Path:
    """Write the analysis, finished or not, into one file; it is written whole or not at all."""
    return write_whole(Path(path), analysis_to_bytes(analysis, with_data=with_data), mode=mode)


def read_saved(source: Source, *, name: str | None = None) -> dict[str, Any]:
    """The fields of the analysis in a file (a path, the bytes, or an open file).

    A file that was changed, cut short, added to or made by a later version is refused.
    """
    data, found = load(source, name)
    return _from_bytes(data, "the file" if found == UNNAMED else found)


def saved_plan(path: Path) -> AnalysisPlan:
    """The plan alone, without opening the rest."""
    try:
        with zipfile.ZipFile(path) as file:
            return plan_from_json(file.read(PLAN).decode())
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise ReadError(f"'{shorten(path.name)}' cannot be opened.") from None


def analysis_to_bytes(analysis: Analysis, *, with_data: bool = True) -> bytes:
    """What `save_analysis` writes: the same analysis gives the same bytes."""
    if not with_data:
        analysis = without_data(analysis)
    arrays: dict[str, np.ndarray] = {}

    def structure(value: object) -> bytes:
        return plain_json(to_plain(value, arrays)).encode()

    sources = {name: each.source for name, each in analysis.tables.items()}
    parts = {
        PLAN: plan_to_json(analysis.plan).encode(),
        ANALYSIS: structure(
            {
                "source": analysis.source,
                "records": dict(analysis.records),
                "stopped": analysis.stopped,
                **({"tables": sources} if sources else {}),
                **({"outcome hidden": True} if analysis.outcome_hidden else {}),
                **({"locked": analysis.locked.to_toml()} if analysis.locked else {}),
                **({"versions": analysis.versions} if analysis.versions else {}),
            }
        ),
    }
    for step in steps():
        if step.name in analysis.results:
            parts[_member(step.name)] = structure(analysis.results[step.name])
    held = {(TABLE_FACTS, TABLE): analysis.table}
    for place, name in enumerate(sorted(analysis.tables)):
        held[_further(place)] = analysis.tables[name].table
    for (facts, cells), table in held.items():
        if table is not None:
            known = {key: what for key, what in table.attrs.items() if key in ATTRIBUTES}
            parts[facts] = structure(known)
            parts[cells] = table_to_parquet(table)
    if analysis.choices:
        parts[CHOICES] = structure(dict(analysis.choices))
    parts[ARRAYS] = arrays_to_npz(arrays)
    return pack({MANIFEST: _manifest(parts), **parts}, compress=True, seal=True)


def without_data(analysis: Analysis) -> Analysis:
    """The analysis without the values of single people, and without messages that name them."""
    personal = [step.name for step in steps() if step.personal]
    records = {
        name: replace(record, warnings=()) if record.step in personal else record
        for name, record in analysis.records.items()
    }
    results = {name: r for name, r in analysis.results.items() if name not in personal}
    tables = {name: replace(each, table=None) for name, each in analysis.tables.items()}
    return replace(
        analysis, table=None, tables=tables, results=results, records=records, choices={}
    )


def _from_bytes(data: bytes, name: str) -> dict[str, Any]:
    """What `analysis_to_bytes` wrote; `name` is for messages."""
    shown = f"'{shorten(name)}'"
    parts = _parts(data, shown)
    try:
        return _fields(parts, shown)
    except SmdpError as error:
        text = f"{shown} cannot be opened: {error.problem}"
        raise ReadError(text, error.remedy, error.concerns) from None
    except MemoryError:
        raise ReadError(
            f"{shown} takes more memory to open than there is for it.",
            "Close other programs. If you do not know who made it, do not trust it.",
        ) from None
    except Exception:  # what is sealed but does not fit together can fail anywhere
        raise ReadError(
            f"{shown} holds results that this version of smdp ({__version__}) cannot read.",
            "It was saved by another version, or is damaged. Its plan (plan.json inside) can be "
            "run again with 'smdp run'.",
        ) from None


def _manifest(parts: Mapping[str, bytes]) -> bytes:
    members = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in parts.items()
    }
    content = {"kind": KIND, "format": FORMAT, "smdp": __version__, "members": members}
    return json.dumps(content, indent=1).encode()


def _parts(data: bytes, shown: str) -> dict[str, bytes]:
    """Every part but the manifest, each held against it; migrated where the format is older."""
    archive = Archive(data, shown)
    if MANIFEST not in archive.names:
        raise ReadError(
            f"{shown} is not an analysis that smdp saved: it has no {MANIFEST}.",
            "Choose a file that ends in .smdp, or get another copy.",
        )
    made_in, listed = _read_manifest(archive.read(MANIFEST), shown)
    missing = [member for member in listed if member not in archive.names]
    if missing:
        raise ReadError(f"{shown} lacks the part {listing(missing)}.", "Get another copy of it.")
    extra = [member for member in archive.names if member not in (MANIFEST, *listed)]
    if extra:
        raise ReadError(
            f"{shown} has a part that it should not have: {listing(extra)}.",
            "smdp never writes such a file; do not trust it.",
        )
    parts = {}
    for member, expected in listed.items():
        parts[member] = archive.read(member)
        if hashlib.sha256(parts[member]).hexdigest() != expected:
            raise changed(shown, member)
    if not is_sealed(data):
        raise ReadError(
            f"{shown} has been changed or damaged since it was saved.",
            "Get another copy of the file, or save the analysis again.",
        )
    parts = _migrated(parts, made_in, shown)
    known = [*POSSIBLE, *(_member(step.name) for step in steps())]
    unknown = [member for member in parts if member not in known and not FURTHER.fullmatch(member)]
    foreign = [member for member in unknown if member.startswith(RESULTS)]
    if foreign:
        names = [member.removeprefix(RESULTS).removesuffix(".json") for member in foreign]
        raise ReadError(
            f"{shown} holds the result of a step that this version of smdp ({__version__}) does "
            f"not know: {listing(names)}.",
            "Install a later version of smdp, or the package that added this step.",
        )
    lacking = [member for member in NEEDED if member not in parts]
    if unknown or lacking or (TABLE in parts) != (TABLE_FACTS in parts):
        raise ReadError(
            f"{shown} does not have the parts of an analysis: {listing(unknown or lacking)}.",
            "Get another copy of the file.",
        )
    return parts


def _migrated(parts: dict[str, bytes], made_in: int, shown: str) -> dict[str, bytes]:
    """The parts as this version writes them, step by step from the format that they have."""
    try:
        for number in range(made_in, FORMAT):
            parts = MIGRATIONS[number](parts)
    except Exception:  # none from that format on, or one that the file does not fit
        raise ReadError(
            f"{shown} has the old format {made_in}, which this version of smdp ({__version__}) "
            "cannot read.",
            "Open it with the version that saved it (named in its manifest.json) and save its "
            "plan, which this version can run.",
        ) from None
    return parts


def _read_manifest(content: bytes, shown: str) -> tuple[int, dict[str, str]]:
    """The format's number, and the SHA-256 of each part."""
    try:
        manifest = json.loads(content)
        kind, made_in = manifest["kind"], manifest["format"]
        if kind != KIND or type(made_in) is not int or made_in < 1:
            raise ValueError
        if made_in > FORMAT:
            raise ReadError(
                f"{shown} has format {made_in}; this version of smdp ({__version__}) knows "
                f"formats up to {FORMAT}.",
                "Install a later version of smdp.",
            )
        return made_in, {name: str(m["sha256"]) for name, m in manifest["members"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise changed(shown, MANIFEST) from None


def _fields(parts: Mapping[str, bytes], shown: str) -> dict[str, Any]:
    arrays = Budget(arrays_from_npz(parts[ARRAYS], shown), shown)

    def value(member: str) -> Any:
        return from_plain(json.loads(parts[member]), arrays)

    about = value(ANALYSIS)
    results = {
        step.name: value(_member(step.name)) for step in steps() if _member(step.name) in parts
    }

    def held(facts: str, cells: str) -> pd.DataFrame | None:
        if cells not in parts:
            return None
        table = table_from_parquet(parts[cells], shown)
        table.attrs = checked_attributes(value(facts))
        return table

    sources = about.get("tables", {})
    tables = {
        name: FurtherTable(sources[name], held(*_further(place)))
        for place, name in enumerate(sorted(sources))
    }
    records = about["records"]
    versions = tuple(about.get("versions", ()))
    choices = value(CHOICES) if CHOICES in parts else {}
    fit = (
        isinstance(choices, dict)
        and all(isinstance(name, str) for name in choices)
        and all(isinstance(source, TableSource) for source in (about["source"], *sources.values()))
        and all(isinstance(record, StepRecord) for record in records.values())
        and all(step in records for step in results)
        and all(isinstance(version, Version) for version in versions)
        and all(isinstance(r, step_named(s).result_type()) for s, r in results.items())
    )
    if not fit:
        raise TypeError
    return {
        "plan": plan_from_json(parts[PLAN].decode()),
        "source": about["source"],
        "table": held(TABLE_FACTS, TABLE),
        "tables": tables,
        "results": results,
        "records": records,
        "choices": choices,
        "versions": versions,
        "stopped": str(about["stopped"]),
        "outcome_hidden": bool(about.get("outcome hidden", False)),
        "locked": locked_from_toml(about["locked"]) if "locked" in about else None,
    }


def _further(place: int) -> tuple[str, str]:
    """The parts that hold the facts and the cells of a table that is joined."""
    return f"tables/{place}.json", f"tables/{place}.parquet"


def _member(step: str) -> str:
    """The part of the file that holds a step's result."""
    return f"{RESULTS}{step}.json"

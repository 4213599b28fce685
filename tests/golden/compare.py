"""The tables of a golden analysis as exact text, kept on disk, and how two of them differ."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import zipfile
from collections.abc import Iterator, Mapping
from csv import reader
from importlib.metadata import version
from io import StringIO
from itertools import zip_longest
from pathlib import Path

import torch
from threadpoolctl import threadpool_info

from smdp.analysis.analysis import Analysis
from smdp.analysis.saved_file import FORMAT
from smdp.analysis.tables import result_tables
from smdp.data.export import to_csv

HERE = Path(__file__).resolve().parent
TABLES = HERE / "tables"
#: A folder of the same analyses for each format that files ever had.
SAVED = {number: HERE / f"format-{number}" for number in range(1, FORMAT)}
FINGERPRINTS, MADE_ON = HERE / "tables.json", HERE / "made_on.json"
#: Whatever can change the last digit.
LIBRARIES = ("dcor", "numba", "numpy", "pandas", "scipy", "statsmodels", "torch")
#: Numbers on another kind of processor: networks are trained alike, but not to the last digit.
RELATIVE, ABSOLUTE = 1e-5, 1e-7

#: Tables that there were not yet when the files were made.
ADDED_SINCE = (
    "participants",
    "flow",
    "effects-standardised",
    "effects-by-variable",
    "effects-over-time",
    "effects-later",
)

Tables = Mapping[str, bytes]


def golden_tables(analysis: Analysis) -> dict[str, bytes]:
    """Every table of the analysis by its name, as CSV with all digits of every number."""
    return {
        table.name: to_csv(table.frame)
        for table in result_tables(analysis)
        if table.name not in ADDED_SINCE
    }


def done_steps(analysis: Analysis) -> tuple[str, ...]:
    """The steps that have a result, in their order."""
    return tuple(str(step) for step in analysis.results)


def fingerprints(tables: Tables) -> dict[str, str]:
    return {name: hashlib.sha256(text).hexdigest() for name, text in tables.items()}


def write_tables(tables: Tables, path: Path) -> None:
    """One zip, the same bytes for the same tables."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, text in tables.items():
            member = zipfile.ZipInfo(f"{name}.csv")
            member.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(member, text)


def stored_tables(name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(TABLES / f"{name}.zip") as file:
        return {member.removesuffix(".csv"): file.read(member) for member in file.namelist()}


def differences(study: str, expected: Tables, found: Tables, *, exact: bool) -> list[str]:
    """Each table or cell that is not as expected: study, table, column, row and both values."""
    listed = []
    for table in dict.fromkeys([*expected, *found]):
        if table not in found:
            listed.append(f"{study}, table '{table}': is gone")
        elif table not in expected:
            listed.append(f"{study}, table '{table}': was not there before")
        elif expected[table] != found[table]:
            cells = _cells(expected[table], found[table], exact=exact)
            listed += [f"{study}, table '{table}', {cell}" for cell in cells]
    return listed


def _cells(expected: bytes, found: bytes, *, exact: bool) -> Iterator[str]:
    before, after = _rows(expected), _rows(found)
    if before[0] != after[0]:
        yield f"columns: expected {before[0]}, found {after[0]}"
        return
    if len(before) != len(after):
        yield f"rows: expected {len(before) - 1}, found {len(after) - 1}"
    quiet = True
    for row, (old, new) in enumerate(zip_longest(before[1:], after[1:], fillvalue=[]), start=1):
        for column, a, b in zip_longest(before[0], old, new, fillvalue="(nothing)"):
            if a != b and (exact or not _close(a, b)):
                quiet = False
                yield f"column '{column}', row {row}: expected {a}, found {b}"
    if exact and quiet and len(before) == len(after):
        yield "the cells are equal, but not the bytes of the text"


def _rows(text: bytes) -> list[list[str]]:
    return list(reader(StringIO(text.decode("utf-8-sig"), newline="")))


def _close(a: str, b: str) -> bool:
    try:
        return math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except ValueError:
        return False


def this_machine() -> dict[str, object]:
    """What the last digits depend on: the libraries and the kind of processor."""
    kernels = {
        f"{pool.get('prefix', '')} {pool.get('architecture', '')}".strip()
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {
        "libraries": {name: version(name) for name in LIBRARIES},
        "processor": {
            "machine": platform.machine(),
            "torch": torch.backends.cpu.get_cpu_capability(),
            "blas": sorted(kernels),
            **_processor_facts(),
        },
    }


def other_than_made_on() -> list[str]:
    """In what this machine differs from the one that made the files; nothing if it is alike."""
    made, here = json.loads(MADE_ON.read_text(encoding="utf-8")), this_machine()
    return [
        f"{part} {name}: made on {made[part].get(name)}, here {here[part].get(name)}"
        for part in ("libraries", "processor")
        for name in dict.fromkeys([*made[part], *here[part]])
        if made[part].get(name) != here[part].get(name)
    ]


def _processor_facts() -> dict[str, str]:
    """From the description of the first processor, where the system has one."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return {"model": platform.processor()}
    first = file.read_text(encoding="utf-8").split("\n\n")[0]
    lines = (line.partition(":") for line in first.splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    flags = " ".join(sorted(facts.get("flags", facts.get("Features", "")).split()))
    return {
        "model": facts.get("model name", ""),
        "family": facts.get("cpu family", ""),
        "flags": hashlib.sha256(flags.encode()).hexdigest(),
    }

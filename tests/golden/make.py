"""The golden analyses, made anew in the present format: files, plans, tables, and on what machine.

    cd tests && python -m golden.make [name ...]     without names: all

They were made before the code was rearranged, and show that no number changed since. Make the files
before the format changes, so that one of every format is kept; keep the tables, except where a
number is meant to change, and say in the changelog which and why.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from golden.compare import (
    FINGERPRINTS,
    HERE,
    MADE_ON,
    TABLES,
    fingerprints,
    golden_tables,
    this_machine,
    write_tables,
)
from golden.studies import golden_studies

from smdp.analysis.analysis import Analysis, run_analysis
from smdp.analysis.saved_file import FORMAT, save_analysis

FOLDER = HERE / f"format-{FORMAT}"


def main(names: list[str]) -> None:
    studies = golden_studies()
    for folder in (FOLDER, TABLES):
        folder.mkdir(exist_ok=True)
    kept = json.loads(FINGERPRINTS.read_text(encoding="utf-8")) if FINGERPRINTS.exists() else {}
    for name in names or list(studies):
        table, plan = studies[name]
        analysis = _at_no_time(run_analysis(table, plan))
        save_analysis(analysis, FOLDER / f"{name}.smdp")
        save_analysis(analysis, FOLDER / f"{name}-without-data.smdp", with_data=False)
        (FOLDER / f"{name}.toml").write_text(plan.to_toml(), encoding="utf-8", newline="\n")
        tables = golden_tables(analysis)
        write_tables(tables, TABLES / f"{name}.zip")
        kept[name] = fingerprints(tables)
    _write_json({name: kept[name] for name in studies if name in kept}, FINGERPRINTS)
    _write_json(this_machine(), MADE_ON)


def _at_no_time(analysis: Analysis) -> Analysis:
    """The records without the clock, so that made twice the files are the same."""
    records = {
        step: replace(record, finished="2026-01-01T00:00:00+00:00", seconds=1.0)
        for step, record in analysis.records.items()
    }
    return replace(analysis, records=records)


def _write_json(content: object, path: Path) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

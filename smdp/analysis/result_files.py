"""The results of an analysis as a folder of files."""

from __future__ import annotations

from pathlib import Path

from smdp.analysis.analysis import Analysis
from smdp.analysis.saved_file import save_analysis, without_data
from smdp.analysis.summary import summary_text
from smdp.analysis.tables import result_tables
from smdp.atomic_write import make_folder, write_whole
from smdp.data.export import to_csv

ANALYSIS, PLAN, SCRIPT, SUMMARY = "analysis.smdp", "plan.toml", "script.py", "summary.txt"
TABLES = "tables"


def write_results(analysis: Analysis, folder: Path, *, with_data: bool = True) -> tuple[Path, ...]:
    """Write the analysis, its plan, script, summary and tables, and return the files written.

    Without the data, nothing is written that holds values or names of single people. Tables of a
    step that is out of date say so in their names, and the summary begins with it.
    """
    if not with_data:
        analysis = without_data(analysis)
    make_folder(folder / TABLES)
    texts = {
        PLAN: analysis.plan.to_toml(),
        SCRIPT: analysis.plan.to_script(),
        SUMMARY: summary_text(analysis),
    }
    written = [save_analysis(analysis, folder / ANALYSIS)]
    written += [write_whole(folder / name, text.encode()) for name, text in texts.items()]
    for table in result_tables(analysis):
        path = folder / TABLES / table.file_name
        written.append(write_whole(path, to_csv(table.frame)))
    return tuple(written)

"""Run before the tests: what is compiled when it is first used, into the store on the disk.

Each of their processes would else compile it anew as long as no other one has finished: on a fresh
checkout half a minute of each.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dcor  # noqa: F401 - compiles itself when it is imported
from small_trial import quick_plan, study_frame

from smdp.analysis.analysis import run_analysis


def main() -> None:
    """Every step, with as little work as it takes."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "study.csv"
        study_frame().to_csv(table, index=False)
        run_analysis(table, quick_plan())


if __name__ == "__main__":
    main()

"""How long imputing a whole trial takes, next to R's loess on the same series.

Usage: python bench/impute.py [heartsteps_v1.csv]; by default the one in ../shared.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from smdp.data.column_roles import ColumnRoles
from smdp.data.impute import impute
from smdp.data.study import Study
from smdp.data.variables import Variable

BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared/data/heartsteps/heartsteps_v1.csv"
NOT_STATES = (
    "subject",
    "time",
    "available",
    "action",
    "prob",
    "utility",
    "utility_zero_filled",
    "in_primary_analysis",
)

# Long table in, seconds out: the fits only, without the time to start R and to read the table.
# R's loess() also fits at every observed point; it cannot be asked not to.
R_SCRIPT = """
long <- read.csv(commandArgs(TRUE)[1])
series <- split(long, list(long$subject, long$variable), drop = TRUE)
control <- loess.control(surface = "direct")
run <- function() for (s in series) {
  seen <- s[!is.na(s$value), ]
  model <- loess(value ~ time, seen, span = 0.75, degree = 1, control = control)
  predict(model, s[is.na(s$value), "time", drop = FALSE])
}
cat(min(replicate(3, system.time(suppressWarnings(run()))[["elapsed"]])))
"""


def build_study(frame: pd.DataFrame) -> Study:
    """The trial on a grid of its own time column."""
    names = [name for name in frame.columns if name not in NOT_STATES]
    subjects = sorted(frame["subject"].unique())
    row = frame["subject"].map({subject: i for i, subject in enumerate(subjects)}).to_numpy()
    decision = (frame["time"] - frame.groupby("subject")["time"].transform("min")).to_numpy()
    n, decisions, p = len(subjects), int(decision.max()) + 1, len(names)
    values = np.full((n, decisions, p), np.nan)
    values[row, decision] = frame[names].to_numpy(dtype=float)
    # A series without any value would be refused: with one, it is carried, which takes no fit.
    values[:, 0] = np.where(np.isnan(values).all(axis=1), 0.0, values[:, 0])
    present = np.zeros((n, decisions), dtype=bool)
    present[row, decision] = True
    lengths = np.array([decision[row == i].max() + 1 for i in range(n)])
    return Study(
        roles=ColumnRoles("subject", "time", "action", names, "utility"),
        subjects=tuple(map(str, subjects)),
        variables=tuple(Variable(name) for name in names),
        action_labels=("0", "1"),
        values=values,
        present=present,
        actions=np.zeros((n, decisions), dtype=np.int64),
        utilities=np.zeros((n, decisions)),
        available=present,
        probabilities=np.full((n, decisions, 2), 0.5),
        times=np.full((n, decisions), ""),
        lengths=lengths,
    )


def best_of_three(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)


def seconds_in_r(study: Study) -> float:
    """R's loess on the series that have something to impute and that vary."""
    parts = []
    for index, length in enumerate(study.lengths):
        for column, variable in enumerate(study.variables):
            series = study.values[index, :length, column]
            if np.isnan(series).any() and np.nanmin(series) < np.nanmax(series):
                parts.append(
                    pd.DataFrame(
                        {
                            "subject": index,
                            "variable": variable.name,
                            "time": np.arange(length),
                            "value": series,
                        }
                    )
                )
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder) / "long.csv", Path(folder) / "loess.R"
        pd.concat(parts).to_csv(table, index=False, na_rep="NA")
        script.write_text(R_SCRIPT, encoding="utf-8")
        command = ["Rscript", str(script), str(table)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else BESIDE_THE_PROJECT
    if not path.exists():
        print("Skipped: give the path of heartsteps_v1.csv.")
        return
    study = build_study(pd.read_csv(path))
    cells = int(study.missing.sum())
    ours = best_of_three(lambda: impute(study))
    shape = " x ".join(map(str, study.values.shape))
    print(f"smdp.impute: {ours:.3f} s (best of 3; {shape}, {cells} missing cells)")
    if shutil.which("Rscript") is None:
        print("R's loess: skipped, Rscript is not installed.")
        return
    theirs = seconds_in_r(study)
    print(f"R's loess:   {theirs:.3f} s (best of 3), {theirs / ours:.1f} times as long")


if __name__ == "__main__":
    main()

"""The whole default analysis, step by step: seconds, processor seconds and memory of each.

Usage: python bench/whole_analysis.py [--heartsteps path/to/heartsteps_v1.csv] [--jobs 1]
                                      [--threads 1] [--only large] [--people 500]

From the file to the report through `smdp.Analysis`, with the roles as guessed, the default settings
and both kinds of policy: the student sample, 1,000 students, HeartSteps (a real trial, not part of
the project), and a simulated trial of 2,000 people (or `--people`), 200 decisions and 100
variables. Each study has a process of its own. With `--threads`, what can be divided is divided
among that many threads, as in the dashboard; with `--jobs` among so many processes, and the numbers
are those of all of them. The tables are in whole_analysis.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from scale import TARGET, make_files

from smdp import Analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.guess_roles import guess_roles
from smdp.data.read_table import read_table
from smdp.parallel import cores, threads, workers
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.basics_like import basics_like
from smdp.steps.step_plans import EvaluationPlan, FeatureMapPlan, PolicyPlan, ScreeningPlan

STUDIES = ("student sample", "1,000 students", "HeartSteps", "large")
STEPS = ("data", "missing", "rescaling", "screening", "features", "policy", "folds", "evaluation")
#: Of HeartSteps: 10 of its people never have it.
NOT_FOR_EVERYBODY = "log_gf_pre30"
POLL = 0.05  # seconds between two looks at the memory


def make_table(study: str, folder: Path, people: int, heartsteps: str | None) -> Path:
    """The file that the analysis begins with."""
    if study == "HeartSteps":
        assert heartsteps is not None
        return Path(heartsteps)
    if study == "large":
        make_files(folder, people, *TARGET[1:])
        return folder / "study.csv"
    path = folder / "students.csv"
    basics_like(subjects=1000 if study == "1,000 students" else 30).to_csv(path, index=False)
    return path


def plan_of(study: str, frame: Any) -> AnalysisPlan:
    if study == "large":
        names = [name for name in frame.columns if name.startswith("v")]
        roles = ColumnRoles("person", "day", "treated", names, NextValue("v0"), probability=0.5)
    else:
        roles = guess_roles(frame)
        states = [each for each in roles.variables if each.name != NOT_FOR_EVERYBODY]
        roles = replace(roles, states=states)
    return AnalysisPlan(
        roles=roles,
        screening=ScreeningPlan(),
        features=FeatureMapPlan(),
        policies=tuple(PolicyPlan(PolicySettings(model=m)) for m in ("linear", "neural")),
        evaluation=EvaluationPlan(),
    )


class Meter:
    """What this process and those that it started use, looked at often."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._spent: dict[int, float] = {}
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.look()
            threading.Event().wait(POLL)

    def look(self) -> None:
        memory = 0.0
        for process in _tree(os.getpid()):
            try:
                memory += _memory(process)
                self._spent[process] = _processor_seconds(process)
            except OSError:
                continue  # it ended meanwhile
        self.peak = max(self.peak, memory)

    def measure(self, work: Callable[[], Any]) -> tuple[Any, list[float]]:
        """What it gave; its seconds, processor seconds, and the peak memory in MiB meanwhile."""
        self.peak = 0.0
        self.look()
        began, spent = perf_counter(), sum(self._spent.values())
        result = work()
        taken = perf_counter() - began
        self.look()
        return result, [taken, sum(self._spent.values()) - spent, self.peak]


def _tree(process: int) -> list[int]:
    found = [process]
    for task in Path(f"/proc/{process}/task").iterdir():
        try:
            started = (task / "children").read_text().split()
        except OSError:
            continue
        for child in started:
            found += _tree(int(child))
    return found


def _memory(process: int) -> float:
    """MiB; pages that several processes have in common count for each of them."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _processor_seconds(process: int) -> float:
    own = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(own[11]) + int(own[12])) / os.sysconf("SC_CLK_TCK")


def measure(
    study: str, people: int, heartsteps: str | None, jobs: int, at_once: int
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    meter = Meter()

    def timed(name: str, work: Callable[[], Any]) -> Any:
        result, found[name] = meter.measure(work)
        taken, spent, peak = found[name]
        text = f"  {name}: {taken:.1f} s, {spent:.1f} s of processor time, {peak:,.0f} MiB"
        print(text, file=sys.stderr, flush=True)
        return result

    with tempfile.TemporaryDirectory() as folder, workers(jobs), threads(at_once):
        command = [sys.executable, __file__, "--make", study, "--folder", folder]
        command += ["--people", str(people)]
        command += ["--heartsteps", heartsteps] if heartsteps else []
        made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        frame = timed("read", lambda: read_table(Path(made.stdout.strip())))
        plan = timed("roles", lambda: plan_of(study, frame))
        analysis = timed("begin", lambda: Analysis.begin(plan, frame))
        for step in STEPS:
            analysis = timed(step, partial(analysis.run_one, step))
            print(f"    {analysis.records[step].summary}", file=sys.stderr, flush=True)
        timed("report", lambda: analysis.report(Path(folder) / "report.html"))
        timed("save", lambda: analysis.save(Path(folder) / "analysis.smdp"))
    return found


def in_own_process(study: str, chosen: argparse.Namespace) -> dict[str, list[float]]:
    command = [sys.executable, __file__, "--measure", study, "--people", str(chosen.people)]
    command += ["--jobs", str(chosen.jobs), "--threads", str(chosen.threads)]
    command += ["--heartsteps", chosen.heartsteps] if chosen.heartsteps else []
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, list[float]] = json.loads(ended.stdout)
    return answer


def table(measured: dict[str, dict[str, list[float]]]) -> str:
    rows = [f"| step | {' | '.join(measured)} |", "|---" * (len(measured) + 1) + "|"]
    steps = list(next(iter(measured.values())))
    for step in steps:
        cells = [_cell(*found[step]) for found in measured.values()]
        rows.append(f"| {step} | {' | '.join(cells)} |")
    totals = []
    for found in measured.values():
        seconds, spent, peaks = zip(*found.values(), strict=True)
        totals.append(_cell(sum(seconds), sum(spent), max(peaks)))
    rows.append(f"| all | {' | '.join(totals)} |")
    return "\n".join(rows)


def _cell(seconds: float, spent: float, peak: float) -> str:
    return f"{seconds:,.1f} s, {spent:,.1f} s, {peak:,.0f} MiB"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--heartsteps", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=STUDIES)
    parser.add_argument("--people", type=int, default=TARGET[0])
    parser.add_argument("--make", choices=STUDIES, help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=STUDIES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.make:
        print(make_table(chosen.make, chosen.folder, chosen.people, chosen.heartsteps))
        return
    if chosen.measure:
        own = (chosen.measure, chosen.people, chosen.heartsteps, chosen.jobs, chosen.threads)
        print(json.dumps(measure(*own)))
        return
    measured = {}
    for study in chosen.only:
        if study == "HeartSteps" and not chosen.heartsteps:
            print("HeartSteps is left out: it needs its table (--heartsteps).", file=sys.stderr)
            continue
        print(study, file=sys.stderr, flush=True)
        measured[study] = in_own_process(study, chosen)
    print("Seconds, processor seconds, and the peak of memory:")
    print(table(measured))
    print(f"{cores()} cores ({platform.machine()}), load {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    if Path("/proc/self/statm").exists():
        main()
    else:
        print("Skipped: the memory of several processes can be measured on Linux only.")

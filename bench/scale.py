"""How a large study fares: time and memory of each step, and how they grow.

Each size is measured in a process of its own. Times are the processor's, of all threads together:
they say the same on a busy machine. The peak is that of the whole process, set back before each
step. Usage: python bench/scale.py [--quick] (without the target); the table is kept in scale.md.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from smdp.data.arrange import arrange
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import complete, finish
from smdp.data.read_table import read_table
from smdp.parallel import cores
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings

#: (subjects, times, variables): the target, and one size beside which each of the three is doubled.
TARGET = (2000, 200, 100)
SIZES = ((250, 50, 25), (500, 50, 25), (250, 100, 25), (250, 50, 50), TARGET)
LEVEL, MISSING = 0.10, 0.05
STEPS = ("read CSV", "read Parquet", "arrange", "impute", "rescale", "screen")


def make_files(folder: Path, subjects: int, times: int, variables: int) -> None:
    """States that depend on themselves, the first two on the action too; some cells missing."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    random = np.random.default_rng(1)
    states = np.empty((subjects, times, variables))
    state = random.normal(size=(subjects, variables))
    actions = random.integers(0, 2, (subjects, times))
    for t in range(times):
        states[:, t] = state
        state = 0.6 * state + random.normal(scale=0.8, size=state.shape)
        state[:, 0] += 0.5 * states[:, t, 1] - 0.7 * actions[:, t]
    values = np.round(states.reshape(-1, variables), 2)
    values[random.random(values.shape) < MISSING] = np.nan
    columns: dict[str, Any] = {
        "person": np.repeat(np.arange(subjects), times),
        "day": np.tile(np.arange(times), subjects),
        "treated": actions.ravel(),
    }
    columns |= {f"v{j}": pa.array(values[:, j], from_pandas=True) for j in range(variables)}
    table = pa.table(columns)
    pa.csv.write_csv(table, folder / "study.csv")
    pa.parquet.write_table(table, folder / "study.parquet")


def roles(variables: int) -> ColumnRoles:
    names = [f"v{j}" for j in range(variables)]
    return ColumnRoles("person", "day", "treated", names, NextValue("v0"), probability=0.5)


def measure(subjects: int, times: int, variables: int) -> dict[str, tuple[float, float]]:
    """By step: the processor's seconds, and the process's peak in MiB."""
    found: dict[str, tuple[float, float]] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        reset_peak()
        began, began_work = perf_counter(), process_time()
        result = work()
        found[name] = (process_time() - began_work, peak())
        text = f"  {name}: {found[name][0]:.1f} s, {found[name][1]:,.0f} MiB"
        print(f"{text} ({perf_counter() - began:.1f} s by the clock)", file=sys.stderr, flush=True)
        return result

    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        command = [sys.executable, __file__, "--make", folder]
        subprocess.run([*command, *map(str, (subjects, times, variables))], check=True)
        timed("read CSV", lambda: read_table(files / "study.csv"))
        frame: pd.DataFrame = timed("read Parquet", lambda: read_table(files / "study.parquet"))
    how = PreparationSettings(rescaling=RescalingSettings("v0"))
    study = timed("arrange", lambda: arrange(frame, roles(variables)))
    completed = timed("impute", lambda: complete(study, how))
    prepared = timed("rescale", lambda: finish(completed, how.rescaling))
    settings = ScreeningSettings(
        level=LEVEL,
        method="paper",
        permutations=fewest(times - 1),
        max_rounds=1,
        jobs=cores(),
    )
    timed("screen", lambda: screen(prepared.trajectories, settings, seed=1))
    return found


def fewest(times: int) -> int:
    """Permutations that can just reject; the default is ten times as many."""
    from smdp.independence.pooling import default_rank, minimum_permutations

    return max(99, minimum_permutations(times, default_rank(times), LEVEL))


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def in_own_process(size: tuple[int, int, int]) -> dict[str, tuple[float, float]]:
    command = [sys.executable, __file__, "--measure", *map(str, size)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, tuple[float, float]] = json.loads(ended.stdout)
    return answer


def table(measured: dict[tuple[int, int, int], dict[str, tuple[float, float]]]) -> str:
    rows = ["| subjects x times x variables | " + " | ".join(STEPS) + " |"]
    rows.append("|---" * (len(STEPS) + 1) + "|")
    for size, found in measured.items():
        cells = [f"{found[s][0]:.1f} s, {math.ceil(found[s][1] / 10) * 10:,} MiB" for s in STEPS]
        rows.append(f"| {' x '.join(f'{n:,}' for n in size)} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> None:
    sizes = SIZES[:-1] if "--quick" in sys.argv else SIZES
    measured = {}
    for size in sizes:
        print(" x ".join(map(str, size)), file=sys.stderr, flush=True)
        measured[size] = in_own_process(size)
    text = table(measured)
    print(text)
    busy = os.getloadavg()[0]
    print(f"{cores()} cores ({platform.machine()}), load {busy:.1f} at the end.")


if __name__ == "__main__":
    if not Path("/proc/self/clear_refs").exists():
        print("Skipped: the peak memory of a step can be measured on Linux only.")
    elif "--make" in sys.argv:
        make_files(Path(sys.argv[2]), *map(int, sys.argv[3:]))
    elif "--measure" in sys.argv:
        print(json.dumps(measure(*map(int, sys.argv[2:]))))
    else:
        main()

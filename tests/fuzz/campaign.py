"""Many changed files, one after the other, in a process whose memory and time are bounded.

    cd tests && python -m fuzz.campaign --cases 50000 --seed 7
    cd tests && python -m fuzz.campaign --seed 7 --only diary.csv:123     one case again

Every case depends on the seed, the file and the case's number alone. Prints a JSON report.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import sys
import traceback
from collections import Counter
from pathlib import Path, PurePath
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from fuzz.corpus import STATISTICAL, TABLES, corpus
from fuzz.mutations import changed_toml, mutated
from fuzz.targets import open_file

#: A case that takes longer hangs; the slowest honest one takes a second or two.
SECONDS_A_CASE = 120
#: More than the program, its libraries and a table at hand take by far; less than a machine has.
BYTES_OF_MEMORY = 6_000_000_000
#: Of hundred cases, how many are of the kinds that a process of their own reads.
STATISTICAL_SHARE = 0.6


def plan_cases(cases: int, names: list[str]) -> list[tuple[str, int]]:
    """The cases, spread over the files: file and number."""
    slow = [name for name in names if PurePath(name).suffix in STATISTICAL]
    quick = [name for name in names if name not in slow]
    for_slow = round(cases * STATISTICAL_SHARE / 100)
    planned = [(quick[i % len(quick)], i // len(quick)) for i in range(cases - for_slow)]
    return planned + [(slow[i % len(slow)], i // len(slow)) for i in range(for_slow)]


def make_case(files: dict[str, bytes], name: str, number: int, seed: int) -> tuple[bytes, str, str]:
    """The changed file, the name that it comes under, and the kind that it is opened as."""
    dice = Random(f"{seed} {name} {number}")
    kind = ".policy" if name == "policy.json" else PurePath(name).suffix
    others = [data for other, data in files.items() if other != name]
    if kind == ".toml" and dice.random() < 0.7:
        data = changed_toml(files[name], dice)
    else:
        data = mutated(files[name], dice, others)
    shown = name
    if kind in TABLES and dice.random() < 0.3:
        shown = dice.choice((*(f"x{suffix}" for suffix in TABLES), "x", "x" * 300, "<b>.csv", "\0"))
    return data, shown, kind


def run(cases: list[tuple[str, int]], seed: int, folder: Path) -> dict[str, object]:
    files = corpus(folder)
    own = folder / "own"
    own.mkdir()
    outcomes: Counter[str] = Counter()
    by_file: Counter[str] = Counter()
    faults: list[str] = []
    slowest = (0.0, "")
    for name, number in cases:
        label = f"{name}:{number}"
        (folder / "now").write_text(label)
        data, shown, kind = make_case(files, name, number, seed)
        faulthandler.dump_traceback_later(SECONDS_A_CASE, exit=True)
        start = perf_counter()
        try:
            outcome = open_file(data, shown, kind, own)
        except Exception:
            outcome = "fault"
            faults.append(f"--seed {seed} --only {label}\n{traceback.format_exc(limit=-3)}")
        slowest = max(slowest, (perf_counter() - start, label))
        outcomes[outcome] += 1
        by_file[name] += 1
    faulthandler.cancel_dump_traceback_later()
    return {
        "cases": sum(outcomes.values()),
        "outcomes": dict(outcomes),
        "files": dict(by_file),
        "faults": faults,
        "slowest": [round(slowest[0], 3), slowest[1]],
        "peak bytes": _peak_memory(),
    }


def _peak_memory() -> int:
    """Of this process alone: what `getrusage` tells begins with that of the process before it."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    return 0


def _bound_memory() -> None:
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_MEMORY, BYTES_OF_MEMORY))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="FILE:NUMBER")
    parser.add_argument("--folder", type=Path, help="where to work; its file 'now' names the case")
    options = parser.parse_args()
    _bound_memory()
    with TemporaryDirectory(prefix="smdp-fuzz-") as name:
        folder = options.folder or Path(name)
        if options.only:
            file, _, number = options.only.rpartition(":")
            cases = [(file, int(number))]
        else:
            cases = plan_cases(options.cases, list(corpus(folder)))
        report = run(cases, options.seed, folder)
    sys.stdout.write(json.dumps(report, indent=1) + "\n")
    return 1 if report["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())

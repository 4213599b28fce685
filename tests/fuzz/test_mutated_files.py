"""Whatever is done to a file, it is opened or there is one message for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from fuzz.settings import CASES, ORDINARY, SEED

TESTS = Path(__file__).parents[1]
#: Of the process, its libraries included: half of it is taken before the first file is opened.
MOST_BYTES = 1_000_000_000


def test_changed_files_are_opened_or_refused_in_bounded_time_and_memory(tmp_path, record_property):
    command = [sys.executable, "-W", "ignore", "-m", "fuzz.campaign", "--folder", str(tmp_path)]
    command += ["--cases", str(CASES), "--seed", str(SEED)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    at = (tmp_path / "now").read_text() if (tmp_path / "now").exists() else "the beginning"
    assert done.stdout, f"stopped at --seed {SEED} --only {at}\n{done.stderr}"
    report = json.loads(done.stdout)
    record_property("fuzz", {key: report[key] for key in ("cases", "outcomes", "slowest")})
    sys.stdout.write(f"seed {SEED}: {report}\n")
    assert report["faults"] == []
    assert report["cases"] == CASES >= ORDINARY
    assert len(report["files"]) == 22
    assert report["outcomes"]["opened"] > CASES // 10
    assert report["outcomes"]["refused"] > CASES // 2
    assert report["peak bytes"] < MOST_BYTES

"""A full disk, a folder that may not be written to, one that is gone: nothing earlier is lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip("limits and permissions as POSIX has them", allow_module_level=True)

from disk_faults import write_everything
from fuzz.corpus import corpus

from smdp.analysis.analysis import load_analysis
from smdp.simulation.study_store import read_study

SCRIPT = Path(__file__).parents[1] / "disk_faults.py"
TRIED = 11
EXPECTED = {
    "full": "File too large|disk I/O error|database or disk is full",
    "crowded": "No space left|database or disk is full|disk I/O error",
    "read-only": "Permission denied|readonly|unable to open",
    "vanished": "File exists|Not a directory|unable to open",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    files = corpus(folder)
    for name in ("analysis.smdp", "labels.sav", "study.sqlite"):
        (folder / name).write_bytes(files[name])
    return folder


@pytest.fixture(scope="module")
def everything(tmp_path_factory, source) -> Path:
    """A folder with everything that the program writes."""
    folder = tmp_path_factory.mktemp("everything")
    write_everything(folder, source)
    return folder


@pytest.fixture
def earlier(tmp_path, everything) -> Path:
    return Path(shutil.copytree(everything, tmp_path / "work"))


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != "filler"
    }


def outcomes(fault: str, folder: Path, source: Path) -> dict[str, str]:
    # -B: compiled code that is cut short would be read by every later process.
    command = [sys.executable, "-B", "-W", "ignore", str(SCRIPT), fault, str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == TRIED
    return found


def check_nothing_is_lost(before: dict[str, bytes], folder: Path) -> None:
    """Every file is as it was; of the study, every row is there."""
    after = content(folder)
    for name in {*before, *after} - {"study/study.sqlite"}:
        assert after.get(name) == before.get(name), name
    load_analysis(folder / "analysis.smdp")
    assert set(range(20)) <= set(read_study(folder / "study").rows["replication"])


def check_messages(found: dict[str, str], fault: str) -> None:
    for name, message in found.items():
        assert re.search(EXPECTED[fault], message), f"{name}: {message}"
        assert not message.startswith("RAISED"), f"{name}: {message}"
        assert message.count("\n") == 0, f"{name}: {message}"


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_what_was_written_earlier_stays(fault, earlier, source):
    before = content(earlier)
    found = outcomes(fault, earlier, source)
    for path in (earlier, *earlier.rglob("*")):
        path.chmod(0o755)
    check_messages(found, fault)
    check_nothing_is_lost(before, earlier)


def test_a_disk_that_is_full_to_the_brim(tmp_path, everything, source):
    """A small disk of its own, where the system lets us have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only an administrator may mount a disk")
    try:
        shutil.copytree(everything, disk, dirs_exist_ok=True)
        before = content(disk)
        found = outcomes("crowded", disk, source)
        check_messages(found, "crowded")
        check_nothing_is_lost(before, disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_has_vanished(earlier, source):
    found = outcomes("vanished", earlier, source)
    check_messages(found, "vanished")
    assert earlier.read_bytes() == b"now a file of that name"

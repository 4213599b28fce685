"""Everything that the program writes, tried where it cannot be written.

    python disk_faults.py FAULT FOLDER SOURCE

FOLDER holds what was written earlier; SOURCE an analysis (analysis.smdp) and a table (labels.sav).
Prints as JSON what came of each attempt: its message for people, "written", or what else was
raised.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random

from smdp import cli
from smdp.analysis.analysis import load_analysis
from smdp.analysis.autosave import Autosaves
from smdp.analysis.result_files import write_results
from smdp.analysis.saved_file import save_analysis
from smdp.data.read_table import read_table
from smdp.errors import SmdpError
from smdp.export.onnx_file import export_onnx
from smdp.export.policy_file import export_policy
from smdp.report import figure_files
from smdp.simulation.study_settings import StudySettings
from smdp.simulation.study_store import open_study, read_study

PLOT = {"plot.png": Random(1).randbytes(40_000), "plot.csv": b"x\n" * 20_000}
LIMIT = 1_000


def cause(fault: str, folder: Path) -> None:
    """From now on nothing, or hardly anything, can be written into the folder."""
    if fault == "full":  # no file can grow beyond this, so the first larger write fails
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    elif fault == "crowded":  # a disk of its own that has been filled to the brim
        with (folder / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 512):
                    pass
            except OSError:
                pass
    elif fault == "read-only":
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        if os.geteuid() == 0:
            _obey_permissions()
    elif fault == "vanished":
        shutil.rmtree(folder)
        folder.write_bytes(b"now a file of that name")


def _obey_permissions() -> None:
    """An administrator may write anywhere, on Linux by two capabilities: give these up."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert libc.capget(header, sets) == 0
    override, read_and_search = 1 << 1, 1 << 2
    sets[0] &= ~(override | read_and_search)
    assert libc.capset(header, sets) == 0


def attempts(folder: Path, source: Path) -> dict[str, Callable[[], object]]:
    analysis = load_analysis(source / "analysis.smdp")
    sav, page = source / "labels.sav", folder / "report.html"
    figure_files.figure_files = lambda *args, **options: PLOT  # drawn by a browser otherwise
    policy = analysis.policies[0]

    def study() -> None:
        with open_study(folder / "study", StudySettings(), "0.1.0") as store:
            rows = store.read().rows.to_dict("records")
            from smdp.simulation.replication import CellResult

            for replication in range(50, 80):
                long = {"replication": replication, "message": "x" * 3_000}
                store.append(CellResult(**rows[0] | long))

    def read_through_a_temporary_file() -> None:
        tempfile.tempdir = str(folder)
        try:
            read_table(sav)
        finally:
            tempfile.tempdir = None

    def command(*words: object) -> Callable[[], None]:
        def run() -> None:
            said = StringIO()
            with redirect_stdout(StringIO()), redirect_stderr(said):
                code = cli.main([str(word) for word in words])
            if code:
                assert "Traceback" not in said.getvalue()
                raise SmdpError(said.getvalue().strip())

        return run

    run_again = ("run", source / "analysis.smdp", "--stop-after", "missing", "--quiet")
    return {
        "save": lambda: save_analysis(analysis, folder / "analysis.smdp"),
        "autosave": lambda: Autosaves(folder / "autosave").save("session01", analysis),
        "results": lambda: write_results(analysis, folder / "results"),
        "run": command(*run_again, "--out", folder / "results", "--overwrite"),
        "policy": lambda: export_policy(policy, analysis.prepared, folder / "policy.json"),
        "network": lambda: export_onnx(policy, folder / "policy.onnx"),
        "figures": lambda: figure_files.export_figures([], folder / "figures"),
        "archive of figures": lambda: figure_files.export_figures([], folder / "figures.zip"),
        "report": command("report", source / "analysis.smdp", "--out", page, "--overwrite"),
        "simulation": study,
        "temporary file": read_through_a_temporary_file,
    }


def write_everything(folder: Path, source: Path) -> None:
    """What was there before the fault."""
    (folder / "study").mkdir()
    shutil.copy(source / "study.sqlite", folder / "study" / "study.sqlite")
    for name, attempt in attempts(folder, source).items():
        if name not in ("simulation", "temporary file"):
            attempt()
    assert len(read_study(folder / "study").rows)


def main(fault: str, folder: Path, source: Path) -> None:
    tried = attempts(folder, source)
    cause(fault, folder)
    found = {}
    for name, attempt in tried.items():
        try:
            attempt()
            found[name] = "written"
        except SmdpError as error:
            found[name] = str(error)
        except BaseException as error:
            found[name] = f"RAISED {type(error).__name__}: {error}"
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

"""Tries in a process of its own whether a saved file can be opened at all.

A few kilobytes can hold millions of small things, each of which is as it should be. The program
that asks is to lose neither its memory nor its time by them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from smdp.analysis.saved_file import read_saved
from smdp.archive import Archive
from smdp.errors import ReadError, SmdpError
from smdp.plugins import load_plugins
from smdp.system import bound_this_process, temporary_folder
from smdp.text import shorten

#: Bytes of JSON that any program can read in a moment.
HARMLESS = 2_000_000
#: What a file may take: the program itself, then for each byte of JSON and of arrays and tables.
PROGRAM_BYTES = 1_000_000_000
BYTES_A_BYTE_OF_JSON, BYTES_A_BYTE = 12, 3
SPARE_BYTES = 64_000_000
PROCESSOR_SECONDS = 30
SECONDS = 300


def try_apart(data: bytes, name: str) -> None:
    """Refuse what cannot be opened, or takes more than a file of its size should."""
    archive = Archive(data, f"'{shorten(name)}'")
    structure, every = archive.unpacked_bytes(".json"), archive.unpacked_bytes()
    if structure <= HARMLESS:
        return
    memory = BYTES_A_BYTE_OF_JSON * structure + BYTES_A_BYTE * (every - structure)
    with temporary_folder("reading") as folder:
        path = folder / "file.smdp"
        path.write_bytes(data)
        asked = {"path": str(path), "name": name, "memory": PROGRAM_BYTES + memory}
        said = _ask(asked)
    if said is None:
        raise ReadError(
            f"'{shorten(name)}' takes more time or memory to open than a file of its size should.",
            "smdp never writes such a file; do not trust it.",
        )
    if "problem" in said:
        raise ReadError(said["problem"], said["remedy"], said["concerns"])


def _ask(asked: dict[str, Any]) -> dict[str, str] | None:
    """What the other process found; None where it did not come to an end."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        said = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return said if isinstance(said, dict) else None


def main() -> None:
    asked = json.load(sys.stdin)
    load_plugins()
    bound_this_process(asked["memory"], PROCESSOR_SECONDS)
    found = {}
    try:
        read_saved(Path(asked["path"]), name=asked["name"])
    except SmdpError as error:
        bytearray(SPARE_BYTES)  # without room for these, what failed did so for want of memory
        found = {"problem": error.problem, "remedy": error.remedy, "concerns": error.concerns}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

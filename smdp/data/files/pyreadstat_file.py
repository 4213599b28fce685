"""Readers for the formats of SPSS, Stata and SAS, with their variable and value labels."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smdp.data.files import limits, pyreadstat_process
from smdp.data.files.reader import Reader, Sheet, damaged
from smdp.errors import ReadError
from smdp.system import temporary_folder
from smdp.text import shorten

if TYPE_CHECKING:
    import pyarrow as pa

    from smdp.data.files.raw_table import RawTable

_MAX_SECONDS = 900


def reader_apart(
    *,
    name: str,
    description: str,
    endings: tuple[str, ...],
    recognise: Callable[[bytes], bool],
    function: str,
    format_name: str | None = None,
) -> Reader:
    """A reader by a `function` of pyreadstat; values that the file declares missing are missing.

    The reading is done by another process: pyreadstat can crash on a damaged file, and would take
    the researcher's session with it.
    """
    called = format_name or name

    def read(data: bytes, file_name: str, _: Sheet) -> RawTable:
        from smdp.data.files.raw_table import RawTable

        try:
            table, labels = _read(data, function, file_name, description)
        except OSError as error:
            raise _no_room(file_name, error.strerror or str(error)) from None
        encoding = labels["encoding"]
        return RawTable(
            table.column_names,
            table.columns,
            f"{called}, {encoding}" if encoding else called,
            labels["variables"],
            {column: dict(pairs) for column, pairs in labels["values"]},
        )

    return Reader(name, description, endings, recognise, read)


def _read(data: bytes, function: str, name: str, description: str) -> tuple[pa.Table, Any]:
    """The table and its labels, by way of the system's folder for temporary files."""
    import pyarrow as pa

    with temporary_folder("reading") as folder:
        source, result = folder / "source", folder / "result"
        source.write_bytes(data)
        report = _run_apart(function, source, result, name)
        if report.get("error") == "OSError":
            raise _no_room(name, shorten(report["message"]))
        if report.get("error") == "OverflowError":
            raise ReadError(
                f"'{name}' is {description} with a date before the year 1 or after the year 9999.",
                "Correct or clear such dates, or save their column as text.",
            )
        if report.get("error") == "MemoryError":
            raise MemoryError
        if "columns" in report:
            limits.check_shape(report["rows"] or 0, report["columns"], name)
        try:
            with pa.OSFile(str(result)) as file, pa.ipc.open_file(file) as reader:
                table = reader.read_all()
            labels = json.loads(table.schema.metadata[b"labels"])
        except Exception:  # no result, or half of one
            detail = shorten(report.get("message", "")).rstrip(".")
            raise damaged(name, description, detail) from None
    return table, labels


def _no_room(name: str, reason: str) -> ReadError:
    return ReadError(
        f"'{name}' cannot be read for want of a temporary file: {reason}.",
        "Make room on the disk, or save it as CSV or Parquet and read that.",
    )


def _run_apart(function: str, source: Path, result: Path, name: str) -> dict[str, Any]:
    """What the other process reports: the table's size, an error, or nothing if it crashed."""
    command = [sys.executable, "-P", pyreadstat_process.__file__, function]
    command += [str(source), str(result)]
    command += [str(limits.MAX_ROWS), str(limits.MAX_COLUMNS), str(limits.MAX_CELLS)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_MAX_SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        raise ReadError(
            f"Reading '{name}' took more than {_MAX_SECONDS // 60} minutes.",
            "Save it as CSV or Parquet and read that.",
        ) from None
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}

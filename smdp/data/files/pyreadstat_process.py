"""The program that reads one file of SPSS, Stata or SAS, in a process of its own.

    pyreadstat_process.py FUNCTION SOURCE RESULT MAX_ROWS MAX_COLUMNS MAX_CELLS

Writes the table to RESULT as an Arrow file and reports on the standard output, as JSON, its
size or the error. It imports nothing of the package, so that it starts quickly.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import sys
from typing import Any

_FALLBACK_ENCODING = "WINDOWS-1252"  # for files that do not keep to the encoding they declare


def main(
    function: str, source: str, result: str, max_rows: int, max_columns: int, max_cells: int
) -> dict[str, Any]:
    """Write the table to `result`, unless it is too large, and report its size.

    `function`: of pyreadstat, for this format.
    """
    import pyarrow as pa
    import pyreadstat

    def read(**options: Any) -> tuple[dict[str, list[Any]], Any]:
        values, about = getattr(pyreadstat, function)(source, output_format="dict", **options)
        return {name: list(column) for name, column in values.items()}, about

    encoding: str | None = None
    most = max_rows
    try:
        _, about = read(metadataonly=True)
        size = {"rows": about.number_rows, "columns": len(about.column_names)}
        most = min(max_rows, max_cells // max(size["columns"], 1))
        if size["columns"] > max_columns or (size["rows"] or 0) > most:
            return size
        values, about = read(row_limit=most + 1)
    except (UnicodeError, pyreadstat.ReadstatError) as error:
        if not isinstance(error, UnicodeError) and "encoding" not in str(error):
            raise
        encoding = _FALLBACK_ENCODING
        values, about = read(row_limit=most + 1, encoding=encoding)

    clock = [n for n, column in values.items() if any(isinstance(v, dt.time) for v in column)]
    if clock:
        # The library turns 25 hours into 1 o'clock: read the seconds themselves.
        options = {"encoding": encoding} if encoding else {}
        seconds, _ = read(
            usecols=clock, disable_datetime_conversion=True, row_limit=most + 1, **options
        )
        values |= {name: [clock_text(v) for v in seconds[name]] for name in clock}

    labels = {
        "encoding": "cp1252" if encoding else "",
        "variables": {n: label for n, label in about.column_names_to_labels.items() if label},
        "values": [
            (n, list(pairs.items())) for n, pairs in about.variable_value_labels.items() if pairs
        ],
    }
    arrays = [_array(column) for column in values.values()]
    table = pa.table(arrays, names=list(values)).replace_schema_metadata(
        {"labels": json.dumps(labels)}
    )
    with pa.OSFile(result, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return {"rows": table.num_rows, "columns": table.num_columns}


def _array(values: list[Any]) -> Any:
    """An Arrow column; a missing value of any kind is null."""
    import pyarrow as pa

    return pa.array([None if v is None or v != v else v for v in values])


def clock_text(seconds: float | None) -> str | None:
    """A time of the day or a duration: 03:04:00, 25:00:00."""
    if seconds is None or math.isnan(seconds):
        return None
    minutes, rest = divmod(round(abs(seconds)), 60)
    return f"{'-' if seconds < 0 else ''}{minutes // 60:02d}:{minutes % 60:02d}:{rest:02d}"


def bound_memory() -> None:
    """Fail alone, rather than have the system end some other program for want of memory."""
    try:
        import resource

        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, AttributeError, ValueError, OSError):
        pass  # a system without such limits


if __name__ == "__main__":
    try:
        bound_memory()
        function, source, result, *most = sys.argv[1:]
        report = main(function, source, result, *map(int, most))
    except Exception as failure:
        report = {"error": type(failure).__name__, "message": str(failure)}
    sys.stdout.write(json.dumps(report))

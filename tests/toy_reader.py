"""A file format that the program does not know, as somebody outside would add it: JSON lines."""

from __future__ import annotations

import json

import pyarrow as pa

from smdp.data.files.raw_table import RawTable
from smdp.data.files.reader import Reader, Sheet, damaged

_DESCRIPTION = "a file of JSON lines"


def _read(data: bytes, name: str, _: Sheet) -> RawTable:
    try:
        rows = [json.loads(line) for line in data.splitlines()]
        names = list(rows[0])
        columns = [pa.chunked_array([[row[column] for row in rows]]) for column in names]
    except (ValueError, KeyError, TypeError):
        raise damaged(name, _DESCRIPTION) from None
    return RawTable(names, columns, "JSON lines")


JSON_LINES = Reader(
    name="JSON lines",
    description=_DESCRIPTION,
    endings=(".jsonl",),
    recognise=lambda data: data.startswith(b'{"'),
    read=_read,
)


def json_lines(rows: list[dict[str, object]]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()

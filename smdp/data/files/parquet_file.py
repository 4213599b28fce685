"""Parquet files."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet

from smdp.data.files.file_kind import damaged
from smdp.data.files.limits import check_shape
from smdp.data.files.raw_table import RawTable
from smdp.errors import ReadError

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # row numbers that pandas stores as a column


def read_parquet(data: bytes, name: str) -> RawTable:
    """The table in a Parquet file; its declared size is checked before anything is unpacked."""
    try:
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(data))
        check_shape(file.metadata.num_rows, len(file.schema_arrow), name)
        table = file.read()
        table.validate(full=True)
    except ReadError:
        raise
    except Exception:  # a damaged file fails in many ways
        raise damaged(name, "a Parquet file") from None
    kept = [n for n in range(table.num_columns) if not _UNNAMED_INDEX.match(table.field(n).name)]
    return RawTable([table.field(n).name for n in kept], [table.column(n) for n in kept], "Parquet")

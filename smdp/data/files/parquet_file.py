"""Parquet files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from smdp.data.files.limits import check_shape, check_text_size, check_unpacked_size
from smdp.data.files.reader import Reader, Sheet, damaged
from smdp.errors import ReadError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet

    from smdp.data.files.raw_table import RawTable
    from smdp.data.files.text_values import Column

_DESCRIPTION = "a Parquet file"
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # row numbers that pandas stores as a column

_SURELY_SMALL = 1_000_000  # bytes of a column's text, below which they need not be counted


def _read(data: bytes, name: str, _: Sheet) -> RawTable:
    """The table in a Parquet file; its declared size is checked before anything is unpacked."""
    import pyarrow as pa
    import pyarrow.parquet

    from smdp.data.files.raw_table import RawTable, not_plain

    try:
        meta = pyarrow.parquet.read_metadata(pa.BufferReader(data))
        schema = meta.schema.to_arrow_schema()
        check_shape(meta.num_rows, len(schema), name)
        check_unpacked_size(len(data), _unpacked_size(meta), name)
        for field in schema:
            if pa.types.is_nested(field.type) or _is_binary(field.type):
                raise not_plain(field.name, field.type, name)
        # Each text once, with the rows that have it: unpacked, they could be of any size.
        texts = [field.name for field in schema if _is_text(field.type)]
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        table = file.read()
        table.validate(full=True)
        check_text_size(sum(_text_size(column) for column in table.columns), name)
    except ReadError:
        raise
    except Exception:  # a damaged file fails in many ways
        raise damaged(name, _DESCRIPTION) from None
    kept = [n for n in range(table.num_columns) if not _UNNAMED_INDEX.match(table.field(n).name)]
    return RawTable([table.field(n).name for n in kept], [table.column(n) for n in kept], "Parquet")


def _unpacked_size(meta: pyarrow.parquet.FileMetaData) -> int:
    groups = (meta.row_group(place) for place in range(meta.num_row_groups))
    return sum(max(group.total_byte_size, 0) for group in groups)


def _text_size(column: Column) -> int:
    """The bytes of the texts of a column, each counted as often as it occurs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type) or not _is_text(column.type.value_type):
        return 0
    size = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary)
        at_most = (pc.max(lengths).as_py() or 0) * len(chunk)
        if at_most < _SURELY_SMALL:
            size += at_most
        else:
            each = lengths.take(chunk.indices).cast(pa.int64())
            size += int(pc.sum(each).as_py() or 0)
    return size


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_binary(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


PARQUET = Reader(
    name="Parquet",
    description=_DESCRIPTION,
    endings=(".parquet",),
    recognise=lambda data: data.startswith(b"PAR1"),
    read=_read,
)

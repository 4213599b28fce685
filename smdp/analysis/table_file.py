"""The data table of an analysis as Parquet, and back to the same cells and types."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from smdp.analysis.provenance import table_fingerprint
from smdp.archive import check_unpacked
from smdp.data.files.limits import check_shape
from smdp.errors import DataError, ReadError

#: What `read_table` says of a table beside its cells.
ATTRIBUTES = (
    "source", "format", "decimal_comma", "fingerprint", "synthetic", "variable_labels",
    "value_labels",
)  # fmt: skip
CELL_BYTES = 8
ENCODINGS = {"PLAIN", "RLE", "BIT_PACKED"}
SURE_TYPES = ("int64", "uint64", "float64", "str", "bool", "datetime64[us]", "datetime64[ns]")


def table_to_parquet(frame: pd.DataFrame) -> bytes:
    """The cells; row labels and attributes do not go in."""
    plain = frame.reset_index(drop=True)
    plain.attrs = {}
    buffer = BytesIO()
    try:
        table = pa.Table.from_pandas(plain, preserve_index=False)
        pyarrow.parquet.write_table(
            table, buffer, compression="none", use_dictionary=False, write_statistics=False
        )
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise _cannot_be_kept() from error
    data = buffer.getvalue()
    unsure = any(str(kind) not in SURE_TYPES for kind in plain.dtypes)
    if unsure and table_fingerprint(_frame(data)) != table_fingerprint(plain):
        raise _cannot_be_kept()
    return data


def checked_attributes(found: Any) -> dict[str, Any]:
    """What a file says of its table, once it is of the kinds that `read_table` gives."""

    def is_labels(value: Any, inner: Any) -> bool:
        return isinstance(value, dict) and all(
            isinstance(name, str) and isinstance(each, inner) for name, each in value.items()
        )

    if not is_labels(found, object) or not set(found) <= set(ATTRIBUTES):
        raise TypeError("attributes")
    fit = {
        "source": str, "format": str, "fingerprint": str, "decimal_comma": bool, "synthetic": bool
    }  # fmt: skip
    good = all(isinstance(found[key], kind) for key, kind in fit.items() if key in found)
    named = found.get("value_labels", {})
    good = (
        good and is_labels(found.get("variable_labels", {}), str | None) and is_labels(named, dict)
    )
    if not good or not all(isinstance(v, str) for own in named.values() for v in own.values()):
        raise TypeError("attributes")
    return dict(found)


def table_from_parquet(data: bytes, name: str) -> pd.DataFrame:
    """The table; its declared size is checked before anything is unpacked."""
    try:
        meta = pyarrow.parquet.read_metadata(pa.BufferReader(data))
        groups = [meta.row_group(place) for place in range(meta.num_row_groups)]
        rows = max(meta.num_rows, sum(group.num_rows for group in groups))
        check_shape(rows, meta.num_columns, name)
        # Cells without a value take no room in the file, but do in memory.
        check_unpacked(rows * meta.num_columns * CELL_BYTES, len(data), f"The table in {name}")
        for group in range(meta.num_row_groups):
            for column in range(meta.num_columns):
                nested = meta.schema.column(column).max_repetition_level > 0
                chunk = meta.row_group(group).column(column)
                plain = ENCODINGS.issuperset(chunk.encodings)
                # Packed once more, or by reference, a small column may be of any size.
                if chunk.compression != "UNCOMPRESSED" or not plain or nested:
                    raise ReadError(f"The table in {name} is packed as smdp never does.")
        return _frame(data)
    except ReadError:
        raise
    except Exception:  # a damaged file fails in many ways
        raise ReadError(
            f"The table in {name} cannot be read.", "Get another copy of the file."
        ) from None


def _frame(data: bytes) -> pd.DataFrame:
    table = pyarrow.parquet.read_table(pa.BufferReader(data), use_threads=False)
    table.validate(full=True)
    frame: pd.DataFrame = table.to_pandas()
    frame.attrs = {}
    return frame


def _cannot_be_kept() -> DataError:
    return DataError(
        "The table has columns of a type that the file cannot hold as they are.",
        "Read the table with smdp.read_table, make such columns numbers or text, or save the "
        "analysis without its data.",
    )

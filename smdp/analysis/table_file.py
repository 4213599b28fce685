"""The data table of an analysis as Parquet, and back to the same cells and types."""

from __future__ import annotations

from io import BytesIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from smdp.analysis.provenance import table_fingerprint
from smdp.data.files.limits import check_shape
from smdp.errors import DataError, ReadError

#: What `read_table` says of a table beside its cells.
ATTRIBUTES = (
    "source", "format", "decimal_comma", "fingerprint", "synthetic", "variable_labels",
    "value_labels",
)  # fmt: skip
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


def table_from_parquet(data: bytes, name: str) -> pd.DataFrame:
    """The table; its declared size is checked before anything is unpacked."""
    try:
        meta = pyarrow.parquet.read_metadata(pa.BufferReader(data))
        check_shape(meta.num_rows, meta.num_columns, name)
        for group in range(meta.num_row_groups):
            for column in range(meta.num_columns):
                chunk = meta.row_group(group).column(column)
                plain = ENCODINGS.issuperset(chunk.encodings)
                # Packed once more, or by reference, a small column may be of any size.
                if chunk.compression != "UNCOMPRESSED" or not plain:
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

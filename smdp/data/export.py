"""Tables for other programs, with no cell that a spreadsheet would run as a formula."""

from __future__ import annotations

import pandas as pd

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_text(value: object) -> object:
    """Text that begins like a formula gets an apostrophe before it; all else is left alone."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return "'" + value
    return value


def to_csv(frame: pd.DataFrame) -> bytes:
    """The table as CSV, every cell made safe; UTF-8 with BOM, so that Excel reads accents."""
    safe = frame.copy()
    for position in range(safe.shape[1]):
        column = safe.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(position, column.map(safe_text))
    safe.columns = [safe_text(str(name)) for name in safe.columns]
    return safe.to_csv(index=False).encode("utf-8-sig")

"""Tables of text, to print and for documents."""

from __future__ import annotations

import pandas as pd


def as_text(table: pd.DataFrame) -> str:
    """Columns side by side, each as wide as it needs."""
    rows = [list(map(str, table.columns)), *table.astype(str).to_numpy().tolist()]
    widths = [max(len(row[k]) for row in rows) for k in range(table.shape[1])]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def as_markdown(table: pd.DataFrame) -> str:
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1]]
    rows += table.astype(str).to_numpy().tolist()
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in row) + " |"
        for row in rows
    )

"""Tables as files: Word, CSV, Markdown and LaTeX each, and all of them as one Excel workbook.

Cells are text or numbers, never formulas, markup or commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any, Literal

import pandas as pd

from smdp.blocks import (
    Report,
    Section,
    Table,
    cell_text,
    column_texts,
    is_number,
    readable,
)
from smdp.data.export import safe_text, to_csv
from smdp.report.journal_tables import JournalTable
from smdp.report.word_format import ONE_PIECE, TRUE_MINUS, Paper
from smdp.settings import require
from smdp.text import visible

TableFormat = Literal["docx", "csv", "md", "tex", "xlsx"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("docx", "csv", "md", "tex", "xlsx")
WORKBOOK, DOCUMENT = "tables.xlsx", "tables.docx"
CONTENTS = "Contents"
#: What Excel can hold: letters of a sheet's name and of a cell, and columns and rows of a sheet.
SHEET_NAME, LONGEST_CELL, MOST_COLUMNS, MOST_ROWS = 31, 32_000, 16_000, 1_000_000
NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")
MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&-])")
#: Letters of a cell that LaTeX does not break; the share of a line for columns with longer ones.
IN_ONE_LINE, FOR_LONG_TEXTS = 40, 0.75
ON_ONE_PAGE = 45  # rows
LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "−": "$-$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$",
    "≈": r"$\approx$", "→": r"$\rightarrow$", "²": "$^2$",
    "\N{NO-BREAK SPACE}": "~", "…": r"\ldots{}",
}  # fmt: skip


def table_files(
    tables: Iterable[JournalTable],
    formats: Sequence[TableFormat] = TABLE_FORMATS,
    *,
    synthetic: bool = False,
    paper: Paper = "A4",
) -> dict[str, bytes]:
    """The files by name: one document and one workbook of all, other formats a file each."""
    for wanted in formats:
        require(wanted in TABLE_FORMATS, "formats", f"of {TABLE_FORMATS}", wanted)
    chosen = list(tables)
    mark = "synthetic-" if synthetic else ""
    found: dict[str, bytes] = {}
    for name, each in zip(_names(chosen), chosen, strict=True):
        made: Mapping[str, Any] = {
            "csv": lambda own: to_csv(_true_minus(own.table.frame)),
            "md": lambda own: to_markdown(own.table).encode(),
            "tex": lambda own: to_latex(own.table, own.file_name).encode(),
        }
        for kind in formats:
            if kind in made:
                found[f"{mark}{name}.{kind}"] = made[kind](each)
    if "docx" in formats:
        found[mark + DOCUMENT] = tables_to_docx(chosen, synthetic=synthetic, paper=paper)
    if "xlsx" in formats:
        found[mark + WORKBOOK] = to_workbook(chosen, synthetic=synthetic)
    return found


def _true_minus(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers that are written with their intervals must not look like formulas."""

    def written(value: object) -> object:
        minus = isinstance(value, str) and value.startswith("-") and ONE_PIECE.fullmatch(value)
        return TRUE_MINUS + str(value)[1:] if minus else value

    found = frame.copy()
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column):
            found.isetitem(place, column.astype(object).map(written))
    return found


def _names(tables: Sequence[JournalTable]) -> list[str]:
    names: list[str] = []
    for each in tables:
        name, copy = each.file_name, 1
        while name.lower() in (taken.lower() for taken in names):
            copy += 1
            name = f"{each.file_name}-{copy}"
        names.append(name)
    return names


def to_markdown(table: Table) -> str:
    """A table in the manner of GitHub; nothing in it is markup or a link."""
    heads, rows, right = _texts(table)
    lines = [f"**{markdown_text(table.title)}**", ""]
    lines.append("| " + " | ".join(map(markdown_text, heads)) + " |")
    lines.append("|" + "|".join(" ---: " if own else " --- " for own in right) + "|")
    lines += ["| " + " | ".join(map(markdown_text, row)) + " |" for row in rows]
    if table.note:
        lines += ["", f"*Note.* {markdown_text(table.note)}"]
    return "\n".join(lines) + "\n"


def markdown_text(text: str) -> str:
    """Text in which nothing is markup."""
    return MARKDOWN_SIGNS.sub(r"\\\1", " ".join(text.split()))


def to_latex(table: Table, label: str = "table") -> str:
    """A table with the rules of the package booktabs; every sign stands for itself.

    One longer than a page uses the package longtable.
    """
    heads, rows, right = _texts(table)
    columns = _latex_columns(rows, right)
    name = rf"\caption{{{_latex(table.title)}}}"
    name += rf"\label{{tab:{re.sub('[^A-Za-z0-9-]+', '-', label)}}}"
    head = [r"\toprule", " & ".join(map(_latex, heads)) + r" \\", r"\midrule"]
    body = [*map(_latex_row, rows), r"\bottomrule"]
    note = (
        [rf"\par\smallskip\footnotesize \textit{{Note.}} {_latex(table.note)}"]
        if table.note
        else []
    )
    if len(rows) > ON_ONE_PAGE:
        lines = [rf"\begin{{longtable}}{{{columns}}}", name + r"\\", *head, r"\endhead", *body]
        lines += [r"\end{longtable}", *note]
    else:
        lines = [r"\begin{table}", r"\centering", name, rf"\begin{{tabular}}{{{columns}}}"]
        lines += [*head, *body, r"\end{tabular}", *note, r"\end{table}"]
    return "\n".join(lines) + "\n"


def _latex_columns(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Numbers to the right; columns with long texts share most of the line, and break in it."""
    longest = [max(map(len, own)) for own in zip(*rows, strict=True)] if rows else [0] * len(right)
    wide = [not own and size > IN_ONE_LINE for own, size in zip(right, longest, strict=True)]
    share = FOR_LONG_TEXTS / max(sum(wide), 1)
    return "".join(
        rf"p{{{share:.2f}\linewidth}}" if broken else "r" if own else "l"
        for own, broken in zip(right, wide, strict=True)
    )


def _latex_row(row: Sequence[str]) -> str:
    text = " & ".join(map(_latex, row))
    return (r"{}" if text.startswith(("[", "*")) else "") + text + r" \\"


def _latex(text: str) -> str:
    if ONE_PIECE.fullmatch(text):
        text = text.replace("-", TRUE_MINUS)
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in " ".join(text.split()))


def _texts(table: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """The head, the rows, and which columns are numbers."""
    frame = table.frame
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    heads = [readable(name, 200) for name in frame.columns]
    rows = [list(row) for row in zip(*map(column_texts, columns), strict=True)]
    return heads, rows, [any(map(is_number, own)) for own in columns]


def tables_to_docx(
    tables: Sequence[JournalTable], *, synthetic: bool = False, paper: Paper = "A4"
) -> bytes:
    """All tables in one document, to be copied from."""
    from smdp.report.word import to_docx

    title = "Tables"
    section = Section("tables", title, tuple(_titled(each) for each in tables))
    return to_docx(Report(title, "", "", "", synthetic, (), (section,)), paper=paper)


def _titled(own: JournalTable) -> Table:
    if not own.out_of_date:
        return own.table
    return Table(f"{own.table.title} (out of date)", own.table.frame, own.table.note)


def to_workbook(tables: Sequence[JournalTable], *, synthetic: bool = False) -> bytes:
    """One sheet a table, after a sheet with their titles; cells are text or numbers."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font

    book = Workbook()
    contents = book.active
    contents.title = CONTENTS
    bold = Font(bold=True)
    head = ["Sheet", "Table", "Rows", "Note"]
    for place, text in enumerate(head, start=1):
        contents.cell(1, place, text).font = bold
    for width, letter in zip((34, 60, 8, 100), "ABCD", strict=True):
        contents.column_dimensions[letter].width = width
    names = _sheet_names([each.name for each in tables])
    for row, (name, own) in enumerate(zip(names, tables, strict=True), start=2):
        marks = ["synthetic data"] * synthetic + ["out of date"] * own.out_of_date
        marked = f" ({'; '.join(marks)})" if marks else ""
        _put(contents.cell(row, 1), name)
        contents.cell(row, 1).hyperlink = f"#'{name}'!A1"
        contents.cell(row, 1).style = "Hyperlink"
        _put(contents.cell(row, 2), own.table.title + marked)
        _put(contents.cell(row, 3), len(own.table.frame))
        _put(contents.cell(row, 4), own.table.note)
        sheet = book.create_sheet(name)
        frame = own.table.frame.iloc[:MOST_ROWS, :MOST_COLUMNS]
        _put(sheet.cell(1, 1), own.table.title + marked)
        sheet.cell(1, 1).font = bold
        for column, title in enumerate(frame.columns, start=1):
            cell = sheet.cell(3, column)
            _put(cell, str(title))
            cell.font, cell.alignment = bold, Alignment(wrap_text=True, vertical="top")
        for line, values in enumerate(frame.itertuples(index=False, name=None), start=4):
            for column, value in enumerate(values, start=1):
                _put(sheet.cell(line, column), value)
        if own.table.note:
            _put(sheet.cell(len(frame) + 5, 1), f"Note. {own.table.note}")
        _set_widths(sheet, frame)
        sheet.freeze_panes = "B4"
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _put(cell: Any, value: object) -> None:
    """A number as a number, all else as text that no program runs."""
    item = getattr(value, "item", None)
    plain: Any = item() if item is not None else value
    if plain is None or plain is pd.NA or (isinstance(plain, float) and plain != plain):
        return
    number = isinstance(plain, int | float) and not isinstance(plain, bool)
    if number and abs(plain) != float("inf"):
        cell.value = plain
        return
    text = cell_text(plain) if isinstance(plain, bool | float) else visible(str(plain))
    if not text:
        return
    cell.value = text[:LONGEST_CELL]
    cell.data_type = "s"  # whatever it begins with
    cell.quotePrefix = safe_text(text) != text  # so that it stays text when it is edited


def _set_widths(sheet: Any, frame: pd.DataFrame) -> None:
    from openpyxl.utils import get_column_letter

    for place in range(frame.shape[1]):
        texts = [str(frame.columns[place]), *map(cell_text, frame.iloc[:200, place])]
        width = min(max(map(len, texts)) + 2, 48)
        sheet.column_dimensions[get_column_letter(place + 1)].width = width


def _sheet_names(names: Iterable[str]) -> list[str]:
    """As Excel wants them: short, without its own signs, no two the same in any case of letters."""
    found: list[str] = []
    taken = {CONTENTS.lower(), "history"}
    for name in names:
        clean = " ".join(NOT_IN_SHEET_NAMES.sub(" ", visible(name)).split()).capitalize()
        short, copy = clean[:SHEET_NAME].strip() or "Table", 1
        while short.lower() in taken:
            copy += 1
            mark = f" {copy}"
            short = clean[: SHEET_NAME - len(mark)].strip() + mark
        taken.add(short.lower())
        found.append(short)
    return found

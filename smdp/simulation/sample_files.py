"""The sample studies as files: how they are written, and where to find them.

All of them are synthetic. The same code writes the same bytes each time.
"""

from __future__ import annotations

import re
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pandas as pd

from smdp.simulation.basics_like import BASELINE, REPORTS, SELF_REPORTS, basics_like
from smdp.simulation.sample_dictionary import (
    BASICS_COLUMNS,
    ORIGIN,
    WALKING_COLUMNS,
    dictionary_table,
)
from smdp.simulation.samples import BASICS, SAMPLE_FILES, WALKING
from smdp.simulation.three_action import three_action

DATA_SHEET = "Synthetic data"
DICTIONARY_SHEET = "Dictionary"

_MADE = datetime(2014, 1, 1)  # files carry a time stamp; a fixed one keeps their bytes the same


def write_sample_files(folder: str | Path) -> list[Path]:
    """Write every sample file into `folder`, which is made if need be; give their paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    basics = _whole_numbers(basics_like())
    dictionary = dictionary_table(BASICS, BASICS_COLUMNS)
    both = pd.concat([dictionary, dictionary_table(WALKING, WALKING_COLUMNS)])

    _write_csv(basics, folder / f"{BASICS}.csv")
    _write_excel(basics, dictionary, folder / f"{BASICS}.xlsx")
    _write_spss(basics, folder / f"{BASICS}.sav")
    _write_csv(one_row_a_student(basics), folder / f"{BASICS}_wide.csv")
    _write_csv(_whole_numbers(three_action()), folder / f"{WALKING}.csv")
    _write_csv(both, folder / "data_dictionary.csv")
    return [folder / name for name in SAMPLE_FILES]


def one_row_a_student(frame: pd.DataFrame) -> pd.DataFrame:
    """The long table turned wide: baseline columns, then stress_1 .. stress_28 and so on."""
    baseline = frame.groupby("student")[list(BASELINE)].first()
    repeated = ["weekend", *SELF_REPORTS, "module"]
    wide = frame.pivot(index="student", columns="report", values=repeated)
    order = [(name, report) for name in repeated for report in range(1, REPORTS + 1)]
    wide = wide[order]
    wide.columns = pd.Index([f"{name}_{report}" for name, report in order])
    return baseline.join(wide).reset_index()


def _whole_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of whole numbers written as such, though some of their cells are empty."""
    whole = [
        name
        for name in frame.select_dtypes("number").columns
        if (frame[name].dropna() % 1 == 0).all()
    ]
    return frame.astype(dict.fromkeys(whole, "Int64"))


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    text = frame.to_csv(index=False, lineterminator="\n", date_format="%Y-%m-%d %H:%M")
    path.write_bytes(text.encode("utf-8"))


def _write_excel(data: pd.DataFrame, dictionary: pd.DataFrame, path: Path) -> None:
    from openpyxl.utils import get_column_letter

    written = BytesIO()
    with pd.ExcelWriter(written, engine="openpyxl") as writer:
        data.to_excel(writer, sheet_name=DATA_SHEET, index=False)
        dictionary.to_excel(writer, sheet_name=DICTIONARY_SHEET, index=False)
        for sheet in writer.book.worksheets:
            sheet.freeze_panes = "A2"
        for i, name in enumerate(dictionary.columns, start=1):
            longest = max(len(name), *(len(str(v)) for v in dictionary[name]))
            writer.sheets[DICTIONARY_SHEET].column_dimensions[get_column_letter(i)].width = longest
        writer.book.properties.title = f"BASICS-Mobile-like study, {ORIGIN}"
        writer.book.properties.created = _MADE
    path.write_bytes(_with_fixed_times(written.getvalue()))


def _with_fixed_times(workbook: bytes) -> bytes:
    """The workbook with the time of writing replaced wherever the format records it."""
    stamp = _MADE.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    fixed = BytesIO()
    with zipfile.ZipFile(BytesIO(workbook)) as old, zipfile.ZipFile(fixed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, content)
            entry = zipfile.ZipInfo(name, date_time=_MADE.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, content)
    return fixed.getvalue()


def _write_spss(data: pd.DataFrame, path: Path) -> None:
    import pyreadstat

    numeric = [c.name for c in BASICS_COLUMNS if c.measure != "text"]
    pyreadstat.write_sav(
        data.astype(dict.fromkeys(numeric, float)),
        str(path),
        file_label="SYNTHETIC data in the image of BASICS-Mobile",
        note=f"This file is {ORIGIN}.",
        column_labels={c.name: c.label for c in BASICS_COLUMNS},
        variable_value_labels={
            c.name: dict(c.value_labels) for c in BASICS_COLUMNS if c.value_labels
        },
        variable_format=dict.fromkeys(numeric, "F4.0"),
        variable_measure={
            c.name: "nominal" if c.measure in ("text", "yes/no") or c.value_labels else "ordinal"
            for c in BASICS_COLUMNS
        },
    )
    # The header holds the date (9 bytes) and the time (8 bytes) of writing from byte 92 on.
    content = bytearray(path.read_bytes())
    content[92:109] = b"01 Jan 1400:00:00"  # not strftime: month names follow the locale
    path.write_bytes(bytes(content))

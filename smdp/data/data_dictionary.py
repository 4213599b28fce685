"""REDCap's data dictionary: what the fields of a project are called, hold and may be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from smdp.data.columns import level_text
from smdp.data.files.file_source import Source
from smdp.data.read_table import read_table
from smdp.data.reshape import NUMBERED
from smdp.data.role_table import split_codes
from smdp.data.variables import Kind
from smdp.errors import ReadError
from smdp.text import listing, plural, shorten

#: What we read of a dictionary: its columns as REDCap's pages write them, and as its API does.
NAME = ("Variable / Field Name", "field_name")
TYPE = ("Field Type", "field_type")
LABEL = ("Field Label", "field_label")
CHOICES = ("Choices, Calculations, OR Slider Labels", "select_choices_or_calculations")
VALIDATION = (
    "Text Validation Type OR Show Slider Number",
    "text_validation_type_or_show_slider_number",
)
LOWEST = ("Text Validation Min", "text_validation_min")
HIGHEST = ("Text Validation Max", "text_validation_max")
IDENTIFIER = ("Identifier?", "identifier")
NEEDED = (NAME, TYPE, LABEL)

TYPES = (
    "text", "notes", "radio", "dropdown", "checkbox", "yesno", "truefalse", "slider", "calc",
    "file", "descriptive", "sql",
)  # fmt: skip
OF_ONE_CHOICE = ("radio", "dropdown")
YES_OR_NO = {"yesno": {"1": "yes", "0": "no"}, "truefalse": {"1": "true", "0": "false"}}
NEVER_A_STATE = ("notes", "file", "descriptive", "sql")
SLIDER = (0.0, 100.0)
#: Choices that are no answer: their codes mean "missing".
NO_ANSWER = re.compile(
    r"(missing|unknown|refused|refuse to answer|declined|do(es)?( no|n['’])t know|not applicable|"
    r"n/?a|no answer|not answered|(i )?prefer not to (say|answer))\.?",
    re.IGNORECASE,
)
MARKUP = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class DictionaryField:
    """A field of the project, as a column of its export.

    `kind`, `low`, `high`: None where the dictionary does not say. `choices`: what its codes are
    called; `missing_codes`: those of them that are no answer. `never_a_state`: it identifies people
    or holds free text or files.
    """

    name: str
    label: str = ""
    kind: Kind | None = None
    low: float | None = None
    high: float | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    missing_codes: tuple[str, ...] = ()
    never_a_state: bool = False


@dataclass(frozen=True)
class DataDictionary:
    """The fields of a REDCap project, by the columns of its export."""

    source: str
    fields: Mapping[str, DictionaryField]

    def of(self, columns: Iterable[str]) -> dict[str, DictionaryField]:
        """The field of each column that has one; a column of a wide table, that of its first."""
        first_of_stem: dict[str, DictionaryField] = {}
        for name, each in self.fields.items():
            if match := NUMBERED.match(name):
                first_of_stem.setdefault(match["stem"], each)
        found = {name: self.fields.get(name) or first_of_stem.get(name) for name in columns}
        return {name: each for name, each in found.items() if each is not None}

    def labels(self, columns: Iterable[str]) -> dict[str, str]:
        """What these columns are called, as `with_labels` takes it."""
        return {name: each.label for name, each in self.of(columns).items() if each.label}

    def choices(self, columns: Iterable[str]) -> dict[str, dict[str, str]]:
        """What the codes in these columns are called, as `with_labels` takes it."""
        return {name: dict(each.choices) for name, each in self.of(columns).items() if each.choices}

    def require_any(self, columns: Iterable[str]) -> None:
        """An error if it is about another table."""
        if not self.of(columns):
            raise ReadError(
                f"None of the {plural(len(self.fields), 'field')} of '{shorten(self.source)}' is "
                f"a column of the table: {listing(map(repr, self.fields), 3)}.",
                "Choose the dictionary of the project that the table was exported from.",
            )


def read_dictionary(source: Source, *, name: str | None = None) -> DataDictionary:
    """The data dictionary of a REDCap project, a CSV or Excel file as REDCap exports it.

    Raises `ReadError` where the file is something else, or says two things of one field.
    """
    frame = read_table(source, name=name)
    called = str(frame.attrs["source"])
    columns = {_plain(column): str(column) for column in frame.columns}
    lacking = [names[0] for names in NEEDED if not _column(columns, names)]
    if lacking:
        raise ReadError(
            f"'{shorten(called)}' is no REDCap data dictionary: it has no column "
            f"{listing(map(repr, lacking))}.",
            "In REDCap, open 'Data Dictionary' and download the current one as CSV.",
        )
    fields: dict[str, DictionaryField] = {}
    for row in frame.to_dict("records"):
        cells: Cells = {names: _text(row.get(_column(columns, names))) for names in _EVERY}
        if not cells[NAME]:
            continue
        for each in _columns_of(cells):
            if each.name in fields:
                raise ReadError(
                    f"The field '{shorten(each.name)}' stands twice in '{shorten(called)}'.",
                    "Keep one of its rows.",
                )
            fields[each.name] = each
    if not fields:
        raise ReadError(f"'{shorten(called)}' names no field.", "Download the dictionary again.")
    return DataDictionary(Path(called).name, fields)


def is_dictionary(frame: pd.DataFrame) -> bool:
    """Whether a table is a REDCap data dictionary and no data."""
    columns = {_plain(column): str(column) for column in frame.columns}
    return all(_column(columns, names) for names in (*NEEDED, CHOICES))


def with_labels(
    frame: pd.DataFrame,
    labels: Mapping[str, str],
    choices: Mapping[str, Mapping[str, str]] | None = None,
) -> pd.DataFrame:
    """The table with these labels of columns and of values, beside those that its file has."""
    if not labels and not choices:
        return frame
    labelled = frame.copy(deep=False)
    attrs = dict(frame.attrs)
    attrs["variable_labels"] = {**attrs.get("variable_labels", {}), **labels}
    attrs["value_labels"] = dict(attrs.get("value_labels", {}))
    for name, named in (choices or {}).items():
        attrs["value_labels"][name] = {_value(code): text for code, text in named.items()}
    labelled.attrs = attrs
    return labelled


def described_by(table: pd.DataFrame, dictionary: DataDictionary) -> pd.DataFrame:
    """A table of roles with what the dictionary says of types, ranges, labels and missing codes.

    Who, when, treatment and outcome stay what they are.
    """
    described = table.copy()
    found = dictionary.of(table["column"])
    for place, row in table.iterrows():
        known = found.get(row["column"])
        if known is None:
            continue
        described.loc[place, "label"] = known.label or row["label"]
        given = split_codes(str(row["missing codes"] or ""))
        codes = [*given, *(code for code in known.missing_codes if code not in given)]
        described.loc[place, "missing codes"] = ", ".join(codes)
        if row["role"] not in ("state", "ignore"):
            continue
        said = f"in {shorten(dictionary.source, 40)}"
        if known.never_a_state and row["role"] == "state":
            described.loc[place, ["role", "type"]] = ["ignore", None]
            described.loc[place, "why"] = f"no state, as it stands {said}"
            continue
        if known.kind is not None:
            described.loc[place, "type"] = known.kind
            described.loc[place, "why"] = f"{known.kind}, as it stands {said}"
        if known.low is not None:
            described.loc[place, "lowest"] = known.low
        if known.high is not None:
            described.loc[place, "highest"] = known.high
    return described


_EVERY: tuple[tuple[str, ...], ...] = (
    NAME,
    TYPE,
    LABEL,
    CHOICES,
    VALIDATION,
    LOWEST,
    HIGHEST,
    IDENTIFIER,
)
Cells = Mapping[tuple[str, ...], str]


def _columns_of(cells: Cells) -> list[DictionaryField]:
    """A field is one column of the export; of several ticks, one for each choice."""
    name, kind_of_field, label = cells[NAME], cells[TYPE].lower(), _without_markup(cells[LABEL])
    if kind_of_field not in TYPES:
        raise ReadError(
            f"The field '{shorten(name)}' has the type '{shorten(cells[TYPE])}', which REDCap does "
            "not have.",
            f"It has: {', '.join(TYPES)}.",
        )
    unfit = kind_of_field in NEVER_A_STATE or cells[IDENTIFIER].lower() in ("y", "yes", "1")
    if kind_of_field == "checkbox":
        return [
            DictionaryField(
                f"{name}___{code.lower().replace('-', '_')}",
                f"{label}: {choice}" if label else choice,
                "binary",
                choices={"0": "unchecked", "1": "checked"},
                never_a_state=unfit,
            )
            for code, choice in _choices(name, cells[CHOICES]).items()
        ]
    if kind_of_field in YES_OR_NO:
        choices: Mapping[str, str] = YES_OR_NO[kind_of_field]
        return [DictionaryField(name, label, "binary", choices=choices, never_a_state=unfit)]
    if kind_of_field in OF_ONE_CHOICE:
        return [_of_one_choice(name, label, cells[CHOICES], unfit)]
    low, high = _range(name, cells)
    kind: Kind | None = None
    if kind_of_field == "slider":
        kind = "continuous"
        low, high = (SLIDER[0] if low is None else low), (SLIDER[1] if high is None else high)
    elif kind_of_field == "text" and cells[VALIDATION].lower().startswith("number"):
        kind = "continuous"
    return [DictionaryField(name, label, kind, low, high, never_a_state=unfit)]


def _of_one_choice(name: str, label: str, text: str, unfit: bool) -> DictionaryField:
    choices = _choices(name, text)
    no_answer = tuple(code for code, choice in choices.items() if NO_ANSWER.fullmatch(choice))
    answers = [_value(code) for code in choices if code not in no_answer]
    numbers = [value for value in answers if isinstance(value, int | float)]
    kind: Kind | None = None
    low = high = None
    if len(numbers) == len(answers) >= 2:
        kind = "binary" if len(numbers) == 2 else "ordinal"
        low, high = (None, None) if kind == "binary" else (min(numbers), max(numbers))
    return DictionaryField(name, label, kind, low, high, choices, no_answer, unfit)


def _choices(name: str, text: str) -> dict[str, str]:
    """'1, Never | 2, Often' as a mapping."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in re.split(r"[|\n]", text))):
        code, comma, choice = (each.strip() for each in part.partition(","))
        if not comma or not code:
            raise ReadError(
                f"The choices of the field '{shorten(name)}' cannot be read: '{shorten(part)}' has "
                "no comma after its code.",
                "They are written as: 1, Never | 2, Sometimes | 3, Often.",
            )
        if code in found:
            raise ReadError(
                f"The field '{shorten(name)}' has the code {shorten(code)} for two choices.",
                "Give each choice a code of its own.",
            )
        found[code] = _without_markup(choice)
    if not found:
        raise ReadError(
            f"The field '{shorten(name)}' is a choice, and the dictionary names none.",
            "Write its choices as: 1, Never | 2, Sometimes | 3, Often.",
        )
    return found


def _range(name: str, cells: Cells) -> tuple[float | None, float | None]:
    """The lowest and the highest value allowed; those of dates, or of other fields, are left."""
    found = [_value(cells[end]) for end in (LOWEST, HIGHEST)]
    low, high = (float(each) if isinstance(each, int | float) else None for each in found)
    if low is not None and high is not None and low >= high:
        raise ReadError(
            f"The range of the field '{shorten(name)}' is empty: {low:g} to {high:g}.",
            "Give a minimum that is below the maximum.",
        )
    return low, high


def _value(code: str) -> int | float | str:
    """A code as a table holds it."""
    if re.fullmatch(r"[+-]?\d{1,15}", code):
        return int(code)
    if re.fullmatch(r"[+-]?\d{0,15}\.\d{1,15}", code):
        return float(code)
    return code


def _column(columns: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((columns[_plain(name)] for name in names if _plain(name) in columns), "")


def _plain(name: object) -> str:
    return re.sub(r"[^a-z]", "", str(name).lower())


def _text(cell: object) -> str:
    return "" if cell is None or pd.isna(cell) else level_text(cell).strip()


def _without_markup(text: str) -> str:
    """REDCap's labels may hold HTML; read aloud, a label is its words."""
    return " ".join(MARKUP.sub(" ", text).split())

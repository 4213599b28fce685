"""The form of one step that shapes the table, drawn from what its operation declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, get_args, get_origin

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.form import control
from dashboard.session import keep, kept
from dashboard.show import literal
from smdp.data.columns import level_text
from smdp.data.shaping.compute import Rule
from smdp.data.shaping.formula import written
from smdp.data.shaping.functions import FUNCTIONS
from smdp.data.shaping.operation import Operation
from smdp.errors import SettingError
from smdp.settings import Setting, hints_of
from smdp.text import plural

CHOOSE, NONE = "Choose …", "none"
IN_A_ROW = 3
MOST_VALUES = 200  # of a column, to be recoded one by one
EXAMPLES = """\
Columns are written by their names (a name with blanks or other signs in brackets: `[two words]`),
text in quotes: `'home'`. Signs: `+ - * / ^`, `= != < <= > >=`, `and`, `or`, `not`, round brackets.
What is true is 1, what is false is 0. What is worked out with a missing value is missing.

- `log(steps + 0.5)`: the logarithm of a count
- `if(is_missing(mood), 0, mood)`: 0 where nothing was said
- `lag(craving)`: what the person said the time before
- `avail = 1 and day_number(date) <= 42`: for rows that are kept
"""


@dataclass(frozen=True)
class Field:
    """One setting of an operation: what it declares, its type, and where its form starts."""

    name: str
    known: Setting
    hint: Any
    start: Any
    required: bool

    @property
    def wide(self) -> bool:
        """Whether it needs the whole width."""
        own = get_origin(self.hint)
        return (
            self.known.stands_for == "formula"
            or own is Mapping
            or (own is tuple and get_args(self.hint)[0] is Rule)
        )


class OperationForm:
    """The controls of one kind of operation; what is chosen is kept under `key`.

    `frame`: the table that the step is done to. `tables`: those that can be joined.
    `draw_table`: draws the choice of one of these, where there is more to it than a list.
    """

    def __init__(
        self,
        key: str,
        kind: type[Operation],
        start: Operation | None,
        frame: pd.DataFrame,
        tables: Mapping[str, pd.DataFrame],
        draw_table: Callable[[str, str], str] | None = None,
    ) -> None:
        self._key, self._kind, self._frame, self._tables = key, kind, frame, tables
        self._draw_table = draw_table
        self._fields = list(_fields(kind, start))
        self._chosen: dict[str, Any] = {}

    def draw(self) -> None:
        """All controls: short ones beside each other, then those that need room."""
        wanted = [each for each in self._fields if self._is_wanted(each)]
        self._chosen = {each.name: _empty(each) for each in self._fields if each not in wanted}
        tables = [each for each in wanted if each.known.stands_for == "table"]
        short = [each for each in wanted if not each.wide and each not in tables]
        for each in tables:
            self._chosen[each.name] = self._control(each)
        for place in range(0, len(short), IN_A_ROW):
            self._draw_row(short[place : place + IN_A_ROW])
        for each in wanted:
            if each.wide:
                self._chosen[each.name] = self._control(each)
        if any(each.known.stands_for == "formula" for each in self._fields):
            self._insert()
        elif any(each.wide and get_origin(each.hint) is tuple for each in self._fields):
            formula_help()

    @property
    def missing(self) -> list[str]:
        """What is still to be filled in."""
        return [
            each.known.label
            for each in self._fields
            if each.required and not self._chosen.get(each.name)
        ]

    def operation(self) -> Operation:
        """As it was filled in; a clear error where that does not fit together."""
        return self._kind(**self._chosen)

    def _is_wanted(self, each: Field) -> bool:
        """Whether it has a meaning as the others are chosen."""
        if each.name == "others_level":
            return bool(self._now("others") == "one level")
        if each.name == "hours":
            return bool(self._now("beep"))
        return True

    def _now(self, name: str) -> Any:
        """What is chosen for an earlier one, also if its row is not drawn yet in this run."""
        start = next(each.start for each in self._fields if each.name == name)
        key = self._name(name)
        return st.session_state.get(key, kept(key, start))

    def _draw_row(self, row: Sequence[Field]) -> None:
        for place, each in zip(st.columns(IN_A_ROW), row, strict=False):
            with place:
                if each.hint is bool:
                    st.space("small")  # so that the box stands beside the others' and not above
                self._chosen[each.name] = self._control(each)

    def _name(self, name: str) -> str:
        return f"{self._key}.{name}"

    def _control(self, each: Field) -> Any:
        key, known = self._name(each.name), each.known
        own = get_origin(each.hint)
        if known.stands_for == "formula":
            return controls.text(
                known.label, self._formula_key(), known.help, each.start or ""
            ).strip()
        if known.stands_for == "table":
            assert self._draw_table is not None
            return self._draw_table(key, each.start or "")
        if known.stands_for in ("column", "their column"):
            columns = self._columns(known.stands_for)
            if own is tuple:
                return tuple(
                    controls.several(known.label, key, columns, known.help, list(each.start or ()))
                )
            none = CHOOSE if each.required else NONE
            start = each.start if each.start in columns else ""
            return controls.select(
                known.label, key, ["", *columns], start, known.help, lambda name: name or none
            )
        if own is Mapping:
            return self._values(key, each)
        if own is tuple and get_args(each.hint)[0] is Rule:
            return self._rules(key, each.start or ())
        if own is tuple and get_args(each.hint)[0] is float:
            return _numbers(known, key, each.start)
        return control(key, known, each.hint, each.start)

    def _columns(self, stands_for: str) -> list[str]:
        if stands_for == "column":
            return list(map(str, self._frame.columns))
        other = self._tables.get(self._chosen.get("table", ""))
        return [] if other is None else list(map(str, other.columns))

    def _rules(self, key: str, start: Sequence[Rule]) -> tuple[Rule | tuple[str, str], ...]:
        """A line for each rule, and always one more that is empty."""
        st.caption("In each row of the table, the first rule that is true gives the level.")
        condition, level = _fields(Rule, None)
        texts = kept(f"{key}.lines", [(rule.condition, rule.level) for rule in start])
        found: list[tuple[str, str]] = []
        place = 0
        while True:
            old = texts[place] if place < len(texts) else ("", "")
            left, right = st.columns((3, 1))
            with left:
                where = st.text_input(
                    f"{place + 1}. {condition.known.label}",
                    old[0],
                    key=f"{key}.{place}.where",
                    help=condition.known.help if place == 0 else None,
                    placeholder="send = 1 and send.active = 1" if place == 0 else "one more rule",
                )
            with right:
                called = st.text_input(level.known.label, old[1], key=f"{key}.{place}.level")
            found.append((where.strip(), called.strip()))
            place += 1
            if place >= len(texts) and not where.strip() and not called.strip():
                break
        filled = [pair for pair in found if any(pair)]
        keep(f"{key}.lines", filled if len(filled) >= len(found) - 1 else found[:-1])
        return tuple(filled)

    def _values(self, key: str, each: Field) -> dict[str, str]:
        """The column's values with a place for the new one beside each."""
        column = self._chosen.get("column") or self._now("column")
        if column not in self._frame.columns:
            st.caption("Choose a column; its values are then listed here.")
            return {}
        counts = self._frame[column].map(level_text, na_action="ignore").value_counts()
        start = dict(kept(f"{key}.{column}", each.start or {}))
        listed = [*counts.index[:MOST_VALUES]]
        listed += [value for value in start if value not in set(listed)]
        base = pd.DataFrame(
            {
                "value": listed,
                "rows": [int(counts.get(value, 0)) for value in listed],
                "new value": [start.get(value) or None for value in listed],
                "missing": [value in start and not start[value] for value in listed],
            }
        )
        remembered = f"{key}.{column}.base"
        if remembered not in st.session_state:
            st.session_state[remembered] = base
        edited = st.data_editor(
            st.session_state[remembered],
            key=f"{key}.{column}.editor",
            hide_index=True,
            disabled=["value", "rows"],
            placeholder="",
            height=min(320, 40 + 35 * len(base)),
            column_config={
                "value": st.column_config.TextColumn("Value"),
                "rows": st.column_config.NumberColumn("Rows"),
                "new value": st.column_config.TextColumn(
                    "New value", help="Left empty, the value is not listed in this step."
                ),
                "missing": st.column_config.CheckboxColumn(
                    "Becomes missing", help="Ticked, the value means that nothing is known."
                ),
            },
            alt="Table of values: a new value can be typed beside each.",
        )
        if len(counts) > MOST_VALUES:
            st.caption(
                f"The {MOST_VALUES} most frequent of {plural(len(counts), 'value')} are listed."
            )
        found: dict[str, str] = {}
        for row in edited.to_dict("records"):
            new = row["new value"]
            if row["missing"]:
                found[row["value"]] = ""
            elif isinstance(new, str) and new.strip():
                found[row["value"]] = new.strip()
        return keep(f"{key}.{column}", found)

    def _formula_key(self) -> str:
        """Another one after each name that was put into the formula: then it starts anew."""
        return self._name(f"formula {kept(self._name('inserted'), 0)}")

    def _insert(self) -> None:
        """Names that are put at the end of the formula by a click; and how formulas are written."""
        names = [written(str(name)) for name in self._frame.columns]
        options = {name: name for name in names}
        options |= {f"{name}(": each.usage for name, each in FUNCTIONS.items()}
        left, right = st.columns((1, 1), vertical_alignment="bottom")
        with left:
            st.selectbox(
                "Insert a column or a function",
                list(options),
                index=None,
                format_func=lambda each: options[each],
                key=f"{self._formula_key()} insert",
                placeholder="It goes to the end of the formula",
                on_change=self._put_in,
            )
        with right:
            formula_help()

    def _put_in(self) -> None:
        formula = self._formula_key()
        name = st.session_state.get(f"{formula} insert")
        if name:
            before = str(st.session_state.get(formula, "")).rstrip()
            joint = "" if before.endswith("(") or not before else " "
            keep(self._name("inserted"), kept(self._name("inserted"), 0) + 1)
            keep(self._formula_key(), f"{before}{joint}{name}")


def formula_help() -> None:
    """How formulas are written, and every function."""
    with st.popover("How to write formulas", icon=":material/function:", width="stretch"):
        st.markdown(EXAMPLES)
        lines = [f"| `{each.usage}` | {literal(each.words)} |" for each in FUNCTIONS.values()]
        st.markdown("\n".join(["| function | what it gives |", "|---|---|", *lines]))


def _fields(kind: type, start: Operation | None) -> list[Field]:
    hints = hints_of(kind)
    found = []
    for each in fields(kind):
        known = each.metadata.get("setting")
        if known is None:
            continue
        required = each.default is MISSING
        default = None if required else each.default
        own = default if start is None else getattr(start, each.name)
        found.append(Field(each.name, known, hints[each.name], own, required))
    return found


def _empty(each: Field) -> Any:
    return () if get_origin(each.hint) is tuple else ""


def _numbers(known: Setting, key: str, start: Sequence[float]) -> tuple[float, ...]:
    shown = ", ".join(f"{number:g}" for number in start or ())
    typed = controls.text(known.label, key, known.help, shown)
    try:
        return tuple(float(word) for word in typed.replace(",", " ").replace(";", " ").split())
    except ValueError:
        raise SettingError(
            f"'{known.label}' must be numbers.", "Separate them by commas, as in: 9, 12.5, 18"
        ) from None

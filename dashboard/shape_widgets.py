"""Shaping the table on the Data page: the list of steps, and a form for one more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import controls
from dashboard.clicks import what_to_do
from dashboard.role_widgets import begin_anew
from dashboard.session import forget_kept, keep, kept, memo, put, start_visit_anew, the_analysis
from dashboard.shape_form import CHOOSE, OperationForm
from dashboard.show import literal, say_error
from dashboard.table import NOT_CHOSEN, LoadedTable, sheets_of
from smdp.analysis.further_tables import further_tables
from smdp.data.guess_roles import guess_columns
from smdp.data.missing_codes import mark_missing
from smdp.data.read_table import read_table
from smdp.data.role_table import codes_before_shaping, codes_from_table, fitted_to, with_facts
from smdp.data.shaping.formula import FormulaError
from smdp.data.shaping.gradual import GradualShape, ShapedSoFar, TriedOut
from smdp.data.shaping.join import JoinTable
from smdp.data.shaping.operation import Operation
from smdp.data.shaping.operations import OPERATIONS
from smdp.data.shaping.shape import ShapingRecord, name_after, name_before
from smdp.errors import SettingError, SmdpError
from smdp.steps.step_plans import TableFile
from smdp.text import plural, shorten

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

ALL_COLUMNS = "*"
DRAFT, FORMS = "shape.draft", "shape.forms"
JOINED_SHEET = "joined sheet:"
MOST_UNDONE = 20
MOST_LEVELS = 12
Codes = Mapping[str, tuple[str | float, ...]]


@dataclass(frozen=True, eq=False)
class Shaping:
    """The table as it is shaped now, and what it was before.

    `long`: before anything was done to it but its layout. `codes`: what was marked as missing.
    """

    source: LoadedTable
    long: pd.DataFrame
    everywhere: str
    operations: tuple[Operation, ...]
    codes: Codes
    person: str | None
    time: str | None
    gradual: GradualShape | None
    done: ShapedSoFar | None

    @property
    def frame(self) -> pd.DataFrame:
        """What the roles are given to."""
        return self.long if self.done is None or not self.operations else self.done.frame

    def require_done(self) -> None:
        """An error if a step of it cannot be done, which is told in full where the step stands."""
        if self.done is not None and self.done.error is not None:
            raise SettingError(
                f"Step {(self.done.failed or 0) + 1} of shaping the table cannot be done.",
                "Correct it or remove it, under 'Shape the table'.",
            )


# What is known before the controls are drawn.


def origin_of(source: LoadedTable) -> str:
    return f"{source.token}:{kept('layout', '')}"


def _planned() -> Any:
    """The plan, if it speaks of the table as it is read now."""
    planned = the_analysis().plan
    same = planned.roles != NOT_CHOSEN and planned.reading.layout == kept("layout", "")
    return planned if same else None


def operations_now(source: LoadedTable) -> tuple[Operation, ...]:
    planned = _planned()
    start = planned.reading.shape if planned is not None else ()
    return tuple(kept(f"shape:{origin_of(source)}", start))


def codes_now(
    source: LoadedTable, long: pd.DataFrame, everywhere: str, roles: pd.DataFrame
) -> Codes:
    """The missing codes of the columns that the table has before it is shaped."""
    planned = _planned()
    others = dict(planned.reading.missing_codes) if planned is not None else {}
    others.pop(ALL_COLUMNS, None)
    earlier = kept(f"roles before:{origin_of(source)}", None)
    if earlier is not None:
        known = codes_from_table(earlier)
        others |= {name: tuple(known.get(name, ())) for name in earlier["column"]}
    columns = list(map(str, long.columns))
    found = codes_before_shaping(roles, everywhere, columns, others)
    return {name: tuple(codes) for name, codes in found.items()}


def _who(roles: pd.DataFrame | None, long: pd.DataFrame) -> tuple[str | None, str | None]:
    """The columns of person and time: of the roles, of the plan, or as they are guessed."""
    if roles is not None:
        first = [
            next(iter(roles.loc[roles["role"] == role, "column"]), None)
            for role in ("subject", "time")
        ]
        return first[0], first[1]
    planned = _planned()
    if planned is not None:
        return planned.roles.subject, planned.roles.time
    guess = guess_columns(long)
    return guess.first("subject"), guess.first("time")


def _codes_at_first(
    source: LoadedTable, long: pd.DataFrame, everywhere: str, roles: pd.DataFrame | None
) -> Codes:
    if roles is not None:
        try:
            return codes_now(source, long, everywhere, roles)
        except SettingError:  # it is said where the roles are
            pass
    planned = _planned()
    return dict(planned.reading.missing_codes) if planned is not None else {}


def _gradual(source: LoadedTable, long: pd.DataFrame, codes: Codes) -> GradualShape:
    tables = the_analysis().tables
    joined = [(name, each.source.fingerprint) for name, each in tables.items()]
    return memo(
        "gradual shape",
        (origin_of(source), dict(codes), joined),
        lambda: GradualShape(mark_missing(long, dict(codes)), the_analysis().frames),
    )


# The section.


def shape_the_table(source: LoadedTable, long: pd.DataFrame, everywhere: str) -> Shaping:
    """The list of steps, with a form for one more; the table that they give."""
    roles = kept(f"roles:{origin_of(source)}", None)
    operations = operations_now(source)
    earlier: list[tuple[Operation, ...]] = kept(_undo(source), [])
    if not (operations or earlier or _open()):
        shaping = Shaping(source, long, everywhere, (), {}, None, None, None, None)
    else:
        codes = _codes_at_first(source, long, everywhere, roles)
        person, time = _who(roles, long)
        gradual = _gradual(source, long, codes)
        done = gradual.after(operations, person=person, time=time)
        shaping = Shaping(source, long, everywhere, operations, codes, person, time, gradual, done)
    with st.container(border=True):
        _heading(shaping)
        _list(shaping)
        if _open():
            _draft(shaping)
        else:
            _buttons(shaping)
    _fit_roles(shaping)
    return shaping


def again_if_changed(shaping: Shaping, roles: pd.DataFrame) -> None:
    """Shape the table anew where the roles or codes that it was shaped by were changed just now."""
    if shaping.gradual is None:
        return
    codes = _codes_at_first(shaping.source, shaping.long, shaping.everywhere, roles)
    who = _who(roles, shaping.long)
    if (dict(codes), who) != (dict(shaping.codes), (shaping.person, shaping.time)):
        st.rerun()


def _heading(shaping: Shaping) -> None:
    count = len(shaping.operations)
    steps = f", in {plural(count, 'step')}" if count else ""
    st.markdown(f"**Shape the table**{steps}")
    if not count and not _open():
        st.caption(
            "If the table is not yet as you need it: compute a column, combine treatments into "
            "one, recode or group values, leave rows out. The file itself stays as it is."
        )


def _list(shaping: Shaping) -> None:
    records = shaping.done.records if shaping.done is not None else ()
    last = len(shaping.operations) - 1
    draft = _open()
    wanted: tuple[Operation, ...] | None = None
    for place, operation in enumerate(shaping.operations):
        text, buttons = st.columns((5, 1.5), vertical_alignment="top")
        with text:
            st.markdown(f"{place + 1}\\. {literal(operation.describe())}")
            if place < len(records):
                st.caption("  \n".join(map(literal, _effect(records[place]))))
            elif shaping.done is not None and place == shaping.done.failed:
                assert shaping.done.error is not None
                show_error(shaping.done.error)
            else:
                st.caption("Not done, for a step before it cannot be.")
        with buttons, _icons(place):
            busy, number = bool(draft), place + 1
            if _icon("arrow_upward", f"Move step {number} up", place == 0 or busy):
                wanted = _swapped(shaping.operations, place - 1)
            if _icon("arrow_downward", f"Move step {number} down", place == last or busy):
                wanted = _swapped(shaping.operations, place)
            if _icon("edit", f"Change step {number}", busy):
                _open_draft(place)
            if _icon("delete", f"Remove step {number}", busy):
                wanted = shaping.operations[:place] + shaping.operations[place + 1 :]
    if wanted is not None:
        _change(shaping, wanted)


def _icons(place: int) -> DeltaGenerator:
    """A place for buttons whose words are heard and not seen: the page's style hides them."""
    return st.container(
        horizontal=True, gap="xsmall", horizontal_alignment="right", key=f"shape-step-{place}"
    )


def _icon(icon: str, words: str, disabled: bool) -> bool:
    return st.button(
        words, icon=f":material/{icon}:", type="tertiary", help=words, key=words, disabled=disabled
    )


def _effect(record: ShapingRecord) -> list[str]:
    lines = [record.effect()]
    if record.levels:
        shown = [f"{level}: {rows:,}" for level, rows in list(record.levels.items())[:MOST_LEVELS]]
        more = len(record.levels) - MOST_LEVELS
        lines.append("Rows by level: " + ", ".join(shown) + (f", and {more} more" * (more > 0)))
    return [*lines, *record.notes]


def _buttons(shaping: Shaping) -> None:
    with st.container(horizontal=True):
        if st.button("Add a step", icon=":material/add:", key="shape-add"):
            _open_draft(None)
        earlier: list[tuple[Operation, ...]] = kept(_undo(shaping.source), [])
        if earlier and st.button(
            "Undo the last change", icon=":material/undo:", type="tertiary", key="shape-undo"
        ):
            *rest, last = earlier
            _change(shaping, tuple(last), undone=rest)


def _swapped(operations: tuple[Operation, ...], place: int) -> tuple[Operation, ...]:
    moved = list(operations)
    moved[place], moved[place + 1] = moved[place + 1], moved[place]
    return tuple(moved)


def _undo(source: LoadedTable) -> str:
    return f"shape undo:{origin_of(source)}"


# Changing the list.


def _change(
    shaping: Shaping,
    operations: tuple[Operation, ...],
    *,
    undone: Sequence[tuple[Operation, ...]] | None = None,
) -> None:
    """Take these steps in place of the present ones, unless one that could be done no longer can.

    Roles go with columns that get another name.
    """
    source, before = shaping.source, shaping.operations
    columns = list(map(str, shaping.long.columns))

    def renamed(name: str | None) -> str | None:
        if name is None:
            return None
        return name_after(name_before(name, columns, before), operations)

    gradual = shaping.gradual or _gradual(source, shaping.long, shaping.codes)
    person, time = renamed(shaping.person), renamed(shaping.time)
    found = gradual.after(operations, person=person, time=time)
    was_whole = shaping.done is None or shaping.done.error is None
    if found.error is not None and was_whole:
        stopped = operations[found.failed or 0].describe().rstrip(".")
        st.warning(
            f"Nothing was changed: this step could not be done then: {literal(shorten(stopped))}.",
            icon=":material/undo:",
        )
        show_error(found.error)
        gradual.after(before, person=shaping.person, time=shaping.time)
        return
    roles_name = f"roles:{origin_of(source)}"
    roles = kept(roles_name, None)
    if roles is not None:
        there = set(roles["column"])
        names = [name if (new := renamed(name)) in there else new for name in roles["column"]]
        keep(roles_name, with_facts(roles.assign(column=names), found.frame))
    earlier = [*kept(_undo(source), []), before][-MOST_UNDONE:]
    keep(_undo(source), list(earlier if undone is None else undone))
    keep(f"shape:{origin_of(source)}", operations)
    _close_draft(source)
    start_visit_anew()
    st.rerun()


def _fit_roles(shaping: Shaping) -> None:
    """A row of the table of roles for each column that there is now."""
    name = f"roles:{origin_of(shaping.source)}"
    roles = kept(name, None)
    if roles is None or set(roles["column"]) == set(map(str, shaping.frame.columns)):
        return
    import pandas as pd

    memory = f"roles before:{origin_of(shaping.source)}"
    earlier = kept(memory, None)
    known = roles if earlier is None else pd.concat([earlier, roles])
    known = known.drop_duplicates("column", keep="last").reset_index(drop=True)
    keep(memory, known)
    keep(name, fitted_to(shaping.frame, roles, known))
    begin_anew()  # of the roles alone: what stands above them is drawn already


# The form.


def _open_draft(place: int | None) -> None:
    number = keep(FORMS, kept(FORMS, 0) + 1)
    keep(DRAFT, {"number": number, "place": place})
    st.rerun()


def _open() -> dict[str, Any]:
    """The form that is open, if one is: its number, and the place of the step that it changes."""
    found: dict[str, Any] = kept(DRAFT, {})
    return found


def _close_draft(source: LoadedTable) -> None:
    """Forget what was filled in, and tables that were loaded for it and are not joined."""
    forget_kept(DRAFT)
    earlier: list[tuple[Operation, ...]] = kept(_undo(source), [])
    lists = [*earlier, operations_now(source)]
    used = {each.table for each in chain(*lists) if isinstance(each, JoinTable)}
    own = the_analysis()
    if not used >= set(own.tables):
        put(replace(own, tables={k: v for k, v in own.tables.items() if k in used}))


# Tables that are joined.


def draw_table(key: str, start: str) -> str:
    """The choice of a table to be joined: one that was loaded, or another file."""
    names = list(the_analysis().frames)
    chosen = ""
    if names:
        loaded_last = kept(f"{key}.loaded", start)
        at_first = loaded_last if loaded_last in names else names[-1]
        chosen = controls.select("Table", f"{key} {loaded_last}", names, at_first, "")
    upload = st.file_uploader(
        "Another file to be joined" if names else "The file to be joined",
        key=f"{key}.upload {len(names)} {kept(f'{key}.loaded', '')}",
        help="A table with one row for each person, say, with the person's number in a column. It "
        "is read on this computer, kept with the analysis, and saved with its data.",
    )
    if upload is None:
        return chosen
    content = upload.getvalue()
    sheets = sheets_of(upload.name, content)
    sheet = _sheet_of(sheets, f"{key}.sheet {upload.file_id}")
    if sheets and sheet is None:
        return ""  # nothing is joined before it is chosen
    name = _add_table(upload.name, read_table(content, name=upload.name, sheet=sheet))
    keep(f"{JOINED_SHEET}{name}", sheet if len(sheets) > 1 else None)
    keep(f"{key}.loaded", name)
    st.rerun()
    return name


def _sheet_of(sheets: Sequence[str], key: str) -> str | None:
    """The sheet to be joined, asked for where a workbook has several."""
    if len(sheets) < 2:
        return next(iter(sheets), None)
    chosen: str | None = st.selectbox(
        "Sheet of the workbook", sheets, index=None, placeholder=CHOOSE, key=key
    )
    return chosen


def _add_table(file: str, frame: pd.DataFrame) -> str:
    """Keep it with the analysis, under a name made of that of its file."""
    own, (new,) = the_analysis(), further_tables({"": frame}).values()
    stem = Path(file).stem or "table"
    name, number = stem, 1
    while name in own.tables and own.tables[name].source.fingerprint != new.source.fingerprint:
        number += 1
        name = f"{stem} {number}"
    put(replace(own, tables={**own.tables, name: new}))
    return name


def files_joined(operations: Sequence[Operation]) -> tuple[TableFile, ...]:
    """Of the tables that these steps join; as the plan has them, where it means the same."""
    planned = {each.name: each for each in the_analysis().plan.reading.tables}
    found = []
    for name, each in the_analysis().tables.items():
        if not any(isinstance(step, JoinTable) and step.table == name for step in operations):
            continue
        source = each.source
        of_plan = planned.get(name)
        if of_plan is None or of_plan.fingerprint not in ("", source.file_fingerprint):
            sheet: str | None = kept(f"{JOINED_SHEET}{name}", None)
            of_plan = TableFile(name, source.name, source.file_fingerprint, sheet)
        found.append(of_plan)
    return tuple(found)


@st.fragment
def _draft(shaping: Shaping) -> None:
    """What step it is, its settings, and what it would do; nothing is done before "Apply"."""
    draft = _open()
    if not draft or shaping.gradual is None or shaping.done is None:
        return
    place, reached = draft["place"], len(shaping.done.records)
    at = len(shaping.operations) if place is None else place
    if at > reached or (place is not None and place >= len(shaping.operations)):
        st.info("A step before this one cannot be done. Correct it or remove it first.")
        if st.button("Close", key="shape-cancel"):
            _close_draft(shaping.source)
            st.rerun()
        return
    if shaping.operations:
        st.divider()
    kinds = {kind.do: kind for kind in OPERATIONS}
    start = shaping.operations[place] if place is not None else None
    key = f"{DRAFT}.{draft['number']}"
    if start is None:
        do = st.selectbox(
            "What is to be done?",
            list(kinds),
            index=list(kinds).index(kept(f"{key}.do", next(iter(kinds)))),
            format_func=lambda each: kinds[each].title,
            key=f"{key}.do",
        )
        keep(f"{key}.do", do)
    else:
        do = start.do
        st.markdown(f"**Step {at + 1}: {kinds[do].title.lower()}**")
    found: Operation | None = None
    try:
        form = OperationForm(
            f"{key}.{do}",
            kinds[do],
            start,
            shaping.gradual.before(at),
            the_analysis().frames,
            draw_table,
        )
        form.draw()
        if form.missing:
            st.caption("Still to be filled in: " + ", ".join(form.missing) + ".")
        else:
            operation = form.operation()
            tried = memo(
                "tried out",
                (shaping.gradual, shaping.operations[:at], shaping.person, shaping.time, operation),
                lambda: _tried(shaping, operation, at),
            )
            if isinstance(tried, SmdpError):
                raise tried
            show_preview(operation, tried)
            found = operation
    except SmdpError as error:
        show_error(error)
    with st.container(horizontal=True):
        label = "Apply" if start is None else "Apply the change"
        pressed = st.button(
            label,
            type="primary",
            icon=":material/check:",
            disabled=found is None,
            key="shape-apply",
        )
        if st.button("Cancel", type="tertiary", icon=":material/close:", key="shape-cancel"):
            _close_draft(shaping.source)
            st.rerun()
    if pressed and found is not None:
        after = shaping.operations[at + 1 :] if place is not None else ()
        _change(shaping, (*shaping.operations[:at], found, *after))


def _tried(shaping: Shaping, operation: Operation, at: int) -> TriedOut | SmdpError:
    assert shaping.gradual is not None
    try:
        return shaping.gradual.try_out(operation, at)
    except SmdpError as error:
        return error


def show_preview(operation: Operation, tried: TriedOut) -> None:
    """What a step would do: in words, and in the first rows."""
    lines = [operation.describe(), *_effect(tried.record)]
    if tried.people is not None and tried.people[0] != tried.people[1]:
        gone = tried.people[0] - tried.people[1]
        lines.append(f"{gone:,} of {tried.people[0]:,} people left out")
    st.markdown("**What it would do**")
    st.markdown("\n".join(f"- {literal(line)}" for line in lines))
    if tried.rows.shape[1]:
        st.dataframe(tried.rows, hide_index=True, key="shape-preview", placeholder="")


def show_error(error: SmdpError) -> None:
    """One message; of a formula, with the place of the mistake below it."""
    if not isinstance(error, FormulaError):
        say_error(error)
        return
    todo = what_to_do(error.remedy, error.concerns)
    remedy = f"\n\n**What to do:** {literal(todo)}" if todo else ""
    what = literal(f"At character {error.place}: {error.what}")
    st.error(f"{what}{remedy}", icon=":material/error:")
    st.code(error.pointer(), language=None)

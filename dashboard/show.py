"""The parts that every page is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.address import go_to
from dashboard.clicks import what_to_do
from dashboard.glossary import explained
from dashboard.guide import guide
from dashboard.literal_text import literal as literal
from dashboard.session import Key, State, keep, kept, news, state
from smdp.errors import SmdpError
from smdp.words.figures import figure_words, table_words

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.data.problem import Problem
    from smdp.steps import Step

FIGURE_FORMAT, SVG = "figures.format", "SVG"
#: The browser counts 96 pixels to the inch.
FIGURE_FORMATS: dict[str, dict[str, object]] = {
    SVG: {"format": "svg"},
    "PNG, 300 dpi": {"format": "png", "scale": 300 / 96},
}
#: Of the buttons below a figure; above it they would cover its legend.
BUTTONS_HEIGHT = 18
#: Pixels of a table's column.
PER_LETTER, WIDEST = 7, 320


def heading(title: str, question: str) -> None:
    """A page's title and the question that it answers."""
    st.title(title, anchor=False)
    st.markdown(f"<p class='question'>{question}</p>", unsafe_allow_html=True)
    guide(title)
    for text in news():
        st.info(text, icon=":material/info:")


def part(title: str) -> None:
    """The heading of a part of the page, without a link: that would be one more stop for Tab."""
    st.header(title, anchor=False)


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """An error for people becomes a message on the page; nothing already done is lost."""
    try:
        yield
    except SmdpError as error:
        say_error(error)


def say_error(error: SmdpError) -> None:
    todo = what_to_do(error.remedy, error.concerns)
    remedy = f"\n\n**What to do:** {literal(todo)}" if todo else ""
    st.error(literal(error.problem) + remedy, icon=":material/error:")


def says(sentences: Iterable[str], title: str = "What this says") -> None:
    """Generated sentences with the actual numbers."""
    part(title)
    lines = explained([literal(sentence) for sentence in sentences])
    st.markdown("\n".join(f"- {line}" for line in lines), unsafe_allow_html=True)


def check(problems: Iterable[Problem]) -> None:
    """Findings with their remedies: errors, warnings, notes."""
    found = list(problems)
    if not found:
        return
    part("Check")
    boxes = {"error": st.error, "warning": st.warning, "note": st.info}
    icons = {"error": "error", "warning": "warning", "note": "info"}
    for problem in found[:12]:
        todo = what_to_do(problem.remedy, problem.concerns)
        remedy = f" **What to do:** {literal(todo)}" if todo else ""
        boxes[problem.severity](
            literal(problem.message) + remedy, icon=f":material/{icons[problem.severity]}:"
        )
    if len(found) > 12:
        st.caption(f"and {len(found) - 12} more")


def export_name(name: str) -> str:
    """The name of an exported file; what is synthetic, or out of date, says so."""
    table = st.session_state.get(Key.TABLE)
    synthetic = "synthetic-" if table is not None and table.synthetic else ""
    step = st.session_state.get(Key.PAGE_STEP)
    old = "out-of-date-" if step is not None and state(step) == State.OUT_OF_DATE else ""
    return f"smdp-{synthetic}{old}{name}"


def figure_format() -> None:
    """In the sidebar: in which format the camera of every figure saves it."""
    last = kept(FIGURE_FORMAT, SVG)
    chosen = st.segmented_control(
        "Save figures as",
        list(FIGURE_FORMATS),
        default=last,
        required=True,
        key=FIGURE_FORMAT,
        help="What the camera below every figure saves, in the size shown. SVG: lines "
        "and text, sharp at any size. PNG: pixels, 300 to the inch. For many figures at once, in "
        "the width of a journal's column, see the page Report.",
    )
    keep(FIGURE_FORMAT, chosen or last)


def figure(plot: go.Figure, name: str) -> None:
    """A figure with its in-browser export, in the format chosen in the sidebar."""
    st.plotly_chart(
        _with_room_below(plot),
        alt=figure_words(plot),
        key=f"figure-{name}",
        theme="streamlit",
        config={
            "displaylogo": False,
            "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
            "toImageButtonOptions": {
                **FIGURE_FORMATS[kept(FIGURE_FORMAT, SVG)],
                "filename": export_name(name),
            },
        },
    )


def _with_room_below(plot: go.Figure) -> go.Figure:
    """A copy with room for the buttons: the figure itself may be kept, and shown again."""
    import plotly.graph_objects as go

    layout = plot.layout
    if layout.height is None or layout.margin.b is None:
        return plot
    return go.Figure(plot).update_layout(
        height=layout.height + BUTTONS_HEIGHT, margin_b=layout.margin.b + BUTTONS_HEIGHT
    )


def table(
    frame: pd.DataFrame, name: str, export: pd.DataFrame | None = None, whole: str | None = None
) -> None:
    """A table with its CSV export; `export` has the full figures where the page rounds them.

    `whole`: a column as wide as its longest text; the browser looks at the first rows only.
    """
    from smdp.data.export import to_csv

    wide: dict[str, Any] = {}
    if whole is not None:
        letters = int(frame[whole].astype(str).str.len().max())
        wide = {whole: st.column_config.Column(width=min(PER_LETTER * letters + 24, WIDEST))}
    st.dataframe(
        frame,
        column_config=wide,
        hide_index=True,
        key=f"table-{name}",
        placeholder="",
        alt=table_words(frame.columns),
    )
    st.download_button(
        "Download as CSV",
        to_csv(frame if export is None else export),
        file_name=f"{export_name(name)}.csv",
        mime="text/csv",
        icon=":material/download:",
        key=f"download-{name}",
        type="tertiary",
    )


def my_note(step: Step) -> None:
    """The author's own words on a step; they go into the report."""
    name = f"note.{step}"
    last = kept(name, "")
    with st.expander("My note" if not last.strip() else "My note ✓", icon=":material/edit_note:"):
        note_area(step, "My note on this step")


def note_area(step: Step, label: str) -> None:
    name = f"note.{step}"
    keep(
        name,
        st.text_area(
            label,
            kept(name, ""),
            key=f"{name} on {st.session_state.get(Key.VISIT, ('', 0))[0]}",
            help="Your own words on this step. They go into the report, and are saved with the "
            "analysis.",
            placeholder="For the report: what you looked at, why you chose this, what to discuss.",
        ),
    )


def next_step(label: str, page: Any) -> None:
    """The button to the page that comes next."""
    if st.button(label, type="primary", icon=":material/arrow_forward:", key="next-page"):
        go_to(page)

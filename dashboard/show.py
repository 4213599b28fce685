"""The parts that every page is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session import Key
from smdp.errors import SmdpError

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.data.problem import Problem

MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")


def literal(text: object) -> str:
    """Text for a Markdown place that shows it as it is, whatever it holds."""
    return MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))


def heading(title: str, question: str) -> None:
    """A page's title and the question that it answers."""
    st.title(title)
    st.markdown(f"<p class='question'>{question}</p>", unsafe_allow_html=True)


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """An error for people becomes a message on the page; nothing already done is lost."""
    try:
        yield
    except SmdpError as error:
        say_error(error)


def say_error(error: SmdpError) -> None:
    remedy = f"\n\n**What to do:** {literal(error.remedy)}" if error.remedy else ""
    st.error(literal(error.problem) + remedy, icon=":material/error:")


def says(sentences: Iterable[str], title: str = "What this says") -> None:
    """Generated sentences with the actual numbers."""
    st.subheader(title)
    st.markdown("\n".join(f"- {literal(s)}" for s in sentences))


def check(problems: Iterable[Problem]) -> None:
    """Findings with their remedies: errors, warnings, notes."""
    found = list(problems)
    if not found:
        return
    st.subheader("Check")
    boxes = {"error": st.error, "warning": st.warning, "note": st.info}
    icons = {"error": "error", "warning": "warning", "note": "info"}
    for problem in found[:12]:
        remedy = f" **What to do:** {literal(problem.remedy)}" if problem.remedy else ""
        boxes[problem.severity](
            literal(problem.message) + remedy, icon=f":material/{icons[problem.severity]}:"
        )
    if len(found) > 12:
        st.caption(f"and {len(found) - 12} more")


def export_name(name: str) -> str:
    """The name of an exported file; what comes from synthetic data says so."""
    table = st.session_state.get(Key.TABLE)
    return f"smdp-synthetic-{name}" if table is not None and table.synthetic else f"smdp-{name}"


def figure(plot: go.Figure, name: str) -> None:
    """A figure with its in-browser export: PNG at three times the screen's resolution."""
    st.plotly_chart(
        plot,
        key=f"figure-{name}",
        theme="streamlit",
        config={
            "displaylogo": False,
            "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
            "toImageButtonOptions": {"format": "png", "scale": 3, "filename": export_name(name)},
        },
    )


def table(frame: pd.DataFrame, name: str, export: pd.DataFrame | None = None) -> None:
    """A table with its CSV export; `export` has the full figures where the page rounds them."""
    from smdp.data.export import to_csv

    st.dataframe(frame, hide_index=True, key=f"table-{name}", placeholder="")
    st.download_button(
        "Download as CSV",
        to_csv(frame if export is None else export),
        file_name=f"{export_name(name)}.csv",
        mime="text/csv",
        icon=":material/download:",
        key=f"download-{name}",
        type="tertiary",
    )


def next_step(label: str, view: str) -> None:
    """The button to the page that comes next."""
    if st.button(label, type="primary", icon=":material/arrow_forward:", key=f"next-{view}"):
        st.switch_page(f"views/{view}.py")

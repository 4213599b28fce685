"""The parts of the Report page: each kind of file to take away."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import controls
from dashboard.autosaving import work_so_far
from dashboard.downloads import download, explained, say_failures
from dashboard.form import Form
from dashboard.session import remember, remembered
from dashboard.show import errors_as_messages, literal, part
from smdp.analysis.analysis import Analysis
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.blocks import Report
from smdp.progress import Cancelled, Progress
from smdp.report.browser import IN_BROWSER, find_browser
from smdp.report.collect import build_report, contents_not_there, report_figures
from smdp.report.composed import panel_files
from smdp.report.documents import document_bytes
from smdp.report.figure_files import FORMATS, figure_files, zipped
from smdp.report.figure_theme import FONTS, PALETTES, THEMES, FigureTheme
from smdp.report.html import to_html
from smdp.report.journal import RESOLUTIONS
from smdp.report.word_format import Paper
from smdp.steps import steps
from smdp.text import capital

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
NO_CHROME = (
    "Word documents and figure files are drawn by Chrome or Chromium on this computer, and none "
    "was found. Install one, or name it in the environment variable BROWSER_PATH. "
)
CHECK_EVERY_SECONDS = 0.25


def state_of_it(analysis: Analysis) -> None:
    """What is in it, and what is out of date."""
    done = [step.title for step in steps() if step.name in analysis.records]
    stale = [step.title for step in steps() if step.name in analysis.out_of_date]
    st.markdown(f"Done so far: {literal(', '.join(done))}.")
    lacking = [content.title for content in contents_not_there(analysis)]
    if lacking:
        st.caption(f"Not done, so in none of these: {literal('; '.join(lacking))}.")
    if stale:
        st.warning(
            f"Out of date: {literal(', '.join(stale))}. Everything below says so where these "
            "results stand. Run these steps again before you use them.",
            icon=":material/history:",
        )


def report_files(
    analysis: Analysis,
    sections: tuple[str, ...],
    title: str,
    author: str,
    paper: Paper,
    theme: FigureTheme | None,
) -> None:
    part("Report")
    st.caption(
        "One HTML file with figures that can be zoomed and saved, which opens without a network; "
        "or a Word document with its figures at 300 dpi, to be edited. Both have a methods "
        "paragraph with references, and every setting, seed and version in the appendix."
    )

    called = literal(title or analysis.source.name)
    st.markdown(f"**{called}**{f', by {literal(author)}' if author else ''}")
    key = (work_so_far(), sections, title, author, paper, theme)
    buttons, below = st.container(horizontal=True), st.container()

    def made() -> Report:
        return build_report(analysis, sections=sections, title=title, author=author)

    with buttons:
        download(
            "HTML",
            lambda: to_html(made(), theme=theme),
            file_name=file_name(analysis, "report.html"),
            mime="text/html",
            icon=":material/html:",
            key="report-html",
            kind="primary",
        )
        make_then_download(
            "Word",
            key,
            lambda say: document_bytes(made(), ".docx", paper=paper, theme=theme, progress=say),
            file_name(analysis, "report.docx"),
            WORD,
            ":material/description:",
            below,
        )
    say_failures("report-html")
    if find_browser() is None:
        st.info(
            f"{NO_CHROME}The Word document then has no figures. {IN_BROWSER}",
            icon=":material/image_not_supported:",
        )


def figure_theme() -> FigureTheme | None:
    """One look for all figures of the report, its Word document and the files; None if it fails."""
    preset = controls.select(
        "Look of figures",
        "report.preset",
        list(THEMES),
        "single",
        "Width, font, text and colours: a column of a journal's page, or two. Font, text and "
        "colours are those of the report too; in Word, figures are as wide as its text.",
        lambda name: f"{capital(name)}, {THEMES[name].width_mm:g} mm",
    )
    with st.expander("Width, height, font and colours"), errors_as_messages():
        form = Form(f"figures.{preset}", THEMES[preset])
        form.draw(options={"font": FONTS, "palette": tuple(PALETTES)})
        return form.value()
    return None


def figure_box(analysis: Analysis, sections: tuple[str, ...], theme: FigureTheme | None) -> None:
    """All figures of the report in one zip."""
    part("Figures")
    if find_browser() is None:
        st.info(f"{NO_CHROME}{IN_BROWSER}", icon=":material/image_not_supported:")
        return
    st.caption(
        "Every figure of the report as files, in the look chosen beside, with the numbers behind "
        "it as CSV. A single one is quicker saved by the camera below it, on its page."
    )
    one, two = st.columns([1.6, 1])
    with one:
        formats = controls.several(
            "Formats",
            "report.formats",
            [name.upper() for name in FORMATS],
            "SVG and PDF: lines and text, sharp at any size. PNG and TIFF: pixels.",
            ["PNG"],
        )
    with two:
        dpi = controls.radio(
            "Pixels to the inch",
            "report.dpi",
            list(RESOLUTIONS),
            RESOLUTIONS[0],
            "Of PNG and TIFF; it is written into the file.",
        )
    with st.container(horizontal=True):
        grey = controls.checkbox("Greyscale", "report.grey", False, "For journals without colour.")
        titles = controls.checkbox(
            "Titles", "report.titles", True, "Many journals want figures without a title."
        )
    panels = controls.checkbox(
        "One more with panels A, B, C",
        "report.panels",
        True,
        "Weights, effects, differences of Q and values in one figure, in two columns (not as PDF).",
    )
    if not formats:
        st.caption("Choose at least one format.")
    if not formats or theme is None:
        return
    chosen = tuple(name for name in FORMATS if name.upper() in formats)

    only = _chosen_figures(analysis, sections)
    if only == ():
        st.caption("Choose at least one figure.")
        return

    def make(say: Progress) -> bytes:
        figures = report_figures(analysis, sections=sections)
        figures = tuple(each for each in figures if only is None or each.name in only)
        look: dict[str, Any] = {"titles": titles, "greyscale": grey, "dpi": dpi}
        files = figure_files(figures, formats=chosen, preset=theme, progress=say, **look)
        if panels:
            files |= panel_files(figures, chosen, theme=theme, **look)
        return zipped(files)

    make_then_download(
        "figures",
        (work_so_far(), sections, chosen, theme, dpi, grey, titles, panels, only),
        make,
        file_name(analysis, "figures.zip"),
        "application/zip",
        ":material/imagesmode:",
    )


def _chosen_figures(analysis: Analysis, sections: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names of some figures, to be made in a size of their own; None: all."""
    some = controls.checkbox(
        "Only some figures",
        "report.some-figures",
        False,
        "So that one figure, or a few, can have a width and height of their own.",
    )
    if not some:
        return None
    key, known = (work_so_far(), sections), remembered("figure titles")
    if known is None or known[0] != key:
        with st.spinner("Listing the figures …"):
            every = report_figures(analysis, sections=sections)
            known = (key, {each.name: each.title for each in every})
            remember("figure titles", *known)
    titles = known[1]
    by_label = {f"{place}. {title}": name for place, (name, title)
                in enumerate(titles.items(), start=1)}  # fmt: skip
    picked = controls.several(
        "Which figures",
        "report.which-figures",
        list(by_label),
        "Width, height, font and colours are chosen beside, under 'Look of figures'.",
    )
    return tuple(by_label[label] for label in picked)


def analysis_files(analysis: Analysis) -> None:
    """The analysis itself: to go on with, or to be repeated by somebody else."""
    part("The analysis")
    st.caption(
        "The analysis in one file (.smdp) is opened again on the page Start. The plan is what "
        "'smdp run' carries out: the same table and plan give the same numbers to the last digit. "
        "The script does the same in Python."
    )
    with_data = controls.checkbox(
        "With the data",
        "report.with-data",
        True,
        "The table, the values of single people, and the history of what was changed. Without "
        "them the file can be passed on more freely; the table is asked for when it is opened.",
    )
    plan = analysis.plan
    with st.container(horizontal=True):
        download(
            "Analysis (.smdp)",
            lambda: analysis_to_bytes(analysis, with_data=with_data),
            file_name=file_name(analysis, "analysis.smdp", "" if with_data else "without-data"),
            mime="application/zip",
            icon=":material/save:",
            key="report-smdp",
        )
        download(
            "Plan (TOML)",
            plan.to_toml,
            file_name=file_name(analysis, "plan.toml"),
            mime="application/toml",
            icon=":material/list_alt:",
            key="report-plan",
        )
        download(
            "Script (Python)",
            plan.to_script,
            file_name=file_name(analysis, "script.py"),
            mime="text/x-python",
            icon=":material/code:",
            key="report-script",
        )
    say_failures("report-smdp", "report-plan", "report-script")
    data = plan.data_name or analysis.source.name
    st.code(
        f'smdp run "{file_name(analysis, "plan.toml")}" --data "{data}" --out results',
        language=None,
        wrap_lines=True,
    )


def make_then_download(
    label: str,
    key: object,
    make: Callable[[Progress], bytes],
    name: str,
    mime: str,
    icon: str,
    below: DeltaGenerator | None = None,
) -> None:
    """What takes seconds: one click makes the file, the next takes it, until something changes."""
    last = remembered(f"made {label}")
    if last is None or last[0] != key:
        if not st.button(f"Make {label}", icon=icon, key=f"make-{label}"):
            return
        with below or st.container(), errors_as_messages(), explained(name):
            remember(f"made {label}", key, _in_a_thread(make))
            st.rerun()
        return
    st.download_button(
        f"Download {label}",
        last[1],
        file_name=name,
        mime=mime,
        icon=":material/download:",
        key=f"take-{label}",
        type="primary",
        on_click="ignore",
    )


def _in_a_thread(make: Callable[[Progress], bytes]) -> bytes:
    """Make it while a bar shows how far it is; given up when the page is left."""
    stop, latest = threading.Event(), [(0.0, "Starting")]

    def say(share: float, message: str) -> None:
        if stop.is_set():
            raise Cancelled
        latest[0] = (share, message)

    bar = st.progress(0.0, "Starting")
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(make, say)
        try:
            while not wait([work], CHECK_EVERY_SECONDS).done:
                share, message = latest[0]
                bar.progress(min(share, 1.0), literal(message))
        finally:
            stop.set()
    return work.result()


def file_name(analysis: Analysis, name: str, mark: str = "") -> str:
    """Of the table, and what has to be said of the analysis: synthetic, out of date."""
    marks = ["out-of-date"] if analysis.out_of_date else []
    own = re.sub(r"\W+", "-", analysis.source.name.rpartition(".")[0] or analysis.source.name)
    return "-".join(filter(None, ["smdp", *marks, mark, own.strip("-")[:40], name]))

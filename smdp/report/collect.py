"""What is in the report of an analysis: sections, figures, tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from smdp.atomic_write import write_whole
from smdp.blocks import (
    OUT_OF_DATE,
    SYNTHETIC,
    AuthorNote,
    Block,
    Draw,
    Heading,
    NamedFigure,
    Notice,
    Paragraph,
    References,
    Report,
    Section,
    bullets,
    notice,
    table,
)
from smdp.data.problem import Problem
from smdp.errors import SettingError, SmdpError
from smdp.report.appendix import appendix_blocks
from smdp.report.locked import deviation_blocks
from smdp.report.methods import methods_text
from smdp.report.references import cited
from smdp.report.whom_to_treat import beside_each_other, how_sure, whom_and_when
from smdp.steps import ReportSection, steps
from smdp.steps.step import StepState
from smdp.text import listing

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis
    from smdp.report.figure_theme import FigureTheme
    from smdp.report.word_format import Paper

MADE_UP = "Synthetic data: made by a program, about nobody. Nothing here is a finding."
#: Sections that are of no step.
SUMMARY = {"summary": "Summary"}
ENDING = {
    "deviations": "Deviations from the locked plan",
    "warnings": "Warnings",
    "methods": "Methods",
    "appendix": "Appendix: settings, seeds and versions",
}


def contents() -> dict[str, ReportSection]:
    """The sections on the steps, in order."""
    return {section.key: section for step in steps() for section in step.report}


def section_titles() -> dict[str, str]:
    """Every section, in order, with its title."""
    own = {key: section.title for key, section in contents().items()}
    return {**SUMMARY, **own, **ENDING}


def _notes_of(key: str) -> tuple[str, ...]:
    """The names under which a section finds the author's notes: of steps, or its own.

    A step's note stands in the section that the step declares.
    """
    own = contents().get(key)
    names = [key] if key not in {step.name for step in steps()} else []
    if own is not None:
        declared = [step.name for step in steps() if own in step.report]
        silent = [step.name for step in steps() if step.name in own.steps and not step.report]
        names = [*declared, *silent, *names]
    return tuple(names)


def available_sections(analysis: Analysis) -> tuple[str, ...]:
    """The sections that the analysis has something for, in order."""
    return tuple(key for key in section_titles() if _available(analysis, key))


def contents_not_there(analysis: Analysis) -> list[ReportSection]:
    """The sections on steps that were not done, in order."""
    return [section for key, section in contents().items() if not _there(analysis, key)]


def _available(analysis: Analysis, key: str) -> bool:
    if key == "deviations":
        return analysis.locked is not None
    return key not in contents() or _there(analysis, key)


def build_report(
    analysis: Analysis,
    *,
    sections: Iterable[str] | None = None,
    notes: Mapping[str, str] | None = None,
    title: str = "",
    author: str = "",
    date: str = "",
) -> Report:
    """The report of an analysis as far as it has come, for `to_html` and `to_docx`.

    `sections`: keys of `section_titles`, all by default; those whose steps were not done are left
    out, and the summary says so. `notes`: the author's words by step, by default the plan's.
    Whichever sections are chosen, what is out of date, synthetic or observational is said on top.
    """
    chosen = _chosen(sections)
    own = dict(analysis.plan.notes if notes is None else notes)
    there = [key for key in available_sections(analysis) if key in chosen]
    built = []
    for key in there:
        summary = key == "summary"
        blocks = _summary(analysis, chosen, own) if summary else _own_blocks(analysis, key)
        said = (
            [] if summary else [own[name] for name in _notes_of(key) if own.get(name, "").strip()]
        )
        built.append(Section(key, section_titles()[key], (*blocks, *map(AuthorNote, said))))
    source = analysis.source.name
    return Report(
        title=title.strip() or f"Analysis of {source}",
        author=author.strip(),
        date=date or today(),
        source=source,
        synthetic=analysis.source.synthetic,
        banners=tuple(banners(analysis)),
        sections=tuple(built),
    )


def write_report(
    analysis: Analysis,
    path: str | PathLike[str],
    *,
    paper: Paper = "A4",
    theme: FigureTheme | None = None,
    **options: Any,
) -> Path:
    """Write the report as HTML, or as Word where the file's name ends in .docx.

    `paper`: of Word. `theme`: of its figures. `options`: those of `build_report`.
    """
    from smdp.report.documents import document_bytes

    target = Path(path)
    ending = ".docx" if target.suffix.lower() == ".docx" else ".html"
    report = build_report(analysis, **options)
    return write_whole(target, document_bytes(report, ending, paper=paper, theme=theme))


def report_figures(
    analysis: Analysis, *, sections: Iterable[str] | None = None
) -> tuple[NamedFigure, ...]:
    """Every figure of the report, for `export_figures`."""
    chosen = _chosen(sections)
    keys = [key for key in contents() if key in chosen and _there(analysis, key)]
    blocks = (block for key in keys for block in _own_blocks(analysis, key))
    return tuple(block for block in blocks if isinstance(block, NamedFigure))


def _chosen(sections: Iterable[str] | None) -> list[str]:
    if sections is None:
        return list(section_titles())
    found = [sections] if isinstance(sections, str) else list(sections)
    unknown = [key for key in found if key not in section_titles()]
    if unknown or not found:
        raise SettingError(
            f"There is no section called {listing(unknown)}."
            if unknown
            else "A report needs at least one section.",
            f"Choose among these: {listing(section_titles(), len(section_titles()))}.",
        )
    return found


def _there(analysis: Analysis, key: str) -> bool:
    return any(step in analysis.results for step in contents()[key].shows)


def _own_blocks(analysis: Analysis, key: str) -> list[Block]:
    if key == "deviations":
        return deviation_blocks(analysis)
    if key == "warnings":
        return _warnings(analysis)
    if key == "methods":
        paragraphs = methods_text(analysis)
        if not paragraphs:
            return [Paragraph("Nothing was done yet.")]
        return [*map(Paragraph, paragraphs), References(cited(paragraphs))]
    if key == "appendix":
        return appendix_blocks(analysis)
    content = contents()[key]
    out_of_date = analysis.out_of_date
    stale = [step for step in content.steps or content.shows if step in out_of_date]
    marked = {SYNTHETIC: analysis.source.synthetic, OUT_OF_DATE: bool(stale)}
    marks = tuple(mark for mark, applies in marked.items() if applies)
    found: list[Block] = [notice(p) for p in analysis.whole_warnings if p.about in stale]
    try:
        return found + content.blocks(analysis, Draw(key.replace("_", "-"), marks))
    except SmdpError as error:  # an old result that does not fit the present data
        return [*found, Notice("warning", f"Not shown: {error.problem}", error.remedy)]


def today() -> str:
    return datetime.now(UTC).strftime("%d %B %Y").lstrip("0")


def banners(analysis: Analysis) -> list[Notice]:
    """What stands on top of every report."""
    found = [Notice("warning", MADE_UP)] if analysis.source.synthetic else []
    found += [notice(p) for p in analysis.whole_warnings]
    observational = _observational(analysis)
    return found + ([Notice("warning", observational)] if observational else [])


def _observational(analysis: Analysis) -> str:
    from smdp.words.policy_value import observational_notice

    if not any(step.of_effects and step.name in analysis.records for step in steps()):
        return ""  # nothing here speaks of effects
    roles = analysis.plan.roles
    if analysis.prepared is not None:
        return observational_notice(analysis.prepared.trajectories, roles.assignment)
    if roles.probability is not None or roles.randomised:
        return ""
    return (
        "Read as an observational study: the probabilities of treatment were not given and are "
        "estimated. Whatever else decided who was treated biases values and effects."
    )


def _summary(analysis: Analysis, chosen: list[str], notes: Mapping[str, str]) -> list[Block]:
    """The results in one line each, the main sentences, and what is not in the report."""
    states = analysis.states()
    rows = [
        (step.title, analysis.records[step.name].summary, str(states[step.name]))
        for step in steps()
        if step.name in analysis.records
    ]
    frame = pd.DataFrame(rows, columns=["step", "result", "state"])
    if (frame["state"] == StepState.DONE).all():
        frame = frame.drop(columns="state")
    whom, sure = whom_and_when(analysis), how_sure(analysis)
    found: list[Block] = []
    if whom:
        found += [Heading("Whom to treat, and when"), Paragraph(whom[0], strong=True)]
        found += bullets(whom[1:])
    if sure:
        found += [Heading("How sure that is"), *(Paragraph(text, strong=True) for text in sure[:1])]
        found += bullets(filter(None, [*sure[1:], beside_each_other(analysis)]))
    found += table("Results", frame)
    absent = [each.title for each in contents_not_there(analysis)]
    found += bullets([f"Not done, so not in this report: {'; '.join(absent)}."] if absent else [])
    not_chosen = [
        section_titles()[key] for key in available_sections(analysis) if key not in chosen
    ]
    if not_chosen:
        found += bullets([f"Left out by the author's choice: {'; '.join(not_chosen)}."])
    placed = {name for key in [*contents(), *ENDING] for name in _notes_of(key)}
    found += [AuthorNote(text) for key, text in notes.items() if key not in placed and text.strip()]
    return found


def _warnings(analysis: Analysis) -> list[Block]:
    """Everything that was found worth a warning, the gravest first."""
    order = {"error": 0, "warning": 1, "note": 2}
    found: list[Problem] = sorted(
        dict.fromkeys(analysis.warnings), key=lambda problem: order[problem.severity]
    )
    if not found:
        return [Paragraph("No check found anything to warn of.")]
    return [notice(problem) for problem in found]

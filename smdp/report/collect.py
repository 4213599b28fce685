"""What is in the report of an analysis: sections, figures, tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd

from smdp.analysis.currency import currency, out_of_date, whole_warnings
from smdp.analysis.result import AnalysisResult
from smdp.analysis.steps import Step
from smdp.analysis.summary import TITLES
from smdp.data.problem import Problem
from smdp.errors import SettingError, SmdpError, listing
from smdp.report import data_sections, model_sections, policy_sections
from smdp.report.appendix import appendix_blocks
from smdp.report.methods import methods_text
from smdp.report.named_figure import OUT_OF_DATE, SYNTHETIC, NamedFigure
from smdp.report.parts import (
    AuthorNote,
    Block,
    Notice,
    Paragraph,
    References,
    Report,
    Section,
    bullets,
    notice,
    table,
)
from smdp.report.references import cited
from smdp.report.sketch import Sketch

MADE_UP = "Synthetic data: made by a program, about nobody. Nothing here is a finding."


@dataclass(frozen=True)
class Content:
    """A section on steps: there if the first of them has a result."""

    title: str
    steps: tuple[Step, ...]
    blocks: Callable[[AnalysisResult, Sketch], list[Block]]


CONTENTS: Mapping[str, Content] = {
    "study": Content("Study and participants", (Step.DATA,), data_sections.study_section),
    "missing": Content(
        "Missing data and imputation", (Step.MISSING,), data_sections.missing_section
    ),
    "rescaling": Content("Rescaling", (Step.RESCALING,), data_sections.rescaling_section),
    "screening": Content(
        "Screening of variables", (Step.SCREENING,), model_sections.screening_section
    ),
    "dimension": Content("Feature dimension", (Step.FEATURES,), model_sections.dimension_section),
    "weights": Content(
        "What the features are made of",
        (Step.FEATURES, Step.STABILITY),
        model_sections.weights_section,
    ),
    "q_functions": Content("Q-functions", (Step.POLICY,), policy_sections.q_function_section),
    "policy": Content(
        "The policy and its value",
        (Step.POLICY, Step.EVALUATION),
        policy_sections.policy_section,
    ),
    "checks": Content(
        "The trial itself, and the placebo check",
        (Step.TRIAL, Step.PLACEBO),
        policy_sections.checks_section,
    ),
}

#: Every section, in order, with its title.
SECTIONS: Mapping[str, str] = {
    "summary": "Summary",
    **{key: content.title for key, content in CONTENTS.items()},
    "warnings": "Warnings",
    "methods": "Methods",
    "appendix": "Appendix: settings, seeds and versions",
}

#: Where the author's note on a step belongs.
NOTES = {
    "study": ("data", "study"),
    "missing": ("missing",),
    "rescaling": ("rescaling",),
    "screening": ("screening",),
    "dimension": ("features", "dimension"),
    "weights": ("stability", "weights"),
    "q_functions": ("policy", "q_functions"),
    "policy": ("evaluation",),
    "checks": ("trial", "placebo", "checks"),
    "warnings": ("warnings",),
    "methods": ("methods",),
    "appendix": ("appendix",),
}


def available_sections(analysis: AnalysisResult) -> tuple[str, ...]:
    """The sections that the analysis has something for, in order."""
    return tuple(key for key in SECTIONS if key not in CONTENTS or _there(analysis, key))


def build_report(
    analysis: AnalysisResult,
    *,
    sections: Iterable[str] | None = None,
    notes: Mapping[str, str] | None = None,
    title: str = "",
    author: str = "",
    date: str = "",
) -> Report:
    """The report of an analysis as far as it has come, for `to_html` and `to_docx`.

    `sections`: keys of `SECTIONS`, all by default; those whose steps were not done are left out,
    and the summary says so. `notes`: the author's words by step, by default the plan's. Whichever
    sections are chosen, what is out of date, synthetic or observational is said on top.
    """
    chosen = _chosen(sections)
    own = dict(analysis.plan.notes if notes is None else notes)
    there = [key for key in available_sections(analysis) if key in chosen]
    built = []
    for key in there:
        summary = key == "summary"
        blocks = _summary(analysis, chosen, own) if summary else _own_blocks(analysis, key)
        said = [own[name] for name in NOTES.get(key, ()) if own.get(name, "").strip()]
        built.append(Section(key, SECTIONS[key], (*blocks, *map(AuthorNote, said))))
    source = analysis.source.name
    return Report(
        title=title.strip() or f"Analysis of {source}",
        author=author.strip(),
        date=date or datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        source=source,
        synthetic=analysis.source.synthetic,
        banners=tuple(_banners(analysis)),
        sections=tuple(built),
    )


def report_figures(
    analysis: AnalysisResult, *, sections: Iterable[str] | None = None
) -> tuple[NamedFigure, ...]:
    """Every figure of the report, for `export_figures`."""
    chosen = _chosen(sections)
    keys = [key for key in CONTENTS if key in chosen and _there(analysis, key)]
    blocks = (block for key in keys for block in _own_blocks(analysis, key))
    return tuple(block for block in blocks if isinstance(block, NamedFigure))


def _chosen(sections: Iterable[str] | None) -> list[str]:
    if sections is None:
        return list(SECTIONS)
    found = [sections] if isinstance(sections, str) else list(sections)
    unknown = [key for key in found if key not in SECTIONS]
    if unknown or not found:
        raise SettingError(
            f"There is no section called {listing(unknown)}."
            if unknown
            else "A report needs at least one section.",
            f"Choose among these: {listing(SECTIONS, len(SECTIONS))}.",
        )
    return found


def _there(analysis: AnalysisResult, key: str) -> bool:
    steps = CONTENTS[key].steps
    needed = steps if key == "checks" else steps[:1]
    return any(step in analysis.results for step in needed)


def _own_blocks(analysis: AnalysisResult, key: str) -> list[Block]:
    if key == "warnings":
        return _warnings(analysis)
    if key == "methods":
        paragraphs = methods_text(analysis)
        if not paragraphs:
            return [Paragraph("Nothing was done yet.")]
        return [*map(Paragraph, paragraphs), References(cited(paragraphs))]
    if key == "appendix":
        return appendix_blocks(analysis)
    content = CONTENTS[key]
    stale = [step for step in content.steps if step in out_of_date(analysis)]
    marked = {SYNTHETIC: analysis.source.synthetic, OUT_OF_DATE: bool(stale)}
    marks = tuple(mark for mark, applies in marked.items() if applies)
    found: list[Block] = [notice(p) for p in whole_warnings(analysis) if p.about in stale]
    try:
        return found + content.blocks(analysis, Sketch(key.replace("_", "-"), marks))
    except SmdpError as error:  # an old result that does not fit the present data
        return [*found, Notice("warning", f"Not shown: {error.problem}", error.remedy)]


def _banners(analysis: AnalysisResult) -> list[Notice]:
    """What stands on top of every report."""
    found = [Notice("warning", MADE_UP)] if analysis.source.synthetic else []
    found += [notice(p) for p in whole_warnings(analysis)]
    observational = _observational(analysis)
    return found + ([Notice("warning", observational)] if observational else [])


def _observational(analysis: AnalysisResult) -> str:
    from smdp.words.policy_value import observational_notice

    if not {Step.POLICY, Step.EVALUATION, Step.PLACEBO, Step.TRIAL} & set(analysis.records):
        return ""  # nothing here speaks of effects
    if analysis.prepared is not None:
        return observational_notice(analysis.prepared.trajectories)
    if analysis.plan.roles.probability is not None:
        return ""
    return (
        "Read as an observational study: the probabilities of treatment were not given and are "
        "estimated. Whatever else decided who was treated biases values and effects."
    )


def _summary(analysis: AnalysisResult, chosen: list[str], notes: Mapping[str, str]) -> list[Block]:
    """The results in one line each, the main sentences, and what is not in the report."""
    states = currency(analysis.plan, analysis)
    rows = [
        (TITLES[step], analysis.records[step].summary, states[step])
        for step in Step
        if step in analysis.records
    ]
    frame = pd.DataFrame(rows, columns=["step", "result", "state"])
    if (frame["state"] == "current").all():
        frame = frame.drop(columns="state")
    found: list[Block] = [Paragraph(text, strong=True) for text in _main_results(analysis)]
    found += table("Results", frame)
    absent = [c.title for key, c in CONTENTS.items() if not _there(analysis, key)]
    found += bullets([f"Not done, so not in this report: {'; '.join(absent)}."] if absent else [])
    not_chosen = [SECTIONS[key] for key in available_sections(analysis) if key not in chosen]
    if not_chosen:
        found += bullets([f"Left out by the author's choice: {'; '.join(not_chosen)}."])
    placed = {name for names in NOTES.values() for name in names}
    found += [AuthorNote(text) for key, text in notes.items() if key not in placed and text.strip()]
    return found


def _main_results(analysis: AnalysisResult) -> list[str]:
    from smdp.words.policy_value import gain_sentence

    names = policy_sections.policy_names(analysis.policies)
    if len(names) != len(analysis.values):
        return []
    pairs = zip(names, analysis.values, strict=True)
    return [gain_sentence(value, name) for name, value in pairs]


def _warnings(analysis: AnalysisResult) -> list[Block]:
    """Everything that was found worth a warning, the gravest first."""
    order = {"error": 0, "warning": 1, "note": 2}
    found: list[Problem] = sorted(
        dict.fromkeys(analysis.warnings), key=lambda problem: order[problem.severity]
    )
    if not found:
        return [Paragraph("No check found anything to warn of.")]
    return [notice(problem) for problem in found]

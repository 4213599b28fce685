"""Every number that a reader finds is one of the analysis', written with its own rounding."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from math import floor

import numpy as np
import pandas as pd
import pytest
from docx import Document
from hostile_study import DAY, ENDLESS, FORMULA, MARKDOWN, MARKUP, PERSON, TREATED, study_frame
from page_reader import Page
from read_back import Facts, check_cell, plain, shown_numbers

from smdp.blocks import Bullets, Notice, Paragraph, Table, readable
from smdp.evaluation.candidates import comparison_of
from smdp.evaluation.outcome_risk import groups_to_look_at, risk_of
from smdp.explanation.policy_explanation import explain_policy
from smdp.explanation.recommendations import recommendations
from smdp.report.checklist_document import build_checklist, checklists_for
from smdp.report.collect import build_report
from smdp.report.html import to_html
from smdp.report.model_card import build_model_card
from smdp.report.results_text import results_text
from smdp.report.short import build_summary
from smdp.report.word import to_docx
from smdp.steps.data import flow_of
from smdp.steps.evaluation import numbers_of_steps
from smdp.steps.policies import policy_names, rule_of_a_policy
from smdp.text import shorten
from smdp.validation.check_reliability import KNOWN

NAMES = (
    *(f"feature {k}" for k in (1, 2)),
    FORMULA,
    MARKUP,
    MARKDOWN,
    ENDLESS,
    PERSON,
    DAY,
    TREATED,
    "=<i>message7</i>",
    "study7",
)
ENDS = ("estimate", "lower", "upper")
#: Tables without numbers of results, or with the settings as they are.
NOT_CHECKED = (
    "Results", "Who was left out", "Data", "How each result", "Settings that", "Versions",
    "What other samples", "The card without", "Analyses without",
)  # fmt: skip


GROUPS = "people with"  # words of the data's own, such as 'at most 4.2'
STATES = [FORMULA, MARKUP, MARKDOWN, ENDLESS]


@pytest.fixture(scope="module")
def report(analysis):
    return build_report(analysis)


@pytest.fixture(scope="module")
def document(report):
    return Document(BytesIO(to_docx(report, browser="/nowhere")))


@pytest.fixture(scope="module")
def page(report) -> Page:
    return Page(to_html(report))


@pytest.fixture(scope="module")
def tables(document) -> dict[str, pd.DataFrame]:
    """The Word document's tables by their captions, those in parts put together."""
    found: dict[str, pd.DataFrame] = {}
    captions = [p.text for p in document.paragraphs if p.style.name == "Caption"]
    titles = [text.partition(". ")[2] for text in captions if text.startswith("Table")]
    for title, table in zip(titles, document.tables, strict=True):
        width = len(table.columns)
        texts = [cell.text for cell in table._cells]
        rows = [texts[k : k + width] for k in range(0, len(texts), width)]
        own = pd.DataFrame(rows[1:], columns=rows[0])
        before = found.get(title)
        found[title] = (
            own
            if before is None
            else pd.concat([before, own.drop(columns=before.columns, errors="ignore")], axis=1)
        )
    return found


def columns(shown: pd.DataFrame, *starts: str) -> list[pd.Series]:
    """Those whose names begin so."""
    return [
        next(shown.iloc[:, k] for k, name in enumerate(shown.columns) if name.startswith(start))
        for start in starts
    ]


def ends(frame: pd.DataFrame, *names: str, scale: float = 1.0) -> list[list[float]]:
    return (scale * frame[list(names or ENDS)].astype(float)).to_numpy().tolist()


def wanted(analysis, tables) -> dict[str, list[tuple[str, list[list[float]]]]]:
    """Of each table: its columns, and what stands in each of their cells."""
    trial, map_, markov = analysis.trial, analysis.feature_map, analysis.markov
    screened = analysis.screening.table
    tried, weights = map_.candidates, map_.weights.T
    weights.index = [readable(name, 600) for name in weights.index]
    weights = weights.loc[[plain(name) for name in tables["Weights"]["variable"]]]
    found = {
        "Average effects": [
            ("estimate", ends(trial.effects)),
            ("p", ends(trial.effects, "p_value")),
        ],
        "Effects by one variable at a time": [
            ("estimate", ends(trial.by_variable)),
            ("p", ends(trial.by_variable, "p_value")),
            ("p, all", ends(trial.by_variable, "family_p")),
        ],
        "Effects on later outcomes": [
            ("decisions later", ends(trial.delayed, "later")),
            ("estimate", ends(trial.delayed)),
            ("p", ends(trial.delayed, "p_value")),
        ],
        "Screening": [
            ("strength", ends(screened, "strength", "strength_low", "strength_high")),
            ("p in", ends(screened, "family_p")),
            ("p alone", ends(screened, "p_value")),
            ("q", ends(screened, "q_value")),
        ],
        "Dimensions tried": [
            ("dimension", ends(tried, "dimension")),
            ("exact test", ends(tried, "p_exact")),
            ("share kept", ends(tried, "share_kept", scale=100)),
            ("95 % interval", ends(tried, "share_low", "share_high", scale=100)),
            ("at least", [[floor(100 * own)] for own in tried["share_at_least"]]),  # a bound
            ("cost", ends(tried, "value_lost", "value_lost_low", "value_lost_high")),
            ("same choice", ends(tried, "same_choice", scale=100)),
            ("is one layer", ends(tried, "p_form")),
            ("explained by the map", ends(tried, "explained", scale=100)),
            ("by the full state", ends(tried, "explained_by_state", scale=100)),
            ("penalty", ends(tried, "penalty")),
            ("error", ends(tried, "cv_loss")),
        ],
        "Weights": [(f"feature {k}", ends(weights, f"feature {k}")) for k in (1, 2)],
        "Stability of the weights": [
            ("weight", ends(analysis.stability.weights)),
            ("same sign", ends(analysis.stability.weights, "same_sign", scale=100)),
        ],
        "Look-back": [
            ("look-back", ends(markov.ladder, "look_back")),
            ("p", ends(markov.ladder, "p_value")),
            ("p, own", ends(markov.ladder, "own_p_value")),
        ],
        "Change over the study": [("p", ends(markov.stationarity, "p_value"))],
        "Effect of treatment over the study": [("effect", ends(markov.effect))],
        "Values of the rules": [("value", ends(analysis.rule.values))],
        "How many questions": [
            ("gain", ends(analysis.rule.depths, "gain")),
            ("standard error", ends(analysis.rule.depths, "standard_error")),
        ],
    }
    for name, value in zip(("linear", "neural"), analysis.values, strict=True):
        found[f"Values by each method ({name} policy)"] = [
            ("value", ends(value.table)),
            ("effective", ends(value.table, "effective")),
        ]
        found[f"Differences ({name} policy)"] = [("difference", ends(value.differences))]
    first = analysis.values[0].positivity
    found["How often each treatment was tried"] = [
        ("taken", ends(first, "taken", scale=100)),
        ("least", ends(first, "smallest")),
        ("below", ends(first, "below", scale=100)),
        ("hardly", ends(first, "unsupported", scale=100)),
    ]
    return found


def test_each_cell_of_the_tables_is_the_result_s(analysis, tables):
    """Read from the Word file: intervals, p-values, shares, each where it belongs."""
    checked = wanted(analysis, tables)
    for title, parts in checked.items():
        shown = tables[title]
        for start, cells in parts:
            (column,) = columns(shown, start)
            assert len(column) == len(cells), (title, start)
            for text, values in zip(column, cells, strict=True):
                check_cell(text, values)


def test_participants_are_those_of_the_table(tables):
    """Computed anew by pandas from the raw table."""
    frame, shown = study_frame(), tables["Participants and variables"]
    rows = {plain(row["Variable"]): row for _, row in shown.iterrows()}
    for name in (FORMULA, MARKUP, MARKDOWN):
        own, row = frame[name], rows[name]
        check_cell(row["People"], [frame[PERSON].nunique()])
        check_cell(row["Decisions"], [own.notna().sum()])
        check_cell(row["Missing"], [100 * own.isna().mean()])
        check_cell(row["Mean (SD), or n (%)"], [own.mean(), own.std()])
        check_cell(row["Median (range)"], [own.median(), own.min(), own.max()])


def test_the_flow_is_that_of_the_table(analysis, tables):
    frame, shown = study_frame(), tables["Flow of participants"]
    left = [e.subject for e in analysis.completed.exclusions]
    kept = frame[~frame[PERSON].isin(left)]
    valid = int(analysis.prepared.trajectories.valid.sum())
    people = [frame[PERSON].nunique(), len(left), kept[PERSON].nunique(), kept[PERSON].nunique()]
    for text, count in zip(shown["subjects"], people, strict=True):
        check_cell(text, [count])
    details = shown["details"].tolist()
    check_cell(details[0], [len(frame)])
    assert shown_numbers(details[2])[0][0] == str(len(kept))
    assert shown_numbers(details[3])[0][0] == str(valid)


def test_word_and_html_have_the_same_tables(document, page):
    """Cell by cell; Word's in parts are put beside each other by their order."""
    html = [[[plain(c) for c in row] for row in rows] for rows in page.tables]
    word = iter([[[plain(c.text) for c in row.cells] for row in t.rows] for t in document.tables])
    for rows in html:
        part = next(word)
        while len(part[0]) < len(rows[0]):
            more = next(word)
            again = 2 if more[0][:2] == part[0][:2] else 1  # the columns that name the rows
            part = [[*own, *row[again:]] for own, row in zip(part, more, strict=True)]
        assert part == rows


@pytest.fixture(scope="module")
def facts(analysis):
    """What sentences may speak of: results, counts and settings."""
    trajectories, used = analysis.prepared.trajectories, analysis.policies[0].feature_map
    effects, placebo = analysis.trial.effects, analysis.placebo
    explained = [explain_policy(p, trajectories).in_own_units() for p in analysis.policies]
    groups = groups_to_look_at(trajectories, used.variables_used)
    risks = [risk_of(v, trajectories, groups, 10) for v in analysis.values]
    rule, of = rule_of_a_policy(analysis)
    values = dict(zip(policy_names(analysis.policies), analysis.values, strict=True))
    least = analysis.plan.evaluation.settings.least_effective
    compared = comparison_of(analysis.policies, values, least, rule=rule, rule_of=of)
    beside = [vars(each) for _, found in numbers_of_steps(analysis) for each in found]
    shares = [
        recommendations(trajectories, p)["recommended"].value_counts(normalize=True)
        for p in analysis.policies
    ]
    linear, study = analysis.policies[0], analysis.completed.study
    seen = study_frame()[
        ~study_frame()[PERSON].isin(e.subject for e in analysis.completed.exclusions)
    ]
    cells = int(study.on_grid.sum()) * len(STATES)
    return Facts(
        flow_of(analysis), analysis.trial, effects["estimate"] / effects["standard_error"],
        analysis.screening, used.candidates, used.weights, used.dimension, analysis.stability,
        analysis.markov, placebo, placebo.p_value, placebo.mean,
        [(v.table, v.differences, v.positivity, v.discount, v.coverage, v.subjects, v.decisions)
         for v in analysis.values],
        [p.convergence for p in analysis.policies], linear.parameter_intervals,
        replace(analysis.rule, judged=None), analysis.plan, beside,
        compared.values, compared.differences,
        *of_twin_and_draws(analysis), analysis.passport, KNOWN,
        explained, risks, shares, study_frame()[STATES].isna().to_numpy().mean(), cells,
        seen[STATES].notna().sum(),
    )  # fmt: skip


def of_twin_and_draws(analysis):
    twin, drawn = analysis.twin, analysis.imputations
    gains = np.array([each.gain for each in twin.of("as learned")])
    same = np.array([each.same for each in twin.of("as learned")])
    others = twin.table[~twin.table["planted"]]
    return (
        twin, twin.table, twin.each, gains.mean(), same.mean(), others["kept"].sum() / len(gains),
        drawn, drawn.effects, drawn.kept, drawn.patterns,
    )  # fmt: skip


def test_numbers_of_the_other_tables_are_facts(analysis, tables, facts):
    known = set(wanted(analysis, tables)) | {"Participants and variables", "Flow of participants"}
    others = [t for t in tables if t not in known and not t.startswith(NOT_CHECKED)]
    cells = [
        (t, str(c))
        for t in others
        for row in tables[t].drop(columns=GROUPS, errors="ignore").to_numpy()
        for c in row
    ]
    numbers = [(t, text, shown) for t, text in cells for shown in shown_numbers(text, NAMES)]
    unknown = [each for each in numbers if not facts.has(each[2])]
    assert unknown == [], unknown
    assert len(numbers) > 100


def sentences(report):
    """Those of a document, and the cells of its tables of words."""
    for section in report.sections:
        if section.key == "appendix":
            continue
        for block in section.blocks:
            if isinstance(block, Paragraph | Notice):
                yield block.text
            elif isinstance(block, Bullets):
                yield from block.items
            elif isinstance(block, Table):
                yield from (str(cell) for row in block.frame.to_numpy() for cell in row)


def documents(analysis, report):
    yield "report", sentences(replace(report, sections=tuple(map(without_tables, report.sections))))
    yield "summary", sentences(build_summary(analysis))
    yield "card", sentences(build_model_card(analysis))
    yield "results", results_text(analysis)
    for each in checklists_for(analysis):
        own = build_checklist(analysis, each.key)
        heads = {item.number for item in each.items}
        told = [text for text in sentences(own) if text not in heads]
        yield each.key, [text for text in told if " to be written." not in text]


def without_tables(section):
    return replace(section, blocks=tuple(b for b in section.blocks if not isinstance(b, Table)))


def test_every_number_of_a_sentence_is_the_analysis_s(analysis, report, facts):
    """Of report, summary, model card, checklists and the sentences for a paper."""
    names = [own for each in NAMES for own in (each, readable(each), *cut(each))]
    counted, changed, noticed = {}, 0, 0
    for name, told in documents(analysis, report):
        numbers = [(shown, text) for text in told for shown in shown_numbers(text, names)]
        counted[name] = len(numbers)
        unknown = [(name, shown, text) for shown, text in numbers if not facts.has(shown)]
        assert unknown == []
        for (digits, bound), _ in numbers:
            if not bound and len(digits.strip("-.0").replace(".", "")) >= 3:
                changed += 1
                noticed += not facts.has((other_number(digits), bound))
    assert min(counted.values()) > 10
    assert noticed > changed / 2, "the facts would let wrong numbers pass"


def cut(name):
    return [shorten(name, limit) for limit in (30, 40, 60)]


def other_number(digits):
    """The first of its digits is another one."""
    place = next(k for k, sign in enumerate(digits) if sign in "123456789")
    return digits[:place] + str(int(digits[place]) % 9 + 1) + digits[place + 1 :]

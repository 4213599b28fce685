"""The tables that a paper prints: participants, effects, values, each with its title and note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smdp.blocks import Table
from smdp.data.flow import flow_counts
from smdp.data.participants import NOTE, as_in_papers, describe_variables
from smdp.steps.data import flow_of
from smdp.steps.policies import policy_names

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

LONGEST_NAME = 60


@dataclass(frozen=True, eq=False)
class JournalTable:
    """`name`: of its files; `out_of_date`: the result behind it is older than the plan."""

    name: str
    table: Table
    out_of_date: bool = False

    @property
    def file_name(self) -> str:
        text = re.sub(r"[^A-Za-z0-9]+", "-", self.name)[:LONGEST_NAME].strip("-")
        return f"out-of-date-{text}" if self.out_of_date else text or "table"


def journal_tables(analysis: Analysis) -> tuple[JournalTable, ...]:
    """Those that the analysis has come far enough for, in a paper's order."""
    return tuple(each for each in _each(analysis) if not each.table.frame.empty)


def _each(analysis: Analysis) -> Iterator[JournalTable]:
    stale = analysis.out_of_date
    if analysis.study is not None:
        described = as_in_papers(describe_variables(analysis.study)).drop(columns="Role")
        title = "Participants and variables"
        yield JournalTable("participants", Table(title, described, NOTE), "data" in stale)
        yield JournalTable(
            "flow",
            Table("Flow of people and decisions", flow_counts(flow_of(analysis))),
            "data" in stale or "missing" in stale or "rescaling" in stale,
        )
    if analysis.trial is not None:
        from smdp.steps.trial import telling
        from smdp.words.effects import effect_tables

        for title, frame, note in effect_tables(analysis.trial, telling(analysis)):
            yield JournalTable(title.lower(), Table(title, frame, note), "trial" in stale)
    if analysis.screening is not None:
        from smdp.words.screening import screening_table

        frame = screening_table(analysis.screening)
        yield JournalTable("screening", Table("Screening", frame), "screening" in stale)
    if analysis.feature_map is not None:
        frame = analysis.feature_map.weights.T
        frame = frame.rename_axis(index="variable", columns=None).reset_index()
        title = "Weights of the features"
        yield JournalTable("weights", Table(title, frame), "features" in stale)
    yield from _values(analysis, "evaluation" in stale)
    if analysis.rule is not None:
        from smdp.words.policy_value import units
        from smdp.words.rule_card import card_words, value_words_of_rules

        old, note = "rule" in stale, f"Values are the {units(analysis.outcome_name)}."
        yield JournalTable("rule card", Table("The rule card", card_words(analysis.rule)), old)
        frame = value_words_of_rules(analysis.rule)
        yield JournalTable("values of the rules", Table("Values of the rules", frame, note), old)
    if analysis.passport is not None:
        from smdp.steps.passport import out_of_date_rows
        from smdp.words.passport import rows_table

        frame = rows_table(analysis.passport, out_of_date_rows(analysis), analysis.outcome_name)
        title = "What the conclusions rest on"
        yield JournalTable("passport", Table(title, frame), "passport" in stale)


def _values(analysis: Analysis, stale: bool) -> Iterator[JournalTable]:
    from smdp.evaluation.value_tables import DOUBLY_ROBUST
    from smdp.words.policy_value import difference_words, units, value_words

    names = policy_names(analysis.policies)
    if len(names) != len(analysis.values):
        return
    note = f"Values are the {units(analysis.outcome_name)}."
    for name, value in zip(names, analysis.values, strict=True):
        main = (value.table["method"] == DOUBLY_ROBUST).to_numpy()
        frame = value_words(value, name)[main].drop(columns="method").reset_index(drop=True)
        title = f"Values ({name} policy)"
        yield JournalTable(f"values {name}", Table(title, frame, note), stale)
        frame = difference_words(value, name)
        title = f"Differences between policies ({name} policy)"
        yield JournalTable(f"differences {name}", Table(title, frame, note), stale)

"""A policy's card: what it is for, who it was learned from, how good it is, what it cannot do.

As plain values it goes into the policy's own file; as a document it can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from smdp import __version__
from smdp.blocks import Block, Paragraph, Report, Section, bullets, table
from smdp.errors import SettingError
from smdp.export.policy_file import NOT_FOR, PURPOSE
from smdp.report.collect import banners, today
from smdp.steps.policies import learned_from, policy_names
from smdp.text import moment, plural, shorten

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

NOT_JUDGED = "What it would earn was not estimated."
YOU_WRITE = "You must write this: "


def model_card(analysis: Analysis, policy: int = 1) -> dict[str, Any]:
    """The card of one of the policies, counted from 1, as plain values for its file."""
    names = policy_names(analysis.policies)
    if not 1 <= policy <= len(names):
        raise SettingError(
            f"There is no policy number {policy}.", "Learn a policy first (page Q-functions)."
        )
    own, name = analysis.policies[policy - 1], names[policy - 1]
    record = analysis.records["policy"]
    return {
        "policy": name,
        "made": record.finished,
        "version": record.versions.get("smdp", __version__),
        "refitted": len(analysis.versions),
        "data": {"name": analysis.source.name, "sha256": analysis.source.fingerprint},
        "synthetic": analysis.source.synthetic,
        "out_of_date": "policy" in analysis.out_of_date,
        "intended_use": PURPOSE,
        "not_for": NOT_FOR,
        "outcome": {
            "name": analysis.outcome_name.name,
            "unit": analysis.outcome_name.unit,
            "better": analysis.outcome_name.better,
        },
        "people": _people(analysis),
        "actions": list(own.action_labels),
        "variables": list(own.feature_map.variables_used),
        "discount": own.settings.discount,
        "performance": _performance(analysis, policy),
        "limits": _limits(analysis),
    }


def _people(analysis: Analysis) -> dict[str, int]:
    prepared = learned_from(analysis)
    if prepared is None:
        return {}
    found = prepared.trajectories
    return {
        "people": len(found.subjects),
        "decisions": int(found.valid.sum()),
        "with_a_choice": int((found.valid & found.available).sum()),
    }


def _performance(analysis: Analysis, policy: int) -> dict[str, Any]:
    """The value and the gain over what was done, each with its interval if it has one."""
    if len(analysis.values) != len(analysis.policies):
        return {}
    value = analysis.values[policy - 1]
    gain = value.gain
    return {
        "value": _ends(value.table.iloc[0]),
        "gain_over_what_was_done": _ends(gain),
        "coverage": value.coverage,
        "people": value.subjects,
        "judged_on_others_than_learned_from": bool(value.cross_fitted),
        "whole_analysis_without_those_who_judge": bool(value.whole_analysis),
        "out_of_date": "evaluation" in analysis.out_of_date,
    }


def _ends(row: pd.Series) -> dict[str, Any]:
    found = {name: float(row[name]) for name in ("estimate", "lower", "upper")}
    trusted = bool(row["trusted"])
    return {
        "estimate": found["estimate"],
        "lower": found["lower"] if trusted else None,
        "upper": found["upper"] if trusted else None,
    }


def _limits(analysis: Analysis) -> list[str]:
    steps = ("features", "markov", "policy", "evaluation", "placebo", "passport", "new_data")
    found = [
        problem.message
        for step in steps
        if step in analysis.records
        for problem in analysis.records[step].warnings
        if problem.severity != "note"
    ]
    return [*(p.message for p in analysis.whole_warnings if p.severity != "note"), *found]


def _version(refitted: int) -> str:
    if not refitted:
        return "1, not refitted"
    return f"{refitted + 1}, refitted with more data {plural(refitted, 'time')}"


def build_model_card(analysis: Analysis, policy: int = 1, *, author: str = "") -> Report:
    """The card as a document."""
    from smdp.evaluation.value_tables import DOUBLY_ROBUST
    from smdp.words.policy_value import gain_sentence, units, value_words

    card = model_card(analysis, policy)
    facts = [
        ("policy", card["policy"]),
        ("made", f"{moment(card['made'])} with smdp {card['version']}"),
        ("version", _version(card["refitted"])),
        ("data", f"{card['data']['name']} (SHA-256 {card['data']['sha256'][:16]}…)"),
        ("outcome", "; ".join(filter(None, card["outcome"].values()))),
        ("actions", ", ".join(card["actions"])),
        ("discount", f"{card['discount']:g}"),
        *((name.replace("_", " "), f"{count:,}") for name, count in card["people"].items()),
    ]
    worth: list[Block] = [Paragraph(NOT_JUDGED)]
    if card["performance"]:
        value = analysis.values[policy - 1]
        sentence = gain_sentence(value, card["policy"], analysis.outcome_name)
        main = (value.table["method"] == DOUBLY_ROBUST).to_numpy()
        words = value_words(value, card["policy"])[main].drop(columns="method")
        note = f"Values are the {units(analysis.outcome_name)}."
        worth = [Paragraph(sentence, strong=True), *table("Values", words, note)]
    fitted = analysis.policies[policy - 1].feature_map
    every = [fitted.variable(name) for name in card["variables"]]
    variables = [(own.in_words, own.unit, own.whole_kind or own.kind) for own in every]
    parts = {
        "What it is for": bullets(
            [
                card["intended_use"],
                card["not_for"],
                f"{YOU_WRITE}who is to use it, where in care, and who answers for it.",
            ]
        ),
        "What it is": table("The policy", pd.DataFrame(facts, columns=["", "of this policy"])),
        "What it asks for": table(
            "Variables", pd.DataFrame(variables, columns=["variable", "unit", "type"])
        ),
        "How good it is": worth,
        "What it cannot do": bullets(card["limits"])
        or [Paragraph("No check found anything to warn of; that is no proof.")],
    }
    return Report(
        title=f"Model card: {shorten(card['policy'], 60)} policy",
        author=shorten(author, 120),
        date=today(),
        source=analysis.source.name,
        synthetic=analysis.source.synthetic,
        banners=tuple(banners(analysis)),
        sections=tuple(
            Section(f"part-{place}", head, tuple(blocks))
            for place, (head, blocks) in enumerate(parts.items(), start=1)
        ),
    )

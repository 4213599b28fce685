"""A locked plan in a report: what departs from it; and as the text of a preregistration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from smdp.blocks import (
    Block,
    Listing,
    Notice,
    Paragraph,
    Report,
    Section,
    bullets,
    table,
)
from smdp.report.appendix import flat_settings, shown
from smdp.text import listing, moment, plural, shorten

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis
    from smdp.analysis.locked_plan import LockedPlan
    from smdp.analysis.plan import AnalysisPlan

ALL_ROWS = 100_000
YOU_WRITE = "You must write this: "
HIDDEN = (
    "When the plan was locked, the program had the outcome hidden: its values were shuffled among "
    "the rows. Whether anybody had seen it before, the program cannot know."
)
NOT_HIDDEN = "The program did not hide the outcome when the plan was locked."


def deviation_blocks(analysis: Analysis) -> list[Block]:
    """Every deviation from the locked plan, or that there is none."""
    locked = analysis.locked
    if locked is None:
        return [Paragraph("No plan was locked.")]
    found = analysis.deviations
    told: list[Block] = [
        Paragraph(
            f"The plan was locked on {moment(locked.date)}; SHA-256 of the locked file's content: "
            f"{locked.fingerprint}. {_hidden(locked)}"
        )
    ]
    if locked.data is None:
        told.append(Paragraph("It was locked without a table."))
    elif not locked.of_this_table(analysis.source):
        told.append(
            Notice(
                "warning",
                f"It was locked with another table: '{shorten(locked.data.name)}' "
                f"({locked.data.rows:,} rows, SHA-256 {locked.data.fingerprint[:16]}…), not "
                f"'{shorten(analysis.source.name)}' ({analysis.source.rows:,} rows, SHA-256 "
                f"{analysis.source.fingerprint[:16]}…).",
            )
        )
    if not found:
        told.append(Paragraph("Nothing departs from it.", strong=True))
        return told
    told.append(Paragraph(f"{plural(len(found), 'deviation')}, all of them:", strong=True))
    rows = [(each.step, each.what, each.planned, each.done) for each in found]
    frame = pd.DataFrame(rows, columns=["step", "what", "planned", "done"])
    return told + table("Deviations from the locked plan", frame, most=ALL_ROWS)


def build_preregistration(locked: LockedPlan, *, title: str = "", author: str = "") -> Report:
    """The locked plan in the form of a preregistration of a diary study with repeated decisions."""
    plan, data = locked.plan, locked.data
    name = "a study without data yet" if data is None else data.name
    parts: dict[str, list[Block]] = {
        "Study": _study(),
        "Data": _data(locked),
        "Variables": _variables(plan),
        "Sample": _sample(plan),
        "Analyses": _analyses(plan),
        "What would count": _inference(),
        "The plan itself": [
            Paragraph("This is what 'smdp run' carries out; nothing is left open."),
            Listing("The plan", plan.to_toml()),
        ],
    }
    return Report(
        title=shorten(title, 120) or f"Preregistration: {shorten(name, 80)}",
        author=shorten(author, 120),
        date=moment(locked.date),
        source=name,
        synthetic=data is not None and data.synthetic,
        banners=(),
        sections=tuple(
            Section(f"part-{place}", head, tuple(blocks))
            for place, (head, blocks) in enumerate(parts.items(), start=1)
        ),
    )


def _hidden(locked: LockedPlan) -> str:
    return HIDDEN if locked.outcome_hidden else NOT_HIDDEN


def _study() -> list[Block]:
    return bullets(
        [
            f"{YOU_WRITE}the questions and hypotheses, each with its direction.",
            f"{YOU_WRITE}who could take part, how people were found, and how many.",
            f"{YOU_WRITE}the diary: devices, prompts a day, days, waves, what is paid.",
            f"{YOU_WRITE}what the treatments consist of.",
        ]
    )


def _data(locked: LockedPlan) -> list[Block]:
    data = locked.data
    if data is None:
        told = "There was no table yet when the plan was locked."
    else:
        told = (
            f"The table '{shorten(data.name)}' was there when the plan was locked: "
            f"{plural(data.rows, 'row')}, {plural(data.columns, 'column')}, SHA-256 of its "
            f"content {data.fingerprint}."
        )
    return [
        *bullets(
            [
                told,
                _hidden(locked),
                f"SHA-256 of the locked plan: {locked.fingerprint}.",
                f"{YOU_WRITE}who had seen which part of the data by then.",
            ]
        )
    ]


def _variables(plan: AnalysisPlan) -> list[Block]:
    roles = plan.roles
    told = roles.outcome_name
    rows = [
        ("person", roles.subject, ""),
        ("time of a decision", roles.time, ""),
        ("treatment", roles.action, _levels(plan)),
        ("outcome", told.column, "; ".join(filter(None, (told.unit, told.better)))),
        ("availability", roles.available or "not given", ""),
        ("probability of treatment", shown(roles.probability), roles.assignment or "not said"),
        *(("state", each.name, _about(each)) for each in roles.variables),
    ]
    frame = pd.DataFrame(rows, columns=["role", "column", "about"])
    found = table("Variables", frame, most=ALL_ROWS)
    if plan.reading.shape:
        found.append(Paragraph("Before that, the table is shaped, in this order:"))
        found += bullets([each.describe() for each in plan.reading.shape])
    return found


def _levels(plan: AnalysisPlan) -> str:
    return listing((plan.roles.action_levels or {}).values(), 20)


def _about(each: object) -> str:
    facts = [getattr(each, name, None) for name in ("kind", "unit")]
    low, high = getattr(each, "low", None), getattr(each, "high", None)
    if low is not None and high is not None:
        facts.append(f"{low:g} to {high:g}")
    return ", ".join(str(fact) for fact in facts if fact)


def _sample(plan: AnalysisPlan) -> list[Block]:
    own = plan.preparation
    text = (
        f"Left out are people with a single row, and those with more than "
        f"{100 * own.exclude_above:g} % of the values that change over time missing."
    )
    if own.also_exclude:
        text += f" Left out by hand: {plural(len(own.also_exclude), 'person')}."
    return bullets([text, f"{YOU_WRITE}how the number of people and decisions was decided on."])


def _analyses(plan: AnalysisPlan) -> list[Block]:
    rows = [
        (step.title if place == 0 else "", name, shown(value))
        for step in plan.steps
        if step.name != "data"
        for place, (name, value) in enumerate(flat_settings(step.asked_by(plan)))
    ]
    frame = pd.DataFrame(rows, columns=["step", "setting", "value"])
    return [
        Paragraph(f"The steps, in order: {listing([s.title for s in plan.steps], 20)}."),
        *table("Settings of every step", frame, most=ALL_ROWS),
    ]


def _inference() -> list[Block]:
    return bullets(
        [
            f"{YOU_WRITE}which result, of which step, would count for or against each hypothesis.",
            f"{YOU_WRITE}which analyses are exploratory.",
            "Every deviation from this plan is listed by the program in the report.",
        ]
    )

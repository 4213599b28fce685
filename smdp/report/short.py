"""Two pages for people who will not read more: the question, the rule, its worth, the checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from smdp.blocks import (
    OUT_OF_DATE,
    SYNTHETIC,
    Block,
    Bullets,
    Draw,
    Paragraph,
    Report,
    Section,
    bullets,
    notice,
    table,
)
from smdp.data.describe import action_names, describe_completed, utility_meaning
from smdp.data.flow import causes
from smdp.report.collect import banners, today
from smdp.report.whom_to_treat import beside_each_other, how_sure, whom_and_when
from smdp.steps.policies import learned_from, policy_names
from smdp.text import capital, listing, percent, plural, shorten

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis
    from smdp.validation.passport_rows import Verdict

#: So that it stays at two pages: letters of a sentence, and sentences of a part.
LONGEST, MOST_SENTENCES, MOST_OF_WORTH, MOST_WARNINGS = 480, 3, 5, 3
FIGURE_HEIGHT = 200
NOT_DONE = "This was not done."
#: What is asked of everything that the conclusions rest on, by the verdict.
ASKED_OF_ALL: dict[Verdict, str] = {
    "doubt": "What does something speak against?",
    "not checked": "What was not checked?",
    "untestable": "What can no data tell?",
}


def build_summary(
    analysis: Analysis, *, title: str = "", author: str = "", date: str = ""
) -> Report:
    """The summary of an analysis as far as it has come, for `to_html` and `to_docx`."""
    parts = {
        ("rule", "Whom to treat, and when"): _rule(analysis),
        ("worth", "What it is worth, and how sure that is"): _worth(analysis),
        ("question", "What was asked"): _question(analysis),
        ("checks", "What was checked"): _checks(analysis),
    }
    return Report(
        title=shorten(title, 120) or f"Summary: {shorten(analysis.source.name, 80)}",
        author=shorten(author, 120),
        date=date or today(),
        source=analysis.source.name,
        synthetic=analysis.source.synthetic,
        banners=tuple(banners(analysis)),
        sections=tuple(
            Section(key, name, tuple(blocks or [Paragraph(NOT_DONE)]))
            for (key, name), blocks in parts.items()
        ),
        compact=True,
    )


def _short(sentences: list[str], most: int = MOST_SENTENCES) -> list[Block]:
    return bullets([shorten(text, LONGEST) for text in sentences[:most]])


def _question(analysis: Analysis) -> list[Block]:
    study, roles = analysis.study, analysis.plan.roles
    if study is None:
        return []
    kept = study if analysis.completed is None else analysis.completed.study
    who = f"{plural(len(kept.subjects), 'person')}".replace("persons", "people")
    exclusions = analysis.completed.exclusions if analysis.completed is not None else ()
    why = ", ".join(f"{count}: {cause}" for cause, count in causes(exclusions))
    left = f"; {len(exclusions)} more were left out ({why})" if exclusions else ""
    chance = {
        "randomised": "Chance decided who was treated when.",
        "observed": "Treatment was observed, not randomised: read effects as associations.",
    }.get(
        roles.assignment or "",
        "Chance decided who was treated when, with known probabilities."
        if roles.probability is not None
        else "It was not said whether chance decided who was treated.",
    )
    actions = listing([shorten(name, 40) for name in action_names(study)], 7)
    return [
        Paragraph(
            f"Which treatment should a person get at a decision, given the person's state then? "
            f"The study had {who} and {int(kept.on_grid.sum()):,} decisions{left}. At a decision, "
            f"'{shorten(roles.action, 40)}' could be: {actions}. {chance}"
        ),
        Paragraph(shorten(utility_meaning(roles), LONGEST)),
    ]


def _rule(analysis: Analysis) -> list[Block]:
    """Whom to treat and when, the card where one was made, and the policy's reasons."""
    from smdp.explanation.policy_explanation import explain_policy
    from smdp.words.explanation import describe_explanation
    from smdp.words.policy import treatment_pairs

    whom, card = whom_and_when(analysis), _card(analysis)
    if not whom:
        return []
    found: list[Block] = [Paragraph(shorten(whom[0], LONGEST), strong=True), *card]
    found += _short(whom[1:])
    prepared = learned_from(analysis)
    if prepared is not None and analysis.policies:
        policy = analysis.policies[0]
        reference = treatment_pairs(policy.action_labels)[0][1]
        reasons = explain_policy(policy, prepared.trajectories, reference=reference)
        most = 1 if card else MOST_SENTENCES
        found += _short(describe_explanation(reasons.in_own_units()), most)
    return found


def _card(analysis: Analysis) -> list[Block]:
    """The policy as a rule that a person can say aloud, and whether it is the people's alone."""
    from smdp.words.rule_card import card_words

    report = analysis.rule
    if report is None:
        return []
    told = "At each decision one line holds."
    if report.resamples:
        told += (
            f" The rules found in {plural(report.resamples, 'sample')} of the people, drawn anew, "
            f"gave the same treatment at {percent(report.resample_agreement)} of the decisions on "
            "average."
        )
    return table("The rule card", card_words(report), told)


def _worth(analysis: Analysis) -> list[Block]:
    from smdp.figures.policy import value_figure
    from smdp.steps.trial import says as effects

    sure = how_sure(analysis)
    found: list[Block] = [Paragraph(shorten(text, LONGEST), strong=True) for text in sure[:1]]
    found += _short(sure[1:], MOST_OF_WORTH)
    names = policy_names(analysis.policies)
    if analysis.values and len(analysis.values) == len(names):
        outcome = analysis.outcome_name
        pairs = list(zip(names, analysis.values, strict=True))
        marks = {SYNTHETIC: analysis.source.synthetic,
                 OUT_OF_DATE: "evaluation" in analysis.out_of_date}  # fmt: skip
        draw = Draw("summary", tuple(mark for mark, applies in marks.items() if applies))
        figure = value_figure(dict(pairs), names[0], outcome)
        figure.update_layout(height=min(int(figure.layout.height or 420), FIGURE_HEIGHT))
        found.append(
            draw(
                "value",
                "What each policy would earn",
                figure,
                f"Estimates with intervals of {percent(analysis.values[0].coverage)}; an open "
                "symbol has none that could be trusted.",
            )
        )
    if analysis.trial is not None:
        beside = [f"In the trial itself: {text}" for text in effects(analysis)[:1]]
        found += _short([*beside, *filter(None, [beside_each_other(analysis)])])
    if analysis.values:
        found.append(
            Paragraph(
                "Nobody in the study followed this policy: these are estimates from people who "
                "were treated otherwise. Only a new trial would tell."
            )
        )
    return found


def _checks(analysis: Analysis) -> list[Block]:
    rows = [(what, shorten(found, LONGEST)) for what, found in _each_check(analysis)]
    found: list[Block] = table("Checks", pd.DataFrame(rows, columns=["question", "finding"]))
    order = {"error": 0, "warning": 1}
    grave = [p for p in dict.fromkeys(analysis.warnings) if p.severity in order]
    grave.sort(key=lambda problem: order[problem.severity])
    if grave:
        few = len(grave) <= MOST_WARNINGS
        told = plural(len(grave), "warning")
        told = f"{told} of the analysis:" if few else f"Of {told} of the analysis, the first:"
        found.append(Paragraph(told, strong=True))
        found += [notice(each) for each in grave[:MOST_WARNINGS]]
    else:
        found.append(Bullets(("No check found anything to warn of.",)))
    return found


def _each_check(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """What was asked of the analysis, and the answer; "not done" where nobody asked."""
    from smdp.words.placebo import describe_placebo

    if analysis.completed is not None:
        yield "How much was missing?", describe_completed(analysis.completed)[1]
    if analysis.screening is not None:
        yield "Which variables matter?", _record(analysis, "screening")
    if analysis.feature_map is not None:
        yield "Is the summary of the state enough?", _record(analysis, "features")
    told = "not done" if analysis.markov is None else _record(analysis, "markov")
    yield "Does the past matter beyond the state?", told
    if analysis.values:
        least = analysis.values[0].positivity["smallest"].min()
        yield (
            "Was every treatment tried often enough?",
            f"The smallest probability of a treatment was {percent(float(least), 1)}.",
        )
    told = "not done"
    if analysis.placebo is not None:
        told = describe_placebo(analysis.placebo, "learned")[1]
    yield "Could the gain be chance?", told
    yield from _rests_on(analysis)
    if analysis.new_data is not None:
        yield "Does it hold for new data?", _record(analysis, "new_data")


def _rests_on(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """What was found of each thing that the conclusions rest on; no score."""
    from smdp.steps.passport import out_of_date_rows
    from smdp.words.passport import CLAIMS

    found = analysis.passport
    if found is None:
        return
    old = out_of_date_rows(analysis)
    for verdict, question in ASKED_OF_ALL.items():
        claims = [
            CLAIMS[row.thing].lower() + (" (out of date)" if row.thing in old else "")
            for row in found.rows
            if row.verdict == verdict
        ]
        yield question, capital(f"{'; '.join(claims)}.") if claims else "Nothing."


def _record(analysis: Analysis, step: str) -> str:
    return f"{capital(analysis.records[step].summary)}."

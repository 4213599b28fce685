"""Can this be trusted? What the conclusions rest on, one row for each thing, without a score."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.navigation import page_path, page_step
from dashboard.page import next_page, run_button, section_now, step_heading
from dashboard.running import job_box
from dashboard.session import done, result, the_analysis
from dashboard.show import check, errors_as_messages, literal, my_note, says, table
from smdp.steps import MARKOV, PASSPORT, step_named
from smdp.steps.passport import out_of_date_rows
from smdp.text import duration
from smdp.validation.passport import Passport
from smdp.validation.passport_rows import STEPS, PassportRow, Thing, Verdict
from smdp.words.passport import (
    CLAIMS,
    MARKS,
    MEANINGS,
    PARTS,
    VERDICTS,
    evidence,
    reliability_short,
    reliability_table,
    reliability_words,
    rows_table,
    what_to_do,
    with_freshness,
)

#: How a verdict's badge looks: never red or green.
BADGES: dict[Verdict, Literal["blue", "orange", "gray", "violet"]] = {
    "holds": "blue",
    "doubt": "orange",
    "not checked": "gray",
    "untestable": "violet",
}
#: Shares of the width; the settings above have a row of their own, for the table needs all of it.
WIDTHS = (1.5, 1.25, 3.2, 1.3, 1.1)
RATES = "How often right"
HEADS = ("Claim", "Verdict", "Evidence", RATES, "Page")
ABOUT_RATES = (
    "Of so many simulated studies of this size without a fault, the check passes so many; of so "
    "many with a planted fault, it finds so many. Elsewhere: in studies of another size, from this "
    "project's own tables."
)
SETTINGS = (1, 1.1, 1.3, 1.2)
#: Of each simulated study: without a fault, with a look-back, with drift.
MARKOV_CHECKS = 3
NOTICED = 5  # seconds; less is not worth a word
#: Tested on this page itself.
HERE = ("randomisation", "positivity")


def heads() -> None:
    with st.container(key="passport-row-heads"):
        for column, text in zip(st.columns(WIDTHS, gap="small"), HEADS, strict=True):
            column.markdown(f"**{text}**", help=ABOUT_RATES if text == RATES else None)


def row(own: PassportRow, found: Passport, old: bool) -> None:
    """One thing: claim, verdict, evidence and remedy, reliability, and the way to its page."""
    with st.container(key=f"passport-row-{own.thing.replace(' ', '-')}"):
        claim, verdict, why, rate, where = st.columns(WIDTHS, gap="small")
        claim.markdown(literal(CLAIMS[own.thing]))
        verdict.badge(f"{MARKS[own.verdict]} {VERDICTS[own.verdict]}", color=BADGES[own.verdict])
        told = literal(with_freshness(evidence(own, the_analysis().outcome_name), old))
        todo = what_to_do(own)
        if own.verdict == "doubt":
            told += f" **What to do:** {literal(todo)}"
        elif todo and own.verdict != "not checked":
            told += f" {literal(todo)}"
        why.markdown(told)
        rate.markdown(
            literal(reliability_short(own.thing, found)),
            help=literal(reliability_words(own.thing, found)),
        )
        with where:
            way(own.thing)


def way(thing: Thing) -> None:
    """To the page that looks at it."""
    if thing in HERE:
        st.markdown("this page")
        return
    step = page_step(step_named(STEPS[thing]))
    assert step.page is not None
    st.page_link(page_path(step), label=step.page.title)


def takes(studies: int) -> None:
    """About how long the simulated studies take, by what the Markov check itself took."""
    markov = done(MARKOV)
    if not studies or markov is None or markov.seconds is None:
        return
    seconds = MARKOV_CHECKS * studies * markov.seconds
    if seconds >= NOTICED:
        st.caption(f"About {duration(seconds)} for the simulated studies.")


def details(found: Passport) -> None:
    """What was tested here, in numbers."""
    headings = ["The whole table", "Randomisation", "What is missing"]
    headings += ["Simulated studies"] if len(found.reliability) else []
    tabs = dict(zip(headings, st.tabs(headings, key="passport.tabs"), strict=True))
    with tabs["The whole table"]:
        old = out_of_date_rows(the_analysis())
        table(rows_table(found, old, the_analysis().outcome_name), "passport")
    with tabs["Randomisation"]:
        table(found.randomisation.tests, "passport-randomisation")
        table(found.randomisation.shares, "passport-shares-treated")
    with tabs["What is missing"]:
        table(found.missing.counts, "passport-missing")
        if len(found.missing.tests):
            table(found.missing.tests, "passport-missing-tests")
    if "Simulated studies" in tabs:
        with tabs["Simulated studies"]:
            table(reliability_table(found), "passport-reliability", found.reliability)


step_heading(PASSPORT)
sections = {}
with errors_as_messages():
    level, studies, more, button = st.columns(SETTINGS, gap="medium", vertical_alignment="bottom")
    form = Form(PASSPORT.name, section_now(PASSPORT))
    with level:
        form.draw("level")
    with studies:
        form.draw("studies")
    with more:
        form.draw()
        form.more()
    sections = {"passport": form.value()}
    with button:
        takes(sections["passport"].settings.studies)
        run_button(PASSPORT, "Look at what it rests on", sections, icon=":material/fact_check:")

found = result(PASSPORT)
job_box(PASSPORT)
if found is None:
    with st.container(border=True, height=420):
        st.markdown(
            "A policy rests on many things: that the trial was randomised as planned, that the "
            "present state is enough to go by, that nothing drifts, that gaps mean nothing, that "
            "the gain is more than chance. Here each of them has a row: a verdict, the evidence, "
            "and how often such a check is right in a study of this size. It gathers what the "
            "other pages have found, whichever were run, and tests randomisation and gaps itself. "
            "What was not looked at says so. There is no overall score. This page can be skipped."
        )
else:
    changed_notice(PASSPORT, **sections)
    old = out_of_date_rows(the_analysis())
    heads()
    for title, things in PARTS.items():
        st.caption(title)
        for thing in things:
            row(found.row(thing), found, thing in old)
    st.caption(
        literal("; ".join(f"{VERDICTS[key]}: {means}" for key, means in MEANINGS.items()))
        + ". There is no overall score."
    )
    details(found)
    says(PASSPORT.says(the_analysis()))
    check(PASSPORT.warns(found, the_analysis()))
    my_note(PASSPORT)
next_page(PASSPORT, even_if_open=True)

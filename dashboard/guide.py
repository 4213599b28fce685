"""The guided example: on each page what to do, and what to look at, with the sample study."""

from __future__ import annotations

import streamlit as st

from dashboard.session import keep, kept

GUIDED = "guided"

#: By page: what to do there, and what is worth seeing.
STEPS = {
    "Data": (
        "Open *Names of the treatments*. Call module 0 *information* and module 1 *treatment*. "
        "Then press **Use these roles**.",
        "The three answers at the top are right: a fair coin decided at every report, and the "
        "outcome is the next report's number of cigarettes (*cigs*), less of which is better; the "
        "utility is minus it. So are the guessed roles. Each row is one report of one student; "
        "*module* is what was shown to the student.",
    ),
    "Missing values": (
        "Press **Leave out 2 and impute**.",
        "Two students answered too seldom to say anything about them. Gaps of the others are "
        "filled from their own values around the gap. Here the outcome is the next number of "
        "cigarettes, so that some outcomes are filled in too: page 3 counts them.",
    ),
    "Rescaling": (
        "Press **Rescale all variables**.",
        "Ratings up to 10 and counts up to 20 come to the same levels, so that the weights on "
        "page 6 can be compared.",
    ),
    "Effects": (
        "Nothing to press. This page can be skipped.",
        "What the module did to the number of cigarettes that follows, from every report at which "
        "a coin decided: on average, and on the tabs for whom, when, and how long after. An "
        "average near nothing can hide that it helps some: that is what the next pages are for.",
    ),
    "Screening": (
        "Press **Screen** and wait a moment.",
        "The makers of this study planted three variables that say when treatment helps: "
        "*weekend*, *stress* and *quit attempts*, as strong as in real trials and no stronger. Are "
        "they among those kept, and what else is? **How they lead to the outcome** draws through "
        "which variables. A variable that is missing here was not proven useless: 28 students do "
        "not show everything.",
    ),
    "Feature dimension": (
        "Press **Fit the feature map**. It takes a while; you may leave the page.",
        "One feature after another is tried. On the left, does a test find that more are needed? "
        "On the right, how much do they keep of what the state says of the outcome? The smallest "
        "number that passes either is chosen. Look at what the sentences below do not claim.",
    ),
    "Weights": (
        "Nothing to press. Read the figure row by row: each row is one feature.",
        "Vermilion: the feature rises with the variable. Blue: it falls. *Check stability* would "
        "show how much of this depends on who took part; it takes a while.",
    ),
    "Markov check": (
        "Press **Test look-backs**. This page can be skipped.",
        "Students differ in how much they smoke, and their past tells who they are: look at both "
        "lines of the figure. On the right, does the effect of treatment last through the study?",
    ),
    "Q-functions": (
        "Press **Learn the Q-functions**.",
        "Where the two bars of a feature differ, the feature matters for the choice. On the tab "
        "*Over a variable*, the better module changes where the line crosses zero.",
    ),
    "Policy": (
        "Press **Estimate what it would earn**.",
        "The values are minus cigarettes: -7 is better than -8. Is the difference to what was done "
        "in the trial clear? And at how many decisions does the policy abstain?",
    ),
    "Patient": (
        "Choose a student and a time.",
        "A recommendation comes with its margin and its reasons. *No recommendation* is an answer "
        "too.",
    ),
    "Could this trial have found it?": (
        "Nothing to press. It repeats the analysis on many drawn studies, and can be skipped.",
        "Studies like this one can be drawn from what was learned, with the same effects and with "
        "none. How often does screening find what is there, and what is not? It tells what a "
        "variable that was not kept means here.",
    ),
    "Can this be trusted?": (
        "Press **Look at what it rests on**.",
        "One row for each thing that the conclusions rest on, with its evidence. What you skipped "
        "is *not checked*, and nothing adds the rows up to a score.",
    ),
    "Report": (
        "Press **HTML** for a report, or save the analysis as one file.",
        "The methods paragraph is written from your settings. A reviewer who opens the saved file "
        "sees what you saw, and can run it again.",
    ),
}


def start_guide() -> None:
    keep(GUIDED, True)


def guide(title: str) -> None:
    """On a page of the example: what to do and see here; nothing without the example."""
    if not kept(GUIDED, False) or title not in STEPS:
        return
    do, see = STEPS[title]
    with st.container(border=True, key="guide"):
        text, end = st.columns([6, 1], vertical_alignment="center")
        where = f"{list(STEPS).index(title) + 1} of {len(STEPS)}"
        text.markdown(f"**Guided example, {where}.** {do}\n\n{see}")
        if end.button(
            "End it",
            icon=":material/close:",
            type="tertiary",
            help="Hides these boxes. The sample study and all results stay.",
        ):
            keep(GUIDED, False)
            st.rerun()

"""What a screening says, what it does not say, and what to check."""

from __future__ import annotations

import pandas as pd

from smdp.data.problem import Problem
from smdp.screening import ScreeningResult
from smdp.text import listing, p_text


def describe_screening(result: ScreeningResult) -> list[str]:
    """Two or three sentences with the actual numbers."""
    total, kept = len(result.table), len(result.selected)
    tested = sum(len(r.pooled) for r in result.rounds[:1])
    are = "is" if kept == 1 else "are"
    text = f"{kept} of {total} variables {are} kept: {listing(result.selected, 12)}."
    if not kept:
        text = f"None of the {tested} variables tested shows a dependence at this level."
    decisions = len(result.times) - len(result.times_left_out)
    rounds = f"{len(result.rounds)} round{'s' if len(result.rounds) > 1 else ''}"
    how = (
        "Each was tested against the utility and the next values of the variables kept so far, "
        f"among subjects with the same action, over {decisions} decisions, in {rounds} at a "
        f"false-alarm level of {result.settings.level:g}."
    )
    caution = (
        "A variable that was not kept is not proven useless: a weak dependence can go unseen. A "
        "variable that was kept depends on what comes next, which is not to say that it changes "
        "which treatment is better."
    )
    return [text, how, caution]


def check_screening(result: ScreeningResult) -> list[Problem]:
    """Warnings with their remedies."""
    found = []
    if not result.selected:
        found.append(
            Problem(
                "warning",
                "",
                "No variable was kept, so there is nothing to build a feature map from.",
                "Raise the level, pool over whole trajectories, or force in the variables that "
                "theory asks for.",
            )
        )
    if result.stopped == "max_rounds reached":
        found.append(
            Problem(
                "warning",
                "max_rounds",
                f"Screening stopped after {len(result.rounds)} rounds; variables still joined.",
                "Allow more rounds.",
            )
        )
    if result.times_left_out:
        found.append(
            Problem(
                "note",
                "",
                f"{len(result.times_left_out)} of {len(result.times)} decisions could not be "
                "tested: no treatment was given to four subjects or more there.",
            )
        )
    forced = [*result.settings.force_in, *result.settings.force_out]
    if forced:
        found.append(
            Problem("note", "", f"Decided by hand, not by the test: {listing(forced, 12)}.")
        )
    if result.settings.pooling == "trajectory":
        found.append(
            Problem(
                "note",
                "",
                "Whole trajectories were permuted: the null hypothesis is that a variable's whole "
                "course has nothing to do with the outcome's, which is more than that it says "
                "nothing about the next outcome.",
            )
        )
    return found


def screening_summary(result: ScreeningResult) -> str:
    return f"{len(result.selected)} of {len(result.table)} variables kept"


def screening_table(result: ScreeningResult) -> pd.DataFrame:
    """Why each variable entered or stayed out, with p-values as papers print them."""
    table = result.table
    return pd.DataFrame(
        {
            "variable": table.index,
            "status": table["status"].to_numpy(),
            "round": table["round"].to_numpy(),
            "pooled p": [p_text(p) if p == p else "not tested" for p in table["p_value"]],
        }
    )

"""What repetitions on a twin found, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.independence.shares import wilson_interval
from smdp.text import decimals_for, listing, percent, plural
from smdp.validation.twin import World
from smdp.validation.twin_study import TwinStudy

#: A planted variable that is found less often than this is worth a warning.
TOO_SELDOM = 0.5
#: A gain that is none may be shown by so many of the intervals.
NOMINAL = 0.025

WORLD_NAMES: dict[World, str] = {
    "as learned": "as learned",
    "nothing": "nothing matters",
    "no gain": "no gain",
}


def found_text(found: int, total: int) -> str:
    """'17 of 20 (64 % to 95 %)'."""
    if not total:
        return "not known"
    lower, upper = wilson_interval(found, total)
    return f"{found} of {total} ({percent(lower)} to {percent(upper)})"


def twin_summary(result: TwinStudy) -> str:
    """'4 planted variables, all found in 17 of 20'."""
    found, total = result.all_planted
    if not result.planted:
        return f"nothing to plant, {total} studies drawn"
    named = plural(len(result.planted), "planted variable")
    part = "" if result.complete else ", stopped early"
    return f"{named}, all found in {found} of {total}{part}"


def describe_twin(result: TwinStudy, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """What would have been found, what is found that is not there, and what that does not say."""
    planted = result.table[result.table["planted"]]
    found, total = result.all_planted
    sentences = []
    if result.planted and total:
        often = [f"{row['variable']} {int(row['kept'])}" for row in planted.to_dict("records")]
        sentences.append(
            f"In {total} studies drawn from the twin, in which what was learned here is true, "
            f"screening kept all planted variables in {found_text(found, total)}. One by one, of "
            f"{total}: {listing(often, 12)}."
        )
        ranges = [f"{row['variable']} {_in_truth(row)}" for row in planted.to_dict("records")]
        sentences.append(
            "How large an effect is, one study knows only roughly, and so it is with these shares. "
            f"As far as this study can tell, the true rates lie within: {listing(ranges, 12)}."
        )
    elif total:
        sentences.append(
            "The feature map uses no variable, so there is nothing to plant but the treatment."
        )
    others = result.table[~result.table["planted"]]
    if len(others) and total:
        most = others.sort_values("kept", ascending=False, kind="stable").iloc[0]
        mean = float(others["kept"].sum()) / total
        worst = f"; most often {most['variable']} ({int(most['kept'])})" if most["kept"] else ""
        sentences.append(
            f"Of the other variables, which say nothing of {outcome.the} in the twin, {mean:.1f} "
            f"a study were kept on average{worst}."
        )
    anything, nothing = result.anything
    if nothing:
        besides = f" (besides {result.itself}, the outcome before)" if result.itself else ""
        sentences.append(
            f"Where {outcome.the} depends on nothing, something was kept{besides} in "
            f"{found_text(anything, nothing)} of the studies."
        )
    sentences += _gains(result, outcome)
    sentences.append(
        "The twin is what this study says of itself: variables that were missed here are not "
        "planted, and what was kept here by luck is planted with that luck: of a variable that "
        "few studies would find, the share is too large (bench/twin.md). For "
        f"people it had not seen, its regression explains {percent(max(result.explained, 0))} of "
        f"the variance of {outcome.the}."
    )
    return sentences


def _in_truth(row: Mapping[Any, Any]) -> str:
    return f"{percent(row['true_lower'])} to {percent(row['true_upper'])}"


def _gains(result: TwinStudy, outcome: OutcomeName) -> list[str]:
    found = []
    gains = np.array([r.gain for r in result.of("as learned")])
    gains = gains[np.isfinite(gains)]
    if len(gains) and np.isfinite(result.gain):
        digits = min(decimals_for(max(abs(result.gain), float(np.abs(gains).max()))), 3)
        found.append(
            f"Followed in the twin, the policy learned here adds {result.gain:.{digits}f} to "
            f"{outcome.the} of a decision; policies learned anew from the drawn studies add "
            f"{gains.mean():.{digits}f} on average ({gains.min():.{digits}f} to "
            f"{gains.max():.{digits}f}). These are plain means over the study, not discounted."
        )
        same = np.array([r.same for r in result.of("as learned")])
        same = same[np.isfinite(same)]
        if len(same):
            found.append(
                f"They recommend what the policy learned here does at {percent(float(same.mean()))}"
                " of the study's decisions, on average."
            )
    found += _cards(result)
    shown, known = result.gains_shown("as learned")
    if known:
        found.append(
            f"The interval of the gain over what was done lay above 0 in {found_text(shown, known)}"
            " of these studies."
        )
    shown, known = result.gains_shown("no gain")
    if known:
        found.append(
            f"Where no treatment was better than another, it did so in {found_text(shown, known)}."
        )
    return found


def _cards(result: TwinStudy) -> list[str]:
    again, cards = result.cards_again("as learned")
    if result.card is None or not cards:
        return []
    asks = f"asks first for {result.card.asked[0]}" if result.card.asked else "asks nothing"
    agree = np.array([r.card_agrees for r in result.of("as learned")])
    found = [
        f"Distilled to a rule card, the policy learned here {asks}; cards found anew do so in "
        f"{found_text(again, cards)}, and advise the same at "
        f"{percent(float(np.nanmean(agree)))} of the study's decisions, on average."
    ]
    nothing, without = result.cards_without_questions("no gain")
    if without:
        found.append(
            "Where no treatment was better than another, the card asked nothing in "
            f"{found_text(nothing, without)}."
        )
    return found


def check_twin(result: TwinStudy) -> list[Problem]:
    """What would be missed, and what is found too often."""
    found = [Problem("note", "twin", note) for note in result.notes]
    if not result.complete:
        done, asked = len(result.of("as learned")), result.settings.repetitions
        found.append(
            Problem("note", "twin", f"Stopped early: {done} of {asked} studies were analysed.")
        )
    planted = result.table[result.table["planted"]]
    seldom = planted[planted["kept_share"] < TOO_SELDOM]
    if len(seldom):
        named = [f"'{name}'" for name in seldom["variable"]]
        found.append(
            Problem(
                "warning",
                "twin",
                f"A study of this size finds {listing(named)} in fewer than half of the cases, "
                "even if what was learned here is true.",
                "Others of this kind are likely to be missed: that a variable was not kept does "
                "not mean that it does not matter.",
            )
        )
    shown, known = result.gains_shown("no gain")
    if known and wilson_interval(shown, known)[0] > NOMINAL:
        found.append(
            Problem(
                "warning",
                "twin",
                f"Where no treatment is better than another, {shown} of {known} intervals show a "
                "gain all the same.",
                "Read the interval of the gain with caution.",
            )
        )
    shown, known = result.gains_shown("as learned")
    if known and shown < known / 2 and result.gain > 0:
        found.append(
            Problem(
                "warning",
                "twin",
                "A gain as large as the one learned here is shown by the interval in fewer than "
                "half of the studies of this size.",
                "That the interval of a gain holds 0 says little here; more people would.",
            )
        )
    failed = [r for r in result.repetitions if r.notes and not r.kept and r.world != "nothing"]
    if failed:
        text = f"In {len(failed)} of the drawn studies nothing was left: {failed[0].notes[0]}"
        found.append(Problem("note", "twin", text))
    return found


def twin_table(result: TwinStudy) -> pd.DataFrame:
    """For people: how often each variable was found."""
    rows = []
    for row in result.table.to_dict("records"):
        own = {
            "variable": row["variable"],
            "planted": "yes" if row["planted"] else "no",
            "kept by screening": found_text(int(row["kept"]), int(row["kept_of"])),
            "true rate, 95 %": _in_truth(row) if row["planted"] and row["kept_of"] else "",
        }
        if result.settings.repeated != "screening":
            own["used by the map"] = found_text(int(row["used"]), int(row["used_of"]))
        own["kept where nothing matters"] = found_text(int(row["nothing"]), int(row["nothing_of"]))
        rows.append(own)
    return pd.DataFrame(rows)

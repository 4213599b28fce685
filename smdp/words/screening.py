"""What a screening says, what it does not say, and what to check."""

from __future__ import annotations

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.screening import ASKS, ScreeningResult
from smdp.screening_paths import UTILITY, ClosedSet, closed_set
from smdp.text import capital, interval_text, listing, p_text, plural

#: As a table says what became of a variable.
STATUS = {"selected": "kept", "not selected": "not found"}
MOST_NAMED = 12


def describe_screening(result: ScreeningResult, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """A few sentences with the actual numbers."""
    told = [_kept(result, outcome)]
    if result.by_person and result.rounds:
        told += [_by_person(result), *_strongest(result, outcome)]
        told.append(
            "A variable that was not kept is not proven useless: a weak dependence can go unseen"
            + (
                ", and once others are known only what shifts the mean of what comes next is seen, "
                "not what only widens its spread."
                if any(r.known for r in result.rounds)
                else "."
            )
            + " A variable that was kept says something about what comes next, which is not to say "
            "that it changes which treatment is better."
        )
    elif result.rounds:
        told += _as_in_the_paper(result, outcome)
    return told


def _kept(result: ScreeningResult, outcome: OutcomeName) -> str:
    total, kept = len(result.table), len(result.selected)
    tested = sum(len(r.pooled) for r in result.rounds[:1])
    one = kept == 1
    if not kept:
        if not tested:
            return "No variable could be tested, and none is kept."
        if tested == 1:
            return "The one variable tested shows no dependence at this level."
        return f"None of the {tested} variables tested shows a dependence at this level."
    text = (
        f"{kept} of {plural(total, 'variable')} {'is' if one else 'are'} kept: "
        f"{listing(result.selected, MOST_NAMED)}."
    )
    if not result.rounds:
        return f"{text} Nothing was left to test."
    if not result.by_person:
        return text
    if result.settings.method == "closed_set":
        return (
            f"{text} With the treatment, {'it is' if one else 'they are'} all that {outcome.the} "
            "and "
            f"{'its own next value' if one else 'their own next values'} were found to depend on."
        )
    return (
        f"{text} {'It' if one else 'Each'} is related to {outcome.the}"
        + ("" if one else " or to the next value of another that is kept")
        + f", or merely goes along with what is: what {'it adds' if one else 'each adds'} to the "
        "others was not asked."
    )


def _by_person(result: ScreeningResult) -> str:
    rows = int(result.times["subjects"].sum())
    past = result.past_actions or 0
    asked = result.settings.past_actions
    same = "the same treatment"
    if past:
        same += " now and the time before" if past == 1 else f" now and the {past} times before"
    text = (
        f"People were the sample: {plural(rows, 'decision')} of {result.people} people, compared "
        f"among those who received {same}"
    )
    if past < asked:
        more = "it" if asked == 1 else "more"
        text += f" ({asked} before {'was' if asked == 1 else 'were'} asked for, but there are too "
        text += f"few decisions to hold {more} fixed)"
    return (
        f"{text}, in {plural(len(result.rounds), 'round')}. The false-alarm level of "
        f"{result.settings.level:g} is for all variables of a round together."
    )


def _strongest(result: ScreeningResult, outcome: OutcomeName) -> list[str]:
    table = result.table[result.table["strength"].notna()]
    if not len(table):
        return []
    kept = table[table["status"] == "selected"]
    among = kept if len(kept) else table
    row = among.loc[among["strength"].idxmax()]
    value = interval_text(row["strength"], row["strength_low"], row["strength_high"])
    start = {0: "On its own, the strongest is ", 1: "On its own, "}.get(
        len(kept), "Of those kept, the strongest on its own is "
    )
    text = (
        f"{start}{row.name}{' has' if len(kept) == 1 else ', with'} a distance correlation of "
        f"{value} with {outcome.the} (0 is none, 1 the most)"
    )
    if any(r.known for r in result.rounds):
        text += "; a p-value after the first round is of what a variable adds to the others"
    return [text + "."]


def _as_in_the_paper(result: ScreeningResult, outcome: OutcomeName) -> list[str]:
    decisions = len(result.times) - len(result.times_left_out)
    return [
        f"Each was tested against {outcome.the} and the next values of the variables kept so far, "
        f"among subjects with the same action, over {plural(decisions, 'decision')}, in "
        f"{plural(len(result.rounds), 'round')} at a false-alarm level of "
        f"{result.settings.level:g}.",
        "A variable that was not kept is not proven useless: a weak dependence can go unseen. A "
        "variable that was kept depends on what comes next, which is not to say that it changes "
        "which treatment is better.",
    ]


def check_screening(result: ScreeningResult) -> list[Problem]:
    """Warnings with their remedies."""
    found = []
    if not result.selected:
        found.append(
            Problem(
                "warning",
                "",
                "No variable was kept, so there is nothing to build a feature map from.",
                "Raise the level"
                + ("" if result.by_person else ", look for the smallest closed set")
                + ", or force in the variables that theory asks for.",
            )
        )
    if result.needs_earlier_actions:
        assert result.earlier_actions is not None
        found.append(
            Problem(
                "warning",
                "",
                "Earlier treatments still matter once the variables kept are known "
                f"({p_text(result.earlier_actions)}): a policy that sees these variables alone "
                "does not see all that counts.",
                "Add earlier treatments to the state (the Data page, More): they are then tested "
                "one by one.",
            )
        )
    if result.stopped == "max_rounds reached":
        found.append(
            Problem(
                "warning",
                "max_rounds",
                f"Screening stopped after {plural(len(result.rounds), 'round')}; variables still "
                "joined.",
                "Allow more rounds.",
            )
        )
    constant = _with_status(result, "cannot be tested")
    if constant:
        one = len(constant) == 1
        found.append(
            Problem(
                "warning",
                "",
                f"{listing(constant, MOST_NAMED)} cannot be tested: {'it is' if one else 'each is'}"
                " the same for everybody at each decision, and so cannot tell people apart.",
                "Force it in if theory asks for it."
                if one
                else "Force in those that theory asks for.",
            )
        )
    same = _with_status(result, "says the same")
    if same:
        one = len(same) == 1
        found.append(
            Problem(
                "note",
                "",
                f"{listing(same, MOST_NAMED)} {'says' if one else 'say'} the same as "
                f"{'another variable' if one else 'other variables'}, which "
                f"{'stands for both' if one else 'stand for both'}; the table says which.",
            )
        )
    if result.times_left_out and not result.by_person:
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
            Problem("note", "", f"Decided by hand, not by the test: {listing(forced, MOST_NAMED)}.")
        )
    if result.settings.pooling == "trajectory" and not result.by_person:
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


def _with_status(result: ScreeningResult, status: str) -> list[str]:
    return [str(name) for name in result.table.index[result.table["status"] == status]]


def screening_summary(result: ScreeningResult) -> str:
    return f"{len(result.selected)} of {plural(len(result.table), 'variable')} kept"


def screening_table(result: ScreeningResult) -> pd.DataFrame:
    """Why each variable entered or stayed out, with p-values as papers print them."""
    table = result.table
    told: dict[str, object] = {
        "variable": table.index,
        "status": [STATUS.get(status, status) for status in table["status"]],
    }
    if not result.by_person:
        return pd.DataFrame(
            told
            | {
                "round": table["round"].to_numpy(),
                "pooled p": [_tested(p) for p in table["p_value"]],
            }
        )
    paths = closed_set(result)
    if paths is not None:
        told["leads to"] = [_leads_to(paths, str(name)) for name in table.index]
    ends = zip(table["strength"], table["strength_low"], table["strength_high"], strict=True)
    told |= {
        "strength (95 % interval)": [interval_text(*e) if e[0] == e[0] else "" for e in ends],
        "p in its round": [_tested(p) for p in table["family_p"]],
        "p alone": [_tested(p) for p in table["p_value"]],
        "q": [f"{q:.3f}".lstrip("0") if q == q else "" for q in table["q_value"]],
        "round": table["round"].to_numpy(),
    }
    untested = table["status"].isin(["cannot be tested", "says the same"])
    if untested.any():
        told["why"] = table["reason"].where(untested, "").to_numpy()
    return pd.DataFrame(told)


def _tested(p: float) -> str:
    return p_text(p) if p == p else "not tested"


def _leads_to(paths: ClosedSet, name: str) -> str:
    """'outcome, stress'; in brackets what is only its clearest way."""
    told = [(p.target or "outcome", p.clear) for p in paths.leads_to(name)]
    return ", ".join(target if clear else f"({target})" for target, clear in told)


def rounds_table(result: ScreeningResult) -> pd.DataFrame:
    """What each round asked, of how many variables, and what came of it."""
    return pd.DataFrame(
        [
            {
                "round": r.number,
                "asks": capital(ASKS[r.stage]),
                "tested": len(r.pooled),
                "found": listing(r.joined, MOST_NAMED) or "none",
                "known": "the others" if r.stage == "closure" else listing(r.known, 3),
                "against": listing(["utility", *(f"next {name}" for name in r.outcome)], 3),
            }
            for r in result.rounds
        ]
    )


def arrows_table(result: ScreeningResult) -> pd.DataFrame:
    """Every arrow of the closed set, the clearest first, those to itself last."""
    arrows = result.arrows
    assert arrows is not None
    own = arrows["source"] == arrows["target"]
    ranked = arrows.assign(own=own).sort_values(["own", "p_value", "family_p"], kind="stable")
    return pd.DataFrame(
        {
            "variable": ranked["source"].to_numpy(),
            "leads to": [
                "outcome" if target == UTILITY else f"next {target}" for target in ranked["target"]
            ],
            "p among all": [p_text(p) for p in ranked["family_p"]],
            "p alone": [p_text(p) for p in ranked["p_value"]],
        }
    )

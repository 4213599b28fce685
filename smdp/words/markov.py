"""What the Markov check says, in sentences."""

from __future__ import annotations

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.markov.markov_check import MarkovCheck
from smdp.markov.stationarity import EFFECT, EVERYTHING, PROCESS, UTILITY
from smdp.text import interval_text, listing, p_text, percent, plural
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals

STEPS = ("no step", "one step", "two steps", "three steps")
LEVELS_NOTE = (
    "Own levels allowed for: tested once more with what is usual for each person taken out, so "
    "that a person's past does not count merely because it tells who she is. The smallest "
    "look-back that is not rejected is the answer; those above it are shown for completeness."
)
NO_CHOICE = "decisions at which nothing could be chosen"


def steps_back(count: int) -> str:
    """'one step back'"""
    return f"{STEPS[count] if count < len(STEPS) else f'{count} steps'} back"


def markov_summary(found: MarkovCheck) -> str:
    """One line: the look-back, and what changes over the study."""
    if found.look_back is None:
        text = f"not Markov up to look-back {found.longest}"
        if found.own_look_back is not None:
            text = f"look-back {found.own_look_back} beside own levels"
    else:
        text = f"look-back {found.look_back}"
    if found.effect_changes:
        return f"{text}; effect changes over time"
    return f"{text}; {'changes over time' if found.process_changes else 'the same throughout'}"


def describe_markov(found: MarkovCheck, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """The look-back, own levels, change over the study, and what is not said."""
    return [
        _look_back(found),
        _own_levels(found),
        _process(found),
        *_effect(found, outcome),
        *_consequence(found),
        "Not rejected is not proven: with few people or weak dependence, what matters can go "
        "unseen. The tests look at means; that something becomes more or less variable they do "
        "not see.",
        _tested_on(found),
    ]


def _p(found: MarkovCheck, look_back: int, column: str = "p_value") -> str:
    ladder = found.ladder.set_index("look_back")
    return p_text(float(ladder.loc[look_back, column]))


def _look_back(found: MarkovCheck) -> str:
    beyond = ""
    if found.state_look_back:
        beyond = f", beyond the {steps_back(found.state_look_back)} that the state already holds"
    m = found.look_back
    if m is None:
        return (
            f"Not Markov in these variables up to look-back {found.longest}{beyond}: every "
            f"look-back is rejected ({_p(found, found.longest)} at {found.longest}). The past "
            "tells something about what comes next that neither the present state nor the last "
            "few decisions hold."
        )
    if m == 0:
        return (
            f"The present state is enough, as far as this study shows{beyond}: given it and the "
            "treatment, utility and next state were not found to depend on anything earlier "
            f"(look-back 0, {_p(found, 0)})."
        )
    return (
        f"The state needs {steps_back(m)}{beyond}: a look-back of {m - 1} is rejected "
        f"({_p(found, m - 1)}), one of {m} is not ({_p(found, m)})."
    )


def _own_levels(found: MarkovCheck) -> str:
    start = "With each person's own level allowed for,"
    plain, own = found.look_back, found.own_look_back
    if own is None:
        if plain is None:
            return f"{start} every look-back is rejected too: it is not only that people differ."
        return (
            f"{start} every look-back up to {found.longest} is rejected: compared with herself, a "
            "person's past tells more than differences between people let see."
        )
    p = _p(found, own, "own_p_value")
    if own == plain:
        return f"{start} the answer is the same ({p})."
    enough = "the present state is enough" if own == 0 else f"{steps_back(own)} will do"
    if _people_differ(found):
        return (
            f"{start} {enough} (look-back {own}, {p}): beyond that, the past may tell who the "
            "person is rather than what happened lately. This test sees less, above all in short "
            "series. A look-back makes up for own levels in part; a variable that says how people "
            "differ does it better."
        )
    return (
        f"{start} the state needs {steps_back(own)} ({p}): compared with herself, a person's past "
        "tells more than differences between people let see."
    )


def _process(found: MarkovCheck) -> str:
    p = found.p_value(PROCESS, EVERYTHING)
    assert p is not None
    alone = found.p_value(PROCESS, UTILITY)
    utility = "" if alone is None else f"; the utility alone: {p_text(alone)}"
    if found.process_changes:
        return (
            "Given state and treatment, what comes next changes over the study "
            f"({p_text(p)}{utility})."
        )
    return (
        "Given state and treatment, no change of what comes next over the study was found "
        f"({p_text(p)}{utility})."
    )


def _effect(found: MarkovCheck, outcome: OutcomeName) -> list[str]:
    p = found.p_value(EFFECT, UTILITY)
    if p is None:
        return ["Nothing can be said of an effect over time: no two treatments can be compared."]
    if found.effect_changes:
        start = f"The effect of treatment on {outcome.the} changes over the study ({p_text(p)})"
    else:
        start = f"No change of the effect of treatment on {outcome.the} was found ({p_text(p)})"
    ends = [_from_to(own) for _, own in found.effect.groupby("action", sort=False)]
    return [f"{start}{': ' if ends else ''}{'; '.join(ends)}."]


def _from_to(own: pd.DataFrame) -> str:
    first, last = own.iloc[0], own.iloc[-1]
    digits = decimals([float(((own["upper"] - own["lower"]) / 4).max())])
    early, late = (
        interval_text(float(row["estimate"]), float(row["lower"]), float(row["upper"]), digits)
        for row in (first, last)
    )
    return (
        f"{action_name(first['action'])} against {action_name(first['against'])} is estimated as "
        f"{early} at decision {first['decision']} and {late} at decision {last['decision']}"
    )


def _consequence(found: MarkovCheck) -> list[str]:
    if not (found.effect_changes or found.process_changes):
        return []
    if found.time_in_state:
        return [
            "The decision number is in the state already; what changes with it in another form is "
            "averaged over early and late."
        ]
    text = "One rule is learned for the whole study: it averages over early and late decisions"
    if found.effect_changes:
        text += ", and may be too bold at one end and too timid at the other"
    return [f"{text}. With the decision number in the state, it can tell them apart."]


def _tested_on(found: MarkovCheck) -> str:
    history = found.longest + 1
    return (
        f"The look-back was tested at {found.decisions:,} of {found.all_decisions:,} decisions, of "
        f"{plural(found.people, 'person').replace('persons', 'people')}, those with "
        f"{plural(history, 'earlier decision')} in a row before them, in "
        f"{plural(len(found.variables), 'variable')} ({listing(found.variables, 12)})."
    )


def markov_problems(found: MarkovCheck) -> list[Problem]:
    """What to do about a look-back, a change over time, and what could not be tested."""
    problems = []
    if found.look_back is None:
        remedy = (
            "Take a variable into the state that tells what the past tells, such as how people "
            "differ (age, habits, a person's usual level), and read values and policies with "
            "caution"
        )
        if found.own_look_back:
            remedy += f". A look-back of {found.own_look_back} helps in part: 'lags' of the roles"
        problems.append(
            Problem(
                "warning",
                "markov",
                f"The process is not Markov in these variables up to look-back {found.longest}: a "
                "policy that sees the present state alone misses something.",
                f"{remedy}.",
                concerns="people differ" if found.own_look_back else "",
            )
        )
    elif found.look_back and _people_differ(found):
        problems.append(
            Problem(
                "warning",
                "markov",
                "The past tells more than the present state, perhaps only of how people differ: "
                "with their own levels allowed for, "
                + (
                    f"{steps_back(found.own_look_back)} will do."
                    if found.own_look_back
                    else "the present state is enough."
                ),
                "Take a variable into the state that says how people differ (age, habits, a "
                "person's usual level). A look-back helps in part, and makes the state larger: "
                "'lags' of the roles.",
                concerns="people differ",
            )
        )
    elif found.look_back:
        m = found.look_back
        problems.append(
            Problem(
                "warning",
                "markov",
                f"The present state is not enough: it needs {steps_back(m)}.",
                f"Add a look-back of {m} to the state ('lags' of the roles), and go on from there.",
                concerns="look-back",
            )
        )
    if (found.effect_changes or found.process_changes) and not found.time_in_state:
        what = "The effect of treatment" if found.effect_changes else "What comes next"
        problems.append(
            Problem(
                "warning",
                "markov",
                f"{what} changes over the study, and one rule for all decisions averages over it.",
                "Add the decision number to the state ('add_time' of the roles), and go on from "
                "there.",
                concerns="decision number",
            )
        )
    return problems + _notes(found)


def _people_differ(found: MarkovCheck) -> bool:
    """Whether a shorter look-back is enough once people's own levels are allowed for."""
    own, plain = found.own_look_back, found.look_back
    return own is not None and (plain is None or own < plain)


def _notes(found: MarkovCheck) -> list[Problem]:
    notes = []
    if found.longest < found.settings.most:
        notes.append(
            f"Look-backs above {found.longest} could not be tested: too few decisions have enough "
            "others in a row before them for so many numbers."
        )
    if found.left_out:
        names = [action_name(each) if each else NO_CHOICE for each in found.left_out]
        notes.append(f"Too rare for a look-back to be tested there: {listing(names)}.")
    if found.estimated:
        notes.append(
            f"At {percent(found.estimated)} of the choices the probabilities of treatment were "
            "estimated: what is said of effects over time rests on that."
        )
    if found.effect.empty and found.p_value(EFFECT, UTILITY) is not None:
        notes.append("There are too few people to draw the effect of treatment over the study.")
    return [Problem("note", "markov", text) for text in notes]


def ladder_table(found: MarkovCheck) -> pd.DataFrame:
    """One row a look-back."""
    level = found.settings.level
    verdict = [
        "rejected" if p <= level else "not rejected" for p in found.ladder["p_value"].tolist()
    ]
    if found.look_back is not None:
        verdict[found.look_back] = "not rejected: enough"
    return pd.DataFrame(
        {
            "look-back": found.ladder["look_back"].tolist(),
            "in words": [
                "present state alone" if m == 0 else steps_back(m)
                for m in found.ladder["look_back"].tolist()
            ],
            "p": [p_text(p) for p in found.ladder["p_value"]],
            f"at {level:g}": verdict,
            "p, own levels allowed for": [p_text(p) for p in found.ladder["own_p_value"]],
        }
    )


QUESTIONS = {
    PROCESS: "given state and treatment, does it change over the study?",
    EFFECT: "does the effect of treatment on it change over the study?",
}


def stationarity_table(found: MarkovCheck) -> pd.DataFrame:
    rows = found.stationarity
    return pd.DataFrame(
        {
            "question": [QUESTIONS[each] for each in rows["question"]],
            "of": rows["outcome"].tolist(),
            "p": [p_text(p) for p in rows["p_value"]],
        }
    )


def effect_table(found: MarkovCheck) -> pd.DataFrame:
    """The effect of each action at some ten decisions."""
    rows = found.effect
    each = max(1, len(rows) // max(rows["action"].nunique(), 1) // 10)
    parts = [own.iloc[::each] for _, own in rows.groupby("action", sort=False)]
    shown = pd.concat(parts) if parts else rows
    digits = decimals([float(((shown["upper"] - shown["lower"]) / 4).max())]) if len(shown) else 2
    return pd.DataFrame(
        {
            "action": [action_name(a) for a in shown["action"]],
            "against": [action_name(a) for a in shown["against"]],
            "decision": shown["decision"].tolist(),
            "effect on the utility (95 % interval)": [
                interval_text(float(e), float(low), float(high), digits)
                for e, low, high in zip(
                    shown["estimate"], shown["lower"], shown["upper"], strict=True
                )
            ],
        }
    )


def of_which_variables(screened: bool) -> str:
    """Where the variables came from."""
    which = "the variables that screening kept" if screened else "all variables of the study"
    return f"These are {which}."

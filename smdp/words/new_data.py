"""What new data say of a frozen analysis, in sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.text import capital, interval_text, listing, p_text, percent, plural
from smdp.validation.new_data import NewDataCheck, OnNewData
from smdp.validation.new_data_settings import NewDataSettings
from smdp.validation.verdict import Decision, Verdict, share_of_level
from smdp.validation.worth import GAIN
from smdp.words.policy_value import digits_of, units

HEADINGS: dict[Decision, str] = {
    "keep": "Keep",
    "refit": "Refit",
    "withdraw": "Withdraw",
    "cannot tell": "Cannot tell yet",
}
MEANINGS: dict[Decision, str] = {
    "keep": "the policy is surely not much worse than what was done, and nothing speaks for a "
    "change",
    "refit": "something has changed: learn it anew from both tables before it is used here",
    "withdraw": "the policy earned clearly less than what was done: do not use it here",
    "cannot tell": "these data are too few, or lack what it takes, to keep it or to withdraw it",
}
ABOUT = {
    "gain": "What it earns, beside what was done",
    "people": "Whether people moved",
    "map": "Whether the map still suffices",
    "prediction": "Observed beside predicted",
}


def new_data_summary(found: NewDataCheck) -> str:
    who = people_words(found.people)
    said = [
        HEADINGS[each.verdict.decision].lower()
        if len(found.policies) == 1
        else f"{each.policy}: {HEADINGS[each.verdict.decision].lower()}"
        for each in found.policies
    ]
    return f"{who}; {listing(said, 3)}"


def people_words(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def describe_new_data(found: NewDataCheck, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """Who came, whether they are like the first, whether the map holds, and each policy."""
    who = "the same people later" if found.same_people else "new people"
    text = (
        f"{capital(people_words(found.people))} ({who}) with {plural(found.decisions, 'decision')} "
        f"came to the {people_words(found.first_people)} of the first study; "
        f"{found.with_outcome:,} of these decisions have an outcome and a next state."
    )
    if found.device_log:
        text += " The table is the log of a device, whose probabilities of treatment are used."
    return [text, *_people(found), *_map(found), *(_policy(p, outcome) for p in found.policies)]


def _people(found: NewDataCheck) -> list[str]:
    own = found.likeness
    if own is None:
        return []
    level = found.settings.refit_level
    moved = own.table[own.table["adjusted"] <= level]
    names = list(dict.fromkeys(moved["variable"]))
    text = (
        f"Their states are {'not ' if own.p_value <= share_of_level(found.settings) else ''}"
        f"like those of the first people, as far as a test over people can tell "
        f"({p_text(own.p_value)}, {plural(own.window, 'decision')} of each compared)"
    )
    if names:
        return [f"{text}; what moved: {listing(names, 6)}."]
    return [f"{text}; no single variable was found to have moved."]


def _map(found: NewDataCheck) -> list[str]:
    own = found.map_holds
    if own is None:
        return []
    kept = own.kept
    share = ""
    if kept.share == kept.share and kept.low > -10 and kept.high < 10:
        share = f" They keep {interval_text(100 * kept.share, 100 * kept.low, 100 * kept.high, 0)}"
        share += " percent of what the full state says of the outcome here."
    else:
        share = " The full state says nothing certain of the outcome here, so no share is given."
    rejected = own.p_value <= share_of_level(found.settings)
    return [
        f"That {plural(own.features, 'feature')} of {plural(own.variables, 'variable')} "
        f"{'is' if own.features == 1 else 'are'} enough "
        f"was {'rejected' if rejected else 'not rejected'} on the new people "
        f"({p_text(own.p_value)}).{share}"
    ]


def _policy(own: OnNewData, outcome: OutcomeName) -> str:
    verdict = own.verdict
    text = f"{capital(own.policy)} policy: {HEADINGS[verdict.decision].lower()}, for "
    return text + f"{MEANINGS[verdict.decision]}. {gain_words(own, outcome)}"


def gain_words(own: OnNewData, outcome: OutcomeName = UTILITY_NAME) -> str:
    if own.value is None:
        return "What it is worth here could not be estimated."
    gain, digits = own.value.gain, digits_of(own.value)
    if not bool(gain["trusted"]):
        return "What it gains over what was done has no interval here that could be trusted."
    numbers = interval_text(gain["estimate"], gain["lower"], gain["upper"], digits)
    return f"Its gain over what was done is {numbers} ({units(outcome)})."


def reasons(own: OnNewData, settings: NewDataSettings, found: NewDataCheck) -> list[str]:
    """Why the verdict is what it is, one line for each thing that was looked at."""
    return [_reason(about, own, settings, found) for about in ABOUT]


def _reason(about: str, own: OnNewData, settings: NewDataSettings, found: NewDataCheck) -> str:
    ground = next(each for each in own.verdict.reasons if each.about == about)
    head = ABOUT[about]
    if not ground.checked:
        return f"{head}: not checked. {capital(ground.why_not)}"
    side = 1 - settings.withdraw_level
    if about == "gain":
        said = _of_gain(own.verdict, side, digits_of(own.value) if own.value else 2)
    elif about == "people":
        assert found.likeness is not None
        said = f"{p_text(found.likeness.p_value)}, held against {share_of_level(settings):.3g}"
    elif about == "map":
        assert found.map_holds is not None
        said = f"{p_text(found.map_holds.p_value)}, held against {share_of_level(settings):.3g}"
        said += f", and the share kept against {percent(settings.least_share)}"
    else:
        said = _of_prediction(own)
    speaks = f"Speaks for: {ground.speaks_for}." if ground.speaks_for else "Nothing found."
    return f"{head}: {said}. {speaks}"


def _of_gain(verdict: Verdict, side: float, digits: int) -> str:
    return (
        f"at one-sided {percent(side)}, the gain is at least {verdict.gain_lower:.{digits}f} and "
        f"at most {verdict.gain_upper:.{digits}f}; withdrawn below 0, kept above "
        f"-{verdict.margin:.{digits}f}"
    )


def _of_prediction(own: OnNewData) -> str:
    assert own.beside is not None
    assert own.value is not None
    digits = digits_of(own.value)
    parts = []
    for row in own.beside.to_dict("records"):
        if row["what"] == GAIN and not own.gain_comparable:
            parts.append("gains are not compared, for treatment was given otherwise here")
            continue
        numbers = interval_text(row["difference"], row["lower"], row["upper"], digits)
        parts.append(f"{row['what']} observed less predicted {numbers}")
    return "; ".join(parts)


def rules(settings: NewDataSettings) -> list[str]:
    """The rules by which the verdict is reached, as they were fixed beforehand."""
    third = share_of_level(settings)
    return [
        f"Withdraw if, one-sided at {settings.withdraw_level:g}, the policy earns less than what "
        "was done.",
        f"Else refit if people moved (p at most {third:.3g}: {settings.refit_level:g} is shared by "
        "the three questions of this line), or the map no longer suffices "
        f"(p at most {third:.3g}, and surely less than {percent(settings.least_share)} kept, or "
        "less than in the first study), or predicted and observed differ (p at most "
        f"{third:.3g}).",
        f"Else keep if it is surely not worse than what was done by more than {settings.margin:g} "
        "standard deviations of the outcome.",
        "Else it cannot be told yet.",
    ]


def new_data_problems(found: NewDataCheck) -> Sequence[Problem]:
    every = [*found.found, *found.not_done]
    outside = [each for each in found.policies if each.outside > 0.1]
    every += [
        Problem(
            "warning",
            "",
            f"{percent(each.outside)} of the new decisions lie in states that the first study did "
            f"not have: the {each.policy} policy recommends nothing there.",
        )
        for each in outside
    ]
    return list(dict.fromkeys(every))


def moved_table(found: NewDataCheck) -> pd.DataFrame:
    """Each variable: people's means in both tables, the difference, and its p-values."""
    assert found.likeness is not None
    own = found.likeness.table
    return pd.DataFrame(
        {
            "variable": [_part(row) for row in own.to_dict("records")],
            "first study": own["first"].map(lambda x: f"{x:.3g}"),
            "new people": own["new"].map(lambda x: f"{x:.3g}"),
            "difference (standard deviations)": [
                interval_text(row["effect"], row["lower"], row["upper"])
                for row in own.to_dict("records")
            ],
            "p": own["p_value"].map(p_text),
            "p (all variables together)": own["adjusted"].map(p_text),
        }
    )


def _part(row: dict[str, object]) -> str:
    return f"{row['variable']}: {row['part']}" if row["part"] else str(row["variable"])


def beside_table(found: NewDataCheck) -> pd.DataFrame:
    rows = []
    for own in found.policies:
        if own.beside is None or own.value is None:
            continue
        digits = digits_of(own.value)
        for row in own.beside.to_dict("records"):
            rows.append(
                {
                    "policy": own.policy,
                    "what": "gain over what was done" if row["what"] == GAIN else "value",
                    "predicted": interval_text(
                        row["predicted"], row["predicted_lower"], row["predicted_upper"], digits
                    ),
                    "observed": interval_text(
                        row["observed"], row["observed_lower"], row["observed_upper"], digits
                    ),
                    "observed less predicted": interval_text(
                        row["difference"], row["lower"], row["upper"], digits
                    ),
                }
            )
    return pd.DataFrame(rows)


def advised_table(found: NewDataCheck) -> pd.DataFrame:
    rows = [
        {
            "policy": own.policy,
            "recommends": row["action"] or "nothing: not sure enough",
            "share of the new decisions": percent(row["share"]),
        }
        for own in found.policies
        for row in own.advised.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["policy", "recommends", "share of the new decisions"])

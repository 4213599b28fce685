"""What the passport says: each thing that the conclusions rest on, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.text import capital, interval_text, listing, p_text, percent, plural
from smdp.validation.check_reliability import KNOWN
from smdp.validation.passport import Passport
from smdp.validation.passport_rows import THINGS, PassportRow, Thing, Verdict
from smdp.validation.plain_process import Violation
from smdp.validation.twin import World
from smdp.words.explanation import action_name
from smdp.words.policy_value import decimals, units

VERDICTS: dict[Verdict, str] = {
    "holds": "Holds so far",
    "doubt": "In doubt",
    "not checked": "Not checked",
    "untestable": "Data cannot tell",
}
MEANINGS: dict[Verdict, str] = {
    "holds": "nothing was found against it, or it is good enough in practice; it is not proven",
    "doubt": "something speaks against it: read why, and what can be done",
    "not checked": "the page that looks at it has not been run",
    "untestable": "no test of these data can say it; it rests on what you know of the study",
}
#: A mark for black and white; none of them is a tick.
MARKS: dict[Verdict, str] = {"holds": "●", "doubt": "▲", "not checked": "○", "untestable": "◇"}

#: What the rows are about, in the order of the work.
PARTS: dict[str, tuple[Thing, ...]] = {
    "The data": ("leaks", "randomisation", "missingness"),
    "The process": ("look-back", "process", "effect over time"),
    "The feature map": ("dimension", "form", "variables"),
    "The policy": ("positivity", "value", "rule"),
}
#: What the conclusions rest on, as a claim that can hold or not.
CLAIMS: dict[Thing, str] = {
    "leaks": "Every state was known before the decision",
    "randomisation": "Treatment was randomised as planned",
    "missingness": "Gaps have nothing to do with what was measured",
    "look-back": "The present state is enough to go by",
    "process": "What comes next follows the same rules throughout",
    "effect over time": "Treatment keeps its effect throughout",
    "dimension": "So few features are enough",
    "form": "The form of the feature map loses nothing that matters",
    "variables": "With other people, the same variables",
    "positivity": "Every treatment was tried wherever the features go",
    "value": "The policy's gain is more than chance",
    "rule": "With other people, the same rule",
}
NO_RATE: dict[Thing, str] = {
    "leaks": "Not a test: it looks for signs, and rests on what you answer.",
    "variables": "Not a test: it counts samples of your own people. How often a study of this size "
    "finds its variables is asked on 'Could this trial have found it?'.",
    "positivity": "Not a test: it counts decisions.",
    "rule": "Not a test: it counts samples of your own people.",
}
FAULTS: dict[Violation | World, str] = {
    "lasting": "what was one step before moves outcome and state",
    "drift": "the effect of treatment drifts",
    "hidden": "something hidden that lasts moves treatment and outcome",
    "by level": "worse outcomes are missing more often",
    "nothing": "the outcome depends on nothing",
    "no gain": "no treatment is better than another",
}
#: On the study's twin: that what is there is found, and that nothing is where nothing is there.
ON_TWIN: dict[Thing, tuple[str, str]] = {
    "variables": ("all planted variables were kept", "nothing was kept"),
    "value": ("the interval showed a gain", "it showed none"),
    "rule": ("the card began as this study's own does", "it asked nothing"),
}
OUT_OF_DATE = "Out of date: since this was found, settings or data have changed."

Facts = dict[str, object]


def passport_summary(found: Passport) -> str:
    """One line, without a score."""
    doubts = _things(found, "doubt")
    unchecked = _things(found, "not checked")
    parts = [f"{len(doubts)} in doubt" if doubts else "nothing in doubt"]
    if unchecked:
        parts.append(f"{len(unchecked)} not checked")
    return ", ".join(parts)


def _things(found: Passport, verdict: Verdict) -> list[Thing]:
    return [row.thing for row in found.rows if row.verdict == verdict]


def describe_passport(found: Passport) -> list[str]:
    """What is in doubt, what was not looked at, what no data can say; no overall score."""
    sentences = []
    starts: dict[Verdict, str] = {
        "doubt": "In doubt",
        "not checked": "Not checked",
        "untestable": "These data cannot tell",
    }
    for verdict, start in starts.items():
        things = _things(found, verdict)
        if things:
            claims = "; ".join(CLAIMS[each].lower() for each in things)
            sentences.append(f"{start}: {claims}.")
    sentences.append(
        "These are not to be counted: a conclusion falls with the one thing that it needs, and "
        "what holds so far was not found to be wrong, which is less than shown to be right."
    )
    if not found.reliability["thing"].isin(list(ON_TWIN)).all():
        variables = listing(found.variables, 8)
        sentences.append(
            f"How often the checks are right was asked of simulated studies of {found.people} "
            f"people and up to {found.decisions} decisions, made of {variables}: like this study, "
            "but without a fault, and then with one fault of a stated size. Smaller faults are "
            "found less often."
        )
    return sentences


def rows_table(
    found: Passport,
    out_of_date: Collection[Thing] = (),
    outcome: OutcomeName = UTILITY_NAME,
) -> pd.DataFrame:
    """One row for each thing."""
    return pd.DataFrame(
        [
            {
                "What the conclusions rest on": CLAIMS[row.thing],
                "Verdict": VERDICTS[row.verdict],
                "Evidence": with_freshness(evidence(row, outcome), row.thing in out_of_date),
                "How often this check is right": reliability_words(row.thing, found),
                "What to do, or to know": what_to_do(row),
            }
            for row in found.rows
        ]
    )


def with_freshness(text: str, out_of_date: bool) -> str:
    return f"{OUT_OF_DATE} {text}" if out_of_date else text


def evidence(row: PassportRow, outcome: OutcomeName = UTILITY_NAME) -> str:
    """The numbers that a verdict rests on."""
    if row.thing == "value":
        return _value(row, outcome)
    if row.why_not and row.thing not in ("dimension", "form", "missingness"):
        return row.why_not
    if row.verdict == "not checked":
        return "This has not been looked at."
    return _EVIDENCE[row.thing](row)


def _leaks(row: PassportRow) -> str:
    facts = row.facts
    states = plural(int(facts["states"]), "state variable")
    told = "; ".join(facts["evidence"][:2])
    if row.verdict == "holds":
        return f"None of {states} looks as if it were known only afterwards."
    if facts["open"]:
        return (
            f"{len(facts['open'])} of {states} may be known only after the decision, and nobody "
            f"has answered for them: {told}."
        )
    return (
        f"{len(facts['answered'])} of {states} look as if they were known only afterwards; you "
        f"answered that they are known before: {told}."
    )


def _randomisation(row: PassportRow) -> str:
    facts = row.facts
    if facts["observed"]:
        text = "Treatment was watched, not randomised: whether anything that was not measured "
        text += "decided both who was treated and how they fared, no test can say."
        if facts["nothing_hidden"]:
            text += " You have said that nothing did."
        return text
    where = f"At {facts['choices']:,} decisions with a choice, of {facts['people']:,} people"
    if facts["estimated"]:
        where += ", with probabilities estimated from the state:"
    else:
        where += (
            f": '{facts['action']}' was given at {percent(facts['taken'], 1)} "
            f"({percent(facts['stated'], 1)} planned);"
        )
    p = p_text(facts["p_value"])
    if row.verdict == "doubt":
        return (
            f"{where} who was treated goes with {_and(facts['groups'])}, beyond the "
            f"probabilities ({p})."
        )
    return (
        f"{where} neither state, earlier outcomes, earlier treatment nor time was found to "
        f"foretell it ({p})."
    )


def _missing(row: PassportRow) -> str:
    facts = row.facts
    if not facts["missing"]:
        return "Nothing is missing."
    parts = [
        f"{what} in {count:,} of {total:,}"
        for what, count, total in zip(
            facts["missing"], facts["counts"], facts["totals"], strict=True
        )
    ]
    text = f"Missing: {listing(parts, 3)}."
    if row.why_not:
        return f"{text} {row.why_not}{_drawn(row)}"
    p = p_text(facts["p_value"])
    if facts["related"]:
        pairs = [
            f"{what} (with {group})"
            for what, group in zip(facts["related"], facts["groups"], strict=True)
        ]
        return f"{text} Related to what was measured: {listing(pairs, 3)} ({p}).{_drawn(row)}"
    return (
        f"{text} No relation to state, treatment or outcomes around it was found ({p})."
        f"{_drawn(row)}"
    )


def _drawn(row: PassportRow) -> str:
    """How much the effect of treatment moves with what is missing."""
    facts = row.facts
    if "draws" not in facts:
        return ""
    digits = decimals([facts["standard_error"]])
    return (
        f" With the missing values drawn {facts['draws']} times, the average effect goes from "
        f"{facts['least']:.{digits}f} to {facts['most']:.{digits}f} (as fitted "
        f"{facts['estimate']:.{digits}f}); {percent(facts['missing_share'])} of its variance comes "
        "from them."
    )


def _look_back(row: PassportRow) -> str:
    facts = row.facts
    asked = f"at {facts['decisions']:,} of {facts['all_decisions']:,} decisions"
    p = p_text(facts["p_value"])
    if facts["look_back"] == 0:
        return f"Nothing earlier was found to matter once the present is known ({p}, {asked})."
    if facts["look_back"] is None:
        text = f"Every look-back up to {facts['longest']} is rejected ({p} of 0, {asked})."
    else:
        steps = plural(int(facts["look_back"]), "step")
        text = f"What was {steps} back is needed as well ({p} without it, {asked})."
    if facts["own_look_back"] == 0:
        own = p_text(facts["own_p_value"])
        text += f" With people's own levels allowed for, the present is enough ({own})."
    return text


def _process(row: PassportRow) -> str:
    p = p_text(row.facts["p_value"])
    if row.verdict == "doubt":
        return f"Given state and treatment, what comes next changes over the study ({p})."
    return f"Given state and treatment, no change over the study was found ({p})."


def _effect(row: PassportRow) -> str:
    facts = row.facts
    p = p_text(facts["p_value"])
    if row.verdict != "doubt":
        return f"No change of the effect over the study was found ({p})."
    text = f"The effect changes over the study ({p})"
    if "estimates" in facts:
        digits = decimals(list(facts["errors"]))
        early, late = (f"{each:.{digits}f}" for each in facts["estimates"])
        first, last = facts["decisions"]
        versus = f"{action_name(facts['action'])} against {action_name(facts['against'])}"
        text += f": {versus}, about {early} at decision {first} and {late} at decision {last}"
    return f"{text}."


def _dimension(row: PassportRow) -> str:
    facts = row.facts
    if "features" not in facts:
        return row.why_not
    many = f"{plural(int(facts['features']), 'feature')} of {facts['variables']} variables"
    if facts["by_definition"]:
        return f"{many}: as many as variables, which is enough by definition."
    keeps = _keeps(facts)
    if row.verdict == "untestable":
        return f"{many}. {row.why_not}"
    if not facts["rejected"]:
        return f"{many}: not rejected ({p_text(facts['p_value'])}).{keeps}"
    tested = (
        f"rejected ({p_text(facts['p_value'])})"
        if facts["p_value"] == facts["p_value"]
        else "not tested"
    )
    if facts["practical"]:
        return f"{many}: exactly {tested}, but enough in practice.{keeps}"
    return f"{many}: {tested}, and not enough in practice either.{keeps}"


def _keeps(facts: object) -> str:
    share, at_least = facts["share"], facts["at_least"]  # type: ignore[index]
    if not math.isfinite(share) or not math.isfinite(at_least):
        return ""
    return (
        f" They keep {percent(min(share, 1.0))} of what the state says of the outcome (at least "
        f"{percent(max(at_least, 0.0))})."
    )


def _form(row: PassportRow) -> str:
    facts = row.facts
    if row.why_not:
        return row.why_not
    parts = []
    if math.isfinite(facts["at_least"]):
        parts.append(
            f"The map keeps {percent(min(facts['share'], 1.0))} of what the full state says of the "
            f"outcome (at least {percent(max(facts['at_least'], 0.0))}; {percent(facts['asked'])} "
            "is asked)."
        )
    if facts["p_value"] == facts["p_value"]:
        straight = "The features as straight lines of the variables"
        verdict = "are rejected" if facts["p_value"] <= facts["level"] else "are not rejected"
        parts.append(f"{straight} {verdict} ({p_text(facts['p_value'])}).")
    return " ".join(parts)


def _variables(row: PassportRow) -> str:
    facts = row.facts
    of = f"In {facts['samples']} refits on resampled people"
    if facts["seldom"]:
        return (
            f"{of}, {listing(facts['seldom'], 4)} came back in fewer than half (the least in "
            f"{percent(facts['least'])})."
        )
    if not facts["used"]:
        return f"{of}: the map uses no variable."
    least = "all" if facts["least"] == 1 else f"at least {percent(facts['least'])}"
    variables = plural(int(facts["used"]), "variable")
    return (
        f"{of}, each of the {variables} used came back in {least}, and as many features in "
        f"{percent(facts['same_dimension'])}."
    )


def _positivity(row: PassportRow) -> str:
    facts = row.facts
    among = "similar features" if facts["features"] else "similar states"
    text = f"Every action was tried at {among} throughout"
    if facts["unsupported"] > 0:
        text = (
            f"'{facts['action']}' was hardly ever tried at {among} at "
            f"{percent(facts['unsupported'])} of the decisions"
        )
    if facts["below"] > 0:
        text += (
            f"; '{facts['rarest']}' had a probability of {facts['smallest']:.2g} at the least, and "
            f"at {percent(facts['below'])} of the decisions one was below {facts['rare']:g}"
        )
    else:
        text += f"; no probability was below {facts['rare']:g}"
    return f"{text}."


def _value(row: PassportRow, outcome: OutcomeName) -> str:
    facts, parts = row.facts, []
    if "gain" in facts:
        digits = decimals([facts["error"]]) if facts["error"] > 0 else 2
        if facts["trusted"]:
            numbers = interval_text(facts["gain"], facts["lower"], facts["upper"], digits)
            text = f"Over what was done it would gain {numbers} ({units(outcome)})"
        else:
            text = "Its gain over what was done has no interval that could be trusted"
        if facts["quick"]:
            text += ", judged the quick way, which looks too good"
        parts.append(f"{text}.")
    if "p_value" in facts:
        parts.append(
            f"With treatments shuffled {facts['shuffles']} times: {p_text(facts['p_value'])}."
        )
        if row.why_not:
            parts.append(row.why_not)
    elif parts:
        parts.append("The placebo check was not run.")
    return " ".join(parts) or "This has not been looked at."


def _rule(row: PassportRow) -> str:
    facts = row.facts
    of = f"In {plural(int(facts['samples']), 'sample')} of people drawn anew"
    agree = f"the cards agree at {percent(facts['agreement'])} of the decisions"
    if facts["questions"]:
        return f"{of}, the first question came back in {percent(facts['again'])}; {agree}."
    return f"{of}, {agree}; the card asks nothing."


_EVIDENCE: dict[Thing, Callable[[PassportRow], str]] = {
    "leaks": _leaks,
    "randomisation": _randomisation,
    "missingness": _missing,
    "look-back": _look_back,
    "process": _process,
    "effect over time": _effect,
    "dimension": _dimension,
    "form": _form,
    "variables": _variables,
    "positivity": _positivity,
    "rule": _rule,
}


def _and(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


#: Where a row is in doubt.
REMEDIES: dict[Thing, str] = {
    "leaks": "Say of each column whether it is known before the decision, and take out what is "
    "not.",
    "randomisation": "Compare the stated probabilities with the randomisation log. A state that "
    "was measured after the treatment shows in the same way. If something else than chance "
    "decided, say so on Data.",
    "missingness": "Ask why reports fail. Take what gaps go with into the state, and say in the "
    "paper for whom the results hold if they are not for everybody.",
    "look-back": "Add the look-back to the state, or a variable that says how people differ.",
    "process": "Add the decision number to the state.",
    "effect over time": "Add the decision number to the state, or report early and late apart.",
    "dimension": "Allow more features.",
    "form": "Try a deeper map, or more features.",
    "variables": "Name the variables as candidates, not as findings; more people would tell.",
    "positivity": "Do not read values and recommendations where a treatment was not tried; fewer "
    "features may help.",
    "value": "Do not rely on this policy yet; report the average effect instead.",
    "rule": "Do not print the card yet: other people would get another one.",
}
#: What a reader should know even where nothing was found.
LIMITS: dict[Thing, str] = {
    "randomisation": "A hidden reason that comes and goes at once leaves no trace in the data.",
    "missingness": "A gap that depends on the missing value itself shows only where values last.",
}


def what_to_do(row: PassportRow) -> str:
    """The remedy of a doubt, the limit of a check, or where to have it done."""
    if row.verdict == "doubt":
        return REMEDIES[row.thing]
    if row.verdict == "not checked":
        return "" if row.why_not and row.thing == "leaks" else f"Run it: {WHERE[row.thing]}."
    return LIMITS.get(row.thing, "")


#: Where each thing is looked at, in words.
WHERE: dict[Thing, str] = {
    "leaks": "Data",
    "randomisation": "here",
    "missingness": "here",
    "look-back": "Markov check",
    "process": "Markov check",
    "effect over time": "Markov check",
    "dimension": "Feature dimension",
    "form": "Feature dimension",
    "variables": "Weights, 'Check stability'",
    "positivity": "here",
    "value": "Policy, 'Placebo check'",
    "rule": "Policy, 'Rule card'",
}


def reliability_short(thing: Thing, found: Passport) -> str:
    """The same in a few words, for a narrow column."""
    row = _rate(thing, found)
    if row is not None:
        parts = [f"passes {row['passed']} of {row['studies']}"] if row["studies"] else []
        parts += [f"finds {row['found']} of {row['faulty']}"] if row["faulty"] else []
        return ", ".join(parts)
    if thing in KNOWN:
        known = KNOWN[thing]
        return (
            f"elsewhere: passes {known.passed} of {known.studies}, finds {known.found} of "
            f"{known.faulty}"
        )
    if thing == "value":
        return "elsewhere: 98 of 100 intervals hold the value"
    return "a count, not a test" if thing in NO_RATE else "not simulated"


def reliability_words(thing: Thing, found: Passport) -> str:
    """How often a check is right: simulated at this size, from a table, or not known."""
    row = _rate(thing, found)
    if row is not None:
        if thing in ON_TWIN:
            return _on_twin(row)
        fault: Violation = row["fault"]
        return (
            f"In simulated studies of this size it passed {row['passed']} of {row['studies']} "
            f"without a fault, and found {row['found']} of {row['faulty']} in which "
            f"{FAULTS[fault]} ({size_words(fault, float(row['size']))})."
        )
    if thing in KNOWN:
        known = KNOWN[thing]
        return (
            f"Not simulated at this size. In {known.of}, it passed {known.passed} of "
            f"{known.studies} and found {known.found} of {known.faulty} ({known.where})."
        )
    if thing == "value":
        return (
            "Not simulated at this size. In 100 simulated studies of 30 people with 90 decisions, "
            "98 of the 95 % intervals held the value of the policy (bench/policy_value.md)."
        )
    return NO_RATE.get(thing, "Not simulated: ask for 'Simulated studies' to know.")


def _rate(thing: Thing, found: Passport) -> pd.Series | None:
    own = found.reliability[found.reliability["thing"] == thing]
    return own.iloc[0] if len(own) else None


def _on_twin(row: pd.Series) -> str:
    there, not_there = ON_TWIN[row["thing"]]
    told = [
        f"Of {of} studies drawn from this study's twin in which {world}, {what} in {count}."
        for of, world, what, count in (
            (row["studies"], "what was learned is true", there, row["passed"]),
            (row["faulty"], FAULTS[row["fault"]], not_there, row["found"]),
        )
        if of
    ]
    return " ".join(told)


def size_words(fault: Violation | World, size: float) -> str:
    """How large a planted fault was; "" of a twin's world, which has no size."""
    return {
        "lasting": f"by {size:g} standard deviations of the noise",
        "drift": f"from {size:g} to -{size:g} standard deviations of the noise",
        "hidden": f"by {size:g} on the logit and {size:g} standard deviations of the noise",
        "by level": f"odds times {math.exp(size):.1f} for each standard deviation",
    }.get(fault, "")


def passport_problems(found: Passport) -> list[Problem]:
    """Doubts that no other page has warned of, and what could not be simulated."""
    problems = [
        Problem("warning", "passport", evidence(row), REMEDIES[row.thing])
        for row in found.rows
        if row.verdict == "doubt" and row.thing in ("randomisation", "missingness")
    ]
    if found.no_reliability:
        text = f"How often the checks are right could not be simulated: {found.no_reliability}"
        problems.append(Problem("note", "passport", capital(text)))
    return problems


def reliability_table(found: Passport) -> pd.DataFrame:
    """One row for each check that was simulated."""
    rows = found.reliability
    return pd.DataFrame(
        {
            "check": [CLAIMS[each] for each in rows["thing"]],
            "without a fault, passed": [
                f"{a} of {b}" for a, b in zip(rows["passed"], rows["studies"], strict=True)
            ],
            "planted fault": [FAULTS[each] for each in rows["fault"]],
            "its size": [
                size_words(each, float(size))
                for each, size in zip(rows["fault"], rows["size"], strict=True)
            ],
            "with it, found": [
                f"{a} of {b}" for a, b in zip(rows["found"], rows["faulty"], strict=True)
            ],
        }
    )


__all__ = [
    "CLAIMS", "MARKS", "MEANINGS", "PARTS", "THINGS", "VERDICTS", "WHERE", "describe_passport",
    "evidence", "passport_problems", "passport_summary", "reliability_short", "reliability_table",
    "reliability_words", "rows_table", "what_to_do", "with_freshness",
]  # fmt: skip

"""How much results move with what is missing, and what is missing where, in sentences."""

from __future__ import annotations

import pandas as pd

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.data.problem import Problem
from smdp.text import listing, p_text, percent, plain_number, plural
from smdp.validation.imputation_draws import ImputationDraws
from smdp.validation.missingness import MissingPatterns
from smdp.words.policy_value import decimals

#: A variable that is kept in a share of draws between these is on the edge.
EDGES = (0.2, 0.8)
#: The level of the patterns of missing values, for the family of all.
LEVEL = 0.05
#: The share of an effect's variance that missing values may have before it is worth a warning.
LARGE_SHARE = 0.3

#: Of an effect, those that are told in a sentence.
NUMBERS = ("estimate", "standard_error", "least", "most", "combined", "combined_error")

NOTHING_MISSING = "No value of a state variable is missing, so there is nothing to draw."


def imputations_summary(result: ImputationDraws) -> str:
    if not result.filled:
        return "no value is missing"
    stable = _moving(result).empty
    moved = "nothing moves much" if stable else f"{len(_moving(result))} on the edge"
    part = "" if result.complete else ", stopped early"
    return f"{plural(len(result.draws), 'draw')}, {moved}{part}"


def _moving(result: ImputationDraws) -> pd.DataFrame:
    table = result.kept
    return table[(table["share"] > EDGES[0]) & (table["share"] < EDGES[1])]


def describe_imputations(result: ImputationDraws, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """What moves, beside what is uncertain anyway; then the patterns."""
    found = [_drawn(result)]
    table = result.kept
    if len(result.draws):
        total = len(result.draws)
        often = table[table["kept"] > 0].sort_values("kept", ascending=False, kind="stable")
        named = [f"{row['variable']} {int(row['kept'])}" for row in often.to_dict("records")]
        fitted = listing(result.fitted.kept, 12) or "nothing"
        found.append(
            f"With fitted values screening keeps {fitted}; with drawn ones, of {total}: "
            f"{listing(named, 12) or 'nothing'}."
        )
        for row in result.effects.dropna().to_dict("records"):
            digits = decimals([row["standard_error"]])
            told = {name: plain_number(row[name], digits) for name in NUMBERS}
            found.append(
                f"The average effect of {row['action']} is {told['estimate']} (standard error "
                f"{told['standard_error']}) with fitted values. Over the draws it is "
                f"{told['least']} to {told['most']}; combined, {told['combined']} (standard error "
                f"{told['combined_error']}), of whose variance "
                f"{percent(row['missing_share'])} comes from what is missing."
            )
        if result.settings.repeated == "features":
            sizes = sorted({each.dimension for each in result.draws})
            found.append(
                f"The map has {plural(result.fitted.dimension, 'feature')} with fitted values, "
                f"{listing(sizes, 8)} with drawn ones."
            )
    found += describe_patterns(result.patterns, outcome)
    if result.filled:
        found.append(
            "Values are drawn as if they were missing at random, given what was seen of the same "
            "person around them. Whether a value was missing because of what it would have been, "
            "no data can show."
        )
    return found


def _drawn(result: ImputationDraws) -> str:
    if not result.filled:
        return NOTHING_MISSING
    share = percent(result.filled / max(result.cells, 1))
    return (
        f"{result.filled:,} of {result.cells:,} values of state variables ({share}) are missing "
        f"and were drawn anew {plural(len(result.draws), 'time')}, from a curve through the "
        "person's other values and her own deviations from it."
    )


def describe_patterns(patterns: MissingPatterns, outcome: OutcomeName = UTILITY_NAME) -> list[str]:
    """Whether what is missing goes with time, treatment, or earlier answers."""
    tests = patterns.tests
    if tests.empty:
        return []
    clear = tests[tests["adjusted"] <= LEVEL].sort_values("adjusted", kind="stable")
    if clear.empty:
        smallest = float(tests["adjusted"].min())
        return [
            "Missing values go neither with time nor with treatment or earlier answers as far as "
            f"{plural(len(tests), 'test')} can tell (the clearest has {p_text(smallest)}, all "
            "considered together)."
        ]
    told = [_clear_words(row) for row in clear.head(5).to_dict("records")]
    more = f" and {len(clear) - 5} more" if len(clear) > 5 else ""
    return [f"What is missing is not missing by pure chance: {'; '.join(told)}{more}."]


#: What is asked of what is missing.
ASKED = {
    "time": "time in the study",
    "treatment": "treatment before",
    "answers": "earlier answers",
}


def _clear_words(row: dict[str, object]) -> str:
    low, high = float(row["share_low"]), float(row["share_high"])  # type: ignore[arg-type]
    return (
        f"{row['variable']} goes with {ASKED[str(row['question'])]} ({percent(low)} missing for "
        f"{row['low']}, {percent(high)} for {row['high']}; "
        f"{p_text(float(row['adjusted']))})"  # type: ignore[arg-type]
    )


def check_imputations(result: ImputationDraws) -> list[Problem]:
    """Variables on the edge, effects that move, and missing values that follow treatment."""
    found = [Problem("note", "imputations", note) for note in result.patterns.notes]
    if not result.filled:
        return [Problem("note", "imputations", NOTHING_MISSING), *found]
    if not result.complete:
        done = len(result.draws)
        text = f"Stopped early: {done} of {result.settings.draws} draws were analysed."
        found.append(Problem("note", "imputations", text))
    edge = _moving(result)
    if len(edge) and len(result.draws) > 1:
        named = [f"'{name}' ({percent(share)})" for name, share in
                 zip(edge["variable"], edge["share"], strict=True)]  # fmt: skip
        found.append(
            Problem(
                "warning",
                "imputations",
                f"Whether {listing(named)} of the draws keep it depends on values that nobody "
                "saw." if len(named) == 1 else
                f"Whether they are kept depends on values that nobody saw: {listing(named)} of "
                "the draws.",
                "Say so where these variables are reported.",
            )
        )  # fmt: skip
    effects = result.effects
    large = effects[effects["missing_share"] >= LARGE_SHARE]
    if len(large):
        found.append(
            Problem(
                "warning",
                "imputations",
                f"{percent(float(large['missing_share'].max()))} of the variance of an average "
                "effect comes from missing values.",
                "Report the combined estimate and its standard error.",
            )
        )
    tests = result.patterns.tests
    after = tests[(tests["question"] == "treatment") & (tests["adjusted"] <= LEVEL)]
    if len(after):
        named = [f"'{name}'" for name in after["variable"]]
        found.append(
            Problem(
                "warning",
                "imputations",
                f"Whether {listing(named)} is missing goes with the treatment before: those who "
                "are seen after one treatment are not like those seen after another.",
                "Read effects on and through it with caution.",
            )
        )
    return found


def effects_table(result: ImputationDraws) -> pd.DataFrame:
    """For people."""
    names = {
        "action": "treatment",
        "estimate": "as fitted",
        "standard_error": "standard error",
        "combined_error": "its standard error",
        "least": "least of the draws",
        "most": "most",
        "between": "spread of the draws",
        "within": "mean standard error",
        "missing_share": "share from missing values",
    }
    return result.effects.rename(columns=names)


def kept_table(result: ImputationDraws) -> pd.DataFrame:
    rows = [
        {
            "variable": row["variable"],
            "with fitted values": "kept" if row["as_fitted"] else "not kept",
            "with drawn values": f"kept in {int(row['kept'])} of {int(row['of'])}",
        }
        for row in result.kept.to_dict("records")
    ]
    return pd.DataFrame(rows)


def patterns_table(patterns: MissingPatterns) -> pd.DataFrame:
    rows = [
        {
            "missing": row["variable"],
            "goes with": ASKED[row["question"]],
            "least": f"{percent(row['share_low'])} ({row['low']})",
            "most": f"{percent(row['share_high'])} ({row['high']})",
            "p": p_text(row["p_value"]),
            "p, all together": p_text(row["adjusted"]),
        }
        for row in patterns.tests.to_dict("records")
    ]
    return pd.DataFrame(rows)

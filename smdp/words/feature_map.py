"""What a feature map's dimension says and does not say, and what to check."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from smdp.data.problem import Problem
from smdp.data.variables import wholes
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.progress import facts_of
from smdp.text import capital, listing, p_text, percent, plural
from smdp.words.candidates import (
    at_least_text,
    between_text,
    chosen_by_one_test,
    chosen_candidate,
    deciding_p,
    p_or_not_tested,
    share_has_bound,
    share_text,
    tried_in_pass,
    value_is_known,
    value_text,
)
from smdp.words.dimension_by_test import (
    candidate_table_by_test,
    describe_by_test,
    pass_table_by_test,
)

NOT_PROVEN = "Not rejected is not proven: with more people, more features might be needed. "
EXACT_TEST = "exact test"
OF_THE_STATE = "of what the state says of the outcome"
#: What the exact test is about, by the setting `test`.
ASKS = {
    "closed": "whether that many features could say all that the state says of the outcome and of "
    "the features' own next values",
    "next_state": "whether that many features could say all that the state says of the outcome and "
    "of every variable's next value",
}
CHOSEN_BY = {
    "exact": "exact test",
    "least rejected": "enough in practice, only just rejected",
    "practical": "enough in practice",
    "by hand": "by hand",
    "largest": "largest tried",
}


def dimensions_so_far(messages: Sequence[str]) -> list[str]:
    """The dimensions that a fit under way has tested, from the facts beside its messages."""
    lines = []
    for facts in map(facts_of, messages):
        if "tested_dimension" in facts:
            verdict = "rejected" if facts["rejected"] else "not rejected"
            where = f"Pass {facts['pass_number']}, dimension {facts['tested_dimension']}"
            share = facts.get("share_kept")
            keeps = "" if share is None or not np.isfinite(share) else f", keeps {percent(share)}"
            p = facts["p_value"]
            lines.append(f"{where}: {verdict} ({p_text(p)}){keeps}" if p == p else where + keeps)
    return lines


def stopped_notice(fitted: FittedFeatureMap) -> str:
    """For the top of a page that shows a map whose fit was stopped; empty if it was not."""
    if fitted.complete:
        return ""
    return (
        f"Stopped after pass {len(fitted.steps)}; not iterated to the end. A further pass might "
        "use fewer variables or a smaller dimension."
    )


def describe_feature_map(fitted: FittedFeatureMap) -> list[str]:
    """A few sentences with the actual numbers."""
    used = fitted.wholes_used
    text = (
        f"{plural(fitted.dimension, 'feature')} made of {len(used)} of "
        f"{len(wholes(fitted.about))} variables: {listing(used, 12)}."
    )
    if fitted.candidates.empty:
        return [text, "This is a map to compare with: no test has chosen its dimension."]
    if chosen_by_one_test(fitted):
        return [text, *describe_by_test(fitted)]
    return [text, *_how_chosen(fitted), *_in_value(fitted), _not_said(fitted)]


def _how_chosen(fitted: FittedFeatureMap) -> list[str]:
    chosen = chosen_candidate(fitted)
    if chosen["chosen_by"] == "least rejected":
        return [
            f"{_enough_in_practice(chosen)} The {EXACT_TEST} rejects every number that was tried "
            f"of fewer features than variables, this one only just {_p_in(fitted, chosen)}.",
            _in_practice(fitted, chosen),
        ]
    if chosen["chosen_by"] == "practical":
        return [f"{_enough_in_practice(chosen)} {_exactly(fitted, chosen)}".strip()]
    if chosen["chosen_by"] == "by hand":
        return [_by_hand(fitted, chosen), _kept(fitted, chosen)]
    if chosen["chosen_by"] == "largest":
        return [_largest(fitted, chosen), _kept(fitted, chosen)]
    practically = f"{_kept(fitted, chosen)} {_in_practice(fitted, chosen)}".strip()
    return [_by_test(fitted, chosen), practically]


def _by_test(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    q, test = int(chosen["dimension"]), EXACT_TEST
    tried = tried_in_pass(fitted, chosen["pass"])
    smaller = bool((tried["dimension"] < q).any())
    if _by_definition(chosen):
        others = f"; the {test} rejects every smaller number that was tried" if smaller else ""
        return f"{plural(q, 'feature')}: as many as variables, enough by definition{others}."
    passed = f"that the {test} does not reject at level {fitted.settings.level:g} " + _p_in(
        fitted, chosen
    )
    if q > 1 and not smaller:
        return f"{q} is a number of features {passed}; no smaller one was tried with it."
    return f"{q} is the smallest number of features {passed}."


def _enough_in_practice(chosen: pd.Series) -> str:
    q = int(chosen["dimension"])
    are = "feature is" if q == 1 else "features are"
    return f"{q} {are} enough in practice: {_keep(q)} {share_text(chosen)} {OF_THE_STATE}."


def _exactly(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    """What the exact test says beside a choice by what is enough in practice."""
    column, test = deciding_p(fitted), EXACT_TEST
    if chosen[column] != chosen[column]:
        return ""
    if not chosen["rejected"]:
        return f"The {test} does not reject that number either {_p_in(fitted, chosen)}."
    tried = tried_in_pass(fitted, chosen["pass"])
    passed = tried[~tried["rejected"].astype(bool) & tried[column].notna()]
    if passed.empty:
        most = int(tried["dimension"].max())
        which = "it" if most == chosen["dimension"] else f"every number up to {most}"
        return f"The {test} rejects {which} {_p_in(fitted, chosen)}."
    least = passed.sort_values("dimension").iloc[0]
    if _by_definition(least):
        return f"Exactly, it would take as many features as variables: {int(least['dimension'])}."
    return f"Exactly, {int(least['dimension'])} would be needed {_p_in(fitted, least)}."


def _in_practice(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    """Which number would be enough in practice, beside a choice by test."""
    tried = tried_in_pass(fitted, chosen["pass"])
    enough = tried[tried["practical"].astype(bool)].sort_values("dimension")
    if enough.empty or enough["dimension"].iloc[0] == chosen["dimension"]:
        return ""
    least = enough.iloc[0]
    q = int(least["dimension"])
    if q < chosen["dimension"]:
        return f"In practice {q} would be enough: {_keep(q)} {share_text(least)}."
    return "" if chosen["practical"] else f"Ruling that out would take {plural(q, 'feature')}."


def _by_hand(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    q, asked = int(chosen["dimension"]), fitted.settings.dimensions
    number = asked[0] if asked is not None and len(asked) == 1 else q
    was = "feature was" if number == 1 else "features were"
    left = "" if number == q else f", but only {plural(q, 'variable')} were left"
    text = f"{number} {was} set by hand{left}; no other number was tried."
    if _by_definition(chosen):
        return f"{text} As many as variables are enough by definition."
    if chosen[deciding_p(fitted)] != chosen[deciding_p(fitted)]:
        return text
    verdict, means = (
        ("rejects", "something is lost")
        if chosen["rejected"]
        else ("does not reject", "a smaller number might do too")
    )
    return (
        f"{text} The {EXACT_TEST} {verdict} that number at level "
        f"{fitted.settings.level:g} {_p_in(fitted, chosen)}: {means}."
    )


def _largest(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    largest = f"{int(chosen['dimension'])} is the largest {_p_in(fitted, chosen)}"
    return f"{_none_passed(fitted)}: {largest}, not one that passed."


def _none_passed(fitted: FittedFeatureMap) -> str:
    rejected = f"is rejected at level {fitted.settings.level:g}"
    return {
        "exact": f"Every number of features that was tried {rejected}",
        "practical": "No number of features that was tried is enough in practice",
        "exact_first": f"Every number of features that was tried {rejected}, and none is enough in "
        "practice",
    }[fitted.settings.choose_by]


def _kept(fitted: FittedFeatureMap, row: pd.Series) -> str:
    """What these features keep, or why that cannot be said."""
    keep, share = capital(_keep(int(row["dimension"]))), row["share_kept"]
    if not share_has_bound(row):
        return f"How much is kept in practice cannot be said: {_why_no_share(row)}."
    if share <= 0:
        return f"{keep} nothing {OF_THE_STATE}."
    text = f"{keep} {share_text(row)} {OF_THE_STATE}"
    if not row["practical"]:
        most = percent(fitted.settings.negligible)
        return f"{text}: a loss of more than {most} cannot be ruled out."
    if share > 1.005:
        text += "; more than all, since the network that has the full state predicts worse"
    return f"{text}."


def _why_no_share(row: pd.Series) -> str:
    by_state = row["explained_by_state"]
    if by_state > 0:
        return (
            f"the state explains {percent(by_state)} of the outcome of people left out, too little "
            "to be sure that it explains anything"
        )
    return "the state explains nothing of the outcome of people left out"


def _not_said(fitted: FittedFeatureMap) -> str:
    chosen = chosen_candidate(fitted)
    tested = chosen[deciding_p(fitted)] == chosen[deciding_p(fitted)]
    proven = chosen["rejected"] or not tested or _by_definition(chosen)
    return (
        f"The {EXACT_TEST} asks {ASKS[fitted.settings.test]}, on average: it does not see "
        "spreads. "
        + ("" if proven else NOT_PROVEN)
        + "The share kept is of the prediction, not of what a policy earns. Neither can see what "
        "no variable in the table records."
    )


def _all_given(fitted: FittedFeatureMap, number: int) -> str:
    """The variables that a pass was given: 'all 6 variables that were left'."""
    given = int(fitted.steps[fitted.steps["pass"] == number].iloc[0]["variables_count"])
    variables = len(wholes(fitted.about))
    if variables != len(fitted.about):  # columns were counted, and a variable may have several
        if number > 1:
            return "all variables that were left"
        given = variables
    if given == 1:
        return "the one variable" + (" that was left" if number > 1 else "")
    return f"all {given} variables" + (" that were left" if number > 1 else "")


def _in_value(fitted: FittedFeatureMap) -> list[str]:
    """What a decision by the chosen features costs; nothing where that is not known."""
    chosen = chosen_candidate(fitted)
    if not value_is_known(chosen):
        return []
    q = int(chosen["dimension"])
    these = "this feature" if q == 1 else f"these {q} features"
    whole = _all_given(fitted, int(chosen["pass"]))
    if chosen["same_choice"] == 1:
        return [f"By {these} and by {whole}, the same treatment is chosen at every decision."]
    low, high = chosen["value_lost_low"], chosen["value_lost_high"]
    doubt = ""
    if low <= 0 <= high:
        doubt = " Whether anything is lost is open."
    elif high < 0:
        doubt = " Below 0 the features choose better: with all variables a policy seems to overfit."
    return [
        f"One decision by {these} instead of {whole} costs {value_text(chosen)} of the outcome, "
        f"now and later (discount {fitted.settings.discount:g}); both choose the same at "
        f"{percent(chosen['same_choice'])} of decisions.{doubt} What a policy earns that goes by "
        "the features throughout is said on the page Policy."
    ]


def _keep(q: int) -> str:
    return "it keeps" if q == 1 else "they keep"


def _p_in(fitted: FittedFeatureMap, row: pd.Series) -> str:
    return f"({p_or_not_tested(float(row[deciding_p(fitted)]))})"


def _by_definition(row: pd.Series) -> bool:
    """As many features as variables: accepted without a test."""
    return bool(row["p_exact"] >= 1 and row["dimension"] >= row["kept_count"])


def check_feature_map(fitted: FittedFeatureMap) -> list[Problem]:
    """Warnings with their remedies, but for that of `stopped_notice`."""
    found = []
    if not fitted.variables_used:
        found.append(
            Problem(
                "warning",
                "",
                "No variable is used by the map.",
                "Screen at a higher level, or use all variables.",
            )
        )
    if not fitted.candidates.empty:
        found += _check_choice(fitted)
    return found + [Problem("note", "", note) for note in fitted.notes]


def _check_choice(fitted: FittedFeatureMap) -> list[Problem]:
    if _nothing_passed(fitted, chosen_candidate(fitted)):
        found = [_failed(fitted)]
    else:
        found = [Problem("note", "dimension", text) for text in _earlier_passes(fitted)]
    if chosen_by_one_test(fitted):
        return found
    chosen = chosen_candidate(fitted)
    if not share_has_bound(chosen):
        found.append(
            Problem(
                "warning",
                "dimension",
                "Whether the features are enough in practice has no answer: "
                f"{_why_no_share(chosen)}.",
                "Go by the exact test. More people, or variables that go with the outcome, would "
                "give an answer.",
            )
        )
    if chosen["p_form"] <= fitted.settings.level and not chosen["rejected"]:
        found.append(
            Problem(
                "note",
                "dimension",
                f"One layer may not be enough ({p_text(float(chosen['p_form']))}): a map with a "
                "hidden layer might need no more features and predict better.",
                "Untick 'Interpretable: one layer' and compare what is kept.",
            )
        )
    return found


def _nothing_passed(fitted: FittedFeatureMap, row: pd.Series) -> bool:
    if chosen_by_one_test(fitted):
        return bool(row["rejected"])
    if row["chosen_by"] == "by hand":
        return bool(row["rejected"] and not row["practical"])
    return bool(row["chosen_by"] == "largest")


def _failed(fitted: FittedFeatureMap) -> Problem:
    earlier = chosen_by_one_test(fitted)
    if fitted.settings.dimensions is not None and (
        earlier or chosen_candidate(fitted)["chosen_by"] == "by hand"
    ):
        what = (
            "The dimension set by hand is rejected"
            if earlier
            else "The number of features set by hand is rejected and not enough in practice"
        )
        remedy = "Let the test choose, or set a larger dimension."
    else:
        what = "Every dimension that was tried is rejected" if earlier else _none_passed(fitted)
        remedy = "Try a deeper map (not interpretable), or more variables."
    return Problem("warning", "dimension", f"{what}.", remedy)


def _earlier_passes(fitted: FittedFeatureMap) -> list[str]:
    """Passes before the last in which no dimension passed."""
    chosen = fitted.candidates[fitted.candidates["chosen"]].iloc[:-1]
    practice = "" if chosen_by_one_test(fitted) else " and none was enough in practice"
    return [
        f"In pass {row['pass']} every dimension tried was rejected at level "
        f"{fitted.settings.level:g}{practice}; the largest, {row['dimension']}, was used."
        for _, row in chosen.iterrows()
        if _nothing_passed(fitted, row)
    ]


def feature_map_summary(fitted: FittedFeatureMap) -> str:
    text = f"dimension {fitted.dimension}"
    if not fitted.candidates.empty:
        text += _in_a_word(fitted, chosen_candidate(fitted))
    return text if fitted.complete else f"{text}, stopped after pass {len(fitted.steps)}"


def _in_a_word(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    p = float(chosen[deciding_p(fitted)])
    if not chosen_by_one_test(fitted):
        practical = chosen["practical"] and (chosen["rejected"] or p != p)
        if chosen["chosen_by"] == "practical" or (practical and chosen["chosen_by"] == "by hand"):
            return f", keeps {percent(min(float(chosen['share_kept']), 1.0))}"
    if p != p:
        return ""
    return f", rejected ({p_text(p)})" if chosen["rejected"] else f", {p_text(p)}"


def result_for_methods(fitted: FittedFeatureMap) -> str:
    """The end of the paragraph on the feature map in a methods section."""
    chosen = chosen_candidate(fitted)
    if chosen_by_one_test(fitted):
        verdict = ", like all that were tried" if chosen["rejected"] else " (not rejected)"
        return f"Result: {feature_map_summary(fitted)}{verdict}."
    test = EXACT_TEST
    passed = f"the smallest number that the {test} did not reject"
    how = {
        "least rejected": "the smallest number that was practically sufficient and only just "
        "rejected, no number below that of variables having passed",
        "practical": "the smallest number that was practically sufficient",
        "by hand": "set by hand",
        "largest": "the largest number that was tried, none having passed",
    }.get(chosen["chosen_by"], passed)
    p, share = p_or_not_tested(float(chosen[deciding_p(fitted)])), share_text(chosen)
    stopped = "" if fitted.complete else f" Stopped after pass {len(fitted.steps)}."
    return (
        f"Result: {plural(int(chosen['dimension']), 'feature')}, {how} ({test}: {p}; share kept: "
        f"{share}).{_value_for_methods(fitted, chosen)}{_sought_among(fitted)}{stopped}"
    )


def _sought_among(fitted: FittedFeatureMap) -> str:
    """Of a large study, whose variables and dimension are sought among some of its people."""
    if "people_drawn" not in fitted.steps:
        return ""
    last = fitted.steps.iloc[-1]
    fitted_to = "the map was then fitted to everybody" if fitted.complete else "the map is of them"
    return (
        f" Variables and dimension were sought among {int(last['people_drawn']):,} of "
        f"{int(last['people']):,} people, drawn at random (shares kept are of everybody), and "
        f"{fitted_to}."
    )


def _value_for_methods(fitted: FittedFeatureMap, chosen: pd.Series) -> str:
    if not value_is_known(chosen):
        return ""
    return (
        " Judged doubly robustly on held-out people (Dudík et al., 2011), one decision by these "
        f"features instead of the full state cost {value_text(chosen)} of the utility and of later "
        f"ones, discounted by {fitted.settings.discount:g}."
    )


def dimension_caption(fitted: FittedFeatureMap) -> str:
    """Below the main figure in a report."""
    if chosen_by_one_test(fitted):
        return "Small p-values reject a dimension: it loses something that matters."
    return (
        "Left: small p-values reject a number of features. Right: how much these features keep "
        f"{OF_THE_STATE}, people being the sample; enough if the one-sided 95 % bound ('at least') "
        f"is above {percent(1 - fitted.settings.negligible)}. More than 100 %: the network that "
        "has the full state predicts worse than the map."
    )


def error_caption(fitted: FittedFeatureMap) -> str:
    """Below the figure of errors in a report."""
    if chosen_by_one_test(fitted):
        return "How well each dimension predicts the next state and utility of people left out."
    return (
        "How much of the outcome's variance, among people left out, is explained by the features "
        "and by the full state."
    )


def value_caption(fitted: FittedFeatureMap) -> str:
    """Below the figure of what decisions cost, in a report."""
    return (
        "What one decision by the features costs instead of one by all variables, for people left "
        "out, with 95 % intervals over people: this and later outcomes added up with discount "
        f"{fitted.settings.discount:g}, everything afterwards being chosen by all variables. Below "
        "0: with all variables the policy overfits. All variables are favoured a little, since "
        "their policy is judged by its own values: do not read much into an interval that is "
        "barely above 0."
    )


def candidate_table(fitted: FittedFeatureMap) -> pd.DataFrame:
    """Every dimension tried, fit to be read: p-values as papers print them."""
    if chosen_by_one_test(fitted):
        return candidate_table_by_test(fitted)
    tried = fitted.candidates
    found = {
        "pass": tried["pass"],
        "dimension": tried["dimension"],
        **_p_columns(tried, p_exact="exact test"),
        "rejected": _yes_no(tried["rejected"]),
        **_share_columns(tried),
        "enough in practice": _yes_no(tried["practical"]),
        **_value_columns(tried),
        "chosen": [CHOSEN_BY.get(by, "") for by in tried["chosen_by"]],
        **_p_columns(tried, p_form="is one layer enough?"),
        "explained by the map": [_percent(x) for x in tried["explained"]],
        "by the full state": [_percent(x) for x in tried["explained_by_state"]],
        "variables": tried["kept_count"],
        "penalty": tried["penalty"],
        "error, penalised": tried["cv_loss"].round(3),
    }
    if tried["refit_loss"].notna().any():
        found["error as used"] = tried["refit_loss"].round(3)
    return pd.DataFrame(found)


def pass_table(fitted: FittedFeatureMap) -> pd.DataFrame:
    """Every pass of Corollary 3.3: what went in, what was kept."""
    if chosen_by_one_test(fitted):
        return pass_table_by_test(fitted)
    steps = fitted.steps
    return pd.DataFrame(
        {
            "pass": steps["pass"],
            "variables in": steps["variables_count"],
            "variables kept": steps["kept_count"],
            "dimension": steps["dimension"],
            "chosen": [CHOSEN_BY.get(by, "") for by in steps["chosen_by"]],
            **_p_columns(steps, p_exact="exact test"),
            **_share_columns(steps),
            "penalty (lambda)": steps["penalty"],
            "kept": steps["kept"],
        }
    )


def _p_columns(rows: pd.DataFrame, **titles: str) -> dict[str, list[str]]:
    """Those of the tests that were made, under these titles."""
    return {
        title: [p_or_not_tested(p) for p in rows[column]]
        for column, title in titles.items()
        if rows[column].notna().any()
    }


def _share_columns(rows: pd.DataFrame) -> dict[str, list[str]]:
    return {
        "share kept": [_percent(x) for x in rows["share_kept"]],
        "95 % interval": [
            between_text(low, high) if np.isfinite(share) else ""
            for share, low, high in zip(
                rows["share_kept"], rows["share_low"], rows["share_high"], strict=True
            )
        ],
        "at least": [at_least_text(x) for x in rows["share_at_least"]],
    }


def _value_columns(rows: pd.DataFrame) -> dict[str, list[str]]:
    """None in results of earlier versions."""
    known = [value_is_known(row) for _, row in rows.iterrows()]
    if not any(known):
        return {}
    every = [
        (value_text(row), percent(row["same_choice"])) if told else ("no answer", "no answer")
        for told, (_, row) in zip(known, rows.iterrows(), strict=True)
    ]
    lost, same = zip(*every, strict=True)
    return {"cost a decision (95 % interval)": list(lost), "same choice": list(same)}


def _percent(share: float) -> str:
    return percent(share) if np.isfinite(share) else "no answer"


def _yes_no(values: pd.Series) -> list[str]:
    return ["yes" if value else "no" for value in values]

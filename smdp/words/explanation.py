"""What favours which treatment, in sentences: for everyone on average, and for one person."""

from __future__ import annotations

import pandas as pd

from smdp.data.variables import Variable
from smdp.explanation.patient_explanation import PatientExplanation
from smdp.explanation.policy_explanation import Explanation
from smdp.text import action_name as action_name
from smdp.text import capital, interval_text, percent, signed

MOST_NAMED = 6
MONOTONE = 0.9  # of the states have the average's sign
NOTABLE = 0.05  # of the largest contribution


def describe_explanation(explanation: Explanation) -> list[str]:
    """What favours each action, what is uncertain, and what this does not say."""
    sentences = []
    for action in explanation.actions:
        rows = explanation.variables[explanation.variables["action"] == action]
        used = _ranked(rows[rows["used"]])
        sentences += [
            _favoured(explanation, action, used),
            _ahead(explanation, action),
            *_not_everywhere(explanation, action, used),
        ]
        unsure = used[~used["established"]]
        if len(unsure) and explanation.resamples:
            named = _named([_direction(explanation, row) for _, row in unsure.iterrows()])
            sentences.append(f"Uncertain, because the interval includes no effect: {named}.")
    first = explanation.variables[explanation.variables["action"] == explanation.actions[0]]
    unused = first.loc[~first["used"], "variable"].tolist()
    if unused:
        sentences.append(f"Without any part in the decision: {_named(unused)}.")
    sentences.append(caution(explanation))
    return sentences


def caution(explanation: Explanation) -> str:
    """What the sentences do not say."""
    errors = (
        f"Intervals are of 95 % for one variable at a time, from {explanation.resamples} refits on "
        "resampled people with the features held fixed: among many variables one may look certain "
        "by chance, and the choice of the features adds uncertainty that is not in them."
        if explanation.resamples
        else "There are no refits on resampled people, so nothing is said about certainty."
    )
    return (
        "This is what the model has learned, not a cause of its own: that a treatment does better "
        "at low values of a variable does not mean that lowering them would make it work better. "
        + errors
    )


def variable_effect_table(explanation: Explanation) -> pd.DataFrame:
    """Each variable's effect with its interval, fit to be read."""
    rows = explanation.variables
    return pd.DataFrame(
        {
            "action": [action_name(label) for label in rows["action"]],
            "variable": rows["variable"],
            "a change of": [
                _change(explanation.variable(row["variable"]), row) for _, row in rows.iterrows()
            ],
            "changes the difference by": [_interval(row) for _, row in rows.iterrows()],
            "favours the action": [
                _direction(explanation, row) if row["used"] else "not used"
                for _, row in rows.iterrows()
            ],
            "certain": [_yes(row["established"]) for _, row in rows.iterrows()],
            "same direction (% of decisions)": (100 * rows["agreement"]).round(),
        }
    )


def feature_effect_table(explanation: Explanation) -> pd.DataFrame:
    """Each feature's effect with its interval, and what the feature is mostly made of."""
    rows = explanation.features
    return pd.DataFrame(
        {
            "action": [action_name(label) for label in rows["action"]],
            "feature": rows["feature"],
            "one SD more changes the difference by": [_interval(r) for _, r in rows.iterrows()],
            "certain": [_yes(r["established"]) for _, r in rows.iterrows()],
            "large at": [_made_of(explanation.weights.loc[name]) for name in rows["feature"]],
        }
    )


def describe_patient(patient: PatientExplanation) -> list[str]:
    """What is recommended to one person now, and which of her values speak for and against it."""
    best, second = action_name(patient.best), action_name(patient.second)
    error = "" if pd.isna(patient.margin_error) else f" (standard error {patient.margin_error:.2f})"
    way = "ahead of" if patient.margin >= 0 else "behind"
    lead = f"{best} is {way} {second} by {abs(patient.margin):.2f}{error}"
    if patient.recommendation is None:
        sentences = [f"No recommendation: {patient.reason}.", f"{capital(lead)}."]
    else:
        sentences = [f"{capital(action_name(patient.recommendation))} is recommended: {lead}."]
        if patient.in_doubt:
            sentences = [
                f"{capital(lead)}, which is not clear: in doubt this policy recommends {best}."
            ]
    parts = patient.variables[patient.variables["contribution"] != 0]
    largest = parts["contribution"].abs().max() if len(parts) else 0.0
    parts = parts[parts["contribution"].abs() >= NOTABLE * largest]
    parts = parts.reindex(parts["contribution"].abs().sort_values(ascending=False).index)
    for wording, own in (
        (f"For {best}", parts[parts["contribution"] > 0]),
        (f"For {second}", parts[parts["contribution"] < 0]),
    ):
        if len(own):
            named = [
                f"{row['variable']} = {patient.variable(row['variable']).text(row['value'])} "
                f"({signed(row['contribution'])})"
                for _, row in own.iterrows()
            ]
            verb = "speaks" if len(named) == 1 else "speak"
            sentences.append(f"{wording} {verb} {_named(named)}.")
    sentences.append(
        f"Each number is that value's part in the difference from the average person of the study, "
        f"for whom {best} is {_by(patient.average_margin, second)}; the parts add up."
    )
    return sentences


def _favoured(explanation: Explanation, action: str, used: pd.DataFrame) -> str:
    name, other = action_name(action), action_name(explanation.reference)
    sure = used[used["established"]]
    if not len(sure):
        if not explanation.resamples:
            guessed = _named([_direction(explanation, row) for _, row in used.iterrows()])
            text = f"{name} seems favoured over {other} {guessed}; how certainly is not known."
            return capital(text)
        return f"No variable on its own favours {name} or {other} with certainty."
    where = _named([_direction(explanation, row) for _, row in sure.iterrows()])
    return capital(f"{name} is favoured over {other} {where}.")


def _ahead(explanation: Explanation, action: str) -> str:
    row = explanation.average.set_index("action").loc[action]
    name, other = action_name(action), action_name(explanation.reference)
    return (
        f"Over the {explanation.states:,} decisions of the study, the expected discounted utility "
        f"of {name} differs from that of {other} by {_interval(row)} on average, and is larger at "
        f"{percent(float(row['ahead']))} of them."
    )


def _not_everywhere(explanation: Explanation, action: str, used: pd.DataFrame) -> list[str]:
    """Variables whose effect has one sign here and another there."""
    mixed = used[used["established"] & (used["agreement"] < MONOTONE)]
    if not len(mixed):
        return []
    named = [f"{r['variable']} ({percent(r['agreement'])})" for _, r in mixed.iterrows()]
    return [
        f"This holds on average but not everywhere for {_named(named)}: the share of decisions at "
        "which it holds is in brackets, at the others it is the other way round."
    ]


def _ranked(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.reindex(rows["estimate"].abs().sort_values(ascending=False, kind="stable").index)


def _direction(explanation: Explanation, row: pd.Series) -> str:
    """Where the action is favoured: 'at low stress', 'when weekend is 1'."""
    higher = row["estimate"] > 0
    about = explanation.variable(row["variable"])
    if about.whole_kind == "nominal":
        return f"when {about.whole} is {'' if higher else 'not '}{about.part}"
    if about.words:
        return f"at {'high' if higher else 'low'} {about.in_words}"
    if row["kind"] == "two values":
        value = explanation.variable(row["variable"]).text(row["high" if higher else "low"], 6)
        return f"when {row['variable']} is {value}"
    return f"at {'high' if higher else 'low'} {row['variable']}"


def _change(variable: Variable, row: pd.Series) -> str:
    if row["kind"] == "two values":
        return f"{variable.text(row['low'], 6)} to {variable.text(row['high'], 6)}"
    return f"one SD ({variable.amount(row['sd'], 3)})"


def _interval(row: pd.Series) -> str:
    return interval_text(row["estimate"], row["lower"], row["upper"])


def _made_of(weights: pd.Series) -> str:
    large = weights[(weights.abs() >= 0.5 * weights.abs().max()) & (weights != 0)]
    ranked = large.reindex(large.abs().sort_values(ascending=False, kind="stable").index)
    return ", ".join(f"{'high' if w > 0 else 'low'} {v}" for v, w in ranked.iloc[:4].items())


def _by(difference: float, other: str) -> str:
    if difference >= 0:
        return f"ahead of {other} by {difference:.2f}"
    return f"behind {other} by {-difference:.2f}"


def _named(parts: list[str]) -> str:
    """'a, b and c'; 'a, b and 4 more' where there are many."""
    if len(parts) > MOST_NAMED + 1:
        return f"{', '.join(parts[:MOST_NAMED])} and {len(parts) - MOST_NAMED} more"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"

"""What a simulation study says and does not say, and what to check."""

from __future__ import annotations

import pandas as pd

from smdp.data.problem import Problem
from smdp.errors import listing
from smdp.simulation.compare import MAP_NAMES, Comparison, verdict
from smdp.simulation.planning import StudyPlan
from smdp.simulation.study_store import StudyRows
from smdp.simulation.summary import kept_by_kind

MODEL_NAMES = {
    "linear": "linear",
    "quad": "quadratic, cut off at 3",
    "exp": "exponential, cut off at 3",
}
MAP_MEANINGS = {
    "identity": "All state variables as they are.",
    "oracle": "Only the four variables that matter, which no real analysis knows.",
    "adnn": "Screening, then the alternating deep neural network: the method of this program.",
    "tnn": "A separate sparse network for each action; their features side by side.",
    "pca": "Principal components that explain 90 % of the variance.",
    "screened": "The variables that screening keeps, as they are.",
}
KIND_MEANINGS = {
    "true": "S1 to S4: all that matters for the utility, now and later.",
    "other states": "S5 to S64: they follow from the true ones, but lead nowhere.",
    "dependent noise": "Variables that predict each other, but not the utility.",
    "white noise": "New random values at every decision.",
    "constant": "Random values that a person keeps.",
}
#: With fewer replications, differences between feature maps are mostly luck.
FEW = 10
#: A study is large enough when the true variables are found this often.
WANTED = 0.8


def describe_study(study: StudyRows, comparison: Comparison) -> list[str]:
    """Two or three sentences with the actual numbers."""
    rows = study.done
    if rows.empty:
        return ["No replication is finished yet."]
    settings = rows.drop_duplicates(["model", "noise", "subjects", "times", "discount"])
    names = [MAP_NAMES[name] for name in MAP_NAMES if (rows["feature_map"] == name).any()]
    text = (
        f"{len(rows)} replications in {len(settings)} setting{'s' if len(settings) > 1 else ''}, "
        f"with the feature maps {listing(names, 6)}."
    )
    sentences = [text, *verdict(comparison)[1:-1]]
    kept = kept_by_kind(study)
    own = kept[(kept["feature_map"] == "adnn") & (kept["kind"] == "true")]
    if len(own):
        runs = int(own["replications"].sum())
        found = round((own["all"] * own["replications"]).sum())
        sentences.append(f"ADNN uses all four true variables in {found} of {runs} replications.")
    sentences.append(
        "The data come from a model in which the truth is known. How the method does on a trial "
        "whose truth nobody knows is not shown by this."
    )
    return sentences


def check_study(study: StudyRows, comparison: Comparison) -> list[Problem]:
    """Warnings with their remedies."""
    found = []
    fewest, _ = comparison.replications
    if 0 < fewest < FEW:
        found.append(
            Problem(
                "note",
                "replications",
                f"Some rows rest on {fewest} replication{'s' if fewest > 1 else ''} only.",
                f"Run at least {FEW}: until then differences are mostly luck.",
            )
        )
    failed = study.failed
    if len(failed):
        first = failed.iloc[0]
        found.append(
            Problem(
                "warning",
                "",
                f"{len(failed)} of {len(study.rows)} replications failed and are left out of the "
                f"means. The first: {first['message']}",
            )
        )
    return found


def study_summary(study: StudyRows) -> str:
    return f"{len(study.done)} replications"


def describe_plan(plan: StudyPlan) -> list[str]:
    """How large a study of this kind would have to be, as far as it was simulated."""
    table = plan.table
    how = "screening keeps" if plan.depth == "screening" else "the feature map uses"
    enough = table[table["share"] >= WANTED].sort_values(["times", "subjects"])
    if len(enough):
        parts = []
        for times, rows in enough.groupby("times"):
            row = rows.iloc[0]
            parts.append(f"{row['subjects']:.0f} subjects with {times} decisions ({_share(row)})")
        text = f"The smallest size at which {how} all true variables in 80 % or more: "
        text += f"{'; '.join(parts)}."
    else:
        best = table.loc[table["share"].idxmax()]
        text = (
            f"At no size tried does it happen in 80 % or more that {how} all true variables; the "
            f"most is {_share(best)}, with {best['subjects']:.0f} subjects and "
            f"{best['times']:.0f} decisions."
        )
    caution = (
        "This holds for the model chosen here, in which effects are strong and their form is "
        "known. A study with weaker effects needs more subjects."
    )
    return [text, caution]


def check_plan(plan: StudyPlan) -> list[Problem]:
    """Warnings with their remedies."""
    found = []
    fewest = int(plan.table["replications"].min())
    if fewest < 2 * FEW:
        found.append(
            Problem(
                "note",
                "replications",
                f"Each size was simulated {fewest} times, so that the intervals are wide.",
                "Simulate more often before a decision rests on it.",
            )
        )
    without = int((plan.table["replications"] - plan.table["policies"]).sum())
    if without:
        found.append(
            Problem(
                "note",
                "",
                f"In {without} simulated studies no policy could be learned (mostly because no "
                "variable was kept); they count as not found, and are not in the values.",
            )
        )
    return found


def plan_table(plan: StudyPlan) -> pd.DataFrame:
    """Every size, fit to be read."""
    table = plan.table
    return pd.DataFrame(
        {
            "subjects": table["subjects"],
            "decisions": table["times"],
            "all true variables found": [
                f"{row['found']:.0f} of {row['replications']:.0f}, {_share(row)}"
                for row in table.to_dict("records")
            ],
            "further variables kept": table["others"].round(1),
            "value, linear Q": [_value(row, "linear") for row in table.to_dict("records")],
            "value, neural Q": [_value(row, "neural") for row in table.to_dict("records")],
        }
    )


def _share(row: dict | pd.Series) -> str:
    """'85 % (64 to 95)'."""
    return f"{100 * row['share']:.0f} % ({100 * row['lower']:.0f} to {100 * row['upper']:.0f})"


def _value(row: dict, name: str) -> str:
    mean, error = row[name], row[f"{name}_se"]
    if mean != mean:
        return "none"
    if error != error:
        return f"{mean:.2f}"
    return f"{mean:.2f} ({mean - 1.96 * error:.2f} to {mean + 1.96 * error:.2f})"

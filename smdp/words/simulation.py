"""What a simulation study says and does not say, and what to check."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from smdp.data.problem import Problem
from smdp.progress import facts_of
from smdp.simulation.compare import MARK, Comparison, figure_text, verdict
from smdp.simulation.names import MAP_NAMES, MEASURE_NAMES, MODEL_NAMES
from smdp.simulation.paper_tables import PAPER_DISCOUNT, PAPER_SUBJECTS, PAPER_TIMES
from smdp.simulation.planning import StudyPlan
from smdp.simulation.replication import trial_line
from smdp.simulation.study_settings import SimulationSetting, quick
from smdp.simulation.study_store import StudyRows
from smdp.simulation.study_tables import SETTING, kept_by_kind
from smdp.text import listing

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
    settings = rows.drop_duplicates(SETTING)
    names = [MAP_NAMES[name] for name in MAP_NAMES if (rows["feature_map"] == name).any()]
    trials = len(rows.drop_duplicates([*SETTING, "replication"]))
    text = (
        f"{trials} simulated trial{'s' if trials > 1 else ''} in {len(settings)} "
        f"setting{'s' if len(settings) > 1 else ''}, analysed with {listing(names, 6)}."
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
                f"{len(failed)} of {len(study.rows)} analyses failed and are left out of the "
                f"means. The first: {first['message']}",
            )
        )
    return found


def beside_the_paper(comparison: Comparison) -> pd.DataFrame:
    """One row for each feature map and measure: ours, the paper's, and the judgement."""
    rows = []
    for row in comparison.table.to_dict("records"):
        for measure, title in MEASURE_NAMES.items():
            digits = 2 if measure in ("linear", "neural") else 1
            ours, paper = (
                figure_text(row[f"{who}{measure}"], row[f"{who}{measure}_se"], digits)
                for who in ("", "paper_")
            )
            judged = digits == 2 or row["feature_map"] == "adnn"
            behind = f"behind {MARK}" if row[f"behind_{measure}"] else "not behind"
            rows.append(
                {
                    "feature map": MAP_NAMES[row["feature_map"]],
                    "measure": title,
                    "here": ours,
                    "paper": paper or "none",
                    "judgement": behind if judged and paper and ours else "",
                    "replications": row["replications"],
                }
            )
    return pd.DataFrame(rows)


def others_behind(comparison: Comparison) -> list[str]:
    """Where feature maps other than ADNN fall short of the paper's, as a sentence."""
    found = [
        f"{MAP_NAMES[row['feature_map']]}, {MEASURE_NAMES[name]} "
        f"({row[name]:.2f}, paper {row[f'paper_{name}']:.2f})"
        for row in comparison.table.to_dict("records")
        for name in ("linear", "neural")
        if row["feature_map"] != "adnn" and row[f"behind_{name}"]
    ]
    return [f"Other feature maps behind the paper's: {'; '.join(found)}."] if found else []


def notes_on(study: StudyRows, setting: SimulationSetting) -> list[Problem]:
    """What keeps our figures and the paper's from being comparable."""
    found = []
    if study.how == quick(study.how):
        found.append(
            Problem(
                "note",
                "quick",
                "Training was quick: these figures are a first look.",
                "For figures to report, train at full length, without quick(..).",
                concerns="quick training",
            )
        )
    if (setting.subjects, setting.times) != (PAPER_SUBJECTS, PAPER_TIMES):
        found.append(
            Problem(
                "note",
                "subjects",
                "The paper has no figures for trials of this size.",
                f"Choose {PAPER_SUBJECTS} subjects and {PAPER_TIMES} decisions to compare.",
            )
        )
    elif setting.discount != PAPER_DISCOUNT:
        found.append(
            Problem(
                "note",
                "discount",
                f"The paper's figures are for a discount of {PAPER_DISCOUNT}, these for "
                f"{setting.discount:g}.",
                f"Choose {PAPER_DISCOUNT} to compare like with like.",
            )
        )
    return found


def setting_name(setting: SimulationSetting) -> str:
    """'Linear, 50 noise variables'; the size and the discount where they are not the paper's."""
    name = f"{MODEL_NAMES[setting.model].split(',')[0].capitalize()}, "
    name += f"{setting.noise} noise variables"
    if (setting.subjects, setting.times) != (PAPER_SUBJECTS, PAPER_TIMES):
        name += f", n = {setting.subjects}, T = {setting.times}"
    return name + (f", discount {setting.discount:g}" * (setting.discount != PAPER_DISCOUNT))


def study_summary(study: StudyRows) -> str:
    return f"{len(study.done)} analyses of simulated trials"


def trials_so_far(messages: Sequence[str]) -> list[str]:
    """What a running study has said of its finished cells."""
    return [trial_line(facts) for facts in map(facts_of, messages) if "finished_trial" in facts]


def describe_plan(plan: StudyPlan) -> list[str]:
    """How large a study of this kind would have to be, as far as it was simulated."""
    table = plan.table
    how = "screening keeps" if plan.depth == "screening" else "the feature map uses"
    enough = table[table["share"] >= WANTED].sort_values(["times", "subjects"])
    if len(enough):
        parts = []
        for times, rows in enough.groupby("times"):
            row = rows.iloc[0]
            parts.append(f"{row['subjects']:.0f} subjects with {times} decisions: {_share(row)}")
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

"""A simulation study beside the paper's tables: where we are ahead, level, or behind.

Behind means: an outcome below the paper's by more than two of our standard errors; more variables
than the paper's, at the digits that it prints; more features than the paper's or 4, whichever is
larger (three are truly sufficient, four with a dependent noise variable kept). The last two are
judged for ADNN alone: the other maps do not try to be small.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from smdp.result import Result
from smdp.simulation.names import MAP_NAMES, MEASURE_NAMES
from smdp.simulation.paper_tables import (
    MEASURES,
    PAPER_DISCOUNT,
    PAPER_SUBJECTS,
    PAPER_TIMES,
    optimal_outcome,
    paper_tables,
)
from smdp.simulation.study_store import StudyRows
from smdp.simulation.study_tables import SETTING, mean_and_error, rows_of, settings_of, summarise
from smdp.simulation.text_tables import as_markdown, as_text

FEATURES_ALLOWED = 4
MARK = "*"

#: How close to the oracle's outcome, and to the optimum at a further discount, we aim to be.
NEAR_ORACLE, NEAR_OPTIMUM = 0.98, 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Our table beside the paper's.

    `table`: `summarise`'s, with the paper's figures as `paper_..` (NaN where the paper has none)
    and `behind_..` for each measure. `oracle`: for each setting, ADNN against S1 to S4 with NN Q on
    the same replications. `optimum`: likewise against the exact optimum at the further discount.
    """

    table: pd.DataFrame
    oracle: pd.DataFrame
    optimum: pd.DataFrame

    @property
    def replications(self) -> tuple[int, int]:
        """The fewest and the most of any row."""
        counts = self.table["replications"]
        return (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)


def compare_with_paper(study: StudyRows) -> Comparison:
    """The study's table, with the paper's figures and the judgement for each measure."""
    ours = summarise(study)
    paper = paper_tables()
    keys = list(zip(ours["model"], ours["noise"], ours["feature_map"], strict=True))
    same_size = (ours["subjects"] == PAPER_SUBJECTS) & (ours["times"] == PAPER_TIMES)
    known = np.array([key in paper.index for key in keys], dtype=bool) & same_size.to_numpy()
    theirs = paper.reindex(pd.MultiIndex.from_tuples(keys)) if keys else paper.iloc[:0]
    for name in paper.columns:
        ours[f"paper_{name}"] = np.where(known, theirs[name].to_numpy(), np.nan)
    for name in MEASURES:
        ours[f"behind_{name}"] = _behind(ours, name)
    return Comparison(ours, _against_oracle(study), _against_optimum(study))


def _behind(table: pd.DataFrame, measure: str) -> pd.Series:
    own, paper = table[measure], table[f"paper_{measure}"]
    if measure in ("linear", "neural"):
        return own < paper - 2 * table[f"{measure}_se"]
    if measure == "dimension":
        paper = paper.clip(lower=FEATURES_ALLOWED)
    return (table["feature_map"] == "adnn") & (own.round(1) > paper)


def _against_oracle(study: StudyRows) -> pd.DataFrame:
    """ADNN's outcomes over the oracle's NN Q, replication by replication."""
    found = []
    every = _paired(study)
    for setting in settings_of(study):
        pairs = rows_of(every, setting)
        if pairs.empty:
            continue
        oracle = pairs["neural_oracle"].mean()
        entry = asdict(setting) | {"replications": len(pairs), "oracle": oracle}
        for name in ("linear", "neural"):
            difference, error = mean_and_error(pairs[f"{name}_adnn"] - pairs["neural_oracle"])
            entry[name] = pairs[f"{name}_adnn"].mean()
            entry[f"{name}_share"] = 1 + difference / oracle
            entry[f"{name}_share_se"] = error / abs(oracle)
        entry["near"] = bool(entry["neural_share"] >= NEAR_ORACLE)
        found.append(entry)
    shares = [
        f"{name}{end}" for name in ("linear", "neural") for end in ("", "_share", "_share_se")
    ]
    return pd.DataFrame(found, columns=[*SETTING, "replications", "oracle", *shares, "near"])


def _paired(study: StudyRows) -> pd.DataFrame:
    done = study.done[[*SETTING, "replication", "feature_map", "linear", "neural"]]
    adnn, oracle = (done[done["feature_map"] == name] for name in ("adnn", "oracle"))
    pairs = adnn.merge(oracle, on=[*SETTING, "replication"], suffixes=("_adnn", "_oracle"))
    return pairs.dropna(subset=["neural_adnn", "neural_oracle"])


def _against_optimum(study: StudyRows) -> pd.DataFrame:
    """ADNN with NN Q at the further discount, over the optimum there."""
    discount = study.how.further_discount
    found = []
    table = summarise(study)
    for row in table[table["feature_map"] == "adnn"].to_dict("records"):
        best = optimal_outcome(row["model"], row["times"], discount)
        if best is None:
            continue
        found.append(
            {name: row[name] for name in SETTING}
            | {
                "replications": row["replications"],
                "further_discount": discount,
                "neural": row["neural_further"],
                "neural_se": row["neural_further_se"],
                "optimum": best,
                "share": row["neural_further"] / best,
                "near": bool(row["neural_further"] / best >= NEAR_OPTIMUM),
            }
        )
    columns = [
        "replications",
        "further_discount",
        "neural",
        "neural_se",
        "optimum",
        "share",
        "near",
    ]
    return pd.DataFrame(found, columns=[*SETTING, *columns])


def shown_comparison(comparison: Comparison) -> pd.DataFrame:
    """The table as text: ours with its standard error, the paper's, and a mark where behind."""
    table = comparison.table
    shown = pd.DataFrame(
        {
            "model": table["model"],
            "noise": table["noise"].astype(str),
            "feature map": table["feature_map"].map(MAP_NAMES),
            "runs": [_runs(row) for row in table.to_dict("records")],
        }
    )
    sizes = {"subjects": PAPER_SUBJECTS, "times": PAPER_TIMES, "discount": PAPER_DISCOUNT}
    unusual = [name for name, usual in sizes.items() if (table[name] != usual).any()]
    for place, name in enumerate(unusual, 2):
        shown.insert(place, name, [f"{v:g}" for v in table[name]])
    for measure, title in MEASURE_NAMES.items():
        digits = 2 if measure in ("linear", "neural") else 1
        shown[title] = [
            figure_text(row[measure], row[f"{measure}_se"], digits)
            + (f" {MARK}" if row[f"behind_{measure}"] else "")
            for row in table.to_dict("records")
        ]
        shown[f"{title}, paper"] = [
            figure_text(row[f"paper_{measure}"], row[f"paper_{measure}_se"], digits)
            for row in table.to_dict("records")
        ]
    return shown


def shown_oracle(comparison: Comparison) -> pd.DataFrame:
    """How close ADNN comes to the oracle and, at the further discount, to the optimum."""
    further = comparison.optimum.set_index(SETTING) if len(comparison.optimum) else None
    rows = []
    for row in comparison.oracle.to_dict("records"):
        key = tuple(row[name] for name in SETTING)
        shown = {
            "model": row["model"],
            "noise": str(row["noise"]),
            "runs": str(row["replications"]),
            "S1 to S4, NN Q": f"{row['oracle']:.2f}",
            "ADNN, Linear Q": _share(row["linear_share"], row["linear_share_se"]),
            "ADNN, NN Q": _share(row["neural_share"], row["neural_share_se"]),
            "within 2 %": "yes" if row["near"] else f"no {MARK}",
        }
        if further is not None and key in further.index:
            other = further.loc[[key]].iloc[0]
            discount = f"discount {other['further_discount']:g}"
            shown[f"ADNN, NN Q, {discount}"] = figure_text(other["neural"], other["neural_se"], 2)
            shown["optimum there"] = f"{other['optimum']:.2f}"
            mark = "" if other["near"] else f" {MARK}"
            shown["share of it"] = f"{100 * other['share']:.1f} %{mark}"
        rows.append(shown)
    return pd.DataFrame(rows)


def verdict(comparison: Comparison) -> list[str]:
    """What the tables come to, in sentences."""
    table = comparison.table
    adnn = table[(table["feature_map"] == "adnn") & table["paper_linear"].notna()]
    fewest, most = comparison.replications
    runs = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    failed = int(table["failed"].sum())
    lost = f"; {failed} failed and {'is' if failed == 1 else 'are'} left out" if failed else ""
    found = [f"{runs} replications in each row{lost}. In brackets: standard errors."]
    if len(adnn):
        behind = [
            f"{MEASURE_NAMES[name]} in {row['model']} with {row['noise']} noise variables"
            for row in adnn.to_dict("records")
            for name in MEASURES
            if row[f"behind_{name}"]
        ]
        total = len(adnn) * len(MEASURES)
        text = f"ADNN is behind the paper's own ADNN in {len(behind)} of {total} figures"
        found.append(text + (f": {'; '.join(behind)}." if behind else "."))
    if len(comparison.oracle):
        near = int(comparison.oracle["near"].sum())
        count = len(comparison.oracle)
        found.append(
            f"ADNN with NN Q is within 2 % of the oracle, S1 to S4 with NN Q, in {near} of {count} "
            "settings."
        )
    found.append(
        f"{MARK} behind: an outcome more than two of our standard errors below the paper's; for "
        f"ADNN also more variables than the paper's, or more features than the paper's and than "
        f"{FEATURES_ALLOWED}."
    )
    return found


def comparison_text(comparison: Comparison, *, markdown: bool = False) -> str:
    """Everything as text to print, or as Markdown for documents."""
    show = as_markdown if markdown else as_text
    parts = [show(shown_comparison(comparison))]
    if len(comparison.oracle):
        parts.append(show(shown_oracle(comparison)))
    separator = "\n\n" if markdown else "\n"
    # A single mark of Markdown would turn the text after it into italics.
    lines = [line.replace(MARK, f"\\{MARK}") if markdown else line for line in verdict(comparison)]
    parts.append(separator.join(lines))
    return "\n\n".join(parts) + "\n"


def figure_text(mean: float, error: float, digits: int) -> str:
    """'3.34 (0.013)'; without brackets where there is no error, empty where there is nothing."""
    if not np.isfinite(mean):
        return ""
    if not np.isfinite(error) or error == 0:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({error:.{digits + 1}f})"


def _runs(row: dict) -> str:
    return f"{row['replications']}" + (f", {row['failed']} failed" if row["failed"] else "")


def _share(share: float, error: float) -> str:
    spread = f" ({100 * error:.1f})" if np.isfinite(error) else ""
    return f"{100 * share:.1f} %{spread}"

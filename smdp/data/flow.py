"""From the table to what was analysed: how many people and decisions at each stage, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.exclude import Exclusion
from smdp.data.prepare import CompletedStudy, PreparedData
from smdp.data.study import Study

#: What is said of each cause of leaving somebody out, without names.
CAUSES = {
    "by hand": "left out by hand",
    "single row": "a single row",
    "too much missing": "too many missing values",
    "empty series": "no value at all of some variable",
}


@dataclass(frozen=True)
class TreatedDecisions:
    """Decisions at which one action was taken; `analysed`: with an outcome and a next row."""

    action: str
    decisions: int
    analysed: int | None  # None: not prepared yet


@dataclass(frozen=True)
class StudyFlow:
    """Counts of people and decisions, each stage a part of the one before.

    `decisions`: those on everybody's grid, gaps included. Of people who were kept, each decision
    is without a row, or one at which nothing could be chosen, or one whose action is not known, or
    one with a known action (`treated`). `analysed`: the transitions that are used, with a choice or
    without one.
    """

    rows: int
    people: int
    decisions: int
    left_out: tuple[tuple[str, int], ...]
    kept_people: int
    kept_decisions: int
    without_row: int
    without_choice: int
    unknown_action: int
    treated: tuple[TreatedDecisions, ...]
    analysed: int | None = None
    analysed_people: int | None = None

    @property
    def with_choice(self) -> int:
        """Decisions at which something could be chosen, and was."""
        return sum(each.decisions for each in self.treated)

    @property
    def analysed_with_choice(self) -> int | None:
        found = [each.analysed for each in self.treated]
        return None if None in found else sum(count for count in found if count is not None)

    @property
    def people_left_out(self) -> int:
        return sum(count for _, count in self.left_out)


def study_flow(
    study: Study, completed: CompletedStudy | None, prepared: PreparedData | None, rows: int
) -> StudyFlow:
    """`rows`: of the table as it was read. Without preparation, as far as it has come."""
    kept = study if completed is None else completed.study
    seen = kept.present & kept.on_grid
    choice = seen & kept.available
    labels = kept.action_labels
    taken = np.bincount(kept.actions[choice & (kept.actions >= 0)], minlength=len(labels))
    used: list[int] | None = None
    if prepared is not None:
        found = prepared.trajectories
        own = found.valid & found.available
        used = np.bincount(found.actions[own], minlength=len(labels)).tolist()
    return StudyFlow(
        rows=rows,
        people=len(study.subjects),
        decisions=int(study.on_grid.sum()),
        left_out=() if completed is None else causes(completed.exclusions),
        kept_people=len(kept.subjects),
        kept_decisions=int(kept.on_grid.sum()),
        without_row=int((kept.on_grid & ~kept.present).sum()),
        without_choice=int((seen & ~kept.available).sum()),
        unknown_action=int((choice & (kept.actions < 0)).sum()),
        treated=tuple(
            TreatedDecisions(label, int(taken[k]), None if used is None else used[k])
            for k, label in enumerate(labels)
        ),
        analysed=None if prepared is None else int(prepared.trajectories.valid.sum()),
        analysed_people=None
        if prepared is None
        else int(prepared.trajectories.valid.any(axis=1).sum()),
    )


def causes(exclusions: Iterable[Exclusion]) -> tuple[tuple[str, int], ...]:
    """How many were left out for which cause."""
    counts: dict[str, int] = {}
    for each in exclusions:
        counts[CAUSES[each.cause]] = counts.get(CAUSES[each.cause], 0) + 1
    return tuple(counts.items())


def flow_counts(flow: StudyFlow) -> pd.DataFrame:
    """The same as a table: stage, people, decisions."""
    rows: list[tuple[str, int | None, int | None]] = [
        ("in the table", flow.people, flow.decisions),
        *((f"left out: {why}", count, None) for why, count in flow.left_out),
        ("kept", flow.kept_people, flow.kept_decisions),
        ("without a row", None, flow.without_row),
        ("nothing to choose", None, flow.without_choice),
        ("action not known", None, flow.unknown_action),
        ("with a choice and a known action", None, flow.with_choice),
        *((f"action {each.action}", None, each.decisions) for each in flow.treated),
        *((f"action {e.action}, analysed", None, e.analysed) for e in flow.treated),
        ("analysed, with or without a choice", flow.analysed_people, flow.analysed),
    ]
    frame = pd.DataFrame(rows, columns=["stage", "people", "decisions"])
    frame = frame.astype({"people": "Int64", "decisions": "Int64"})
    return frame[frame[["people", "decisions"]].notna().any(axis=1)].reset_index(drop=True)

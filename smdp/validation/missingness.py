"""What is missing where, and whether that has to do with time, treatment or earlier answers.

Each variable that is sometimes missing, and the outcome if it is observed by itself, has an
indicator m_it at the decisions between a person's first and last row. Three questions:

    time       sum_t f(t) (m_it - mean of person i),  f: smooth functions of the decision number
    treatment  sum_t (1{A = a} - p_a) (m_it - mean of time t),  A the treatment before: of a
               variable at the decision before, of the outcome at the same decision
    answers    sum_t (s - mean of time t) (m_it - mean of time t),  s all that was seen at the
               decision before (for the outcome: at the same one)

are a person's score, and people's signs give the p-value (`smdp.independence.signs`), for each
question alone and for the family of all. Residuals from the means of a time of n people are
restored by sqrt{n / (n - 1)}. What is missing may also depend on the very value that is missing:
no data can show that.

Reference: Little & Rubin (2019), "Statistical analysis with missing data", chapter 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import NextValue
from smdp.data.exclude import varies_over_time
from smdp.data.over_time import spans
from smdp.data.prepare import CompletedStudy
from smdp.data.study import Cell
from smdp.data.variables import wholes
from smdp.independence.inputs import check_seed
from smdp.independence.signs import FEWEST_PEOPLE, PersonScores, deviates, family_test, signs
from smdp.markov.stationarity import time_functions
from smdp.result import Content

Floats = NDArray[np.float64]
Question = Literal["time", "treatment", "answers"]
QUESTIONS: tuple[Question, ...] = ("time", "treatment", "answers")
#: What the outcome is called among the variables.
OUTCOME = "the outcome"
#: A variable with fewer missing values is not tested.
FEWEST_MISSING = 5


@dataclass(frozen=True, eq=False, repr=False)
class MissingPatterns(Content):
    """`by_variable`: variable, missing, of, share. `by_time`: first and last decision, share.

    `tests`: variable, question, p_value, adjusted (for the family), low and high with their shares
    missing: at first and last, after which treatment least and most, below and above the mean of
    the answer that it goes with most. Empty where there is nothing to test.
    """

    by_variable: pd.DataFrame
    by_time: pd.DataFrame
    tests: pd.DataFrame
    people: int
    together: float  # of the decisions with anything missing, those with everything missing
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Cells"""
        return int(self.by_variable["missing"].sum())


TESTS = ["variable", "question", "p_value", "adjusted", "low", "share_low", "high", "share_high"]


def missing_patterns(
    completed: CompletedStudy, *, draws: int = 999, seed: int = 0
) -> MissingPatterns:
    """Of those who were not excluded, before anything was filled in."""
    check_seed(seed)
    own = completed.study
    seen = seen_values(completed)
    grid = own.on_grid
    absent = _absent(completed, seen)
    rows = [
        {
            "variable": name,
            "missing": int((m & grid).sum()),
            "of": int(where.sum()),
            "share": float((m & where).sum() / max(where.sum(), 1)),
        }
        for name, (m, where) in absent.items()
    ]
    by_variable = pd.DataFrame(rows, columns=["variable", "missing", "of", "share"])
    notes = []
    people = len(own.subjects)
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(21,)))
    found = []
    if people >= FEWEST_PEOPLE:
        found = list(_tested(completed, seen, absent, signs(people, draws, random)))
    elif by_variable["missing"].sum():
        notes.append(f"Patterns are not tested with fewer than {FEWEST_PEOPLE} people.")
    tests = pd.DataFrame(columns=TESTS)
    if found:
        family = family_test([each for _, each in found])
        tests = pd.DataFrame([row for row, _ in found])
        tests["p_value"], tests["adjusted"] = family.p_value, family.adjusted
        tests = tests[TESTS]
    states = [m for name, (m, _) in absent.items() if name != OUTCOME]
    every = np.stack([*states]).astype(bool) if states else np.zeros((1, *grid.shape), bool)
    any_missing = every.any(axis=0) & grid
    both = every.all(axis=0) & grid
    return MissingPatterns(
        by_variable=by_variable,
        by_time=_by_time(every, grid),
        tests=tests,
        people=people,
        together=float(both.sum() / any_missing.sum()) if any_missing.any() else 0.0,
        notes=tuple(notes),
    )


def seen_values(completed: CompletedStudy) -> Floats:
    """(n, R, p): the completed study's values, NaN where they were filled in."""
    filled = np.isin(completed.origin, (Cell.IMPUTED, Cell.EXTRAPOLATED))
    return np.where(filled, np.nan, completed.study.values)


def _absent(
    completed: CompletedStudy, seen: Floats
) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """By variable: (n, R) whether it is missing, and where it could have been there."""
    own, found = completed.study, {}
    varies = varies_over_time(own)
    for name, columns in wholes(own.variables).items():
        if own.variables[columns[0]].whole_kind == "text":
            continue  # nothing written is an answer
        if not any(np.broadcast_to(varies, seen.shape)[:, :, j].any() for j in columns):
            continue
        m = np.isnan(seen[:, :, list(columns)]).any(axis=2) & own.on_grid
        found[name] = (m, own.on_grid)
    if not isinstance(own.roles.utility, NextValue) and np.isfinite(own.utilities).any():
        found[OUTCOME] = (~np.isfinite(own.utilities) & own.on_grid, own.on_grid)
    return found


def _by_time(every: NDArray[np.bool_], grid: NDArray[np.bool_]) -> pd.DataFrame:
    together = spans(grid.shape[1])
    starts = together.first - 1
    missing = np.add.reduceat((every & grid).mean(axis=0).sum(axis=0), starts)
    there = np.add.reduceat(grid.sum(axis=0), starts)
    return pd.DataFrame(
        {
            "first decision": together.first,
            "last decision": together.last,
            "share": missing / np.maximum(there, 1),
            "decisions": there,
        }
    )


def _tested(
    completed: CompletedStudy,
    seen: Floats,
    absent: dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]],
    flips: Floats,
) -> Iterator[tuple[dict[str, object], Floats]]:
    """What is shown of each test, and its deviates."""
    own = completed.study
    for name, (m, where) in absent.items():
        count = int((m & where).sum())
        if min(count, int(where.sum()) - count) < FEWEST_MISSING:
            continue
        lag = 0 if name == OUTCOME else 1
        target = np.where(where, m, np.nan).astype(np.float64)
        yield {"variable": name, "question": "time", **_ends(target)}, _time(target, flips)
        target, later = target[:, lag:], slice(0, target.shape[1] - lag)
        if not np.isfinite(target).any():
            continue
        acted = _treatment(own.actions, own.probabilities, own.available, later)
        if acted is not None:
            shown = _by_action(target, own.actions[:, later], own.action_labels)
            if shown:
                row = {"variable": name, "question": "treatment", **shown}
                yield row, _together(target, acted, flips)
        answers = seen[:, later]
        if name == OUTCOME and answers.shape[2] == 0:
            continue
        psi, columns = _standard(answers)
        if len(columns):
            row = {"variable": name, "question": "answers"}
            names = [own.variables[j].name for j in columns]
            yield {**row, **_by_answer(target, psi, names)}, _together(target, psi, flips)


def _time(target: Floats, flips: Floats) -> Floats:
    """(1 + B,): whether what is missing changes with time."""
    times = target.shape[1]
    e = target - _mean(target, axis=1)[:, None]
    f = time_functions(np.arange(times), times)
    g = np.einsum("it,tk->ik", np.nan_to_num(e), f)
    return deviates(PersonScores(g, g.sum(axis=0)), flips)


def _together(target: Floats, psi: Floats, flips: Floats) -> Floats:
    """(1 + B,): whether what is missing goes with (n, R, d)."""
    e = _within_time(target[:, :, None])
    x = _within_time(np.where(np.isfinite(target)[:, :, None], psi, np.nan))
    people = np.isfinite(target).sum(axis=0)
    restoring = np.sqrt(people / np.maximum(people - 1, 1))
    plain = np.einsum("itd,it->id", x, e[:, :, 0])
    restored = np.einsum("itd,it->id", x, e[:, :, 0] * restoring)
    return deviates(PersonScores(restored, plain.sum(axis=0)), flips)


def _within_time(values: Floats) -> Floats:
    """Without the mean of each time; 0 where not known."""
    return np.nan_to_num(values - _mean(values, axis=0)[None])


def _mean(values: Floats, axis: int) -> Floats:
    seen = np.isfinite(values)
    total = np.where(seen, values, 0.0).sum(axis=axis)
    return np.asarray(total / np.maximum(seen.sum(axis=axis), 1))


def _treatment(
    actions: NDArray[np.int64],
    probabilities: Floats,
    available: NDArray[np.bool_],
    when: slice,
) -> Floats | None:
    """(n, R', K - 1): each action but the first, less its chance; NaN without a choice."""
    taken = actions[:, when]
    labels = probabilities.shape[2]
    choice = available[:, when] & (taken >= 0)
    if labels < 2 or len(np.unique(taken[choice])) < 2:
        return None
    found = (taken[:, :, None] == np.arange(1, labels)).astype(np.float64)
    chance = probabilities[:, when, 1:]
    found = found - np.where(np.isfinite(chance), chance, 0.0)  # else the time's mean does it
    return np.where(choice[:, :, None], found, np.nan)


def _standard(answers: Floats) -> tuple[Floats, list[int]]:
    """Standardised, the mean where not seen; only what varies."""
    flat = answers.reshape(-1, answers.shape[2])
    mean = _mean(flat, axis=0)
    spread = np.sqrt(_mean((flat - mean) ** 2, axis=0))
    columns = np.flatnonzero(spread > 1e-12 * np.maximum(np.abs(mean), 1)).tolist()
    own = (answers[:, :, columns] - mean[columns]) / spread[columns]
    return np.nan_to_num(own), columns


def _ends(target: Floats) -> dict[str, object]:
    """In the first and the last third of the study."""
    third = max(target.shape[1] // 3, 1)
    first, last = target[:, :third], target[:, -third:]
    return {
        "low": "first third",
        "share_low": _share(first, np.isfinite(first)),
        "high": "last third",
        "share_high": _share(last, np.isfinite(last)),
    }


def _by_action(
    target: Floats, actions: NDArray[np.int64], labels: tuple[str, ...]
) -> dict[str, object]:
    shares = {
        label: _share(target, np.isfinite(target) & (actions == k))
        for k, label in enumerate(labels)
    }
    known = {label: share for label, share in shares.items() if np.isfinite(share)}
    if len(known) < 2:
        return {}
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    return {"low": low, "share_low": known[low], "high": high, "share_high": known[high]}


def _by_answer(target: Floats, psi: Floats, names: list[str]) -> dict[str, object]:
    """Below and above the mean of the one that it goes with most."""
    e = _within_time(target[:, :, None])[:, :, 0]
    strength = np.abs(np.einsum("itd,it->d", psi, e))
    k = int(strength.argmax())
    own, seen = psi[:, :, k], np.isfinite(target) & (psi[:, :, k] != 0)
    sides = {
        f"low {names[k]}": _share(target, seen & (own < 0)),
        f"high {names[k]}": _share(target, seen & (own > 0)),
    }
    (low, share_low), (high, share_high) = sides.items()
    return {"low": low, "share_low": share_low, "high": high, "share_high": share_high}


def _share(target: Floats, where: NDArray[np.bool_]) -> float:
    return float(target[where].mean()) if where.any() else np.nan

"""Predicted beside observed advantage: does the policy's Q say rightly who gains, and how much?

At each decision with a choice, b being what the policy recommends, pi the trial's probabilities,

    predicted:  Q(s, b) - sum over a of pi_a Q(s, a)
    observed:   G_b - sum over a of pi_a G_a,
                G_a = Q(s, a) + 1{A = a} / pi_a (U + gamma max Q(S', .) - Q(s, A)),

which is right on average, whatever Q, where pi is known: what comes after the next state is valued
as the first study did. Decisions are put in order of what was predicted, in ten groups or as many
as have enough of them; intervals are over people. `slope`: of the observed on the predicted
advantage, 1 where Q is calibrated, 0 where it cannot tell who gains.

References: Dudík, Langford & Li (2011), "Doubly robust policy evaluation and learning";
Chernozhukov, Demirer, Duflo & Fernández-Val (2018), "Generic machine learning inference on
heterogeneous treatment effects".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.value_rows import ValueRows, value_rows
from smdp.propensity import propensities
from smdp.result import Content
from smdp.validation.frozen_policy import FrozenPolicy

Floats = NDArray[np.float64]

GROUPS = 10
#: Decisions that a group needs.
FEWEST_IN_GROUP = 30


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Content):
    """`table`: group, decisions, people, predicted, observed, lower, upper."""

    table: pd.DataFrame
    slope: float
    lower: float
    upper: float


def calibration(
    new: Trajectories, policy: FrozenPolicy, *, discount: float, coverage: float
) -> Calibration | None:
    """None of a policy that predicts nothing, such as a rule."""
    states = new.select(policy.variables).states
    rows = value_rows(new, policy.variables)
    here, ahead = rows.at(states), rows.after(states)
    q, q_next = policy.q_values(here), policy.q_values(ahead)
    if q is None or q_next is None:
        return None
    predicted, observed, used = _advantages(new, policy, rows, here, q, q_next, discount)
    person = rows.subject[used]
    predicted, observed = predicted[used], observed[used]
    if len(np.unique(person)) < 4:
        raise DataError(
            "Fewer than 4 people have decisions with a choice: predicted and observed advantages "
            "cannot be compared.",
            "Wait for more people.",
        )
    return Calibration(_by_group(predicted, observed, person, coverage),
                       *_slope(predicted, observed, person, coverage))  # fmt: skip


def _advantages(
    new: Trajectories,
    policy: FrozenPolicy,
    rows: ValueRows,
    here: Floats,
    q: Floats,
    q_next: Floats,
    discount: float,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    chances = np.nan_to_num(propensities(new, rows, policy.variables).given)
    best_next = np.where(rows.allowed_next, q_next, -np.inf).max(axis=1)
    # Nothing can be chosen next: the mean of what the actions are worth stands for it.
    best_next = np.where(np.isfinite(best_next), best_next, q_next.mean(axis=1))
    taken = np.minimum(rows.level, q.shape[1] - 1)
    at = np.arange(len(q))
    surprise = rows.utility + discount * best_next - q[at, taken]
    observed = q.copy()
    known = rows.available & (chances[at, taken] > 0)
    observed[at[known], taken[known]] += surprise[known] / chances[at, taken][known]
    chosen = np.maximum(policy.recommend(here, rows.allowed), 0)
    used = known & (rows.allowed.sum(axis=1) > 1)
    usual = (chances * q).sum(axis=1), (chances * observed).sum(axis=1)
    return q[at, chosen] - usual[0], observed[at, chosen] - usual[1], used


def _by_group(
    predicted: Floats, observed: Floats, person: NDArray[np.int64], coverage: float
) -> pd.DataFrame:
    count = int(np.clip(len(predicted) // FEWEST_IN_GROUP, 1, GROUPS))
    edges = np.quantile(predicted, np.linspace(0, 1, count + 1)[1:-1])
    group = np.searchsorted(np.unique(edges), predicted, side="right")
    rows: list[dict[str, float]] = []
    for k in np.unique(group):
        own = group == k
        mean, error, people = _mean(observed[own], person[own])
        width = float(stdtrit(max(1, people - 1), 0.5 + coverage / 2)) * error
        rows.append(
            {
                "group": len(rows) + 1,
                "decisions": int(own.sum()),
                "people": people,
                "predicted": float(predicted[own].mean()),
                "observed": mean,
                "lower": mean - width,
                "upper": mean + width,
            }
        )
    return pd.DataFrame(rows)


def _mean(values: Floats, person: NDArray[np.int64]) -> tuple[float, float, int]:
    """The mean over decisions, its error over people, and how many these are."""
    mean = float(values.mean())
    sums = np.bincount(person, values - mean)
    people = len(np.unique(person))
    if people < 2:
        return mean, np.nan, people
    error = np.sqrt(np.square(sums).sum() * people / (people - 1)) / len(values)
    return mean, float(error), people


def _slope(
    predicted: Floats, observed: Floats, person: NDArray[np.int64], coverage: float
) -> tuple[float, float, float]:
    centred = predicted - predicted.mean()
    square = float(centred @ centred)
    if not square > 1e-12 * max(1.0, float(np.square(predicted).sum())):
        return np.nan, np.nan, np.nan
    slope = float(centred @ observed) / square
    left = observed - observed.mean() - slope * centred
    sums = np.bincount(person, centred * left)
    people = len(np.unique(person))
    error = float(np.sqrt(np.square(sums).sum() * people / (people - 1))) / square
    width = float(stdtrit(people - 1, 0.5 + coverage / 2)) * error
    return slope, slope - width, slope + width

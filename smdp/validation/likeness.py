"""Are the new people like the first? Energy distance between people, who are the sample.

Each person is summed up, for each variable, by quantiles of her own observed values (of a level or
a yes/no variable, by its share). With D_ik the distance of two such summaries, each variable's
divided by how much people differ in it, n first and m new people,

    E = 2 mean D(first, new) - mean D(first, first) - mean D(new, new)

is 0 if both are drawn from one population, and its null comes from permuting people between the
tables: p = (1 + #{E* >= E - tie}) / (B + 1). People who are in both tables change sides with
themselves only. The same permutations serve every variable, each standardised by them, so that the
level holds for the family (step-down). Only as many decisions are compared as both tables have
(`window`), for a longer series has steadier quantiles.

References: Székely & Rizzo (2013), "Energy statistics"; Romano & Wolf (2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from smdp.data.prepare import CompletedStudy
from smdp.data.variables import Variable, wholes
from smdp.errors import DataError
from smdp.independence.signs import NOTHING, family_test
from smdp.result import Content
from smdp.text import plural
from smdp.validation.arrival import states_in_own_units

Floats = NDArray[np.float64]

QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
#: With fewer new people, or fewer first ones, there is no population to compare.
FEWEST = 4


@dataclass(frozen=True, eq=False, repr=False)
class Likeness(Content):
    """`table`: variable, part, first, new (means of people's means), effect (in standard deviations
    of the first study's values), lower, upper, p_value, adjusted.
    """

    p_value: float
    statistic: float
    table: pd.DataFrame
    first_people: int
    new_people: int
    paired: int  # people of both tables
    window: int  # decisions compared


def likeness(
    first: CompletedStudy,
    new: CompletedStudy,
    *,
    draws: int,
    coverage: float,
    seed: np.random.SeedSequence,
) -> Likeness:
    names = (first.study.subjects, new.study.subjects)
    for who, whose in zip(names, ("the first study", "the new table"), strict=True):
        if len(who) < FEWEST:
            raise DataError(
                f"{plural(len(who), 'person').replace('persons', 'people')} of {whose} cannot "
                f"stand for a population: whether the new people are like the first is not tested "
                f"with fewer than {FEWEST}.",
                "Wait for more people.",
            )
    before, about = states_in_own_units(first)
    after, own = states_in_own_units(new)
    kept = [variable.name for variable in own]
    places = [j for j, variable in enumerate(about) if variable.name in kept]
    about, before = tuple(about[j] for j in places), before[:, :, places]
    after = after[:, :, [kept.index(variable.name) for variable in about]]
    window = int(min(first.study.lengths.max(), new.study.lengths.max()))
    later = {name: i for i, name in enumerate(names[1])}
    pairs = [(i, later[name]) for i, name in enumerate(names[0]) if name in later]
    same_people = len(pairs) == len(names[1])
    before = _windowed(before, first.study.lengths, window, last=same_people)
    after = _windowed(after, new.study.lengths, window, last=False)
    labels = _labels(len(before), len(after), pairs, draws, np.random.default_rng(seed))
    tested, every = [], np.zeros((len(before) + len(after),) * 2)
    members = wholes(about)
    for columns in members.values():
        apart = _distances(before[:, :, columns], after[:, :, columns], about[columns[0]])
        every += apart
        tested.append(_energy(np.sqrt(apart), labels))
    whole = family_test([_energy(np.sqrt(every), labels)])
    family = family_test(tested)
    p_value = dict(zip(members, family.p_value, strict=True))
    adjusted = dict(zip(members, family.adjusted, strict=True))
    rows = [
        {
            "variable": variable.belongs_to,
            "part": variable.part,
            **_effect(before[:, :, j], after[:, :, j], pairs, coverage),
            "p_value": float(p_value[variable.belongs_to]),
            "adjusted": float(adjusted[variable.belongs_to]),
        }
        for j, variable in enumerate(about)
    ]
    return Likeness(
        p_value=float(whole.p_value[0]),
        statistic=float(whole.statistic[0]),
        table=pd.DataFrame(rows),
        first_people=len(before),
        new_people=len(after),
        paired=len(pairs),
        window=window,
    )


def _windowed(values: Floats, lengths: NDArray[np.int64], window: int, *, last: bool) -> Floats:
    """(n, window, p): each person's first decisions, or her last ones."""
    found = np.full((len(values), window, values.shape[2]), np.nan)
    for i, length in enumerate(lengths):
        start = max(0, int(length) - window) if last else 0
        own = values[i, start : min(int(length), start + window)]
        found[i, : len(own)] = own
    return found


def _labels(
    first: int,
    new: int,
    pairs: Sequence[tuple[int, int]],
    draws: int,
    random: np.random.Generator,
) -> Floats:
    """(1 + B, n + m): 1/n for a first person and -1/m for a new one, as observed, then permuted."""
    observed = np.r_[np.full(first, 1 / first), np.full(new, -1 / new)]
    found = np.tile(observed, (1 + draws, 1))
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    one, two = both[:, 0], first + both[:, 1]
    alone = np.setdiff1d(np.arange(first + new), np.r_[one, two])
    for b in range(1, 1 + draws):
        found[b, alone] = observed[random.permutation(alone)]
        turned = random.random(len(both)) < 0.5
        found[b, one[turned]], found[b, two[turned]] = -1 / new, 1 / first
    return found


def _distances(before: Floats, after: Floats, variable: Variable) -> Floats:
    """(N, N): squared distances of people's summaries of one variable, 1 being usual."""
    both = np.concatenate([before, after])
    share = variable.kind == "binary"
    summaries = np.concatenate([_summary(column, share) for column in both.transpose(2, 0, 1)], 1)
    spread = float(np.nanvar(summaries, axis=0).sum())
    if not spread > 1e-20 * max(1.0, float(np.nanmax(np.abs(summaries), initial=0.0)) ** 2):
        return np.zeros((len(both), len(both)))
    summaries = np.where(np.isfinite(summaries), summaries, np.nanmean(summaries, axis=0))
    inner = summaries @ summaries.T
    square = np.diag(inner)
    return np.asarray(np.maximum(square[:, None] + square[None, :] - 2 * inner, 0.0) / spread)


def _summary(values: Floats, share: bool) -> Floats:
    """(people, k)"""
    seen = np.isfinite(values).any(axis=1)
    found = np.full((len(values), 1 if share else len(QUANTILES)), np.nan)
    if share:
        found[seen, 0] = np.nanmean(values[seen], axis=1)
    else:
        found[seen] = np.nanquantile(values[seen], QUANTILES, axis=1).T
    return found


def _energy(distances: Floats, labels: Floats) -> Floats:
    """(1 + B,): as observed and permuted, standardised by the permutations."""
    values = -np.einsum("bi,bi->b", labels @ distances, labels)
    spread = values.std()
    if not spread > 1e-12 * np.abs(values).max(initial=1e-300):
        return np.full(len(values), NOTHING)
    return np.asarray((values - values.mean()) / spread)


def _effect(
    before: Floats, after: Floats, pairs: Sequence[tuple[int, int]], coverage: float
) -> dict[str, float]:
    """The difference of people's means, in standard deviations of the first study's values."""
    one, two = _means(before), _means(after)
    sd = float(np.nanstd(before))
    difference = float(np.nanmean(two) - np.nanmean(one))
    if len(pairs) == len(after):
        changes = np.array([two[k] - one[i] for i, k in pairs])
        changes = changes[np.isfinite(changes)]
        difference = float(changes.mean()) if len(changes) else np.nan
        error = float(changes.std(ddof=1) / np.sqrt(len(changes)))
        freedom = len(changes) - 1.0
    else:
        parts = [np.nanvar(x, ddof=1) / np.isfinite(x).sum() for x in (one, two)]
        error = float(np.sqrt(sum(parts)))
        weights = [part**2 / max(1, np.isfinite(x).sum() - 1)
                   for part, x in zip(parts, (one, two), strict=True)]  # fmt: skip
        freedom = sum(parts) ** 2 / sum(weights) if sum(weights) > 0 else 1.0
    width = float(stdtrit(max(1.0, freedom), 0.5 + coverage / 2)) * error
    unit = sd if sd > 0 else np.nan
    return {
        "first": float(np.nanmean(one)),
        "new": float(np.nanmean(two)),
        "effect": difference / unit,
        "lower": (difference - width) / unit,
        "upper": (difference + width) / unit,
    }


def _means(values: Floats) -> Floats:
    seen = np.isfinite(values)
    count = seen.sum(axis=1)
    sums = np.where(seen, values, 0.0).sum(axis=1)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)

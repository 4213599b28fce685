"""P-values by people's signs: people are the sample, and under the null their scores have no side.

Whatever is tested comes as one score g_i for each person, of mean zero if there is nothing to find
(or, which is the same, as one number <g_i, g_k> for each pair). The statistic and its null are

    V = |sum of g_i|^2 - sum of |g_i|^2,        V* = |sum of w_i g_i|^2 - sum of |g_i|^2,

w_i = +1 or -1 by a coin. A person with herself never counts, so that dependence within a person, of
any form, cannot make a finding. Where there are no more than `draws` + 1 different patterns of
signs, all of them are used.

Scores are made of residuals, and a residual is smaller than the error behind it: whoever pulls a
mean or a regression towards herself hides a part of herself. Signs would then flip too little, and
few people would find too much. So `PersonScores` holds the scores with residuals restored to the
size of their errors, for the signs, and the sum of the plain ones, which is what was observed.

Many tests share their signs. Their statistics are put on one scale by the second and third moment
of V*, which flipping does not change, and the level holds for the family: a test is adjusted by the
largest statistic, under the same signs, of all that are not clearer than it (step-down).

References: Chwialkowski, Sejdinovic & Gretton (2014), "A wild bootstrap for degenerate kernel
tests"; Bell & McCaffrey (2002) for restored residuals; Romano & Wolf (2005), "Exact and approximate
stepdown methods for multiple hypothesis testing"; Wilson & Hilferty (1931) for the scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: With fewer people there are fewer than 32 patterns of signs: nothing could be found at .05.
FEWEST_PEOPLE = 6

#: Deviates that differ by less than this are equal.
TIE = 1e-9

#: The deviate of a test that has nothing to test with.
NOTHING = -np.inf


@dataclass(frozen=True)
class PersonScores:
    """One test: what each of n people brings to it."""

    restored: NDArray[np.float64]  # (n, d): with residuals of the size of their errors
    total: NDArray[np.float64]  # (d,): the sum of the plain scores


@dataclass(frozen=True)
class FamilyTested:
    """m tests with shared signs."""

    statistic: NDArray[np.float64]  # (m,): on one scale, about standard normal if nothing is there
    p_value: NDArray[np.float64]  # (m,): each on its own; 1 where there is nothing to test with
    adjusted: NDArray[np.float64]  # (m,): for the family
    draws: int


def signs(people: int, draws: int, random: np.random.Generator) -> NDArray[np.float64]:
    """(B, people): patterns of signs besides "all as they are"; all of them if there are few."""
    if people <= 31 and 2 ** (people - 1) - 1 <= draws:
        codes = np.arange(1, 2 ** (people - 1))
        flipped = (codes[:, None] >> np.arange(people - 1)) & 1
        return np.column_stack([np.ones(len(codes)), 1.0 - 2.0 * flipped])
    return 1.0 - 2.0 * random.integers(0, 2, (draws, people)).astype(np.float64)


def largest_of(tests: Sequence[PersonScores], flips: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1 + B,): the largest deviate of several components, as observed and then flipped."""
    return np.max([deviates(each, flips) for each in tests], axis=0)


def deviates(scores: PersonScores, flips: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1 + B,): V and V* as about normal deviates; the first is what was observed."""
    g = scores.restored
    people, width = g.shape
    own = np.einsum("ij,ij->i", g, g)
    trace = float(own.sum())
    if not trace > 0:
        return np.full(1 + len(flips), NOTHING)
    if width < people:
        gram = g.T @ g
        leaning = np.einsum("ij,ij->i", g @ gram, g)
        squares = float((gram * gram).sum() - (own**2).sum())
        cubes = float(
            np.einsum("ij,ij->", gram @ gram, gram) - 3 * own @ leaning + 2 * (own**3).sum()
        )
        sums = flips @ g
        flipped = np.einsum("bj,bj->b", sums, sums) - trace
    else:
        pairs = g @ g.T
        np.fill_diagonal(pairs, 0.0)
        squares = float((pairs * pairs).sum())
        cubes = float(np.einsum("ij,ij->", pairs @ pairs, pairs))
        flipped = np.einsum("bi,bi->b", flips @ pairs, flips)
    if squares <= 1e-20 * trace**2:
        return np.full(1 + len(flips), NOTHING)
    spread = np.sqrt(2 * squares)
    observed = float(scores.total @ scores.total) - trace
    return _normal_deviates(np.append(observed, flipped) / spread, 8 * cubes / spread**3)


def _normal_deviates(z: NDArray[np.float64], skewness: float) -> NDArray[np.float64]:
    """Wilson and Hilferty's cube root for a gamma variable of this skewness; always increasing."""
    s = max(skewness, 1e-3)
    return np.asarray((6 / s) * (np.cbrt(1 + s * z / 2) - 1) + s / 6)


def family_test(
    tested: Iterable[NDArray[np.float64]], beside: Iterable[NDArray[np.float64]] = ()
) -> FamilyTested:
    """P-values of m tests (1 + B,), as observed and flipped, that share their signs.

    `beside`: further tests with these signs that belong to the family, and are less clear than all
    that are asked about.
    """
    both = np.array(list(tested))
    observed, flipped = both[:, 0], both[:, 1:]
    tests, draws = flipped.shape
    reach = observed - TIE * np.maximum(1, np.where(np.isfinite(observed), np.abs(observed), 1))
    p_value = (1 + (flipped >= reach[:, None]).sum(axis=1)) / (draws + 1)
    adjusted = np.ones(tests)
    largest = np.full(draws, NOTHING)
    for other in beside:
        np.maximum(largest, other[1:], out=largest)
    clearest_last = np.argsort(observed, kind="stable")
    for j in clearest_last:
        np.maximum(largest, flipped[j], out=largest)
        adjusted[j] = (1 + (largest >= reach[j]).sum()) / (draws + 1)
    clearest_first = clearest_last[::-1]
    adjusted[clearest_first] = np.maximum.accumulate(adjusted[clearest_first])
    return FamilyTested(observed, p_value, adjusted, draws)


def q_values(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The false discovery rate at which each would be found (Benjamini & Hochberg, 1995)."""
    count = len(p_values)
    order = np.argsort(-p_values, kind="stable")
    scaled = p_values[order] * count / np.arange(count, 0, -1)
    found = np.empty(count)
    found[order] = np.minimum(1, np.minimum.accumulate(scaled))
    return found

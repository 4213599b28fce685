"""Tests given other variables: what is known is taken out, and residuals get their size back."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power

from smdp.data.trajectories import Trajectories
from smdp.independence.given_others import GivenOthers, _orthonormal, _restored
from smdp.independence.people import finest_strata, in_large_strata, people_rows
from smdp.independence.signs import family_test, signs
from smdp.simulation.generative_model import simulate


def trial(states: np.ndarray, actions: np.ndarray, utilities: np.ndarray) -> Trajectories:
    n, times = actions.shape
    return Trajectories(
        states=states,
        actions=actions,
        utilities=utilities,
        valid=np.ones((n, times), dtype=bool),
        available=np.ones((n, times), dtype=bool),
        probabilities=np.full((n, times, 2), 0.5),
        variables=tuple(f"v{j}" for j in range(states.shape[2])),
        subjects=tuple(map(str, range(n))),
        action_labels=("0", "1"),
    )


def two_that_follow_a_third(seed: int, direct: float = 0.0, n: int = 20) -> Trajectories:
    """v0 and the utility both follow v1 in a curve; v0 acts itself by `direct`."""
    random = np.random.default_rng(seed)
    states = random.normal(size=(n, 31, 2))
    states[:, :, 0] += np.cos(2 * states[:, :, 1])
    actions = random.integers(0, 2, (n, 30))
    utilities = (
        np.sin(2 * states[:, :-1, 1])
        + states[:, :-1, 1] ** 2
        + direct * states[:, :-1, 0] * actions
    )
    utilities += 0.5 * random.normal(size=(n, 1)) + random.normal(size=(n, 30))
    return trial(states, actions, utilities)


def p_value(data: Trajectories, known: list[int], seed: int = 0) -> float:
    random = np.random.default_rng(seed)
    rows, _ = finest_strata(data, 2)
    given = GivenOthers(data, rows, signs(rows.people, 499, random), random)
    return float(family_test(given.test([0], known, [])).p_value[0])


def test_what_another_variable_explains_is_not_found():
    p = np.array([p_value(two_that_follow_a_third(seed), [1]) for seed in range(200)])
    assert np.mean(p <= 0.10) < 0.10 + 2.58 * math.sqrt(0.09 / 200)
    without = [p_value(two_that_follow_a_third(seed), []) for seed in range(5)]
    assert max(without) <= 0.05


def test_what_it_does_itself_is_found():
    found = [p_value(two_that_follow_a_third(seed, 0.3), [1]) <= 0.05 for seed in range(20)]
    assert np.mean(found) >= 0.8


@pytest.mark.slow
def test_earlier_actions_are_not_blamed_for_kinks_of_an_outcome():
    """The paper's exponential model is steep, cut off, and nearly without noise."""
    p = []
    for seed in range(16):
        data = simulate("exp", seed=seed).select(["S1", "S2", "S3", "S4"])
        random = np.random.default_rng(seed)
        rows, _ = finest_strata(data, 2)
        given = GivenOthers(data, rows, signs(rows.people, 499, random), random)
        p.append(family_test([given.earlier_actions(range(4), range(4))]).p_value[0])
    assert np.sum(np.array(p) <= 0.05) <= 4  # a binomial of 16 and .05 is above 4 in .001


def test_residuals_get_back_the_size_of_their_errors():
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(6), [10, 4, 12, 7, 9, 8])
    basis = _orthonormal(random.normal(size=(50, 5)))
    values = random.normal(size=(50, 2))
    found = _restored(values, basis, person)
    for i in range(6):
        own = person == i
        hat = basis[own] @ basis[own].T
        exact = fractional_matrix_power(np.eye(len(hat)) - hat, -0.5) @ values[own]
        np.testing.assert_allclose(found[own], exact, rtol=0.02, atol=0.02)


def test_a_few_who_stay_long_do_not_drown_the_others():
    """At the last decisions two people are left: each hides half of herself in their mean."""
    data = two_that_follow_a_third(3, 0.4)
    lengths = np.full(20, 12)
    lengths[:2] = 30
    valid = np.arange(30) < lengths[:, None]
    data = replace(data, valid=valid, actions=np.where(valid, data.actions, -1))
    assert p_value(data, [1]) <= 0.05


@pytest.mark.parametrize("past", [0, 1, 2])
def test_strata_are_the_last_actions(past):
    data = two_that_follow_a_third(0, n=6)
    rows = people_rows(data, past)
    for r in range(0, len(rows.row), 17):
        for s in range(0, len(rows.row), 23):
            together = all(
                (rows.time[r] >= lag) == (rows.time[s] >= lag)
                and (
                    rows.time[r] < lag
                    or data.actions[rows.row[r], rows.time[r] - lag]
                    == data.actions[rows.row[s], rows.time[s] - lag]
                )
                for lag in range(past + 1)
            )
            assert together == (rows.stratum[r] == rows.stratum[s])


def test_few_rows_hold_fewer_earlier_actions_fixed():
    assert finest_strata(two_that_follow_a_third(0, n=20), 2)[1] == 2
    assert finest_strata(two_that_follow_a_third(0, n=6), 2)[1] == 1
    alternating = two_that_follow_a_third(0, n=6)
    rows = people_rows(alternating, 2)
    assert in_large_strata(rows).mean() > 0.5

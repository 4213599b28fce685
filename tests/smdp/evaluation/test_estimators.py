"""Each estimator of a policy's value alone, on a trial whose answers are known by hand.

Two states, 0 and 1, and two actions: the action taken is the next state, and U = s + 2a. With
discount 1/2, "always 1" has Q(s, 1) = 5 + s and Q(s, 0) = 2.5 + s; from states 0 and 1 in equal
parts its value, a decision, is (5 + 6) / 2 / 2 = 2.75. It visits state 1 in 3/4 of its
(discounted) decisions, the trial in half of them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from smdp.evaluation import estimators
from smdp.evaluation.positivity import positivity_table, positivity_warnings
from smdp.evaluation.target import always_target, observed_target
from smdp.evaluation.value_rows import ValueRows
from smdp.feature_map.transitions import Scale
from smdp.policy import q_linear
from smdp.policy.decision_rows import DecisionRows
from smdp.policy_iteration import policy_iteration
from smdp.propensity import Propensities

DISCOUNT = 0.5
EXACT = 2.75


def rows_of(actions, utilities) -> ValueRows:
    """Decisions (n, T) that all count, with a choice of two actions."""
    actions = np.asarray(actions)
    n, times = actions.shape
    row, time = (each.ravel() for each in np.indices(actions.shape))
    everything = np.ones((n * times, 2), dtype=bool)
    return ValueRows(
        row=row,
        time=time,
        subject=row,
        shape=(n, times),
        level=actions.ravel(),
        utility=np.asarray(utilities, dtype=float).ravel(),
        allowed=everything,
        allowed_next=everything,
        open_next=np.ones(n * times),
        actions=2,
        notes=(),
    )


def trial():
    """Every course of four decisions once, from both states: rows, states now, states next."""
    courses = np.array(list(product((0, 1), repeat=5)))  # the first state, then the actions
    state, action = courses[:, :-1], courses[:, 1:]
    return rows_of(action, state + 2 * action), state.ravel(), action.ravel()


def basis_of(rows, state, following) -> estimators.Basis:
    now, after = (np.column_stack([np.ones(len(s)), s]).astype(float) for s in (state, following))
    return estimators.Basis(now, after, now[rows.first])


def always_one(rows):
    return always_target(rows, np.full(len(rows.level), 0.5), 1)


def test_what_a_policy_would_do_beside_what_was_done():
    rows, _, _ = trial()
    found = always_one(rows)
    np.testing.assert_array_equal(found.ratio, 2.0 * (rows.level == 1))
    np.testing.assert_array_equal(found.following, np.tile([0.0, 1.0], (len(rows.level), 1)))
    assert observed_target(rows).levels == 1


def test_fitted_q_finds_the_q_function():
    rows, state, following = trial()
    regression = estimators.QRegression(
        rows, basis_of(rows, state, following), always_one(rows), DISCOUNT
    )
    everybody = np.ones(rows.units, dtype=bool)
    model = regression.fit(everybody, ridge=0.0)
    intercept_and_slope = model.weights.reshape(2, 2)
    intercept_and_slope[:, 0] += regression.centre / (1 - DISCOUNT)
    np.testing.assert_allclose(intercept_and_slope, [[2.5, 1], [5, 1]], atol=2e-3)
    assert regression.best_ridge(np.arange(rows.units) % 2) == min(estimators.RIDGES)
    # Nothing is random here, so that any half of the people says the same of the first values.
    half = (np.arange(rows.units) % 2 == 0).astype(float)
    drawn = regression.resampled(model, np.stack([np.ones(rows.units), half]))
    expected = 5 + state[rows.first] - regression.centre / (1 - DISCOUNT)
    np.testing.assert_allclose(drawn, np.stack([expected, expected]), atol=1e-5)


def test_without_a_future_fitted_q_is_the_mean_utility():
    rows, state, following = trial()
    basis = basis_of(rows, state, following)
    observed = estimators.QRegression(rows, basis, observed_target(rows), discount=0.0)
    model = observed.fit(np.ones(rows.units, dtype=bool), ridge=0.0)
    # U = s + 2a with both actions equally often: s + 1, and the centre is the mean of that.
    np.testing.assert_allclose(model.weights, [-0.5, 1.0], atol=1e-6)


def test_the_weights_are_how_much_more_often_a_state_is_visited():
    rows, state, following = trial()
    basis = basis_of(rows, state, following)
    equation = estimators.WeightEquation(rows, basis, always_one(rows), DISCOUNT)
    everybody = np.ones(rows.units, dtype=bool)
    solution = equation.solve(everybody, ridge=0.0)
    weights, at_limit = equation.weights(solution, everybody, limit=10.0)
    np.testing.assert_allclose(weights, np.where(state == 1, 1.5, 0.5), atol=1e-6)
    assert not at_limit.any()
    limited, at_limit = equation.weights(solution, everybody, limit=1.0)
    np.testing.assert_allclose(limited, np.where(state == 1, 4 / 3, 2 / 3), atol=1e-6)
    np.testing.assert_array_equal(at_limit, state == 1)
    own = estimators.WeightEquation(rows, basis, observed_target(rows), DISCOUNT)
    np.testing.assert_allclose(own.solve(everybody, ridge=0.0), [1.0, 0.0], atol=1e-6)


def test_doubly_robust_is_exact_with_a_q_function_that_is():
    rows, state, following = trial()
    fold = np.arange(rows.units) % 2
    same = np.ones((3, rows.units))
    found = estimators.estimate(
        rows, basis_of(rows, state, following), [always_one(rows)] * 2, fold, same,
        discount=DISCOUNT, weight_limit=10.0,
    )  # fmt: skip
    assert found.value == pytest.approx(EXACT, abs=1e-3)
    assert found.fitted_q == pytest.approx(EXACT, abs=1e-3)
    np.testing.assert_allclose(found.fitted_q_draws, EXACT, atol=1e-3)
    assert found.influence.sum() == pytest.approx(0, abs=1e-9)
    assert found.clipped == 0
    observed = estimators.estimate(
        rows, basis_of(rows, state, following), [observed_target(rows)] * 2, fold, same,
        discount=DISCOUNT, weight_limit=10.0,
    )  # fmt: skip
    assert observed.value == pytest.approx(rows.utility.mean(), abs=1e-3)


def test_doubly_robust_is_exact_with_weights_that_are_and_no_q_function():
    rows, state, _ = trial()
    weights = np.where(state == 1, 1.5, 0.5) * always_one(rows).ratio
    nothing = np.zeros((1, rows.units))
    found = estimators._combined(
        rows, 0.0, weights, rows.utility, nothing[0], nothing, np.ones_like(nothing), 0.0
    )
    assert found.value == pytest.approx(EXACT)
    assert found.fitted_q == 0


def test_errors_add_up_over_subjects_and_resamples():
    assert estimators.standard_error(np.array([3.0, -4.0]), np.full(9, 7.0)) == pytest.approx(
        50**0.5
    )
    draws = np.array([*range(101), np.nan])  # the middle 68.26 % reach from 15.87 to 84.13
    assert estimators.spread(draws) == pytest.approx(34.13)
    assert np.isnan(estimators.spread(np.array([1.0, np.nan])))


def test_importance_sampling_of_two_decisions():
    rows = rows_of([[1, 1], [1, 0]], [[1, 10], [3, 20]])
    ratio = np.array([2.0, 2.0, 2.0, 0.0])
    counts = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = estimators.stepwise(rows, ratio, counts, discount=0.5)
    # First (1 + 3) / 2; then only the one who still does what the policy would do: 10.
    assert found.value == pytest.approx((2 + 0.5 * 10) / 1.5)
    assert found.effective == pytest.approx((2 + 0.5 * 1) / 1.5)
    np.testing.assert_allclose(found.draws, [(1 + 0.5 * 10) / 1.5, 3.0])
    nobody = estimators.stepwise(rows, np.zeros(4), counts, discount=0.5)
    assert np.isnan(nobody.value)
    assert nobody.effective == 0


def test_positivity_counts_what_was_rare_and_what_was_never_tried_nearby():
    given = np.array([[0.9, 0.1], [0.5, 0.5], [0.99, 0.01], [0.5, 0.5]] * 2)
    rows = rows_of([[0, 0, 0, 0], [0, 1, 0, 1]], np.zeros((2, 4)))
    known = Propensities(given, 0.0, ())
    far_apart = np.repeat([[0.0], [10.0]], 4, axis=0)
    table = positivity_table(rows, known, far_apart, ("none", "a message"), 0.05)
    assert table["action"].tolist() == ["none", "a message"]
    assert table["taken"].tolist() == [0.75, 0.25]
    assert table["smallest"].tolist() == [0.5, 0.01]
    assert table["below"].tolist() == [0.0, 0.25]
    assert table["unsupported"].tolist() == [0.0, 0.5]  # at 0.0 it was never tried
    rare, untried = positivity_warnings(table, 0.05)
    assert "At 25% of the decisions the action 'a message' had a probability below 0.05" in rare
    assert "At 50% of the decisions the action 'a message' was hardly ever tried" in untried
    assert positivity_warnings(table.assign(below=0.0, unsupported=0.04), 0.05) == []
    everywhere = positivity_table(rows, known, np.empty((8, 0)), ("0", "1"), 0.05)
    assert everywhere["unsupported"].tolist() == [0.0, 0.0]


def decision_rows() -> DecisionRows:
    """The same trial for those who learn, with states -1 and 1: "always 1" is the best policy."""
    rows, state, following = trial()
    return DecisionRows(
        features=2.0 * state[:, None] - 1,
        level=rows.level,
        utility=rows.utility,
        following=2.0 * following[:, None] - 1,
        choices=rows.allowed,
        row=rows.row,
        time=rows.time,
        subject=rows.subject,
        shape=rows.shape,
        actions=2,
        levels=2,
        scale=Scale(np.zeros(1), np.ones(1)),
        notes=(),
    )


BEST = [[3.0, 0.5], [5.5, 0.5]]  # the intercept and the slope of each action's Q


def test_policy_iteration_finds_the_best_policy_and_its_q_function():
    rows = decision_rows()
    found = policy_iteration(rows, DISCOUNT, ridge=0.0)
    np.testing.assert_allclose(found.weights, BEST, atol=1e-6)
    assert found.converged
    assert found.switched[-1] == 0
    counts = np.where(np.arange(rows.subjects) % 2, 2, 0)
    sample = policy_iteration(rows, DISCOUNT, ridge=0.0, counts=counts)
    np.testing.assert_allclose(sample.weights, BEST, atol=1e-6)
    myopic = policy_iteration(rows, 0.0, ridge=0.0)
    np.testing.assert_allclose(myopic.weights, [[0.5, 0.5], [2.5, 0.5]], atol=1e-6)


def test_one_transition_at_a_time_comes_to_the_same(monkeypatch):
    monkeypatch.setattr(q_linear, "UPDATES", 10_000)
    heard: list[float] = []
    rows = decision_rows()
    everybody = np.ones((1, rows.subjects), dtype=np.int64)
    (found,) = q_linear.stochastic_updates(rows, DISCOUNT, everybody, seed=1, report=heard.append)
    np.testing.assert_allclose(found.weights, BEST, atol=0.02)
    assert found.converged
    assert heard == sorted(heard)
    (again,) = q_linear.stochastic_updates(rows, DISCOUNT, everybody, seed=1)
    np.testing.assert_array_equal(found.weights, again.weights)

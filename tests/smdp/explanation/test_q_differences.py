"""Differences between two actions: at decisions, over variables and features, in two policies."""

import numpy as np
import pytest
from small_policies import map_of, policy_of, random_policy, trajectories_of

from smdp.errors import SettingError
from smdp.explanation.q_differences import (
    compare_policies,
    observed_differences,
    over_feature,
    over_two_features,
    over_variable,
)
from smdp.feature_map.layers import Layer
from smdp.policy.q_function import QFunction

NAMES = ("stress", "mood", "weekend")
PAIR = ("treatment", "nothing")


def linear(slope_stress, slope_mood, refits=0):
    """Q(treatment) - Q(nothing) = slope_stress stress + slope_mood mood, exactly."""
    features = map_of([Layer(np.eye(2, 3), np.zeros(2))], NAMES, activation="identity")

    def q(extra):
        weights = np.array([[0.0, 0.0], [slope_stress + extra, slope_mood]])
        return QFunction(np.zeros(2), np.ones(2), (Layer(weights, np.zeros(2)),))

    spread = np.random.default_rng(5).normal(0, 0.2, refits)
    return policy_of(features, q(0.0), [q(e) for e in spread])


@pytest.fixture
def study():
    random = np.random.default_rng(1)
    states = random.normal(0, 1, (12, 11, 3))
    states[:, :, 2] = random.integers(0, 2, (12, 11))
    return trajectories_of(states, NAMES)


def test_observed_differences_and_their_certainty(study):
    policy = linear(1.0, 0.5, refits=40)
    found = observed_differences(policy, study, *PAIR)
    states = study.states[:, :-1].reshape(-1, 3)
    np.testing.assert_allclose(found.difference, states[:, 0] + 0.5 * states[:, 1])
    draws = [q.layers[0].weights[1, 0] for q in policy.resampled]
    np.testing.assert_allclose(found.error, np.abs(states[:, 0]) * np.std(draws, ddof=1))
    assert found.certain.sum() < len(states)
    np.testing.assert_array_equal(found.certain, np.abs(found.difference) > 1.6448536 * found.error)
    swapped = observed_differences(policy, study, *PAIR[::-1])
    np.testing.assert_allclose(swapped.difference, -found.difference)
    assert observed_differences(linear(1.0, 0.5), study, *PAIR).certain.all()


def test_partial_dependence_of_a_linear_difference_is_its_slope(study):
    policy = linear(2.0, -1.0, refits=12)
    states = study.states[:, :-1].reshape(-1, 3)
    curve = over_variable(policy, study, "stress", *PAIR)
    assert len(curve.at) == 25
    np.testing.assert_allclose(curve.estimate, 2.0 * curve.at - states[:, 1].mean())
    assert (curve.lower <= curve.estimate).all()
    assert (curve.estimate <= curve.upper).all()
    assert (curve.upper - curve.lower)[0] > (curve.upper - curve.lower)[12]
    binary = over_variable(policy, study, "weekend", *PAIR)
    assert binary.at.tolist() == [0.0, 1.0]
    assert np.ptp(binary.estimate) == pytest.approx(0)
    feature = over_feature(policy, study, policy.feature_map.features[1], *PAIR)
    np.testing.assert_allclose(np.diff(feature.estimate) / np.diff(feature.at), -1.0)
    assert np.isnan(over_variable(linear(2.0, 1.0), study, "mood", *PAIR).lower).all()


def test_a_plane_is_empty_where_nobody_was(study):
    policy = linear(1.0, 1.0)
    plane = over_two_features(policy, study, *policy.feature_map.features, *PAIR)
    seen = ~np.isnan(plane.difference)
    assert 0.1 < seen.mean() < 0.95
    expected = plane.x[None, :] + plane.y[:, None]
    np.testing.assert_allclose(plane.difference[seen], expected[seen])
    near = plane.seen.std(axis=0) / 2
    for row, column in np.ndindex(seen.shape):
        apart = (plane.seen - [plane.x[column], plane.y[row]]) / near
        assert seen[row, column] == (((apart**2).sum(axis=1) <= 1).sum() >= 5)
    assert len(plane.taken) == len(plane.seen) == 120


def test_a_plane_averages_over_the_other_features(study):
    policy = random_policy(NAMES, features=3, hidden=(8,), resamples=0)
    names = policy.feature_map.features
    plane = over_two_features(policy, study, names[0], names[2], *PAIR)
    features = policy.feature_map.transform(study.states[:, :-1].reshape(-1, 3))
    row, column = np.argwhere(~np.isnan(plane.difference))[7]
    features[:, 0], features[:, 2] = plane.x[column], plane.y[row]
    q = policy.q(features)
    assert plane.difference[row, column] == pytest.approx((q[:, 1] - q[:, 0]).mean())


def test_policies_that_are_the_same_agree_and_opposite_ones_do_not(study):
    policy = linear(1.0, 0.0)
    same = compare_policies(policy, policy, study, *PAIR)
    assert (same.same_best, same.both_recommend, same.same_recommended) == (1.0, 1.0, 1.0)
    assert same.correlation == pytest.approx(1)
    other = compare_policies(policy, linear(-1.0, 0.0), study, *PAIR)
    assert (other.same_best, other.same_recommended) == (0.0, 0.0)
    assert other.correlation == pytest.approx(-1)
    flat = compare_policies(policy, linear(0.0, 0.0), study, *PAIR)
    assert np.isnan(flat.correlation)


def test_policies_on_different_variables_are_compared_at_the_same_decisions(study):
    whole = linear(1.0, 0.0)
    alone = policy_of(
        map_of([Layer(np.eye(1), np.zeros(1))], ("stress",), activation="identity"),
        QFunction(np.zeros(1), np.ones(1), (Layer(np.array([[0.0], [1.0]]), np.zeros(2)),)),
    )
    found = compare_policies(whole, alone, study, *PAIR)
    np.testing.assert_allclose(found.first, found.second)


def test_names_that_are_not_there(study):
    policy = linear(1.0, 1.0)
    with pytest.raises(SettingError, match="'surgery' is no action"):
        observed_differences(policy, study, "surgery", "nothing")
    with pytest.raises(SettingError, match="compared with itself"):
        observed_differences(policy, study, "nothing", "nothing")
    with pytest.raises(SettingError, match="no variable 'sleep'"):
        over_variable(policy, study, "sleep", *PAIR)
    with pytest.raises(SettingError, match="no feature 'feature 9'"):
        over_two_features(policy, study, "feature 9", "feature 1", *PAIR)
    with pytest.raises(SettingError, match="Both features"):
        over_two_features(policy, study, "feature 1", "feature 1", *PAIR)

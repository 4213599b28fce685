"""A learned policy as a result: values, parameters, availability, and back from a file."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.feature_map.identity import identity_feature_map
from smdp.plain_data import read_plain, write_plain
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.generative_model import simulate

ORACLE = ["S1", "S2", "S3", "S4"]


@pytest.fixture(scope="module")
def study() -> Trajectories:
    return simulate("exp", subjects=20, times=40, seed=2).select(ORACLE)


@pytest.fixture(scope="module", params=["linear", "neural"])
def policy(request, study) -> LearnedPolicy:
    options = PolicySettings(model=request.param, bootstraps=10, steps=400, width=16)
    return learn_policy(study, identity_feature_map(study), options)


def test_the_best_allowed_action_is_recommended(policy, study):
    states = study.states[:, :5]
    q = policy.q_values(states)
    assert q.shape == (20, 5, 2)
    np.testing.assert_array_equal(policy.recommend(states), q.argmax(axis=-1))
    np.testing.assert_allclose(policy.margin(states), np.abs(q[..., 0] - q[..., 1]))
    some = np.arange(100).reshape(20, 5) % 3 > 0
    found = policy.recommend(states, some)
    assert (found[~some] == -1).all()
    np.testing.assert_array_equal(found[some], q.argmax(axis=-1)[some])
    only_second = np.broadcast_to([False, True], q.shape)
    assert (policy.recommend(states, only_second) == 1).all()
    with pytest.raises(DataError, match="'available' has shape"):
        policy.recommend(states, some[:3])


def test_tables_are_taken_by_name_and_missing_values_have_no_recommendation(policy, study):
    states = study.states[0]
    table = pd.DataFrame(states[:, ::-1], columns=ORACLE[::-1]).assign(more=1.0)
    np.testing.assert_array_equal(policy.q_values(table), policy.q_values(states))
    gap = states.copy()
    gap[3, 1] = np.nan
    found = policy.recommend(gap)
    assert found[3] == -1
    np.testing.assert_array_equal(np.delete(found, 3), np.delete(policy.recommend(states), 3))


def test_a_policy_comes_back_from_a_file(policy, study, tmp_path):
    write_plain(policy, tmp_path)
    again = read_plain(tmp_path)
    assert again.settings == policy.settings
    pd.testing.assert_frame_equal(again.convergence, policy.convergence)
    a, b = policy.decide(study.states), again.decide(study.states)
    for name in ("recommended", "margin_lower", "least_tried", "distance", "reason"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_parameters_are_per_standard_deviation_of_the_feature(study):
    options = PolicySettings(bootstraps=10)
    policy = learn_policy(study, identity_feature_map(study), options)
    parameters = policy.parameters
    assert list(parameters.index) == ["0", "1"]
    assert list(parameters.columns) == ["intercept", *ORACLE]
    states = study.states[:, :-1].reshape(-1, 4)
    mean, sd = states.mean(axis=0), states.std(axis=0)
    np.testing.assert_allclose(policy.q_values(mean), parameters.intercept)
    for j, name in enumerate(ORACLE):
        moved = mean + sd * (np.arange(4) == j)
        gain = policy.q_values(moved) - policy.q_values(mean)
        np.testing.assert_allclose(gain, parameters[name])


def test_parameters_have_the_error_of_the_refits(study):
    policy = learn_policy(study, identity_feature_map(study), PolicySettings(bootstraps=10))
    table = policy.parameter_intervals
    draws = policy.parameter_draws
    assert draws.shape == (11, 2, 5)
    half = 1.959964 * draws[1:].std(axis=0, ddof=1).ravel()
    np.testing.assert_allclose(table.upper - table.estimate, half, rtol=1e-6)
    np.testing.assert_allclose(table.estimate - table.lower, half, rtol=1e-6)
    assert table.parameter.tolist()[:5] == ["intercept", *ORACLE]
    alone = replace(policy, resampled=())
    assert alone.parameter_intervals.lower.isna().all()


def test_a_network_has_no_parameters(policy):
    if policy.kind == "neural":
        with pytest.raises(SettingError, match="no parameters for each feature"):
            _ = policy.parameters


def test_errors_of_parameters_are_about_right():
    """Over 40 trials, the spread of a parameter and its mean bootstrap error agree.

    With 40 trials the spread's own error is 11 %; three of them, and the bootstrap's bias, allowed.
    """
    estimates, errors = [], []
    for seed in range(40):
        trial = simulate("linear", subjects=20, times=20, seed=seed).select(ORACLE)
        options = PolicySettings(discount=0.5, bootstraps=30)
        policy = learn_policy(trial, identity_feature_map(trial), options)
        difference = policy.parameter_draws[:, 1] - policy.parameter_draws[:, 0]
        estimates.append(difference[0, 1:])
        errors.append(difference[1:, 1:].std(axis=0, ddof=1))
    ratio = np.mean(errors, axis=0) / np.std(estimates, axis=0)
    assert (ratio > 0.6).all()
    assert (ratio < 1.5).all()

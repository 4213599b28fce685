"""With shuffled actions there is nothing to gain, and the estimate must say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smdp.errors import SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.placebo import placebo_check, shuffled_actions
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.generative_model import simulate


def test_actions_are_shuffled_within_time_with_their_probabilities():
    study = simulate("linear", subjects=15, times=6, seed=1)
    random = np.random.default_rng(0)
    p = random.uniform(0.2, 0.8, study.actions.shape)
    available = random.random(study.actions.shape) < 0.7
    study = replace(study, probabilities=np.stack([1 - p, p], axis=-1), available=available)
    found = shuffled_actions(study, random)
    assert (found.actions != study.actions).any()
    pairs = lambda s, t, who: sorted(  # noqa: E731
        zip(s.actions[who, t], s.probabilities[who, t, 1], strict=True)
    )
    for t in range(6):
        who = np.flatnonzero(available[:, t])
        assert pairs(found, t, who) == pairs(study, t, who)
        apart = np.flatnonzero(~available[:, t])
        np.testing.assert_array_equal(found.probabilities[apart, t], study.probabilities[apart, t])
    np.testing.assert_array_equal(found.states, study.states)


def test_the_gain_vanishes_with_shuffled_actions():
    study = simulate("linear", subjects=20, times=30, seed=1).select(["S1", "S2", "S3", "S4"])
    settings = PolicySettings(discount=0.5, bootstraps=0)
    policy = learn_policy(study, identity_feature_map(study), settings, seed=0)
    found = placebo_check(study, policy, EvaluationSettings(bootstraps=30), repeats=9, seed=0)
    assert found.p_value == 0.1
    assert found.gain > 1
    assert np.abs(found.placebo).max() < found.gain / 2
    assert abs(found.mean) < 3 * found.placebo.std(ddof=1) / 3
    assert found.excludes_zero.sum() <= 3


def test_repeats_must_be_a_number():
    study = simulate("linear", subjects=10, times=5, seed=1).select(["S1"])
    policy = learn_policy(study, identity_feature_map(study), PolicySettings(bootstraps=0), seed=0)
    with pytest.raises(SettingError, match="'repeats' must be"):
        placebo_check(study, policy, repeats=0)

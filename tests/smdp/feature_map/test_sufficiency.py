"""The tests behind the dimension."""

from dataclasses import replace

import numpy as np

from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.conditional_mean import cross_fitted_residuals
from smdp.feature_map.sufficiency import RelativeTest, absolute_p_value, u_centred
from smdp.feature_map.transitions import transitions
from smdp.simulation.generative_model import simulate


def rows_of(seed=0, subjects=20, times=25):
    study = simulate("linear", subjects=subjects, times=times, seed=seed).select(["S1", "S2"])
    return transitions(study, 2, np.random.default_rng(0))


def noise(rows, seed):
    return np.random.default_rng(seed).standard_normal(rows.outcomes.shape)


def unbiased_dcov_squared(x, y):
    """By the sums of Huo & Szekely (2016), without centring anything."""
    n = len(x)
    a, b = (np.linalg.norm(v[:, None] - v[None], axis=2) for v in (x, y))
    first = (a * b).sum() / (n * (n - 3))
    second = a.sum() * b.sum() / (n * (n - 1) * (n - 2) * (n - 3))
    third = 2 * (a.sum(axis=0) * b.sum(axis=0)).sum() / (n * (n - 2) * (n - 3))
    return first + second - third


def test_u_centred_rows_sum_to_zero():
    centred = u_centred(np.random.default_rng(0).standard_normal((7, 3)))
    np.testing.assert_allclose(centred.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_array_equal(np.diag(centred), 0)


def test_the_parts_add_up_to_the_unbiased_distance_covariance():
    rows = rows_of()
    residuals = noise(rows, 1)
    test = RelativeTest(rows, np.ones_like(residuals), residuals, 0.0)
    states = rows.states / rows.states.std(axis=0)
    expected = 0.0
    for t in range(25):
        for a in (0, 1):
            own = (rows.time == t) & (rows.head == a)
            n = own.sum()
            if n >= 4:
                expected += n * unbiased_dcov_squared(states[own], residuals[own])
    np.testing.assert_allclose(test.dependence(residuals).sum(), expected, rtol=1e-9)


def test_relative_sees_what_the_reference_does_not_have():
    rows = rows_of()
    reference = noise(rows, 1)
    depends = noise(rows, 2) + 3 * rows.states[:, :1]
    test = RelativeTest(rows, reference, depends, 0.15)
    assert test.compare(depends).p_value < 0.01
    assert test.compare(reference).dependence == 1.0
    assert test.compare(reference).p_value == 1.0


def test_both_comparisons_must_reject():
    rows = rows_of()
    reference = noise(rows, 1)
    without = noise(rows, 2) + 3 * rows.states[:, :1]
    test = RelativeTest(rows, reference, without, 0.15)
    larger = test.compare(1.5 * noise(rows, 3))  # worse, but no more dependent
    assert larger.loss < 0.001 < 0.05 < larger.dependence == larger.p_value
    smaller = test.compare(0.8 * reference + 0.2 * rows.states[:, :1])  # dependent, but no worse
    assert smaller.p_value == smaller.loss > 0.5


def test_relative_forgives_what_both_have():
    rows = rows_of()
    shared = np.square(rows.states[:, :1])
    test = RelativeTest(rows, noise(rows, 1) + shared, noise(rows, 3) + 3 * shared, 0.0)
    compared = [test.compare(noise(rows, seed) + shared) for seed in range(10, 40)]
    # 30 tests at level 0.05: more than 5 rejections have a chance of 0.003.
    assert sum(each.dependence <= 0.05 for each in compared) <= 5
    assert sum(each.p_value <= 0.05 for each in compared) <= 5


def test_the_margin_is_never_more_than_a_share_of_what_the_state_explains():
    rows = rows_of()
    reference = noise(rows, 1)
    worse = 1.1 * reference  # by 21 % in squares
    lenient = RelativeTest(rows, reference, 2 * reference, 0.5)
    strict = RelativeTest(rows, reference, 1.02 * reference, 0.5)
    assert strict.compare(worse).loss < 0.001 < 0.999 < lenient.compare(worse).loss


def test_absolute_by_both_conditions():
    rows = rows_of(subjects=30)
    settings = FeatureMapSettings(test="absolute", pooling="trajectory")
    seed = np.random.SeedSequence(0)
    features = rows.states

    def p_value(residuals, **change):
        return absolute_p_value(rows, residuals, features, replace(settings, **change), seed=seed)

    assert p_value(noise(rows, 1)) > 0.05
    assert p_value(noise(rows, 1) + rows.states[:, :1]) <= 0.01
    # By the other condition: features and outcomes that have nothing to do with the state.
    apart = replace(rows, outcomes=noise(rows, 2))
    by_other = replace(settings, condition="ii")
    nothing = absolute_p_value(apart, noise(rows, 1), noise(rows, 3)[:, :1], by_other, seed=seed)
    assert nothing > 0.05
    first = rows.states[:, :1]
    missing = absolute_p_value(rows, noise(rows, 1), first, by_other, seed=seed)
    assert missing <= 0.01  # the utility depends on S2, which the feature does not have


def test_what_features_explain_is_taken_out():
    random = np.random.default_rng(0)
    features = random.uniform(-2, 2, (2000, 1))
    values = np.sin(2 * features) + 0.1 * random.standard_normal((2000, 1))
    residuals = cross_fitted_residuals(features, values, np.arange(2000) % 5)
    assert abs(residuals.std() - 0.1) < 0.01

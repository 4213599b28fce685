"""The test of a dimension, with maps that need no training."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from smdp.errors import DataError
from smdp.feature_map.layers import Layer, Network
from smdp.feature_map.normal_space import (
    dimension_test,
    form_test,
    head_probabilities,
    head_slopes,
    squared_slopes,
)
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.simulation.generative_model import simulate

SEED = np.random.SeedSequence(1)
RIGHT = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]])


def study_of(seed=0, **more):
    return simulate("linear", subjects=24, times=40, seed=seed, **more)


def sets_of(study):
    return TrainingSets(transitions(study, 3, np.random.default_rng(0)))


def fitted(sets, weights, *, error=0.0):
    """Networks without each fold: a linear map of the states, and linear heads on it."""
    networks = []
    for k in range(sets.rows.folds):
        states, outcomes = sets.states(k, sets.training(k)), sets.outcomes(k, sets.training(k))
        own = weights * sets.scales[k][0].sd
        own = own + error * np.random.default_rng(k).standard_normal(own.shape)
        z = np.column_stack([np.ones(len(states)), states @ own.T])
        heads = []
        for a in range(sets.rows.heads):
            rows = sets.rows.head[sets.training(k)] == a
            found = np.linalg.lstsq(z[rows], outcomes[rows], rcond=None)[0].T
            heads.append((Layer(found[:, 1:], found[:, 0]),))
        first = Layer(own, np.zeros(len(own)))
        networks.append(Network((first,), tuple(heads), "identity"))
    return networks


def p_value(study, weights, *, test=dimension_test, seed=SEED, **more):
    sets = sets_of(study)
    probabilities = head_probabilities(study, sets.rows)
    return test(sets, fitted(sets, weights, **more), probabilities, seed=seed).p_value


@pytest.fixture
def study():
    return study_of().select(["S1", "S2", "S3", "S4"])


def test_the_true_dimension_is_not_rejected(study):
    assert p_value(study, RIGHT) > 0.05
    assert p_value(study, RIGHT, test=form_test) > 0.05


def test_an_error_of_the_map_is_not_a_dimension(study):
    assert p_value(study, RIGHT, error=0.05) > 0.05


def test_a_dimension_that_is_missing_is_found(study):
    assert p_value(study, RIGHT[[0, 2]]) <= 0.01
    assert p_value(study, RIGHT[[0, 2]], test=form_test) <= 0.01


def test_as_many_features_as_variables_are_enough(study):
    assert p_value(study, np.eye(4)) == 1.0


def test_three_actions():
    study = study_of(actions=3).select([f"S{j + 1}" for j in range(6)])
    pairs = np.kron(np.eye(3), [1.0, 1.0])
    right = np.vstack([np.eye(6)[0], pairs])
    assert p_value(study, right) > 0.05
    assert p_value(study, right[:3]) <= 0.01


def without_choice(study):
    forced = np.random.default_rng(0).random(study.actions.shape) < 0.3
    return replace(
        study,
        available=~forced,
        actions=np.where(forced, -1, study.actions),
        probabilities=np.where(forced[:, :, None], np.nan, study.probabilities),
    )


def test_decisions_without_a_choice(study):
    study = without_choice(study)
    rows = sets_of(study).rows
    probabilities = head_probabilities(study, rows)
    forced = rows.head == 2
    np.testing.assert_array_equal(probabilities[forced], [[0, 0, 1]] * forced.sum())
    np.testing.assert_array_equal(probabilities[~forced], [[0.5, 0.5, 0]] * (~forced).sum())
    assert p_value(study, RIGHT) > 0.05
    assert p_value(study, RIGHT[[0, 2]]) <= 0.01


def test_probabilities_that_are_not_known_are_estimated(study):
    unknown = replace(study, probabilities=np.full_like(study.probabilities, np.nan))
    found = head_probabilities(unknown, sets_of(study).rows)
    assert np.abs(found - 0.5).max() < 0.25
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_the_same_seed_gives_the_same(study):
    again = [p_value(study, RIGHT, seed=np.random.SeedSequence(5)) for _ in range(2)]
    assert again[0] == again[1]


def test_slopes_of_a_head():
    random = np.random.default_rng(0)
    layers = tuple(
        Layer(random.standard_normal((out, into)), random.standard_normal(out))
        for into, out in ((2, 5), (5, 4), (4, 3))
    )

    def head(z):
        for layer in layers[:-1]:
            z = np.arctan(z @ layer.weights.T + layer.bias)
        return z @ layers[-1].weights.T + layers[-1].bias

    z, step = random.standard_normal((6, 2)), 1e-6
    numeric = [(head(z + d) - head(z - d)) / (2 * step) for d in step * np.eye(2)]
    np.testing.assert_allclose(
        head_slopes(layers, "arctan", z), np.stack(numeric, axis=2), atol=1e-8
    )


@pytest.mark.parametrize("hidden", [0, 1, 2])
def test_squared_slopes_are_those_of_head_slopes(hidden):
    random = np.random.default_rng(3)
    sizes = (3, *[7, 5][:hidden], 4)
    layers = [
        Layer(random.normal(size=(out, into)), random.normal(size=out))
        for into, out in pairwise(sizes)
    ]
    z, counts = random.normal(size=(20, 3)), np.array([1.0, 0.5, 0.0, 2.0])
    slopes = head_slopes(layers, "arctan", z)
    expected = sum(
        counts[j] * slopes[r, j][:, None] * slopes[r, j] for r in range(20) for j in range(4)
    )
    np.testing.assert_allclose(squared_slopes(layers, "arctan", z, counts), expected, atol=1e-10)


def test_what_cannot_be_tested_is_refused(study):
    sets = sets_of(study)
    networks, probabilities = fitted(sets, RIGHT), head_probabilities(study, sets.rows)
    with pytest.raises(ValueError, match="shape"):
        dimension_test(sets, networks, probabilities[:, :1], seed=SEED)
    with pytest.raises(ValueError, match="folds"):
        dimension_test(sets, networks[:2], probabilities, seed=SEED)
    with pytest.raises(DataError, match="probability"):
        dimension_test(sets, networks, 0 * probabilities, seed=SEED)
    deep = [replace(each, features=(*each.features, *each.features)) for each in networks]
    with pytest.raises(ValueError, match="one layer"):
        form_test(sets, deep, probabilities, seed=SEED)
    few = study.take(np.arange(5))
    rows = transitions(few, 2, np.random.default_rng(0))
    small = TrainingSets(rows)
    with pytest.raises(DataError, match="too few"):
        dimension_test(small, fitted(small, RIGHT), head_probabilities(few, rows), seed=SEED)

"""From near a minimum of the squared error into it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

from smdp.feature_map.adnn import polish
from smdp.feature_map.adnn.initial_network import initial_network
from smdp.feature_map.adnn.polish import polished
from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.adnn.tuning import held_out_loss
from smdp.progress import Cancelled

SEED = np.random.SeedSequence(0)


def started(sets, *, interpretable=False, activation="arctan", depth=1, dimension=2):
    """A network for each set, with random weights."""
    return [
        initial_network(
            ModelSpec(which, dimension, 5, depth),
            sets.rows.columns,
            sets.outputs,
            sets.rows.heads,
            interpretable=interpretable,
            activation=activation,
            seed=SEED,
        )
        for which in range(sets.rows.folds)
    ]


def of_rows(sets, network, ridge, counts=None):
    """The loss on the rows of the first set."""
    rows = sets.training(0)
    return polish._Loss(
        sets.states(0, rows),
        sets.outcomes(0, rows),
        sets.rows.head[rows],
        network,
        ridge,
        np.ones((sets.rows.heads, sets.outputs)) if counts is None else counts,
    )


def different_counts(sets):
    return np.random.default_rng(1).uniform(0.2, 3, (sets.rows.heads, sets.outputs))


def value(loss, network):
    return loss.at(polish._numbers(network))[0]


def slope(loss, network):
    return loss.at(polish._numbers(network))[1]


@pytest.mark.parametrize("how", [{}, {"interpretable": True}, {"depth": 2}, {"activation": "tanh"}])
def test_steps_end_in_a_minimum(sets, how):
    (network, *_) = started(sets, **how)
    loss = of_rows(sets, network, 0.01)
    before = value(loss, network)
    first = loss.lowered(network)
    assert value(loss, first) < before
    end = first
    for _ in range(40):
        end = loss.lowered(end)
    assert value(loss, end) <= value(loss, first)
    steep = [np.abs(slope(loss, each)).max() for each in (network, end)]
    assert steep[1] < 0.01 * steep[0]


def test_people_who_were_left_out_are_predicted_no_worse(sets):
    start = started(sets)
    noise = polish._held_out(sets, start)
    losses = []
    for times in (0, 1, 2, 40):
        found = polished(sets, start, 1.0, times=times)
        losses.append((polish._held_out(sets, found) / noise).mean())
    assert losses[0] > losses[1] >= losses[2] >= losses[3]


def test_the_noise_of_people_left_out_is_the_loss_that_tuning_looks_at(sets):
    start = started(sets)
    noise, heads = polish._held_out(sets, start), sets.rows.head
    total = sum(noise[a].sum() * (heads == a).sum() for a in range(sets.rows.heads))
    losses = [
        held_out_loss(sets, k, each) * (~sets.training(k)).sum() for k, each in enumerate(start)
    ]
    assert total == pytest.approx(sum(losses))


def test_the_network_of_all_rows_takes_as_many_steps(sets):
    start = started(sets)
    whole = start[0]
    *folds, found = polished(sets, [*start, whole], 1.0, times=2)
    assert polished(sets, start, 1.0, times=2) == tuple(folds)
    assert found != whole
    unmoved = replace(whole, heads=whole.heads)
    assert polished(sets, [*start, unmoved], 1.0, times=0)[-1] == whole


@pytest.mark.parametrize("activation", ["arctan", "tanh"])
def test_the_loss_is_that_of_its_predictions_and_the_slope_its_derivative(sets, activation):
    (network, *_) = started(sets, depth=2, activation=activation)
    counts = different_counts(sets)
    loss, theta = of_rows(sets, network, 0.01, counts), polish._numbers(network)
    rows = sets.training(0)
    head = sets.rows.head[rows]
    left = network.predict(sets.states(0, rows), head) - sets.outcomes(0, rows)
    means = [(np.square(left[head == a]) @ counts[a]).mean() for a in range(sets.rows.heads)]
    total, slope = loss.at(theta)
    assert total == pytest.approx(np.mean(means) + 0.01 * theta @ theta, rel=1e-12)
    for k in range(0, len(theta), 7):
        step = 1e-5 * (np.arange(len(theta)) == k)
        up, down = (loss.at(moved)[0] for moved in (theta + step, theta - step))
        assert slope[k] == pytest.approx(-(up - down) / 4e-5, abs=1e-6)


@pytest.mark.parametrize("how", [{}, {"interpretable": True}, {"depth": 2}])
def test_the_curvature_is_of_the_derivatives_of_predictions(sets, how):
    (network, *_) = started(sets, **how)
    counts, rows = different_counts(sets), sets.training(0)
    loss, theta = of_rows(sets, network, 0.0, counts), polish._numbers(network)
    states, head = sets.states(0, rows), sets.rows.head[rows]

    def predicted(numbers):
        roots = np.sqrt(counts / (np.bincount(head)[:, None] * sets.rows.heads))
        return roots[head] * polish._with_numbers(network, numbers).predict(states, head)

    steps = 1e-5 * np.eye(len(theta))
    j = np.array([(predicted(theta + s) - predicted(theta - s)).ravel() / 2e-5 for s in steps])
    curvature = whole(loss._curvature(theta))
    np.testing.assert_allclose(curvature, j @ j.T, rtol=1e-3, atol=1e-5)


def whole(curvature):
    """The blocks as one matrix."""
    found = block_diag(curvature.of_map, *curvature.of_heads)
    shared = len(curvature.of_map)
    found[:shared, shared:] = np.hstack(curvature.between)
    found[shared:, :shared] = found[:shared, shared:].T
    return found


def test_a_step_solves_for_all_numbers_at_once(sets):
    (network, *_) = started(sets)
    loss, theta = of_rows(sets, network, 0.01), polish._numbers(network)
    curvature, (_, slope) = loss._curvature(theta), loss.at(theta)
    matrix = whole(curvature)
    matrix += np.diag(0.01 + 0.1 * np.maximum(np.diag(matrix), 1e-8))
    expected = np.linalg.solve(matrix, slope)
    np.testing.assert_allclose(curvature.step(slope, 0.01, 0.1), expected, rtol=1e-8, atol=1e-12)


def test_with_linear_networks_it_is_least_squares(sets):
    (network, *_) = started(sets, activation="identity", dimension=4)
    loss = of_rows(sets, network, 0.0, different_counts(sets))
    for _ in range(8):
        network = loss.lowered(network)
    rows = sets.training(0)
    states, outcomes = sets.states(0, rows), sets.outcomes(0, rows)
    expected = []
    for a in range(sets.rows.heads):
        own = sets.rows.head[rows] == a
        x = np.column_stack([np.ones(own.sum()), states[own]])
        left = outcomes[own] - x @ np.linalg.lstsq(x, outcomes[own], rcond=None)[0]
        expected.append(np.square(left).mean(axis=0) @ different_counts(sets)[a])
    assert value(loss, network) == pytest.approx(np.mean(expected), rel=0.001)


def test_inputs_that_are_out_stay_out(sets):
    (network, *_) = started(sets)
    first = network.features[0]
    weights = first.weights.copy()
    weights[:, 1] = 0
    without = replace(network, features=(replace(first, weights=weights), *network.features[1:]))
    found = polished(sets, [without] * 2, 0.1)[0]
    assert not found.features[0].weights[:, 1].any()
    assert found.features[0].weights[:, [0, 2, 3]].any(axis=0).all()


def test_a_network_without_inputs_stays_as_it_is(sets):
    (network, *_) = started(sets)
    first = network.features[0]
    empty = replace(first, weights=np.zeros_like(first.weights))
    nothing = replace(network, features=(empty, *network.features[1:]))
    assert polished(sets, [nothing] * 2, 0.1) == (nothing, nothing)


def test_fewer_rows_in_the_curvature_come_nearly_as_far(sets, monkeypatch):
    (network, *_) = started(sets)
    loss = of_rows(sets, network, 0.001)

    def end():
        found = network
        for _ in range(10):
            found = loss.lowered(found)
        return value(loss, found)

    every = end()
    monkeypatch.setattr(polish, "MOST_NUMBERS", 1)
    assert end() == pytest.approx(every, rel=0.15)
    assert end() < 0.9 * value(loss, network)


def test_large_networks_stay_as_they_are(sets, monkeypatch):
    start = started(sets)
    monkeypatch.setattr(polish, "MOST_WEIGHTS", 30)
    assert polished(sets, start, 0.1) == tuple(start)


def test_it_can_be_stopped(sets):
    def stop(share):
        raise Cancelled

    with pytest.raises(Cancelled):
        polished(sets, started(sets), 0.1, report=stop)

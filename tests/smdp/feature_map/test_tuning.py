"""Choosing among candidates, and fixing what networks leave open."""

import numpy as np

from smdp.feature_map.identify import identified
from smdp.feature_map.layers import Layer, apply, average_gradient
from smdp.feature_map.tuning import one_standard_error


def test_the_sparsest_within_one_paired_standard_error():
    best = np.array([1.0, 2.0, 3.0, 4.0])
    losses = {
        (1, 20, 1, 0.02): best,
        (1, 20, 1, 0.05): best + np.array([0.1, -0.1, 0.1, -0.05]),  # worse, but not clearly
        (1, 20, 1, 0.1): best + 0.05,  # a little, but always: clearly
        (1, 20, 1, 0.2): best + 1,
    }
    assert one_standard_error(losses) == (1, 20, 1, 0.05)


def test_the_smaller_network_among_equals():
    same = np.array([1.0, 2.0])
    losses = {(1, 40, 1, 0.1): same, (1, 20, 2, 0.1): same, (1, 20, 1, 0.1): same}
    assert one_standard_error(losses) == (1, 20, 1, 0.1)


def test_average_gradient_against_differences():
    random = np.random.default_rng(0)
    x = random.standard_normal((20, 3))
    layers = tuple(
        Layer(random.standard_normal(shape), random.standard_normal(shape[0]))
        for shape in ((5, 3), (2, 5))
    )
    for activation in ("arctan", "tanh"):
        found = average_gradient(layers, activation, x)
        for j in range(3):
            step = np.zeros(3)
            step[j] = 1e-6
            ahead, behind = (apply(layers, activation, x + s) for s in (step, -step))
            np.testing.assert_allclose(found[:, j], (ahead - behind).mean(axis=0) / 2e-6, atol=1e-7)


def test_order_and_sign_do_not_depend_on_how_the_network_came_out():
    random = np.random.default_rng(1)
    x = random.standard_normal((200, 3))
    head = np.arange(200) % 2
    utilities = np.where(head == 1, 2.0, -2.0) * x[:, 2] + 0.3 * x[:, 0]
    weights = np.array([[1.0, 0, 0], [0, 0, -0.5]])
    turned = np.array([[0, 0, 0.5], [-1.0, 0, 0]])
    found = [
        identified((Layer(w, np.zeros(2)),), "arctan", x, utilities, head)[0].weights
        for w in (weights, turned)
    ]
    np.testing.assert_array_equal(found[0], [[0, 0, 0.5], [1.0, 0, 0]])
    np.testing.assert_array_equal(found[0], found[1])

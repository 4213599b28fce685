"""Many networks at once are each what they would be on their own."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from smdp.feature_map.adnn.network import BatchedNetwork
from smdp.feature_map.adnn.specification import HowToTrain, ModelSpec
from smdp.feature_map.adnn.training import train
from smdp.feature_map.layers import Network, apply

SEED = np.random.SeedSequence(5)
HOW = HowToTrain(
    interpretable=False,
    activation="arctan",
    steps=60,
    batch=32,
    learning_rate=0.01,
    penalised=True,
)
SPECS = [
    ModelSpec(0, 1, 5, 1, 0.02, weight_decay=0.3),
    ModelSpec(1, 3, 8, 1, 0.1),
    ModelSpec(2, 2, 5, 2, 0.05, weight_decay=1.0),
    ModelSpec(2, 4, 6, 1, 0.0, restart=3),
    ModelSpec(1, 2, 8, 2, 0.2, inputs=(0, 2)),
]


def arrays(network: Network) -> list[np.ndarray]:
    layers = [*network.features, *(layer for head in network.heads for layer in head)]
    return [array for layer in layers for array in (layer.weights, layer.bias)]


def assert_same(one: Network, other: Network, tolerance: float) -> None:
    for a, b in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance, rtol=0)


@pytest.mark.parametrize("updates", ["joint", "alternating"])
@pytest.mark.parametrize("penalised", [True, False])
@pytest.mark.parametrize("interpretable", [True, False])
def test_a_batch_equals_separate_trainings(sets, updates, penalised, interpretable):
    how = replace(HOW, updates=updates, penalised=penalised, interpretable=interpretable)
    together = train(sets, SPECS, how, seed=SEED)
    for spec, network in zip(SPECS, together, strict=True):
        assert_same(network, train(sets, [spec], how, seed=SEED)[0], 1e-5)


def test_the_number_of_threads_does_not_change_a_bit(sets):
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(train(sets, SPECS, HOW, seed=SEED))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        assert_same(one, other, 0.0)


def test_training_descends(sets):
    def loss(steps):
        network = train(sets, [ModelSpec(2, 4, 10, 1)], replace(HOW, steps=steps), seed=SEED)[0]
        return np.square(network.predict(sets.states(2), sets.rows.head) - sets.outcomes(2)).mean()

    assert loss(200) < 0.9 * loss(1)


def test_a_large_penalty_leaves_exact_zeros_and_a_huge_one_nothing(sets):
    specs = [ModelSpec(2, 2, 8, 1, penalty) for penalty in (0.0, 100.0)]
    free, none = train(sets, specs, replace(HOW, steps=200), seed=SEED)
    assert free.selected == (0, 1, 2, 3)
    assert none.selected == ()
    assert (none.features[0].weights == 0).all()


def test_inputs_that_are_not_allowed_keep_weights_of_exactly_zero(sets):
    for penalised in (True, False):
        how = replace(HOW, penalised=penalised)
        network = train(sets, [SPECS[4], SPECS[2]], how, seed=SEED)[0]
        assert (network.features[0].weights[:, [1, 3]] == 0).all()
        assert network.features[0].weights[:, [0, 2]].all()


def test_a_network_that_diverges_leaves_the_others_alone(sets):
    wild = replace(SPECS[0], penalty=float("nan"))
    together = train(sets, [SPECS[1], wild], HOW, seed=SEED)
    assert not together[1].finite
    assert_same(together[0], train(sets, [SPECS[1]], HOW, seed=SEED)[0], 1e-5)


@pytest.mark.parametrize("activation", ["arctan", "tanh", "relu"])
def test_numpy_computes_what_torch_computes(sets, activation):
    network = train(sets, [SPECS[2]], replace(HOW, activation=activation), seed=SEED)[0]
    batched = BatchedNetwork([network], [None])
    states = torch.from_numpy(sets.states(2).astype(np.float32))[None]
    with torch.no_grad():
        features = batched.map(states)
        predicted = batched.predict(features, 1)[0].numpy()
    ours = apply(network.features, activation, sets.states(2))
    np.testing.assert_allclose(ours, features[0].numpy(), atol=1e-5)
    head = np.ones(len(ours), dtype=np.int64)
    np.testing.assert_allclose(network.predict(sets.states(2), head), predicted, atol=1e-5)


def test_progress_can_stop_training(sets):
    class Stop(Exception):
        pass

    def stop(share):
        if share > 0.3:
            raise Stop

    with pytest.raises(Stop):
        train(sets, SPECS, HOW, seed=SEED, report=stop)

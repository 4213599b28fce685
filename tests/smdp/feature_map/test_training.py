"""Compiled steps of training do what Algorithm 2 says, each network as if it were alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from smdp.feature_map.adnn.compiled_steps import shrink_groups
from smdp.feature_map.adnn.initial_network import initial_network
from smdp.feature_map.adnn.specification import HowToTrain, ModelSpec
from smdp.feature_map.adnn.training import _order, train
from smdp.feature_map.layers import Network
from smdp.parallel import workers

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
FUNCTIONS = {"arctan": torch.atan, "tanh": torch.tanh, "relu": torch.relu}


def arrays(network: Network) -> list[np.ndarray]:
    layers = [*network.features, *(layer for head in network.heads for layer in head)]
    return [array for layer in layers for array in (layer.weights, layer.bias)]


def assert_same(one: Network, other: Network, tolerance: float) -> None:
    for a, b in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance, rtol=0)


def by_torch(sets, spec: ModelSpec, how: HowToTrain) -> list[np.ndarray]:
    """The same training by automatic differentiation, in double precision and without haste."""
    rows = sets.rows
    start = initial_network(
        spec,
        rows.columns,
        sets.outputs,
        rows.heads,
        interpretable=how.interpretable,
        activation=how.activation,
        seed=SEED,
    )
    state = torch.from_numpy(sets.states(spec.dataset))
    outcome = torch.from_numpy(sets.outcomes(spec.dataset))
    orders = [_order(sets, spec.dataset, a, how, SEED) for a in range(rows.heads)]
    groups = [start.features, *start.heads]
    layers = [
        [
            [torch.tensor(part).requires_grad_() for part in (layer.weights, layer.bias)]
            for layer in group
        ]
        for group in groups
    ]
    act = FUNCTIONS[how.activation]
    allowed = list(range(rows.columns)) if spec.inputs is None else list(spec.inputs)
    first = layers[0][0][0]
    adams = [
        torch.optim.Adam(
            [p for layer in group for p in layer if not (how.penalised and p is first)],
            lr=1.0,
            eps=1e-8,
        )
        for group in layers
    ]
    mean, square, count = torch.zeros_like(first), 0.0, 0
    for step in range(how.steps):
        rate = how.learning_rate * 0.5 * (1 + math.cos(math.pi * step / how.steps))
        every = list(range(rows.heads))
        for turn in [every] if how.updates == "joint" else [[a] for a in every]:
            loss = 0.0
            for a in turn:
                chosen = orders[a]
                if how.batch:
                    chosen = chosen[step * how.batch : (step + 1) * how.batch]
                z = state[chosen]
                for weights, bias in layers[0]:
                    z = act(z @ weights.T + bias)
                *hidden, (last, bias_of_last) = layers[1 + a]
                for weights, bias in hidden:
                    z = act(z @ weights.T + bias)
                error = z @ last.T + bias_of_last - outcome[chosen]
                loss = loss + error.square().sum() / (len(chosen) * len(turn))
            for adam in adams:
                adam.zero_grad()
            first.grad = None
            loss.backward()
            with torch.no_grad():
                blocked = [j for j in range(rows.columns) if j not in allowed]
                first.grad[:, blocked] = 0
                for k in [0, *(1 + a for a in turn)]:
                    for weights, _ in layers[k]:
                        if not (how.penalised and weights is first):
                            weights *= 1 - rate * spec.weight_decay
                    adams[k].param_groups[0]["lr"] = rate
                    adams[k].step()
                if how.penalised:
                    count += 1
                    mean = 0.9 * mean + 0.1 * first.grad
                    size = len(first) * len(allowed)
                    square = 0.999 * square + 0.001 * float(first.grad.square().sum()) / size
                    eta = rate / (math.sqrt(square / (1 - 0.999**count)) + 1e-8)
                    moved = first - eta * mean / (1 - 0.9**count)
                    norms = moved.norm(dim=0)
                    weak = norms < how.harder_below * norms.max()
                    threshold = eta * spec.penalty * torch.where(weak, how.harder, 1.0)
                    left = (1 - threshold / norms.clamp(min=1e-30)).clamp(min=0)
                    first.copy_(moved * left)
    return [p.detach().numpy() for group in layers for layer in group for p in layer]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"updates": "alternating"},
        {"penalised": False},
        {"penalised": False, "updates": "alternating"},
        {"interpretable": True},
        {"batch": None, "harder_below": 0.5, "harder": 10.0},
        {"batch": None, "penalised": False},
        {"activation": "tanh"},
        {"activation": "relu"},
        {"batch": 100},
    ],
    ids=str,
)
def test_steps_are_those_of_automatic_differentiation(sets, change):
    how = replace(HOW, steps=12, **change)
    for spec, network in zip(SPECS, train(sets, SPECS, how, seed=SEED), strict=True):
        for ours, theirs in zip(arrays(network), by_torch(sets, spec, how), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=0)


def test_wide_layers_go_another_way_to_the_same_steps(sets):
    wide = ModelSpec(0, 60, 50, 1, 0.02, weight_decay=0.3)
    how = replace(HOW, steps=6, batch=70)
    (network,) = train(sets, [wide], how, seed=SEED)
    for ours, theirs in zip(arrays(network), by_torch(sets, wide, how), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=0)


def test_company_and_processes_do_not_change_a_bit(sets):
    together = train(sets, SPECS * 4, HOW, seed=SEED)
    with workers(2):
        divided = train(sets, SPECS * 4, HOW, seed=SEED)
    for spec, one, other in zip(SPECS * 4, together, divided, strict=True):
        assert_same(one, other, 0.0)
        assert_same(one, train(sets, [spec], HOW, seed=SEED)[0], 0.0)


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
    assert_same(together[0], train(sets, [SPECS[1]], HOW, seed=SEED)[0], 0.0)


def test_progress_can_stop_training(sets):
    class Stop(Exception):
        pass

    def stop(share):
        if share > 0.3:
            raise Stop

    with pytest.raises(Stop):
        train(sets, SPECS, HOW, seed=SEED, report=stop)


def shrunk(weights, thresholds, group=None):
    found = np.array(weights, dtype=np.float32)
    columns = np.arange(found.shape[1]) if group is None else np.array(group)
    shrink_groups(found, columns, np.asarray(thresholds, dtype=np.float64))
    return found


def test_groups_shrink_by_the_closed_form():
    w = [[3.0, 0.3, 0.0], [4.0, 0.4, 0.0]]
    np.testing.assert_allclose(shrunk(w, [1.0, 1.0, 1.0]), [[2.4, 0, 0], [3.2, 0, 0]], rtol=1e-6)


def test_groups_at_or_below_the_threshold_are_exactly_zero():
    w = np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32)
    norms = np.linalg.norm(w, axis=0)
    assert ((shrunk(w, np.full(40, 1.5)) == 0).all(axis=0) == (norms <= 1.5)).all()


def test_shrinking_minimises_its_objective_for_columns_that_are_one_variable():
    w = np.array([[0.7, -1.2, 0.4], [0.1, 0.5, -0.3]])

    def objective(v):
        v = v.reshape(2, 3)
        penalty = 0.6 * np.sqrt(2) * np.linalg.norm(v[:, [0, 2]]) + 0.2 * np.linalg.norm(v[:, 1])
        return 0.5 * np.sum((v - w) ** 2) + penalty

    found = minimize(objective, w.ravel()).x.reshape(2, 3)
    np.testing.assert_allclose(shrunk(w, [0.6, 0.2], [0, 1, 0]), found, atol=1e-5)

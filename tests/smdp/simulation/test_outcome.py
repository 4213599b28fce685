"""What policies earn in the simulated model."""

import numpy as np
import pytest

from smdp.errors import DataError, SettingError
from smdp.simulation.generative_model import GenerativeModel
from smdp.simulation.outcome import simulated_outcome


class Rule:
    def __init__(self, choose, variables=("S1", "S2", "S3", "S4")):
        self.choose, self.variables = choose, variables

    def recommend(self, states):
        assert states.shape[1] == len(self.variables)
        return self.choose(states)


def always(action):
    return Rule(lambda states: np.full(len(states), action), ("S1",))


def myopic(states):
    return (states[:, 2:].sum(axis=1) > states[:, :2].sum(axis=1)).astype(int)


def test_a_policy_that_looks_earns_more():
    fixed, looking = (simulated_outcome(p, "linear") for p in (always(0), Rule(myopic)))
    assert looking > fixed + 2


def test_exactly_what_a_simulation_by_hand_gives():
    law = GenerativeModel("quad")
    signal, other = (
        np.random.default_rng(np.random.SeedSequence(5, spawn_key=(9, k))) for k in range(2)
    )
    states, total = law.initial(20, signal, other), []
    for _ in range(10):
        utilities, states = law.step(states, myopic(states[:, :4]), signal, other)
        total.append(utilities)
    found = simulated_outcome(Rule(myopic), "quad", subjects=20, times=10, seed=5)
    assert found == pytest.approx(np.mean(total))


def test_the_same_people_whatever_the_noise_and_the_order_of_variables():
    turned = Rule(lambda s: myopic(s[:, [3, 2, 1, 0]]), ("S4", "S3", "S2", "S1"))
    with_noise = Rule(lambda s: myopic(s[:, 1:]), ("W2", "S1", "S2", "S3", "S4"))
    options = {"noise": 9, "subjects": 50, "times": 10}
    found = [simulated_outcome(p, "exp", **options) for p in (Rule(myopic), turned, with_noise)]
    np.testing.assert_allclose(found, found[0])
    assert simulated_outcome(Rule(myopic), "exp", seed=1, **options) != found[0]


def test_more_than_two_actions():
    pair = Rule(
        lambda s: s.reshape(len(s), 3, 2).sum(axis=2).argmax(axis=1),
        tuple(f"S{j + 1}" for j in range(6)),
    )
    options = {"actions": 3, "subjects": 200}
    assert simulated_outcome(pair, "linear", **options) > simulated_outcome(
        always(2), "linear", **options
    )


def test_bad_input():
    with pytest.raises(DataError, match="needs the variable W1"):
        simulated_outcome(Rule(myopic, ("S1", "W1")), "linear")
    with pytest.raises(DataError, match="did not choose one of the 2 actions"):
        simulated_outcome(always(-1), "linear", subjects=5)
    with pytest.raises(SettingError, match="'subjects' must be"):
        simulated_outcome(always(0), "linear", subjects=0)
    with pytest.raises(SettingError, match="'model' must be"):
        simulated_outcome(always(0), "cubic")

"""The optimal policy of the simulated model: Bellman's equation, and what it earns."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from smdp.errors import SettingError
from smdp.simulation import optimum
from smdp.simulation.generative_model import GenerativeModel
from smdp.simulation.names import MODELS
from smdp.simulation.outcome import simulated_outcome
from smdp.simulation.paper_tables import PAPER_TIMES, optimal_outcome

optimal_policy = cache(optimum.optimal_policy)


def q_values(policy, states):
    """From the definition, action by action."""
    link = {"linear": lambda u: u, "quad": lambda u: min(u * u, 3.0)}[policy.law.model]
    found = []
    for s in states:
        g = [link(u) for u in s]
        utilities = (2 * (g[0] + g[1]) - (g[2] + g[3]), 2 * (g[2] + g[3]) - (g[0] + g[1]))
        found.append(
            [
                u + policy.discount * np.interp(g[0], policy.grid, h)
                for u, h in zip(utilities, policy.later, strict=True)
            ]
        )
    return np.array(found)


@pytest.mark.parametrize("model", ["linear", "quad"])
def test_bellmans_equation_on_states_of_the_model_itself(model):
    """h_a(y) = E max Q, up to the constant, with next states drawn by the model."""
    policy, law = optimal_policy(model, 0.8), GenerativeModel(model)
    random = np.random.default_rng(4)
    draws = 4000
    left_over, errors = [], []
    for a in (0, 1):
        for s1 in (0.3, 1.1):
            states = np.zeros((draws, 64))
            states[:, 0] = s1
            _, following = law.step(states, np.full(draws, a), random, random)
            best = q_values(policy, following[:, :4]).max(axis=1)
            y = s1 if model == "linear" else s1**2
            left_over.append(best.mean() - np.interp(y, policy.grid, policy.later[a]))
            errors.append(best.std(ddof=1) / np.sqrt(draws))
    assert np.ptp(left_over) < 5 * max(errors)


def test_it_chooses_the_larger_q_value():
    policy = optimal_policy("quad", 0.8)
    states = np.random.default_rng(0).normal(0, 0.7, (200, 4))
    assert policy.variables == ("S1", "S2", "S3", "S4")
    chosen = policy.recommend(states)
    np.testing.assert_array_equal(chosen, q_values(policy, states).argmax(axis=1))
    assert 20 < chosen.sum() < 180


@pytest.mark.parametrize("discount", [0.5, 0.95])
@pytest.mark.parametrize("model", MODELS)
def test_the_figures_that_the_study_is_held_against(model, discount, monkeypatch):
    monkeypatch.setattr(optimum, "GRID_POINTS", 161)  # the figures were made with a finer one
    monkeypatch.setattr(optimum, "LOG2_POINTS", 8)
    policy = optimum.optimal_policy(model, discount)
    found = [simulated_outcome(policy, model, subjects=1000, seed=s) for s in range(90, 98)]
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - optimal_outcome(model, PAPER_TIMES, discount)) < 5 * error + 0.001


def test_looking_ahead_pays():
    earned = [
        simulated_outcome(optimal_policy("exp", discount), "exp", subjects=500, seed=3)
        for discount in (0.0, 0.5, 0.9)
    ]
    assert earned[0] + 0.1 < earned[1] < earned[2]


def test_more_actions():
    policy = optimal_policy("exp", 0.5, actions=3)
    assert policy.variables == ("S1", "S2", "S3", "S4", "S5", "S6")
    myopic = optimal_policy("exp", 0.0, actions=3)
    earned, less = (
        simulated_outcome(each, "exp", subjects=500, times=30, seed=1, actions=3)
        for each in (policy, myopic)
    )
    assert earned > less


def test_a_discount_that_is_none():
    with pytest.raises(SettingError, match="discount"):
        optimal_policy("quad", 1.0)


def test_known_only_for_the_papers_length():
    assert optimal_outcome("quad", 30, 0.5) is None
    assert optimal_outcome("quad", PAPER_TIMES, 0.7) is None
    assert optimal_outcome("quad", PAPER_TIMES, None) is None

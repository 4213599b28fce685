"""The whole check, and data that it cannot be done with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_process import process

import smdp
from smdp.errors import DataError, SettingError
from smdp.markov.markov_check import check_markov
from smdp.markov.markov_settings import MarkovSettings
from smdp.plain_data import fingerprint

QUICK = MarkovSettings(most=1, draws=99)


def test_the_same_seed_gives_the_same_bits():
    data = process(1)
    one, other = (check_markov(data, QUICK, seed=3) for _ in range(2))
    assert fingerprint(one) == fingerprint(other)
    assert one == other
    assert fingerprint(check_markov(data, QUICK, seed=4)) != fingerprint(one)


def test_it_shows_itself():
    found = smdp.check_markov(process(1, back=1), QUICK)
    assert "look-back 1" in repr(found)
    assert "one step back" in found.summary()
    assert found.plot().data
    assert list(found.to_frame()["look_back"]) == [0, 1]


def test_fewer_than_six_people():
    with pytest.raises(DataError, match="Only 5 people") as caught:
        check_markov(process(1, people=5), QUICK)
    assert caught.value.remedy


def test_one_decision_a_person():
    with pytest.raises(DataError, match="two decisions in a row") as caught:
        check_markov(process(1, people=40, times=1), QUICK)
    assert caught.value.remedy


def test_no_decision_at_all():
    data = process(1)
    with pytest.raises(DataError, match="No transition is valid"):
        check_markov(replace(data, valid=np.zeros_like(data.valid)), QUICK)


def test_no_two_decisions_in_a_row():
    data = process(1)
    every_other = np.broadcast_to(np.arange(24) % 2 == 0, data.valid.shape)
    with pytest.raises(DataError, match="two decisions in a row"):
        check_markov(replace(data, valid=every_other), QUICK)


def test_one_action_only():
    """Nothing can be compared over time; the ladder stands."""
    data = process(1)
    one = replace(
        data,
        actions=np.zeros_like(data.actions),
        probabilities=np.ones((*data.actions.shape, 1)),
        action_labels=("a",),
    )
    found = check_markov(one, QUICK)
    assert found.look_back == 0
    assert found.effect.empty
    assert not found.effect_changes
    assert set(found.stationarity["question"]) == {"process"}
    assert "no two treatments can be compared" in found.summary()
    assert found.plot().data


def test_an_action_that_nobody_received():
    data = process(1)
    wide = np.concatenate([data.probabilities, np.zeros((16, 24, 1))], axis=2)
    found = check_markov(replace(data, probabilities=wide, action_labels=("a", "b", "c")), QUICK)
    assert found.effect.empty


def test_a_rare_action_is_left_out_and_told():
    data = process(1, actions=2)
    actions = data.actions.copy()
    actions[:3, 10] = 2
    even = np.full((16, 24, 3), 1 / 3)
    found = check_markov(
        replace(data, actions=actions, probabilities=even, action_labels=("a", "b", "c")), QUICK
    )
    assert found.left_out == ("c",)
    assert found.look_back == 0


def test_a_state_that_never_changes():
    data = process(1)
    found = check_markov(replace(data, states=np.ones_like(data.states)), QUICK)
    assert found.look_back == 0


def test_a_utility_that_never_changes():
    data = process(1)
    found = check_markov(replace(data, utilities=np.zeros_like(data.utilities)), QUICK)
    assert found.p_value("effect", "utility") == 1
    assert not found.effect_changes


def test_more_variables_than_the_decisions_allow():
    data = process(1, people=8, times=8)
    many = np.random.default_rng(0).normal(size=(8, 9, 40))
    wide = replace(data, states=many, variables=tuple(f"v{j}" for j in range(40)), about=())
    with pytest.raises(DataError, match="state variables") as caught:
        check_markov(wide, QUICK)
    assert "screen first" in caught.value.remedy


def test_too_few_patterns_for_the_level():
    with pytest.raises(SettingError, match="'draws'"):
        MarkovSettings(level=0.001, draws=99)

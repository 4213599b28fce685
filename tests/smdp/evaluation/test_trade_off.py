"""The cost of treating: fewer treatments as they cost more, and what they earn."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.trade_off import TradeOffSettings, times_of, trade_off
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.words.trade_off import describe_cost, describe_trade_off, trade_off_words

QUICK = EvaluationSettings(bootstraps=20, folds=3)


def trial(actions=2, subjects=30, times=20, seed=0, available=1.0):
    """U = x for each treatment (x uniform on -1 .. 1) + noise; no past matters."""
    random = np.random.default_rng(seed)
    shape = (subjects, times)
    states = random.uniform(-1, 1, (subjects, times + 1, 1))
    open_ = random.random(shape) < available
    taken = np.where(open_, random.integers(0, actions, shape), -1)
    mean = np.where(taken > 0, states[:, :-1, 0], 0.0)
    return Trajectories(
        states=states,
        actions=taken,
        utilities=mean + random.normal(0, 0.2, shape),
        valid=np.ones(shape, dtype=bool),
        available=open_,
        probabilities=np.full((*shape, actions), 1 / actions),
        variables=("x",),
        subjects=tuple(map(str, range(subjects))),
        action_labels=tuple("abc"[:actions]),
    )


def learned(data):
    settings = PolicySettings(discount=0.0, bootstraps=0)
    return learn_policy(data, identity_feature_map(data), settings)


def test_the_curve_is_that_of_the_best_policies():
    """Treated where x > c: at (1 - c) / 2 of the decisions, for an outcome of (1 - c^2) / 4."""
    data = trial()
    costs = (0.0, 0.6, 0.9)
    found = trade_off(data, learned(data), TradeOffSettings(costs=costs), QUICK)
    curve = found.curve
    assert curve["treated"].tolist() == pytest.approx([(1 - c) / 2 for c in costs], abs=0.06)
    assert curve["outcome"].tolist() == pytest.approx([(1 - c * c) / 4 for c in costs], abs=0.06)
    assert curve["trusted"].all()
    assert (curve["treated_lower"] <= curve["treated"]).all()
    assert found.as_done["treated"] == pytest.approx(0.5, abs=0.05)
    assert curve["lost"][0] == 0
    assert "0.6" in describe_cost(found, 0.61)
    assert len(trade_off_words(found)) == 3
    assert "fewest" in describe_trade_off(found)[1]


def test_costs_run_from_nothing_to_what_treatment_is_worth():
    data = trial()
    found = trade_off(data, learned(data), TradeOffSettings(points=3), QUICK)
    assert found.curve["cost"][0] == 0
    assert 0.7 < found.curve["cost"].iloc[-1] < 1.2
    assert found.curve["treated"].iloc[-1] < 0.12


def test_three_actions_and_no_choice_everywhere():
    data = trial(actions=3, available=0.8)
    how = TradeOffSettings(costs=(0.0, 0.5), reference="a", dearer=(1.0, 3.0, 1.0))
    found = trade_off(data, learned(data), how, QUICK)
    assert found.reference == "a"
    assert found.curve["treated"][1] < found.curve["treated"][0] <= 0.8
    np.testing.assert_array_equal(times_of(how, data.action_labels), (0, 3, 1))


def test_bad_settings_are_refused_by_name():
    data = trial(subjects=10)
    with pytest.raises(SettingError, match="'dearer'"):
        trade_off(data, learned(data), TradeOffSettings(dearer=(1.0,)), QUICK)
    with pytest.raises(SettingError, match="'reference'"):
        trade_off(data, learned(data), TradeOffSettings(reference="z"), QUICK)
    with pytest.raises(SettingError, match="'costs'"):
        replace(TradeOffSettings(), costs=(-1.0,))

"""The cost of treating: fewer treatments as they cost more, and what they earn."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.trade_off import TradeOffSettings, times_of, trade_off
from smdp.feature_map.identity import identity_feature_map
from smdp.figures.trade_off import trade_off_figure
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


def two_outcomes(subjects=30, times=20, seed=3):
    """U = x for each treatment + noise; y is 0.5 - x after a treatment, and 0 else, + noise."""
    data = trial(subjects=subjects, times=times, seed=seed)
    treated = (data.actions > 0).astype(float)
    noise = np.random.default_rng(seed).normal(0, 0.1, treated.shape)
    y = np.concatenate(
        [np.zeros((subjects, 1)), treated * (0.5 - data.states[:, :-1, 0]) + noise], axis=1
    )
    states = np.concatenate([data.states, y[:, :, None]], axis=2)
    return replace(data, states=states, variables=("x", "y"), about=())


def test_several_outcomes_count_by_their_weights():
    """With y at weight 1 every treatment earns 0.5, at weight 0 only those where x > 0 earn."""
    data = two_outcomes()
    policy = learned(data.select(["x"]))
    costs = (0.0, 0.4, 0.9)
    alone = trade_off(data, policy, TradeOffSettings(costs=costs), QUICK)
    both = trade_off(data, policy, TradeOffSettings({"y": 1.0}, costs=costs), QUICK)
    assert alone.parts is None
    assert alone.curve["treated"][0] == pytest.approx(0.5, abs=0.06)
    assert both.curve["treated"].tolist() == pytest.approx([1.0, 1.0, 0.0], abs=0.06)
    assert both.curve["outcome"].tolist() == pytest.approx([0.5, 0.5, 0.0], abs=0.06)
    parts = both.parts.set_index(["cost", "outcome"])["estimate"]
    x = data.states[:, 0, 0].mean()  # where values start
    assert parts[0.0, ""] == pytest.approx(x, abs=0.06)
    assert parts[0.0, "y"] == pytest.approx(0.5 - x, abs=0.06)
    together = both.parts.groupby("cost")["estimate"].sum()
    np.testing.assert_allclose(together, both.curve["outcome"], atol=0.05)
    said = " ".join(describe_trade_off(both))
    assert "one more of next y counts as much as 1 of the utility" in said.lower()
    assert "next y" in describe_cost(both, 0.4)
    assert "next y" in trade_off_words(both)
    assert len(trade_off_figure(both, 0.4).data) == 9


def test_no_weight_changes_nothing():
    data = two_outcomes(subjects=12, times=8)
    policy, costs = learned(data.select(["x"])), (0.0, 0.5)
    few = replace(QUICK, least_effective=2.0)
    plain = trade_off(data, policy, TradeOffSettings(costs=costs), few)
    zero = trade_off(data, policy, TradeOffSettings({"y": 0.0}, costs=costs), few)
    assert zero.curve.equals(plain.curve)
    assert zero.parts is None


def test_bad_settings_are_refused_by_name():
    data = trial(subjects=10)
    for weights in ({"z": 1.0}, {"x": "much"}):
        with pytest.raises(SettingError, match="'weights'"):
            trade_off(data, learned(data), TradeOffSettings(weights), QUICK)
    with pytest.raises(SettingError, match="'dearer'"):
        trade_off(data, learned(data), TradeOffSettings(dearer=(1.0,)), QUICK)
    with pytest.raises(SettingError, match="'reference'"):
        trade_off(data, learned(data), TradeOffSettings(reference="z"), QUICK)
    with pytest.raises(SettingError, match="'costs'"):
        replace(TradeOffSettings(), costs=(-1.0,))

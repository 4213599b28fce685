"""What a policy recommends over the study: nobody without a choice, and shares that add up."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.variables import Variable
from smdp.explanation.recommendations import (
    ABSTAINED,
    abstentions,
    recommendations,
    shares_by_group,
    shares_over_time,
)
from smdp.feature_map.layers import Layer
from smdp.policy.decision_rule import Reason
from smdp.policy.q_function import QFunction
from tests.small_policies import map_of, policy_of, random_policy, trajectories_of


def treat_above_zero(variables=("x", "z"), error=0.0):
    """Q(treatment) - Q(nothing) = x; refits differ from it by `error`."""
    features = map_of([Layer(np.array([[1.0, 0.0]]), np.zeros(1))], variables, "identity")
    own = Layer(np.array([[0.0], [1.0]]), np.zeros(2))
    q = QFunction(np.zeros(1), np.ones(1), (own,))
    refits = [
        replace(q, layers=(replace(own, bias=np.array([0.0, sign * error])),)) for sign in (-1, 1)
    ]
    return policy_of(features, q, refits if error else ())


@pytest.fixture
def study():
    random = np.random.default_rng(0)
    states = random.normal(size=(40, 13, 2))
    states[:, :, 1] = random.integers(0, 3, (40, 13))
    return trajectories_of(states, ("x", "z"))


def shares_of(shares, action):
    return shares[shares["action"] == action]["share"].to_numpy()


def test_each_decision_has_what_the_policy_recommends(study):
    table = recommendations(study, treat_above_zero())
    assert len(table) == study.valid.sum()
    x = study.states[table["row"], table["decision"] - 1, 0]
    np.testing.assert_array_equal(table["recommended"], x > 0)
    assert (table["reason"] == Reason.RECOMMENDED).all()


def test_nothing_is_recommended_where_nothing_can_be_chosen(study):
    available = np.random.default_rng(1).random(study.valid.shape) < 0.6
    probabilities = study.probabilities.copy()
    probabilities[:5, :, 1], probabilities[:5, :, 0] = 0.0, 1.0  # treatment is ruled out
    study = replace(study, available=available, probabilities=probabilities)
    table = recommendations(study, treat_above_zero())
    closed = ~available[table["row"], table["decision"] - 1]
    assert (table.loc[closed, "recommended"] == -1).all()
    assert (table.loc[closed, "reason"] == Reason.UNAVAILABLE).all()
    assert (table.loc[closed, "taken"] == -1).all()
    ruled_out = ~closed & (table["row"] < 5).to_numpy()
    assert (table.loc[ruled_out, "recommended"] == 0).all()
    shares = shares_over_time(table, study.action_labels)
    first = shares.drop_duplicates("first")
    assert first["no_choice"].sum() == closed.sum()
    assert first["decisions"].sum() == (~closed).sum()
    assert abstentions(table) == {}


def test_a_time_without_any_choice_has_no_shares(study):
    available = study.available.copy()
    available[:, 3] = False
    table = recommendations(replace(study, available=available), treat_above_zero())
    shares = shares_over_time(table, study.action_labels)
    assert shares[shares["first"] == 4]["share"].isna().all()
    assert shares[shares["first"] != 4]["share"].notna().all()


def test_shares_over_time_add_up_and_decisions_are_put_together(study):
    table = recommendations(study, treat_above_zero())
    shares = shares_over_time(table, study.action_labels)
    np.testing.assert_allclose(shares.groupby("first")["share"].sum(), 1)
    np.testing.assert_allclose(
        shares_of(shares, "treatment"), (study.states[:, :-1, 0] > 0).mean(axis=0)
    )
    coarse = shares_over_time(table, study.action_labels, most_points=5)
    ends = coarse.drop_duplicates("first")[["first", "last"]].to_numpy().tolist()
    assert ends == [[1, 3], [4, 6], [7, 9], [10, 12]]
    np.testing.assert_allclose(
        shares_of(coarse, "treatment")[0], (study.states[:, :3, 0] > 0).mean()
    )


def test_abstaining_is_a_share_of_its_own_with_its_reason(study):
    table = recommendations(study, treat_above_zero(error=1.0))
    shares = shares_over_time(table, study.action_labels)
    np.testing.assert_allclose(shares.groupby("first")["share"].sum(), 1)
    abstained = (table["recommended"] == -1).mean()
    assert 0.5 < abstained < 1
    assert abstentions(table) == {int(Reason.UNCERTAIN): pytest.approx(abstained)}
    assert shares_of(shares, ABSTAINED).mean() == pytest.approx(abstained)


def test_groups_by_value_and_by_median(study):
    table = recommendations(study, treat_above_zero())
    by_value = shares_by_group(table, study, "z")
    assert by_value["group"].unique().tolist() == ["0", "1", "2"]
    now = study.states[:, :-1]
    expected = [(now[..., 0] > 0)[now[..., 1] == value].mean() for value in (0, 1, 2)]
    np.testing.assert_allclose(shares_of(by_value, "treatment"), expected)
    by_median = shares_by_group(table, study, "x")
    low, high = by_median["group"].unique()
    assert low.startswith("at most")
    assert high.startswith("above")
    assert shares_of(by_median, "treatment")[1] > 0.85 > 0.15 > shares_of(by_median, "treatment")[0]
    assert by_median["taken"].dropna().tolist() == [1, 0, 1, 0]  # nobody was treated


def test_rescaled_variables_are_named_in_their_own_units(study):
    table = recommendations(study, treat_above_zero())
    about = (Variable("z", unit="points", rescaled_from=(10.0, 20.0)),)
    halves = replace(study, states=study.states / [1, 2], about=about)
    named = shares_by_group(table, halves, "z")
    assert named["group"].unique().tolist() == ["10 points", "15 points", "20 points"]


def test_a_median_that_is_the_highest_value_divides_all_the_same(study):
    states = study.states.copy()
    states[:, :, 1] = np.minimum(np.arange(13) / 5, 1)  # more than half of the decisions at 1
    table = recommendations(study, treat_above_zero())
    shares = shares_by_group(table, replace(study, states=states), "z")
    assert shares["group"].unique().tolist() == ["below 1", "1 (the highest)"]


def test_three_actions_with_the_support_of_the_trial():
    states = np.random.default_rng(0).normal(size=(20, 11, 3))
    actions = ("none", "message", "call")
    policy = random_policy(("a", "b", "c"), actions=actions)
    table = recommendations(trajectories_of(states, ("a", "b", "c"), actions), policy)
    shares = shares_over_time(table, actions)
    assert shares["action"].unique().tolist() == [*actions, ABSTAINED]
    np.testing.assert_allclose(shares.groupby("first")["share"].sum(), 1)
    assert set(abstentions(table)) <= {Reason.OUTSIDE, Reason.HARDLY_TRIED, Reason.UNCERTAIN}

"""When the rule abstains, and what it says then."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import SettingError
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.decision_rule import REASONS, Reason, decide
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings

OPTIONS = PolicySettings(discount=0.5, bootstraps=30)


def trial(effect: float, seed: int = 0, subjects: int = 30, rare: float | None = None):
    """U = effect (A - 1/2) x + noise; with `rare`, action 1 is that frequent where z > 0."""
    random = np.random.default_rng(seed)
    shape = (subjects, 40)
    states = random.standard_normal((subjects, 41, 2))
    chance = np.full(shape, 0.5)
    if rare is not None:
        chance = np.where(states[:, :-1, 1] > 0, rare, 0.5)
    actions = (random.random(shape) < chance).astype(np.int64)
    mean = effect * (actions - 0.5) * states[:, :-1, 0]
    return Trajectories(
        states=states,
        actions=actions,
        utilities=mean + random.standard_normal(shape),
        valid=np.ones(shape, dtype=bool),
        available=np.ones(shape, dtype=bool),
        probabilities=np.stack([1 - chance, chance], axis=2),
        variables=("x", "z"),
        subjects=tuple(map(str, range(subjects))),
        action_labels=("no", "yes"),
    )


def learned(data: Trajectories, options: PolicySettings = OPTIONS):
    return learn_policy(data, identity_feature_map(data), options)


def test_a_clear_effect_is_recommended_and_a_doubtful_one_is_not():
    policy = learned(trial(effect=1.0))
    found = policy.decide(np.array([[2.0, 0], [-2.0, 0], [0.0, 0]]))
    np.testing.assert_array_equal(found.recommended, (1, 0, -1))
    np.testing.assert_array_equal(found.reason, (0, 0, Reason.UNCERTAIN))
    np.testing.assert_array_equal(found.abstains, (False, False, True))
    assert found.supported.all()
    assert found.best[2] in (0, 1)
    assert (found.margin_lower < found.margin).all()
    assert (found.margin < found.margin_upper).all()


def test_without_an_effect_it_hardly_ever_recommends():
    """At level .05 on either side about a tenth of the states; over 20 trials at most a quarter."""
    shares = []
    for seed in range(20):
        data = trial(effect=0.0, seed=seed)
        shares.append((learned(data).decide(data.states[:, 0]).recommended >= 0).mean())
    assert np.mean(shares) < 0.25
    sure = replace(OPTIONS, abstain_level=0.5)
    assert (learned(trial(effect=0.0), sure).decide(data.states[:, 0]).recommended >= 0).all()


def test_it_abstains_where_a_treatment_was_hardly_ever_tried():
    policy = learned(trial(effect=2.0, rare=0.005))
    found = policy.decide(np.array([[1.5, 1.0], [1.5, -1.0]]))
    np.testing.assert_array_equal(found.reason, (Reason.HARDLY_TRIED, Reason.RECOMMENDED))
    np.testing.assert_array_equal(found.supported, (False, True))
    assert found.least_tried[0] < 0.05 < found.least_tried[1]


def test_it_abstains_outside_of_what_was_seen():
    data = trial(effect=2.0)
    policy = learned(data)
    found = policy.decide(np.array([[9.0, 0.0], [1.0, 0.0], [0.0, -1e6]]))
    np.testing.assert_array_equal(found.reason, (Reason.OUTSIDE, 0, Reason.OUTSIDE))
    fresh = trial(effect=2.0, seed=1).states.reshape(-1, 2)
    assert (policy.decide(fresh).reason == Reason.OUTSIDE).mean() < 0.01


def test_unavailable_and_missing_come_first():
    policy = learned(trial(effect=2.0))
    states = np.array([[2.0, 0.0], [np.nan, 0.0], [np.nan, 0.0], [2.0, 0.0]])
    available = np.array([[False, False], [False, False], [True, True], [True, False]])
    found = policy.decide(states, available)
    assert found.reason.tolist() == [Reason.UNAVAILABLE, Reason.UNAVAILABLE, Reason.MISSING, 0]
    assert found.recommended.tolist() == [-1, -1, -1, 0]
    assert found.abstains.tolist() == [False, False, True, False]
    assert np.isnan(found.margin[3])  # there is no second action
    found = policy.decide(states[:1], np.array([False]))
    assert found.recommended.tolist() == [-1]


def test_the_margin_is_over_every_other_action():
    """Three actions: the second best is sure to be worse, the third is not."""
    values = np.array([[3.0, 2.0, 1.9]])
    refitted = np.array([[[3.0, 2.0, -2.0]], [[3.0, 2.1, 6.0]], [[3.0, 1.9, 1.7]]])
    nothing = np.full((1, 3), np.nan)
    found = decide(
        values,
        refitted,
        np.ones((1, 3), dtype=bool),
        nothing,
        nothing[:, 0],
        level=0.05,
        least_share=0.05,
    )
    assert found.margin[0] == pytest.approx(1.0)
    assert found.reason[0] == Reason.UNCERTAIN
    error = np.std([5.0, -3.0, 1.3], ddof=1)
    assert found.margin_lower[0] == pytest.approx(1.1 - 1.644854 * error)
    without_third = decide(
        values,
        refitted,
        np.array([[True, True, False]]),
        nothing,
        nothing[:, 0],
        level=0.05,
        least_share=0.05,
    )
    assert without_third.recommended[0] == 0


def test_without_refits_or_support_only_the_best_counts():
    data = trial(effect=0.0)
    policy = replace(learned(data), resampled=(), support=None)
    found = policy.decide(data.states)
    np.testing.assert_array_equal(found.recommended, policy.recommend(data.states))
    assert np.isnan(found.margin_lower).all()
    assert found.supported.all()


def test_ties_among_neighbours_all_count():
    """Two places only: each state has the shares of its own place, however many there are."""
    data = trial(effect=1.0)
    states = np.sign(data.states) * [1, 0]
    actions = np.where(states[:, :-1, 0] > 0, data.actions, 0)
    policy = learned(replace(data, states=states, actions=actions))
    shares, distance = policy.support(
        (policy.feature_map.transform(np.array([[1.0, 0], [-1.0, 0]])) - policy.q.centre)
        / policy.q.scale
    )
    taken = actions[states[:, :-1, 0] > 0].mean()
    np.testing.assert_allclose(shares, [[1 - taken, taken], [1, 0]])
    assert (distance <= 1).all()
    assert policy.decide(np.array([0.0, 0.0])).reason == Reason.OUTSIDE


def test_many_decisions_are_thinned_evenly():
    policy = learned(trial(effect=1.0, subjects=120))
    assert policy.support.points.shape == (2000, 2)
    assert abs(policy.support.taken.mean() - 0.5) < 0.05


def test_every_reason_has_words():
    assert set(REASONS) == set(Reason)


CAUTIOUS = replace(OPTIONS, model="pessimistic", pessimism=1.0, reference="no")


def test_a_pessimistic_policy_treats_only_where_it_is_clearly_better():
    data = trial(effect=0.5)
    plain, cautious = learned(data), learned(data, CAUTIOUS)
    states = np.column_stack([np.linspace(-2, 2, 81), np.zeros(81)])
    ahead = np.diff(plain.q_values(states))[:, 0]
    refits = np.stack([q(plain.feature_map.transform(states)) for q in plain.resampled])
    error = (refits[:, :, 1] - refits[:, :, 0]).std(axis=0, ddof=1)
    np.testing.assert_array_equal(cautious.recommend(states), ahead > error)
    found = cautious.decide(states)
    np.testing.assert_array_equal(found.recommended, cautious.recommend(states))
    assert not found.abstains.any()
    doubtful = plain.decide(states).reason == Reason.UNCERTAIN
    np.testing.assert_array_equal(found.in_doubt, doubtful)
    behind = found.margin < 0
    assert behind.any()
    assert (found.recommended[behind] == 0).all()
    assert found.in_doubt[behind].all()


def test_without_an_effect_it_mostly_leaves_things_as_they_are():
    treated = [
        (learned(trial(effect=0.0, seed=s), CAUTIOUS).recommend(np.zeros((1, 2))) == 1).mean()
        for s in range(20)
    ]
    assert np.mean(treated) <= 0.4  # one error, one-sided: .16


def test_pessimism_of_zero_is_the_linear_policy():
    data = trial(effect=0.5)
    states = np.random.default_rng(1).standard_normal((200, 2))
    none = learned(data, replace(CAUTIOUS, pessimism=0.0))
    np.testing.assert_array_equal(none.recommend(states), learned(data).recommend(states))


def test_where_the_reference_is_not_possible_the_others_are_compared():
    policy = learned(trial(effect=0.5), CAUTIOUS)
    possible = np.array([[False, True], [True, False], [False, False]])
    np.testing.assert_array_equal(policy.recommend(np.zeros((3, 2)), possible), (1, 0, -1))
    np.testing.assert_array_equal(policy.recommend(np.full((1, 2), np.nan)), (-1,))


def test_a_pessimistic_policy_keeps_its_refits_where_it_is_judged():
    assert CAUTIOUS.to_be_judged == CAUTIOUS
    assert OPTIONS.to_be_judged.resamples == 0
    with pytest.raises(SettingError, match="at least 10"):
        replace(CAUTIOUS, bootstraps=0)
    with pytest.raises(SettingError, match="'no', 'yes'"):
        learned(trial(effect=0.5), replace(CAUTIOUS, reference="nothing"))

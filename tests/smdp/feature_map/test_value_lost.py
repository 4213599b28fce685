"""What a decision by some features costs, where that is known."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.transitions import Transitions
from smdp.feature_map.value_lost import FullStatePolicy
from smdp.policy.policy_settings import PolicySettings

SEED = np.random.SeedSequence(1)
GAMMA = 0.5


@pytest.fixture(autouse=True)
def one_thread():
    """As in a fit: small matrices are slow in several threads."""
    with threadpool_limits(1, user_api="blas"):
        yield


def study(people=24, times=60, actions=2, *, both=False, forced=0.0, folds=3, seed=0):
    """An action is right if it fits the first of three variables, which no action changes.

    `both`: the sum of the first two. `forced`: the share of decisions without a choice.
    """
    random = np.random.default_rng(seed)
    states = random.normal(size=(people, times + 1, 3))
    for t in range(times):
        states[:, t + 1] += 0.5 * states[:, t]
    now = states[:, :-1].reshape(-1, 3)
    count = people * times
    head = random.integers(0, actions, count)
    without = random.random(count) < forced
    head[without] = actions
    heads = actions + int(forced > 0)
    matters = now[:, 0] + both * now[:, 1]
    effects = np.column_stack([np.zeros_like(matters), matters, -matters, np.zeros_like(matters)])
    chosen = effects[:, [*range(actions), 3][:heads]]
    utility = chosen[np.arange(count), head] + now[:, 2] + 0.5 * random.normal(size=count)
    probabilities = np.zeros((count, heads))
    probabilities[:, :actions] = 1 / actions
    probabilities[without] = np.eye(heads)[-1]
    person = np.repeat(np.arange(people), times)
    rows = Transitions(
        row=person,
        time=np.tile(np.arange(times), people),
        subject=person,
        shape=(people, times),
        states=now,
        outcomes=np.column_stack([utility, states[:, 1:].reshape(-1, 3)]),
        head=head,
        fold=person % folds,
        heads=heads,
        folds=folds,
    )
    return rows, probabilities


def lost_by(rows, probabilities, *columns, discount=GAMMA):
    """By the map that leaves out all but these variables."""
    policy = FullStatePolicy(rows, probabilities, discount, seed=SEED)
    kept = list(columns)
    described = rows.states[:, kept], rows.outcomes[:, 1:][:, kept]
    return policy.value_lost([described] * rows.folds)


def test_a_feature_that_is_enough_to_choose_costs_nothing():
    found = lost_by(*study(), 0)
    assert abs(found.lost) < 0.03
    assert found.low < 0 < found.high
    assert found.same_choice > 0.9


def test_a_variable_that_is_missing_costs_what_it_would_have_brought():
    """E max(0, s), with s of standard deviation 2 / sqrt(3), against 0: about .46."""
    found = lost_by(*study(), 1, 2)
    assert found.low > 0.2
    assert found.low < 0.46 < found.high
    assert 0.3 < found.same_choice < 0.7
    half = lost_by(*study(both=True), 0)
    assert 0 < half.low < half.lost < half.high


def test_the_state_itself_costs_nothing_at_all():
    found = lost_by(*study(), 0, 1, 2)
    assert (found.lost, found.low, found.high, found.same_choice) == (0, 0, 0, 1)


def test_three_actions():
    rows, probabilities = study(actions=3)
    assert abs(lost_by(rows, probabilities, 0).lost) < 0.05
    # E |s| against 0: about .92.
    missing = lost_by(rows, probabilities, 1, 2)
    assert 0.5 < missing.low < 0.92 < missing.high


def test_decisions_without_a_choice_cost_nothing_and_do_not_count():
    rows, probabilities = study(forced=0.3)
    found = lost_by(rows, probabilities, 1, 2)
    assert found.low < 0.46 < found.high
    assert found.low > 0.15
    assert lost_by(rows, probabilities, 0).same_choice > 0.9
    alone = rows.head < 2
    whole = FullStatePolicy(rows, probabilities, GAMMA, seed=SEED)
    assert (whole._chosen[~alone] == 2).all()
    assert (whole._chosen[alone] < 2).all()


def test_what_is_possible_next_is_what_was_possible_there():
    rows, probabilities = study(people=6, times=4, forced=0.5)
    gap = np.ones(len(rows.head), dtype=bool)
    gap[1] = False
    found = FullStatePolicy(rows.take(gap), probabilities[gap], GAMMA, seed=SEED)._possible_next
    expected = (probabilities > 0)[gap]
    np.testing.assert_array_equal(found[1], expected[2])
    for at_end in (0, 2):  # before the gap, and at the end of the first trajectory
        np.testing.assert_array_equal(found[at_end], [True, True, False])


def test_an_effect_that_comes_later_is_seen_with_a_discount_only():
    rows, probabilities = study()
    later = rows.outcomes.copy()
    later[:, 0] = 0.1 * np.random.default_rng(0).normal(size=len(later))
    later[:, 0] += rows.states[:, 2]
    later[:, 3] = rows.head * rows.states[:, 0]  # the action makes the third variable
    states = rows.states.copy()
    follows = np.flatnonzero(np.diff(rows.row) == 0)
    states[follows + 1, 2] = later[follows, 3]
    later[:, 0] += states[:, 2] - rows.states[:, 2]
    changed = replace(rows, states=states, outcomes=later)
    assert abs(lost_by(changed, probabilities, 1, 2, discount=0.0).lost) < 0.02
    assert lost_by(changed, probabilities, 1, 2, discount=0.9).low > 0.1


@pytest.mark.parametrize("people", [4, 6])
def test_few_people_have_an_answer_or_none(people):
    found = lost_by(*study(people=people, times=4, folds=2), 0)
    assert np.isfinite([found.lost, found.low, found.high, found.same_choice]).all()
    assert found.low <= found.lost <= found.high


def test_without_any_choice_nothing_is_said():
    rows, _ = study(people=6, times=4)
    found = lost_by(rows, np.eye(2)[rows.head], 0)
    assert np.isnan([found.lost, found.low, found.high, found.same_choice]).all()


def test_the_same_seed_gives_the_same_bits():
    assert lost_by(*study(), 1) == lost_by(*study(), 1)


def test_the_discount_is_that_of_policies():
    assert FeatureMapSettings().discount == PolicySettings().discount

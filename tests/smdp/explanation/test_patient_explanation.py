"""One person at one time: contributions that add up, and what is recommended or not."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from small_policies import random_policy, trajectories_of

from smdp.data.variables import Variable
from smdp.errors import DataError, SettingError
from smdp.explanation.patient_explanation import explain_patient, shapley
from smdp.plain_data import read_plain, write_plain
from smdp.words.explanation import describe_patient

NAMES = ("stress", "mood", "weekend", "age")


@pytest.mark.parametrize("count", [3, 14])
def test_the_parts_add_up_to_the_whole_difference(count):
    names = [f"v{j}" for j in range(count)]
    random = np.random.default_rng(count)
    policy = random_policy(names, hidden=(10,), features=3, centre=random.normal(0, 1, count))
    state = random.normal(0, 2, count)
    explained = explain_patient(policy, state)
    total = explained.variables["contribution"].sum()
    assert total == pytest.approx(explained.margin - explained.average_margin, abs=1e-10)
    assert explained.exact == (count <= 10)
    q = policy.q_values(state)
    assert explained.margin == pytest.approx(q.max() - q.min())
    at_mean = policy.q_values(policy.feature_map.centre)
    best, second = (policy.action_labels.index(a) for a in (explained.best, explained.second))
    assert explained.average_margin == pytest.approx(at_mean[best] - at_mean[second])


def test_shapley_values_are_means_over_all_orders():
    def value_of(states: np.ndarray) -> np.ndarray:
        return states[:, 0] * states[:, 1] + np.maximum(states[:, 2], 0) * states[:, 0]

    state, baseline = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, -2.0])
    brought = np.zeros(3)
    for order in permutations(range(3)):
        now = baseline.copy()
        for j in order:
            before = value_of(now[None])[0]
            now[j] = state[j]
            brought[j] += value_of(now[None])[0] - before
    parts, exact = shapley(value_of, state, baseline)
    assert exact
    np.testing.assert_allclose(parts, brought / 6, atol=1e-12)


def test_sampled_orders_are_close_to_all_orders(monkeypatch):
    policy = random_policy([f"v{j}" for j in range(6)], hidden=(8,), features=3)
    state = np.random.default_rng(0).normal(0, 2, 6)
    exactly = explain_patient(policy, state).variables["contribution"]
    monkeypatch.setattr("smdp.explanation.patient_explanation.MOST_FOR_EXACT", 2)
    sampled = explain_patient(policy, state)
    assert not sampled.exact
    assert np.abs(sampled.variables["contribution"] - exactly).max() < 0.1 * np.abs(exactly).max()


def test_variables_that_are_not_used_have_no_part_and_may_be_missing():
    policy = random_policy(NAMES, unused=[1])
    explained = explain_patient(policy, {"stress": 2.0, "weekend": 1.0, "age": 20.0})
    assert explained.variables.set_index("variable").loc["mood", "contribution"] == 0
    assert np.isfinite(explained.margin)
    total = explained.variables["contribution"].sum()
    assert total == pytest.approx(explained.margin - explained.average_margin)


def test_the_recommendation_is_that_of_the_rule():
    policy = random_policy(NAMES, actions=("a", "b", "c"))
    random = np.random.default_rng(1)
    seen = set()
    for state in random.normal(0, 1.5, (60, 4)):
        explained = explain_patient(policy, state)
        decided = policy.decide(state[None])
        expected = None if decided.abstains[0] else policy.action_labels[decided.recommended[0]]
        assert explained.recommendation == expected
        assert (explained.reason == "") == (expected is not None)
        assert explained.margin == pytest.approx(decided.margin[0])
        assert explained.margin_lower == pytest.approx(decided.margin_lower[0])
        seen.add(explained.reason)
        assert describe_patient(explained)
    assert len(seen) >= 3


def test_what_may_not_be_chosen_is_not_recommended():
    policy = replace(random_policy(NAMES, actions=("a", "b", "c")), support=None, resampled=())
    state = np.array([0.5, -1.0, 1.0, 2.0])
    free = explain_patient(policy, state)
    nothing = explain_patient(policy, state, available=False)
    assert nothing.recommendation is None
    assert nothing.reason == "no treatment can be chosen now"
    assert nothing.best == free.best
    others = [a for a in "abc" if a != free.best]
    explained = explain_patient(policy, state, available=others)
    assert explained.recommendation == explained.best == free.second
    assert explained.q_values["possible"].tolist() == [a in others for a in "abc"]
    only = explain_patient(policy, state, available=[others[-1]])
    assert only.recommendation == only.best == others[-1]
    assert "No recommendation: no treatment can be chosen now" in describe_patient(nothing)[0]


def test_a_value_outside_the_range_seen_is_warned_of():
    policy = random_policy(NAMES)
    states = np.random.default_rng(0).uniform(0, 10, (5, 7, 4))
    study = trajectories_of(states, NAMES)
    inside = explain_patient(policy, np.full(4, 5.0), trajectories=study)
    assert inside.warnings == ()
    explained = explain_patient(policy, [5, 5, 5, 14], trajectories=study)
    assert [w.about for w in explained.warnings] == ["age"]
    high = states[:, :-1, 3].max()
    assert "'age' is 14, outside the range seen in the study, " in str(explained.warnings[0])
    assert f"to {high:g}." in str(explained.warnings[0])
    assert explain_patient(policy, [5, 5, 5, 14]).warnings == ()


def test_rescaled_values_come_back_in_their_own_units():
    policy = random_policy(NAMES)
    study = trajectories_of(np.random.default_rng(0).uniform(0, 1, (5, 7, 4)), NAMES)
    study = replace(study, about=(Variable("age", unit="years", rescaled_from=(18.0, 38.0)),))
    explained = explain_patient(policy, [0.5, 0.5, 0.5, 1.5], trajectories=study)
    own = explained.in_own_units()
    assert own.variables["value"].tolist() == [0.5, 0.5, 0.5, 48.0]
    assert "'age' is 48 years, outside the range seen" in str(own.warnings[0])
    assert "'age' is 1.5, outside the range seen" in str(explained.warnings[0])
    assert "age = 48 years (" in " ".join(describe_patient(own))
    assert "age = 1.5 (" in " ".join(describe_patient(explained))
    assert own.variables["contribution"].equals(explained.variables["contribution"])


def test_sentences_say_for_and_against():
    policy = replace(random_policy(NAMES), support=None, resampled=())
    explained = explain_patient(policy, [2.0, -1.0, 1.0, 0.5])
    text = " ".join(describe_patient(explained))
    assert text.startswith(f"{explained.best.capitalize()} is recommended: {explained.best}")
    largest = explained.variables.set_index("variable")["contribution"].abs().idxmax()
    assert f"{largest} " in text
    assert "the parts add up" in text


def test_bad_states_are_refused_with_names():
    policy = random_policy(NAMES)
    with pytest.raises(DataError, match="no value of mood, which the policy uses"):
        explain_patient(policy, [1.0, np.nan, 0.0, 1.0])
    with pytest.raises(DataError, match="does not know the variable sleep"):
        explain_patient(policy, {"sleep": 3.0})
    with pytest.raises(DataError, match=r"has 4 values .* shape"):
        explain_patient(policy, [1.0, 2.0])
    with pytest.raises(SettingError, match="'available' names pill"):
        explain_patient(policy, [0.0] * 4, available=["pill"])


def test_it_is_plain_data(tmp_path):
    explained = explain_patient(random_policy(NAMES), [0.0, 1.0, 1.0, 0.0])
    write_plain(explained, tmp_path)
    assert read_plain(tmp_path).variables.equals(explained.variables)

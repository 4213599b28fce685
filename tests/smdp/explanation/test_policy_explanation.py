"""Which variables favour which action: derivatives, signs, intervals, and the sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_policies import map_of, policy_of, random_policy, trajectories_of

from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.prepare import prepare
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError, SettingError
from smdp.explanation import policy_explanation
from smdp.explanation.policy_explanation import (
    by_feature,
    by_variable,
    explain_policy,
)
from smdp.feature_map.identity import identity_feature_map
from smdp.feature_map.layers import Layer
from smdp.plain_data import read_plain, write_plain
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import QFunction
from smdp.simulation.basics_like import STATES, basics_like
from smdp.words.explanation import (
    describe_explanation,
    feature_effect_table,
    variable_effect_table,
)

NAMES = ("stress", "mood", "weekend", "age")


@pytest.fixture
def study() -> Trajectories:
    random = np.random.default_rng(3)
    states = random.normal(0, [2.0, 1.0, 1.0, 3.0], (8, 11, 4))
    states[:, :, 2] = random.integers(0, 2, (8, 11))
    return trajectories_of(states, NAMES)


def linear_policy(difference: list[float], error: float = 0.1) -> LearnedPolicy:
    """Identity map; Q(treatment) - Q(nothing) is linear with these slopes."""
    eye = map_of([Layer(np.eye(4), np.zeros(4))], NAMES, "identity")
    random = np.random.default_rng(0)

    def q(slopes: np.ndarray) -> QFunction:
        weights = np.stack([np.zeros(4), slopes])
        return QFunction(np.zeros(4), np.ones(4), (Layer(weights, np.zeros(2)),))

    refits = [q(np.array(difference) + random.normal(0, error, 4)) for _ in range(40)]
    return policy_of(eye, q(np.array(difference)), refits)


@pytest.mark.parametrize("hidden", [(), (9, 7)])
@pytest.mark.parametrize("map_hidden", [(), (6,)])
def test_the_chain_rule_agrees_with_small_steps(hidden, map_hidden):
    policy = random_policy(
        NAMES, hidden=hidden, map_hidden=map_hidden, unused=[3], activation="tanh",
        actions=("a", "b", "c"), centre=[1, 2, 0, 0], scale=[2, 1, 3, 1],
    )  # fmt: skip
    random = np.random.default_rng(1)
    states = random.normal(0, 1, (20, 4))
    contrasts = [(1, 0), (2, 0)]
    found = by_variable(policy.feature_map, policy.q, states, contrasts)
    features = policy.feature_map.transform(states)
    of_features = by_feature(policy.q, features, contrasts)
    step = 1e-6
    for j in range(4):
        shift = np.eye(4)[j] * step
        change = policy.q_values(states + shift) - policy.q_values(states - shift)
        expected = (change[:, 1:] - change[:, :1]) / (2 * step)
        np.testing.assert_allclose(found[:, :, j], expected, atol=1e-6)
    for k in range(2):
        shift = np.eye(2)[k] * step
        change = policy.q(features + shift) - policy.q(features - shift)
        expected = (change[:, 1:] - change[:, :1]) / (2 * step)
        np.testing.assert_allclose(of_features[:, :, k], expected, atol=1e-6)
    assert (found[:, :, 3] == 0).all()


def test_derivatives_at_many_rows_are_taken_in_parts(monkeypatch):
    policy = random_policy(NAMES, hidden=(8,), map_hidden=(5,))
    states = np.random.default_rng(0).normal(size=(50, 4))
    at_once = by_variable(policy.feature_map, policy.q, states, [(1, 0)])
    monkeypatch.setattr(policy_explanation, "ROWS_NEAR", 7)
    in_parts = by_variable(policy.feature_map, policy.q, states, [(1, 0)])
    np.testing.assert_allclose(in_parts, at_once, rtol=1e-12)


def test_effects_of_a_linear_policy_are_its_slopes_per_standard_deviation(study):
    explained = explain_policy(linear_policy([-0.5, 0.02, 1.5, 0.0]), study)
    table = explained.variables.set_index("variable")
    sd = study.states[:, :-1].reshape(-1, 4).std(axis=0)
    np.testing.assert_allclose(table.loc["stress", "estimate"], -0.5 * sd[0])
    np.testing.assert_allclose(table.loc["weekend", "estimate"], 1.5)  # from 0 to 1, not an SD
    assert table["kind"].tolist() == ["scale", "scale", "two values", "scale"]
    assert table["established"].tolist() == [True, False, True, False]
    width = table.loc["weekend", "upper"] - table.loc["weekend", "lower"]
    assert 2 * 1.96 * 0.06 < width < 2 * 1.96 * 0.15  # the refits' deviation is 0.1
    features = explained.features.set_index("feature")
    np.testing.assert_allclose(features["estimate"], [-0.5, 0.02, 1.5, 0.0])
    assert (table["agreement"] == 1).all()


def test_the_features_of_a_linear_policy_are_its_parameter_differences(study):
    policy = random_policy(NAMES, features=3, actions=("a", "b", "c"))
    study = replace(study, action_labels=("a", "b", "c"), probabilities=np.full((8, 10, 3), 1 / 3))
    table = explain_policy(policy, study, reference="b").features
    assert table["action"].unique().tolist() == ["a", "c"]
    parameters = policy.parameters.drop(columns="intercept")
    expected = (parameters.loc[["a", "c"]] - parameters.loc["b"]).to_numpy().ravel()
    np.testing.assert_allclose(table["estimate"], expected)


def test_the_reference_turns_the_signs_round(study):
    policy = random_policy(NAMES, hidden=(8,))
    forward = explain_policy(policy, study)
    backward = explain_policy(policy, study, action="nothing", reference="treatment")
    for name in ("variables", "features", "average"):
        ahead, back = getattr(forward, name), getattr(backward, name)
        np.testing.assert_allclose(ahead["estimate"], -back["estimate"], atol=1e-12)
        np.testing.assert_allclose(ahead["lower"], -back["upper"], atol=1e-12)
    assert explain_policy(policy, study, action="nothing").reference == "treatment"


def test_only_decisions_with_a_choice_are_averaged_over(study):
    policy = random_policy(NAMES)
    available = study.available.copy()
    available[:4] = False
    states = study.states.copy()
    states[:4] = 1e6
    half = explain_policy(policy, replace(study, available=available, states=states))
    assert half.states == 40
    some = replace(
        study, **{name: getattr(study, name)[4:] for name in
                  ("states", "actions", "utilities", "valid", "available", "probabilities")},
        subjects=study.subjects[4:],
    )  # fmt: skip
    assert half.variables.equals(explain_policy(policy, some).variables)


def test_an_effect_that_turns_round_is_said(study):
    """A tent in stress: more helps on one side of the middle, less on the other."""
    tent = Layer(np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]), np.zeros(2))
    fitted = map_of([tent], NAMES, "relu")

    def q(error: float) -> QFunction:
        weights = np.array([[0.0, 0.0], [3.0 + error, 1.0 + error]])
        return QFunction(np.zeros(2), np.ones(2), (Layer(weights, np.zeros(2)),))

    random = np.random.default_rng(0)
    policy = policy_of(fitted, q(0), [q(e) for e in random.normal(0, 0.01, 20)])
    explained = explain_policy(policy, study)
    row = explained.variables.set_index("variable").loc["stress"]
    assert row["established"]
    assert 0.3 < row["agreement"] < 0.7
    text = " ".join(describe_explanation(explained))
    assert "not everywhere for stress (" in text
    assert "Without any part in the decision: mood, weekend and age." in text


def test_sentences_name_what_is_certain_and_what_is_not(study):
    sentences = describe_explanation(explain_policy(linear_policy([-0.3, 0.02, 1.5, 0.4]), study))
    assert sentences[0] == (
        "Treatment is favoured over nothing when weekend is 1, at high age and at low stress."
    )
    assert "Over the 80 decisions" in sentences[1]
    assert "Uncertain, because the interval includes no effect: at high mood." in sentences
    assert "not a cause of its own" in sentences[-1]
    assert "40 refits" in sentences[-1]


def test_nothing_is_certain_without_refits(study):
    policy = replace(linear_policy([-0.5, 0.0, 1.5, 0.0]), resampled=())
    explained = explain_policy(policy, study)
    assert explained.variables["lower"].isna().all()
    assert not explained.variables["established"].any()
    sentences = describe_explanation(explained)
    assert "seems favoured" in sentences[0]
    assert "nothing is said about certainty" in sentences[-1]


def test_numbered_actions_and_pure_noise_read_well(study):
    policy = replace(linear_policy([0.0, 0.0, 0.0, 0.0]), action_labels=("0", "1"))
    explained = explain_policy(policy, replace(study, action_labels=("0", "1")))
    first = describe_explanation(explained)
    assert first[0] == "No variable on its own favours action 1 or action 0 with certainty."
    for table in (variable_effect_table(explained), feature_effect_table(explained)):
        assert set(table["action"]) == {"action 1"}


def test_tables_are_fit_to_be_read(study):
    explained = explain_policy(linear_policy([-0.5, 0.02, 1.5, 0.0]), study)
    variables = variable_effect_table(explained).set_index("variable")
    assert variables.loc["weekend", "a change of"] == "0 to 1"
    assert variables.loc["weekend", "changes the difference by"].startswith("1.50 (1.")
    assert variables.loc["stress", "favours the action"] == "at low stress"
    assert feature_effect_table(explained)["large at"].tolist()[0] == "high stress"


def test_a_variable_with_two_values_is_switched_not_differentiated(study):
    policy = random_policy(NAMES, hidden=(8,), map_hidden=(5,))
    states = study.states[:, :-1].reshape(-1, 4)
    on, off = states.copy(), states.copy()
    on[:, 2], off[:, 2] = 1, 0
    change = policy.q_values(on) - policy.q_values(off)
    table = explain_policy(policy, study).variables.set_index("variable")
    expected = (change[:, 1] - change[:, 0]).mean()
    assert table.loc["weekend", "estimate"] == pytest.approx(expected)


def test_rescaled_variables_are_named_in_their_own_units(study):
    weekend = Variable("weekend", rescaled_from=(1.0, 2.0))
    stress = Variable("stress", unit="points", rescaled_from=(0.0, 10.0))
    data = replace(study, about=(weekend, stress))
    explained = explain_policy(linear_policy([-0.3, 0.02, -1.5, 0.4]), data)
    own = explained.in_own_units()
    assert describe_explanation(own)[0].endswith(
        "when weekend is 1, at high age and at low stress."
    )
    before, after = (e.variables.set_index("variable") for e in (explained, own))
    assert after.loc["stress", "sd"] == pytest.approx(10 * before.loc["stress", "sd"])
    assert after["estimate"].equals(before["estimate"])
    assert own.in_own_units().variables.equals(own.variables)
    changes = variable_effect_table(own).set_index("variable")["a change of"]
    assert changes["weekend"] == "1 to 2"
    assert changes["stress"] == f"one SD ({after.loc['stress', 'sd']:.3g} points)"
    assert "points" not in " ".join(variable_effect_table(explained)["a change of"])


def test_bad_input_is_refused_with_names(study):
    policy = random_policy(NAMES)
    with pytest.raises(SettingError, match="'action' names 'pill', which is no action"):
        explain_policy(policy, study, action="pill")
    with pytest.raises(SettingError, match="both 'nothing'"):
        explain_policy(policy, study, action="nothing", reference="nothing")
    with pytest.raises(DataError, match="learned with the variable stress"):
        explain_policy(policy, study.select(["mood", "weekend", "age"]))
    with pytest.raises(DataError, match="no valid decision"):
        explain_policy(policy, replace(study, available=np.zeros_like(study.available)))


def test_an_explanation_is_plain_data(study, tmp_path):
    explained = explain_policy(random_policy(NAMES, hidden=(5,)), study)
    write_plain(explained, tmp_path)
    back = read_plain(tmp_path)
    assert back.variables.equals(explained.variables)
    assert back.actions == explained.actions


def test_the_planted_truth_is_found_in_the_synthetic_study():
    """Weekends, low stress and earlier quit attempts favour treatment (bench: ten seeds)."""
    chosen = ["weekend", "stress", "quit_attempts", "burden", "cigs"]
    roles = ColumnRoles("student", "report", "module", STATES, NextValue("cigs", sign=-1))
    found = []
    for seed in (2014, 2015, 2016):
        trajectories = prepare(basics_like(seed=seed), roles).trajectories.select(chosen)
        fitted = identity_feature_map(trajectories)
        policy = learn_policy(trajectories, fitted, PolicySettings(bootstraps=20))
        table = explain_policy(policy, trajectories).variables.set_index("variable")
        signs = np.sign(table.loc[["weekend", "stress", "quit_attempts"], "estimate"])
        found.append(signs.tolist() == [1, -1, 1])
    assert sum(found) >= 2

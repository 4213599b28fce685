"""Learning Q-functions: against value iteration, with and without choices, and bad input."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.feature_map.identity import identity_feature_map
from smdp.feature_map.transitions import Scale
from smdp.policy import q_linear
from smdp.policy.decision_rows import DecisionRows, decision_rows
from smdp.policy.learned_policy import learn_policy, resamples
from smdp.policy.policy_settings import PolicySettings
from smdp.policy_iteration import LinearFit, policy_iteration, with_intercept
from smdp.simulation.generative_model import simulate

STATES, ACTIONS, DISCOUNT = 5, 3, 0.9
NAMES = tuple(f"in state {s}" for s in range(STATES))
EVERY_STATE = np.eye(STATES)


class FiniteProcess:
    """Five states, three actions; with some chance nothing can be chosen and action 0 happens."""

    def __init__(self, seed: int = 20, unavailable: float = 0.0) -> None:
        random = np.random.default_rng(seed)
        self.next = random.dirichlet(np.full(STATES, 0.4), (STATES, ACTIONS))  # (S, A, S)
        self.utility = random.uniform(0, 2, (STATES, ACTIONS))
        self.forced = 3.0 * random.uniform(0, 1, STATES)  # the utility where there is no choice
        self.unavailable = unavailable

    def optimal_q(self, discount: float = DISCOUNT) -> np.ndarray:
        """(S, A), by value iteration."""
        q, f = np.zeros((STATES, ACTIONS)), np.zeros(STATES)
        for _ in range(2000):
            value = (1 - self.unavailable) * q.max(axis=1) + self.unavailable * f
            q = self.utility + discount * self.next @ value
            f = self.forced + discount * self.next[:, 0] @ value
        return q

    def trial(self, subjects: int = 40, times: int = 100, seed: int = 0) -> Trajectories:
        random = np.random.default_rng(seed)
        state = np.empty((subjects, times + 1), dtype=np.int64)
        state[:, 0] = random.integers(0, STATES, subjects)
        actions = random.integers(0, ACTIONS, (subjects, times))
        available = random.random((subjects, times)) >= self.unavailable
        happens = np.where(available, actions, 0)
        utilities = np.empty((subjects, times))
        for t in range(times):
            now, done = state[:, t], happens[:, t]
            mean = np.where(available[:, t], self.utility[now, done], self.forced[now])
            utilities[:, t] = mean + 0.1 * random.standard_normal(subjects)
            chances = self.next[now, done].cumsum(axis=1)
            state[:, t + 1] = (random.random((subjects, 1)) > chances[:, :-1]).sum(axis=1)
        return Trajectories(
            states=EVERY_STATE[state],
            actions=np.where(available, actions, -1),
            utilities=utilities,
            valid=np.ones((subjects, times), dtype=bool),
            available=available,
            probabilities=np.full((subjects, times, ACTIONS), 1 / ACTIONS),
            variables=NAMES,
            subjects=tuple(map(str, range(subjects))),
            action_labels=("none", "message", "call"),
        )


def learned(trial: Trajectories, **settings):
    options = PolicySettings(**{"discount": DISCOUNT, "bootstraps": 0, **settings})
    return learn_policy(trial, identity_feature_map(trial), options, seed=1)


@pytest.mark.parametrize("unavailable", [0.0, 0.3])
def test_linear_q_values_are_those_of_value_iteration(unavailable):
    process = FiniteProcess(unavailable=unavailable)
    truth = process.optimal_q()
    policy = learned(process.trial())
    found = policy.q_values(EVERY_STATE)
    np.testing.assert_allclose(found, truth, rtol=0.05)
    np.testing.assert_array_equal(policy.recommend(EVERY_STATE), truth.argmax(axis=1))
    assert policy.converged
    assert policy.convergence.switched.iloc[-1] == 0


@pytest.mark.parametrize("unavailable", [0.0, 0.3])
def test_the_network_finds_the_optimal_policy(unavailable):
    process = FiniteProcess(unavailable=unavailable)
    truth = process.optimal_q()
    policy = learned(process.trial(), model="neural", steps=1500, width=32)
    np.testing.assert_array_equal(policy.recommend(EVERY_STATE), truth.argmax(axis=1))
    np.testing.assert_allclose(policy.q_values(EVERY_STATE), truth, rtol=0.1)
    assert policy.converged


def test_the_papers_update_comes_to_the_same(monkeypatch):
    monkeypatch.setattr(q_linear, "UPDATES", 25_000)
    process = FiniteProcess()
    trial = process.trial()
    batch = learned(trial, discount=0.5)
    updates = learned(trial, discount=0.5, update="stochastic")
    np.testing.assert_allclose(
        updates.q_values(EVERY_STATE), batch.q_values(EVERY_STATE), rtol=0.05
    )
    assert updates.converged


def test_no_discount_is_regression():
    """At a discount of 0, Q is the mean utility of each state and action."""
    process = FiniteProcess()
    policy = learned(process.trial(), discount=0)
    np.testing.assert_allclose(policy.q_values(EVERY_STATE), process.utility, atol=0.05)


def test_states_without_a_choice_have_a_value_of_their_own():
    """They pay 50 here: whoever ignores that misses where the actions lead."""
    process = FiniteProcess(unavailable=0.3)
    process.forced = np.array([50.0, 0, 0, 0, 0])
    truth = process.optimal_q()
    assert (truth.argmax(axis=1) != FiniteProcess().optimal_q().argmax(axis=1)).any()
    policy = learned(process.trial(subjects=80))
    np.testing.assert_array_equal(policy.recommend(EVERY_STATE), truth.argmax(axis=1))


def test_few_decisions_without_a_choice_are_left_out_and_said():
    trial = FiniteProcess().trial()
    available = trial.available.copy()
    available[:2, 10] = False
    trial = replace(trial, available=available)
    rows = decision_rows(trial, identity_feature_map(trial), DISCOUNT)
    assert rows.levels == ACTIONS
    assert len(rows.level) == trial.valid.sum() - 2
    np.testing.assert_allclose(rows.even_weights[rows.forced], 1 / 3)
    for model in ("linear", "neural"):
        policy = learned(trial, model=model, steps=100, width=8)
        assert any("2 decisions had no choice" in note for note in policy.notes)


def test_an_action_with_probability_zero_is_no_choice_in_the_next_state():
    trial = FiniteProcess().trial()
    probabilities = trial.probabilities.copy()
    probabilities[0, 5] = (0.5, 0.5, 0)
    trial = replace(trial, probabilities=probabilities)
    rows = decision_rows(trial, identity_feature_map(trial), DISCOUNT)
    assert (~rows.choices).sum() == 1
    np.testing.assert_array_equal(rows.choices[4], (True, True, False))  # subject 0, time 4
    values = np.tile([0.0, 1.0, 2.0], (len(rows.level), 1))
    np.testing.assert_array_equal(rows.next_weights(values).argmax(axis=1)[[4, 5]], (1, 2))
    assert np.isfinite(
        learned(trial, model="neural", steps=100, width=8).q_values(EVERY_STATE)
    ).all()


def test_unequal_lengths_and_gaps():
    """Only valid transitions count; what is written elsewhere does not matter."""
    trial = FiniteProcess().trial(subjects=10, times=40)
    valid, states = trial.valid.copy(), trial.states.copy()
    valid[0, 20:] = False
    states[0, 21:] = np.nan
    valid[1, 7] = False
    utilities = np.where(valid, trial.utilities, np.nan)
    cut = replace(trial, valid=valid, states=states, utilities=utilities)
    padded = replace(
        cut, available=trial.available & valid, utilities=np.where(valid, utilities, 9e9)
    )
    feature_map = identity_feature_map(trial)
    rows = decision_rows(cut, feature_map, DISCOUNT)
    assert len(rows.level) == 10 * 40 - 21
    assert not rows.forced.any()
    # A gap at time 7: there the choice is not known to exist, at the end it is assumed.
    assert decision_rows(padded, feature_map, DISCOUNT).forced.sum() == 1
    options = PolicySettings(bootstraps=0)
    q = learn_policy(cut, feature_map, options).q_values(EVERY_STATE)
    assert np.isfinite(q).all()


def test_a_missing_next_state_serves_only_without_discount():
    trial = FiniteProcess().trial(subjects=10, times=40)
    states = trial.states.copy()
    states[:, -1] = np.nan
    feature_map = identity_feature_map(trial)
    trial = replace(trial, states=states)
    assert len(decision_rows(trial, feature_map, 0.5).level) == 10 * 39
    assert "10 decisions" in decision_rows(trial, feature_map, 0.5).notes[0]
    assert len(decision_rows(trial, feature_map, 0.0).level) == 10 * 40


@pytest.fixture(scope="module")
def study():
    return simulate("quad", subjects=12, times=30, seed=1).select(["S1", "S2", "S3", "S4"])


@pytest.mark.parametrize("model", ["linear", "neural"])
def test_the_same_seed_gives_the_same_policy_whatever_the_threads(study, model):
    import torch

    options = PolicySettings(model=model, bootstraps=3, steps=200)
    feature_map = identity_feature_map(study)
    first = learn_policy(study, feature_map, options, seed=4)
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if threads > 1 else 2)
    try:
        again = learn_policy(study, feature_map, options, seed=4)
    finally:
        torch.set_num_threads(threads)
    for a, b in zip((first.q, *first.resampled), (again.q, *again.resampled), strict=True):
        np.testing.assert_array_equal(a(study.states), b(study.states))
    other = learn_policy(study, feature_map, options, seed=5)
    assert not np.array_equal(first.resampled[0](study.states), other.resampled[0](study.states))
    # The policy itself does not depend on how many refits there are.
    alone = learn_policy(study, feature_map, replace(options, bootstraps=0), seed=4)
    np.testing.assert_array_equal(first.q_values(study.states), alone.q_values(study.states))


def test_refits_resample_subjects(study):
    rows = decision_rows(study, identity_feature_map(study), 0.9)
    samples = resamples(rows, 30, seed=0)
    assert (samples.sum(axis=1) == 12).all()
    counts = samples[0]
    weighted = policy_iteration(rows, 0.9, 1e-3, counts=counts).weights
    repeated = np.repeat(np.argsort(study.subjects), counts)
    copied = replace(
        study,
        **{
            name: getattr(study, name)[repeated]
            for name in ("states", "actions", "utilities", "valid", "available", "probabilities")
        },
        subjects=tuple(map(str, range(12))),
    )
    same = decision_rows(copied, identity_feature_map(study), 0.9)
    same = replace(
        same,
        features=rows.scale.standardise(same.scale.mean + same.scale.sd * same.features),
        following=rows.scale.standardise(same.scale.mean + same.scale.sd * same.following),
    )
    np.testing.assert_allclose(weighted, policy_iteration(same, 0.9, 1e-3).weights, atol=1e-8)


def test_policy_iteration_solves_its_own_equations(study):
    """At the solution, the weighted Bellman residual of the greedy policy is the penalty's."""
    rows = decision_rows(study, identity_feature_map(study), 0.9)
    fit = policy_iteration(rows, 0.9, 1e-3)
    before, after = with_intercept(rows.features), with_intercept(rows.following)
    value = (after @ fit.weights.T).max(axis=1)
    for a in range(2):
        own = rows.level == a
        residual = (rows.utility + 0.9 * value)[own] - before[own] @ fit.weights[a]
        penalty = np.array([0, *np.full(4, 1e-3)]) * fit.weights[a]
        np.testing.assert_allclose(before[own].T @ residual / len(own), penalty, atol=1e-8)


def test_a_cycle_is_found_and_said():
    """The state doubles after one action and turns over after the other: no linear Q fits."""
    fits = [policy_iteration(_growing_rows(seed), 0.9, 1e-6) for seed in range(40)]
    cycling = [fit for fit in fits if fit.cycle]
    assert cycling
    for fit in cycling:
        assert not fit.converged
        assert fit.cycle >= 2
        assert 0 < fit.cycle_switched <= 1
        assert np.isfinite(fit.weights).all()
    assert all(fit.converged for fit in fits if not fit.cycle)


def _growing_rows(seed: int) -> DecisionRows:
    random = np.random.default_rng(seed)
    features, level = random.standard_normal((30, 2)), np.arange(30) % 2
    grown = np.where(level == 0, 2.0, -2.0)[:, None] * features
    return DecisionRows(
        features=features,
        level=level,
        utility=random.standard_normal(30),
        following=grown + 0.1 * random.standard_normal((30, 2)),
        choices=np.ones((30, 2), dtype=bool),
        row=np.arange(30) // 10,
        time=np.arange(30) % 10,
        subject=np.arange(30) // 10,
        shape=(3, 10),
        actions=2,
        levels=2,
        scale=Scale(np.zeros(2), np.ones(2)),
        notes=(),
    )


def test_weights_without_bound_are_refused(study, monkeypatch):
    def lost(*_, **__):
        return LinearFit(np.full((2, 5), np.nan), (1.0,), (1.0,), False)

    monkeypatch.setattr(q_linear, "policy_iteration", lost)
    with pytest.raises(DataError, match="grow without bound"):
        learn_policy(study, identity_feature_map(study), PolicySettings(bootstraps=2))


def test_variables_are_taken_by_name(study):
    wide = simulate("quad", subjects=12, times=30, seed=1)
    feature_map = identity_feature_map(study)
    options = PolicySettings(bootstraps=0)
    a, b = (learn_policy(data, feature_map, options) for data in (study, wide))
    np.testing.assert_array_equal(a.q_values(study.states), b.q_values(study.states))
    with pytest.raises(DataError, match="fitted with the variable S4, which these data do not"):
        learn_policy(study.select(["S1", "S2", "S3"]), feature_map)


def test_bad_input(study):
    feature_map = identity_feature_map(study)
    for discount in (1, -0.1, "0.9", True, float("nan")):
        with pytest.raises(SettingError, match="'discount' must be a number of at least 0, below"):
            PolicySettings(discount=discount)
    with pytest.raises(SettingError, match="'update' must be 'batch' for a neural model"):
        PolicySettings(model="neural", update="stochastic")
    with pytest.raises(DataError, match="Nobody received the action '1'"):
        learn_policy(replace(study, actions=np.zeros_like(study.actions)), feature_map)
    with pytest.raises(DataError, match="from one subject"):
        learn_policy(replace(study, subjects=("a",) * 12), feature_map)
    with pytest.raises(DataError, match="marked as valid"):
        learn_policy(replace(study, states=np.full_like(study.states, np.nan)), feature_map)
    with pytest.raises(SettingError, match="'seed' must be"):
        learn_policy(study, feature_map, seed=-1)


def test_progress_is_reported_and_stops_the_work(study):
    feature_map = identity_feature_map(study)
    for model in ("linear", "neural"):
        shares = []
        options = PolicySettings(model=model, bootstraps=4, steps=300)
        learn_policy(study, feature_map, options, progress=lambda share, _: shares.append(share))  # noqa: B023
        assert shares == sorted(shares)
        assert shares[0] == 0
        assert shares[-1] == 1
        assert len(shares) > 5

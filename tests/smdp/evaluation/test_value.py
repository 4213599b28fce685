"""What a policy would earn: right where the truth is known, silent where it cannot be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.evaluation.cross_fit import MapsWithoutFolds, folds_of_subjects
from smdp.evaluation.estimators import piecewise_basis
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import evaluation_study
from smdp.evaluation.value import evaluate_policies, evaluate_policy
from smdp.evaluation.value_rows import value_rows
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.base import MapKind
from smdp.feature_map.identity import identity_feature_map
from smdp.feature_map.kinds import map_kind
from smdp.plain_data import read_plain, write_plain
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Cancelled, silent
from smdp.simulation.generative_model import simulate

QUICK = EvaluationSettings(bootstraps=50)


class Rule:
    """A policy that was never learned."""

    def __init__(self, variables: tuple[str, ...], choose: Callable) -> None:
        self.variables, self.choose = variables, choose

    def recommend(self, states, available=None):
        return self.choose(states)


def ones(states):
    return np.ones(states.shape[:-1], dtype=np.int64)


def chain(
    subjects: int,
    times: int,
    *,
    seed: int,
    policy: Callable | None = None,
    available: float = 1.0,
    actions: int = 2,
) -> Trajectories:
    """Two states, 0 and 1. Action 1 goes to state 1 with probability 0.8, others with 0.3.

    State 1 earns 1, and any action but 0 costs 0.2. Without a choice, state 1 follows state 1.
    """
    random = np.random.default_rng(seed)
    states = np.zeros((subjects, times + 1, 1))
    states[:, 0, 0] = random.random(subjects) < 0.5
    open_ = random.random((subjects, times)) < available
    taken = random.integers(0, actions, (subjects, times))
    utilities = np.zeros((subjects, times))
    for t in range(times):
        now = states[:, t, 0]
        if policy is not None:
            taken[:, t] = policy(states[:, t])
        acts = np.where(open_[:, t], taken[:, t], 0)
        utilities[:, t] = now - 0.2 * (acts > 0) + 0.1 * random.standard_normal(subjects)
        chance = np.where(acts == 1, 0.8, 0.3)
        chance = np.where(open_[:, t], chance, now)
        states[:, t + 1, 0] = random.random(subjects) < chance
    return Trajectories(
        states=states,
        actions=np.where(open_, taken, -1),
        utilities=utilities,
        valid=np.ones((subjects, times), dtype=bool),
        available=open_,
        probabilities=np.full((subjects, times, actions), 1 / actions),
        variables=("s",),
        subjects=tuple(f"p{i:03d}" for i in range(subjects)),
        action_labels=tuple("abc"[:actions]),
    )


def true_value(discount: float, policy: Callable, available: float = 1.0) -> float:
    """By solving the two-state chain; with and without a choice are states of their own."""
    both = [(s, c) for s in (0, 1) for c in (True, False)]
    following, earns = np.zeros((4, 4)), np.zeros(4)
    for k, (s, choice) in enumerate(both):
        treat = policy(s) if choice else 0.0  # the probability of action 1
        up = treat * 0.8 + (1 - treat) * 0.3 if choice else float(s)
        earns[k] = s - 0.2 * treat
        for j, (then, open_) in enumerate(both):
            chance = up if then else 1 - up
            following[k, j] = chance * (available if open_ else 1 - available)
    value = np.linalg.solve(np.eye(4) - discount * following, earns)
    start = np.array([0.5 * (available if c else 1 - available) for _, c in both])
    return float((1 - discount) * start @ value)


@pytest.mark.parametrize("available", [1.0, 0.6])
def test_values_of_a_small_chain(available):
    """Each estimate lies within three standard errors of the exact value."""
    study = chain(60, 40, seed=1, available=available)
    where_low = Rule(("s",), lambda states: (states[..., 0] < 0.5).astype(np.int64))
    found = evaluate_policy(study, where_low, EvaluationSettings(discount=0.8), seed=0)
    best = found.table[found.table["method"] == "doubly robust"].set_index("policy")
    truth = {
        "given": true_value(0.8, lambda s: 1.0 - s, available),
        "observed": true_value(0.8, lambda s: 0.5, available),
        "always a": true_value(0.8, lambda s: 0.0, available),
        "always b": true_value(0.8, lambda s: 1.0, available),
    }
    assert list(best.index) == list(truth)
    assert best["trusted"].all()
    for name, value in truth.items():
        assert abs(best.loc[name, "estimate"] - value) < 3 * best.loc[name, "standard_error"], name
        assert best.loc[name, "upper"] - best.loc[name, "lower"] < 0.25
    fitted = found.table[found.table["method"] == "fitted-Q evaluation"].set_index("policy")
    # Two states: this model of the values is right.
    assert max(abs(fitted.loc[n, "estimate"] - v) for n, v in truth.items()) < 0.08
    gain = found.gain
    assert (gain["policy"], gain["against"]) == ("given", "observed")
    assert gain["estimate"] == pytest.approx(
        best.loc["given", "estimate"] - best.loc["observed", "estimate"]
    )
    # The same subjects follow both: their difference is surer than the two values.
    errors = best.loc[["given", "observed"], "standard_error"]
    assert gain["standard_error"] < np.hypot(*errors)


def test_a_policy_like_the_trial_is_worth_what_the_trial_earned():
    """With a discount of 0 the value is the mean first utility, whatever the method."""
    study = chain(200, 5, seed=2)
    found = evaluate_policy(study, Rule(("s",), ones), EvaluationSettings(discount=0.0), seed=0)
    treated = study.actions[:, 0] == 1
    first = study.utilities[:, 0]
    table = found.table.set_index(["method", "policy"])["estimate"]
    assert table["weighted importance sampling", "given"] == pytest.approx(first[treated].mean())
    assert table["weighted importance sampling", "observed"] == pytest.approx(first.mean())
    assert table["doubly robust", "given"] == pytest.approx(0.3, abs=0.05)
    assert table["doubly robust", "observed"] == pytest.approx(0.4, abs=0.05)


def test_three_actions_with_one_ruled_out():
    study = chain(40, 30, seed=3, actions=3)
    given = study.probabilities.copy()
    never = (study.states[:, :-1, 0] == 0) & (study.actions != 2)
    given[never] = [0.5, 0.5, 0.0]
    study = replace(study, probabilities=given)
    found = evaluate_policy(study, Rule(("s",), ones), QUICK, seed=0)
    assert list(found.table["policy"][:5]) == [
        "given", "observed", "always a", "always b", "always c",
    ]  # fmt: skip
    assert np.isfinite(found.table["estimate"]).all()
    assert any("'c' had a probability below 0.05" in w for w in found.warnings)
    assert list(found.positivity["action"]) == ["a", "b", "c"]
    assert found.positivity["below"].iloc[2] == pytest.approx(never.mean())


def test_a_learned_policy_is_judged_by_others():
    study = simulate("linear", subjects=20, times=30, seed=5).select(["S1", "S2", "S3", "S4"])
    settings = PolicySettings(discount=0.5, bootstraps=0)
    policy = learn_policy(study, identity_feature_map(study), settings, seed=0)
    found = evaluate_policy(study, policy, QUICK, seed=0)
    assert found.cross_fitted
    assert found.discount == 0.5
    assert found.table["policy"].iloc[0] == "learned"
    assert (found.lower, found.estimate, found.upper) == tuple(
        found.table.loc[0, ["lower", "estimate", "upper"]]
    )
    assert found.gain["lower"] > 0
    prepared = evaluation_study(study, policy, QUICK, 0)
    learned = prepared.learned(policy, refitted=MapsWithoutFolds(), progress=silent)
    weights = [each.q.layers[0].weights for each in learned]
    assert len(learned) == 5
    assert all((w != weights[0]).any() for w in weights[1:])
    judged = prepared.trajectories.subjects
    for k, each in enumerate(learned):
        others = [judged[i] for i in np.flatnonzero(prepared.fold != k)]
        again = learn_policy(replace_subjects(study, others), policy.feature_map, settings, seed=0)
        np.testing.assert_allclose(each.q.layers[0].weights, again.q.layers[0].weights)


def replace_subjects(study: Trajectories, kept: list[str]) -> Trajectories:
    rows = [study.subjects.index(name) for name in kept]
    per_row = ("states", "actions", "utilities", "valid", "available", "probabilities")
    return replace(
        study, **{name: getattr(study, name)[rows] for name in per_row}, subjects=tuple(kept)
    )


def test_the_map_is_fitted_anew_without_each_fold():
    study = simulate("linear", subjects=12, times=20, seed=1).select(["S1", "S2", "S3"])
    quick = FeatureMapSettings(
        widths=(6,), penalties=(0.02,), folds=2, steps=60, polish_steps=5, refit_steps=60,
        restarts=2, batch=32, dimensions=(2,), iterate=False,
    )  # fmt: skip
    from smdp.feature_map.adnn.iterate import fit_feature_map

    fitted = fit_feature_map(study, quick, seed=0)
    fold = np.arange(12) % 3
    maps = map_kind(fitted.kind).without_each(study, fitted, fold, progress=silent)
    assert [each.dimension for each in maps] == [2, 2, 2]
    assert all(each.variables == fitted.variables_used for each in maps)
    for k, each in enumerate(maps):
        others = study.states[fold != k, :-1].reshape(-1, 3)
        np.testing.assert_allclose(each.centre, others.mean(axis=0))
    policy = learn_policy(study, fitted, PolicySettings(bootstraps=0), seed=0)
    settings = EvaluationSettings(bootstraps=20, folds=3)
    anew = evaluate_policy(study, policy, settings, seed=0)
    held = evaluate_policy(study, policy, replace(settings, refit_map=False), seed=0)
    assert anew.estimate != held.estimate
    assert any("chosen with all subjects" in note for note in anew.notes)
    assert any("was not fitted anew" in note for note in held.notes)


def test_policies_of_one_map_share_its_fits_without_each_fold(monkeypatch):
    study = chain(30, 10, seed=1)
    fitted = identity_feature_map(study)
    policies = [
        learn_policy(study, each, PolicySettings(bootstraps=0, discount=discount), seed=0)
        for each, discount in ((fitted, 0.5), (replace(fitted), 0.8))  # equal, not the same
    ]
    alone = [evaluate_policy(study, policy, QUICK, seed=0) for policy in policies]
    fits, without_each = [], MapKind.without_each

    def counted(kind, *given, **options):
        fits.append(kind)
        return without_each(kind, *given, **options)

    monkeypatch.setattr(MapKind, "without_each", counted)
    together = evaluate_policies(study, policies, QUICK, seed=0)
    assert len(fits) == 1
    for one, other in zip(alone, together, strict=True):
        pd.testing.assert_frame_equal(one.table, other.table, check_exact=True)


def test_the_same_seed_gives_the_same_result_and_a_file_keeps_it(tmp_path):
    study = chain(30, 10, seed=1)
    rule = Rule(("s",), ones)
    first, again = (evaluate_policy(study, rule, QUICK, seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(first.table, again.table)
    write_plain(first, tmp_path)
    back = read_plain(tmp_path)
    pd.testing.assert_frame_equal(back.table, first.table)
    assert back.discounted_sum["estimate"].iloc[0] == pytest.approx(10 * first.estimate)


def test_copies_of_a_subject_stay_together():
    study = chain(20, 10, seed=1)
    twice = replace_rows_twice(study)
    rows = value_rows(twice, ("s",))
    assert (rows.units, rows.subjects) == (40, 20)
    fold = folds_of_subjects(rows, 5, ("a", "b"), np.random.default_rng(0))
    for name in study.subjects:
        own = fold[[i for i, s in enumerate(twice.subjects) if s == name]]
        assert len(set(own)) == 1
    rule = Rule(("s",), ones)
    once_error = evaluate_policy(study, rule, QUICK).table["standard_error"][0]
    twice_error = evaluate_policy(twice, rule, QUICK).table["standard_error"][0]
    # A copy is no new subject: it must not make the estimate surer.
    assert twice_error == pytest.approx(once_error, rel=0.35)


def replace_rows_twice(study: Trajectories) -> Trajectories:
    per_row = ("states", "actions", "utilities", "valid", "available", "probabilities")
    doubled = {name: np.concatenate([getattr(study, name)] * 2) for name in per_row}
    return replace(study, **doubled, subjects=study.subjects * 2)


def test_no_interval_where_one_subject_carries_the_weight():
    """Only one subject ever had action b, the others had it with probability 0.02."""
    study = chain(20, 30, seed=1)
    actions = np.zeros_like(study.actions)
    actions[0] = 1
    actions[1, 0] = actions[2, 0] = 1
    given = np.broadcast_to([0.98, 0.02], study.probabilities.shape).copy()
    found = evaluate_policy(
        replace(study, actions=actions, probabilities=given), Rule(("s",), ones), QUICK
    )
    assert np.isnan([found.lower, found.upper]).all()
    assert np.isfinite(found.estimate)
    row = found.table.iloc[0]
    assert not row["trusted"]
    assert row["effective"] < 3
    assert "subject" in row["reason"]
    assert any(w.startswith("No interval for the policy 'given'") for w in found.warnings)
    assert np.isnan(found.gain["lower"])
    assert any("'b' had a probability below 0.05" in w for w in found.warnings)


def test_gaps_ends_and_decisions_without_a_next_state():
    study = chain(30, 12, seed=1)
    valid = study.valid.copy()
    valid[3, 4:6] = False
    valid[5, 7:] = False
    states = study.states.copy()
    states[5, 8:] = np.nan
    states[6, 12] = np.nan
    ragged = replace(study, states=states, valid=valid)
    found = evaluate_policy(ragged, Rule(("s",), ones), QUICK)
    assert found.decisions == valid.sum() - 1
    assert "1 decisions whose next state is missing" in found.notes[0]
    assert np.isfinite(found.table["estimate"]).all()


def test_a_discount_that_looks_beyond_the_trial_is_said():
    study, rule = chain(20, 10, seed=1), Rule(("s",), ones)
    found = evaluate_policy(study, rule, replace(QUICK, discount=0.99))
    assert any("looks about 100 decisions ahead" in w for w in found.warnings)
    assert evaluate_policy(study, rule, replace(QUICK, discount=0.5)).warnings == ()


def test_a_rule_that_needs_no_variable():
    study = chain(20, 10, seed=1)
    found = evaluate_policy(study, Rule((), ones), QUICK)
    table = found.table.set_index("policy").iloc[:4]
    assert table.loc["given", "estimate"] == pytest.approx(table.loc["always b", "estimate"])


def test_bad_input_is_refused():
    study = chain(20, 10, seed=1)
    with pytest.raises(DataError, match="needs the variable mood"):
        evaluate_policy(study, Rule(("mood",), ones), replace(QUICK, variables=("s",)))
    policy = learn_policy(study, identity_feature_map(study), PolicySettings(bootstraps=0))
    with pytest.raises(DataError, match="learned for the actions a, b, but those"):
        evaluate_policy(replace(study, action_labels=("x", "y")), policy, QUICK)
    with pytest.raises(DataError, match="does not recommend a possible action"):
        evaluate_policy(study, Rule(("s",), lambda states: 5 * ones(states)), QUICK)
    with pytest.raises(DataError, match="fewer than the 5 folds"):
        evaluate_policy(replace_subjects(study, list(study.subjects[:4])), Rule(("s",), ones))
    for name, value in (("discount", 1.0), ("folds", 1), ("weight_limit", 0.5), ("rare", -0.1)):
        with pytest.raises(SettingError, match=f"'{name}' must be"):
            EvaluationSettings(**{name: value})


def test_it_can_be_stopped():
    def stop(share: float, message: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        evaluate_policy(chain(20, 10, seed=1), Rule(("s",), ones), QUICK, progress=stop)


def test_the_basis_is_piecewise_linear_with_knots_where_data_are_sparse():
    random = np.random.default_rng(0)
    values = np.concatenate([random.normal(0, 0.3, 980), random.uniform(1, 3, 20)])[:, None]
    basis = piecewise_basis(values, 10)
    assert (basis.knots[0] > 1).sum() >= 3
    weights = np.linalg.lstsq(basis(values), np.abs(values[:, 0] - basis.knots[0][4]), rcond=None)[
        0
    ]
    at = np.linspace(*basis.knots[0][[0, -1]], 50)[:, None]
    np.testing.assert_allclose(basis(at) @ weights, np.abs(at[:, 0] - basis.knots[0][4]), atol=1e-8)
    assert piecewise_basis(np.ones((5, 1)), 10).columns == 1
    assert piecewise_basis(np.array([[0.0], [1.0], [1.0]]), 10).columns == 2

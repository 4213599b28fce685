"""From trajectories to a map: what is found, what is kept, what is refused."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from smdp.errors import DataError, SettingError
from smdp.feature_map.adnn import tuning
from smdp.feature_map.adnn.iterate import FitCancelled, fit_feature_map
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.transitions import transitions
from smdp.plain_data import read_plain, write_plain
from smdp.progress import Cancelled, facts_of
from smdp.simulation.generative_model import simulate
from smdp.words.feature_map import dimensions_so_far


def test_the_variables_that_matter_are_recovered():
    whole = simulate("linear", noise=6, seed=3).select(["S1", "S2", "S3", "S4", "W1", "W2"])
    settings = FeatureMapSettings(
        penalties=(0.1,), steps=500, polish_steps=100, refit_steps=500, restarts=2, folds=3
    )
    found = fit_feature_map(whole, settings, seed=1)
    assert found.variables_used == ("S1", "S2", "S3", "S4")
    assert found.dimension == 3  # S1, S2 and S3 + S4 say all
    assert (found.weights[["W1", "W2"]] == 0).all(axis=None)
    assert (found.column_norms[["W1", "W2"]] == 0).all()
    assert found.steps["kept_count"].tolist()[-1] == 4
    by_pass = found.candidates.groupby("pass")["dimension"].apply(list)
    assert all(tried == list(range(1, len(tried) + 1)) for tried in by_pass)
    assert found.candidates["chosen"].sum() == len(found.steps)


def test_of_many_variables_those_that_matter_are_found_before_the_dimension():
    names = ["S1", "S2", "S3", "S4", *(f"W{j}" for j in range(1, 7))]
    whole = simulate("linear", noise=18, seed=3).select(names)
    settings = FeatureMapSettings(
        penalties=(0.1,), steps=300, polish_steps=100, refit_steps=300, restarts=2, folds=3
    )
    found = fit_feature_map(whole, settings, seed=1)
    first = found.candidates[found.candidates["pass"] == 1]
    assert first["dimension"].tolist() == [10]  # no bottleneck, and only variables are dropped
    assert found.steps["variables_count"].tolist()[:2] == [10, 4]
    assert found.variables_used == ("S1", "S2", "S3", "S4")
    assert found.dimension == 3


def test_the_same_seed_gives_the_same_bits_whatever_the_threads(study, quick):
    states = study.states[:, :-1]
    first = fit_feature_map(study, quick, seed=4).transform(states)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1 if before > 1 else 2)
        again = fit_feature_map(study, quick, seed=4).transform(states)
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, fit_feature_map(study, quick, seed=5).transform(states))


@pytest.mark.parametrize("interpretable", [True, False])
def test_saved_and_loaded_maps_give_identical_features(study, quick, interpretable, tmp_path):
    found = fit_feature_map(study, replace(quick, interpretable=interpretable), seed=2)
    write_plain(found, tmp_path)
    loaded = read_plain(tmp_path)
    assert np.array_equal(found.transform(study.states), loaded.transform(study.states))
    pd.testing.assert_frame_equal(found.weights, loaded.weights)
    pd.testing.assert_frame_equal(found.candidates, loaded.candidates)
    assert loaded.settings == found.settings
    assert loaded.variables_used == found.variables_used


def test_results_need_no_torch():
    code = "import smdp.feature_map.fitted_map, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_states_by_name_and_by_position_agree(study, quick):
    found = fit_feature_map(study, quick)
    states = study.states[0]
    table = pd.DataFrame(states, columns=study.variables)
    table = table[[*reversed(study.variables)]].assign(other=1.0)
    np.testing.assert_array_equal(found.transform(states), found.transform(table))
    assert found.transform(study.states).shape == (12, 31, found.dimension)


def test_signs_are_fixed(study, quick):
    weights = fit_feature_map(study, quick).weights.to_numpy()
    assert (weights[np.arange(len(weights)), np.abs(weights).argmax(axis=1)] > 0).all()


def test_unequal_lengths_three_actions_and_unavailable_decisions(quick):
    study = simulate("linear", subjects=12, times=30, seed=1).select(["S1", "S2"])
    valid = np.arange(30) < np.arange(19, 31)[:, None]
    states = np.where(np.pad(valid, ((0, 0), (1, 0)), mode="edge")[..., None], study.states, np.nan)
    states[:, 0] = study.states[:, 0]
    actions = np.where(np.arange(30) % 3 == 2, 2, study.actions)
    available = np.arange(30) % 5 > 0
    given = replace(
        study,
        states=states,
        utilities=np.where(valid, study.utilities, np.nan),
        actions=np.where(available, actions, -1),
        valid=valid,
        available=np.broadcast_to(available, (12, 30)).copy(),
        action_labels=("a", "b", "c"),
        probabilities=np.full((12, 30, 3), 1 / 3),
    )
    rows = transitions(given, 2, np.random.default_rng(0))
    assert rows.heads == 4
    rare = replace(given, available=given.available | (np.arange(12) > 0)[:, None])
    rare = replace(rare, actions=np.where(rare.available, actions, -1))
    left_out = transitions(rare, 2, np.random.default_rng(0))
    assert left_out.heads == 3
    assert len(left_out.head) == valid.sum() - (valid[0] & ~available).sum()
    found = fit_feature_map(given, quick)
    assert np.isfinite(found.transform(states[:, 0])).all()


def test_other_ways_to_decide(study, quick):
    quick = replace(quick, steps=60, polish_steps=20, refit_steps=60)  # so that one is accepted
    by_time, other_condition, by_subject, deep, given = (
        fit_feature_map(study, replace(quick, **change))
        for change in (
            {"test": "absolute"},
            {"test": "absolute", "condition": "ii"},
            {"test": "absolute", "pooling": "trajectory"},
            {"updates": "alternating", "depths": (1, 2), "interpretable": False},
            {"iterate": False, "dimensions": (2,)},
        )
    )
    for found in (by_time, other_condition, by_subject):
        p_value = found.candidates["p_absolute"]
        assert (found.candidates["rejected"] == (p_value <= found.settings.level)).all()
        assert found.candidates["chosen"].tolist() == (~found.candidates["rejected"]).tolist()
    for found in (deep, given):
        p_value = found.candidates["p_exact"]
        assert (found.candidates["rejected"] == (p_value <= found.settings.level)).all()
        assert found.candidates["chosen"].sum() == len(found.steps)
        assert np.isfinite(found.candidates["share_kept"]).all()
        assert np.isfinite(found.candidates["value_lost"]).all()
        assert found.candidates["same_choice"].between(0, 1).all()
    assert given.candidates["chosen_by"].tolist() == ["by hand"]
    assert given.candidates["p_form"].notna().all()
    assert deep.candidates["p_form"].isna().all()
    # One network and three tests of what it leaves over.
    tests = (by_time, other_condition, by_subject)
    assert len({found.candidates["p_relative"][0] for found in tests}) == 1
    assert len({found.candidates["p_absolute"][0] for found in tests}) == 3
    assert len(by_time.layers) == 1 < len(deep.layers)
    assert given.dimension == 2
    assert len(given.steps) == 1


def test_no_variable(study, quick):
    with pytest.raises(DataError, match=r"no state variable .* use all variables"):
        fit_feature_map(study.select([]), quick)


def test_a_dimension_above_the_number_of_variables(study, quick):
    with pytest.raises(SettingError, match=r"'dimensions' asks for 5 .* only 4 variables"):
        fit_feature_map(study, replace(quick, dimensions=(2, 5)))


def test_an_action_with_fewer_than_two_subjects_in_a_fold(study, quick):
    actions = np.where(np.arange(12)[:, None] < 3, study.actions, 0)
    message = r"action '1' was taken by 3 of 12 subjects.*fewer than two.*Use fewer folds"
    with pytest.raises(DataError, match=message):
        fit_feature_map(replace(study, actions=actions), quick)


def test_a_loss_that_becomes_infinite(study, quick):
    settings = replace(quick, learning_rate=1e30, activation="relu")
    with pytest.raises(DataError, match=r"dimension 1.*became infinite.*'learning_rate'"):
        fit_feature_map(study, settings)


def test_candidates_that_fail_are_named_and_the_rest_is_kept(study, quick, networks_fail):
    networks_fail(lambda spec: spec.penalty == 0.1)
    found = fit_feature_map(study, quick)
    assert set(found.candidates["penalty"]) == {0.02}
    assert "penalty 0.1" in found.notes[0]
    assert "'learning_rate'" in found.notes[0]


def test_a_candidate_that_fails_on_all_rows_gives_way_to_the_next(
    sets, quick, networks_fail, monkeypatch
):
    networks_fail(lambda spec: spec.dataset == sets.everything and spec.penalty == 0.1)
    monkeypatch.setattr(tuning, "clearly_worse", lambda losses, best: False)  # so 0.1 is chosen
    (found,), notes = tuning.tune(sets, (2,), quick, seed=np.random.SeedSequence(0))
    assert found.penalty == 0.02
    assert found.network.finite
    assert "penalty 0.1" in notes[0]


def test_missing_values_in_valid_transitions(study, quick):
    states = study.states.copy()
    states[0, 3, 0] = np.nan
    with pytest.raises(DataError, match="missing in transitions that are marked as valid"):
        fit_feature_map(replace(study, states=states), quick)


def test_a_map_of_other_variables(study, quick):
    found = fit_feature_map(study, quick)
    with pytest.raises(DataError, match=r"expects 4 variables \(S1, S2, S3, W1\).* have 3"):
        found.transform(study.states[:, :, :3])
    with pytest.raises(DataError, match="needs the variable"):
        found.transform(pd.DataFrame({"stress": [1.0]}))


def test_cancelling_keeps_the_passes_that_are_finished(study, quick):
    heard = []

    def stop_in_pass(number):
        def progress(share, message):
            heard.append(share)
            if message.startswith(f"Pass {number}"):
                raise Cancelled

        return progress

    with pytest.raises(FitCancelled) as stopped:
        fit_feature_map(study, quick, progress=stop_in_pass(1))
    assert stopped.value.finished is None
    assert heard == sorted(heard)
    heard.clear()
    shrinking = replace(quick, penalties=(0.6,), steps=200, dimensions=(1,))
    assert len(fit_feature_map(study, shrinking).steps) > 1
    with pytest.raises(FitCancelled) as stopped:
        fit_feature_map(study, shrinking, progress=stop_in_pass(2))
    assert stopped.value.finished is not None
    assert len(stopped.value.finished.steps) == 1
    assert heard == sorted(heard)


def test_progress_only_grows_and_tells_of_each_dimension_tested(study, quick):
    heard: list[tuple[float, str]] = []
    fitted = fit_feature_map(study, quick, progress=lambda *news: heard.append(news))
    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) >= 8
    facts = [facts_of(message) for _, message in heard]
    tested = [f for f in facts if "tested_dimension" in f]
    found = {(f["pass_number"], f["tested_dimension"], f["p_value"]) for f in tested}
    columns = fitted.candidates[["pass", "dimension", "p_exact"]]
    assert found >= set(columns[fitted.candidates["rejected"]].itertuples(index=False, name=None))
    assert len(dimensions_so_far([message for _, message in heard])) == len(tested) > 0

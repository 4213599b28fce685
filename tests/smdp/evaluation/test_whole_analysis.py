"""The whole analysis without each fold of people: nobody has a part in what she is judged by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import evaluation_study, study_in_folds
from smdp.evaluation.judged_in_folds import judged_in_folds
from smdp.evaluation.value import evaluate_policies
from smdp.evaluation.whole_analysis import (
    FoldsCancelled,
    WholeAnalysis,
    analyses_without_each,
)
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.identity import IdentitySettings
from smdp.feature_map.kinds import map_kind
from smdp.parallel import workers
from smdp.plain_data import read_plain, write_plain
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Cancelled
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate

SCREENING = ScreeningSettings(permutations=199)
SETTINGS = EvaluationSettings(bootstraps=30, folds=3)
LINEAR = PolicySettings(discount=0.5, bootstraps=0)
HOW = WholeAnalysis(SCREENING, IdentitySettings(), (LINEAR,), kind="identity", seeds=(3, 0, 5))


def a_study(subjects: int = 18, times: int = 20, seed: int = 5) -> Trajectories:
    return simulate("linear", subjects=subjects, times=times, seed=seed).select(
        ["S1", "S2", "S3", "S5", "S6"]
    )


@pytest.fixture(scope="module")
def study() -> Trajectories:
    return a_study()


@pytest.fixture(scope="module")
def analyses(study):
    return analyses_without_each(study, HOW, folds=3, seed=1)


def everybody(study: Trajectories):
    kept = screen(study, SCREENING, seed=3).selected
    fitted = map_kind("identity").fit(study.select(kept), IdentitySettings())
    return learn_policy(study, fitted, LINEAR, seed=5)


class Rule:
    def __init__(self, variables, choose):
        self.variables, self.choose = tuple(variables), choose

    def recommend(self, states, available=None):
        return self.choose(states)


def test_each_fold_is_an_analysis_of_the_others(study, analyses):
    assert analyses.complete
    assert np.bincount(analyses.fold).tolist() == [6, 6, 6]
    for own in analyses.analyses:
        others = analyses.without(study, own.fold)
        assert own.people == len(others.subjects) == 12
        assert own.selected == screen(others, SCREENING, seed=3).selected
        again = learn_policy(others, own.feature_map, LINEAR, seed=5)
        assert own.policies[0].q == again.q


def test_nothing_that_held_out_people_did_changes_what_they_are_judged_by(study, analyses):
    """Other outcomes in one fold: its analysis stays, to the last bit, and the others change."""
    held_out = analyses.fold == 1
    utilities = study.utilities.copy()
    utilities[held_out] = (
        np.random.default_rng(0)
        .permutation(utilities[held_out].ravel())
        .reshape(utilities[held_out].shape)
    )
    found = analyses_without_each(replace(study, utilities=utilities), HOW, folds=3, seed=1)
    np.testing.assert_array_equal(found.fold, analyses.fold)
    assert found.analyses[1] == analyses.analyses[1]
    assert found.analyses[0] != analyses.analyses[0]


def test_the_folds_are_those_of_the_quick_way(study, analyses):
    policy = everybody(study)
    quick = evaluation_study(study, policy, SETTINGS, 1)
    np.testing.assert_array_equal(quick.fold, analyses.fold)


def test_the_same_in_several_processes(study, analyses):
    with workers(2):
        assert analyses_without_each(study, HOW, folds=3, seed=1) == analyses


def test_stopped_it_keeps_what_is_finished_and_goes_on_from_there(study, analyses):
    def stop_in_the_third(share: float, message: str) -> None:
        if share > 0.7:
            raise Cancelled

    with pytest.raises(FoldsCancelled) as stop:
        analyses_without_each(study, HOW, folds=3, seed=1, progress=stop_in_the_third)
    partly = stop.value.finished
    assert not partly.complete
    assert partly.fold_numbers == (0, 1)
    shares: list[float] = []
    found = analyses_without_each(
        study, HOW, folds=3, seed=1, earlier=partly, progress=lambda share, _: shares.append(share)
    )
    assert found == analyses
    assert min(shares) >= 2 / 3
    with pytest.raises(DataError, match="Only 2 of the 3"):
        study_in_folds(study, partly, SETTINGS, discount=0.5)


@pytest.mark.parametrize("change", ["seed", "how", "data"])
def test_earlier_folds_of_another_analysis_are_not_taken(study, analyses, change):
    asked = {"how": HOW, "seed": 1}
    data = study
    if change == "seed":
        asked["seed"] = 2
    elif change == "how":
        asked["how"] = WholeAnalysis(
            SCREENING, IdentitySettings(), (LINEAR,), "identity", (4, 0, 5)
        )
    else:
        data = replace(study, utilities=study.utilities + 1)
    fresh = analyses_without_each(data, folds=3, **asked)
    assert analyses_without_each(data, folds=3, earlier=analyses, **asked) == fresh


def test_where_nothing_is_kept_the_best_constant_action_is_judged(study):
    nothing = ScreeningSettings(permutations=199, force_out=study.variables)
    neural = PolicySettings(model="neural", discount=0.5, steps=10, bootstraps=0)
    how = replace_how(HOW, screening=nothing, policies=(LINEAR, neural))
    found = analyses_without_each(study, how, folds=3, seed=1)
    for own in found.analyses:
        assert own.constant
        assert own.selected == ()
        assert own.notes == ("Screening kept no variable.",)
        others = found.without(study, own.fold)
        mean = [others.utilities[others.valid & (others.actions == a)].mean() for a in (0, 1)]
        for policy in own.policies:
            assert set(policy.recommend(np.empty((4, 0)))) == {int(np.argmax(mean))}
    judged = judged_in_folds(
        study_in_folds(study, found, SETTINGS, discount=0.5),
        {"linear": found.policies(0)},
        SETTINGS,
    )
    assert np.isfinite(judged.values["estimate"]).all()


def replace_how(how: WholeAnalysis, **changes) -> WholeAnalysis:
    return replace(how, seeds=(), **changes)


def test_a_map_that_cannot_be_made_leaves_the_constant_action(study):
    """With everybody there are enough people for so many folds of the map's own, in a fold not."""
    settings = FeatureMapSettings(
        folds=15, penalties=(0.02, 0.1), dimensions=(1,), reason="to be quick", steps=5
    )
    how = WholeAnalysis(ScreeningSettings(force_in=("S1",)), settings, (LINEAR,))
    found = analyses_without_each(study, how, folds=3, seed=1)
    for own in found.analyses:
        assert own.constant
        assert "S1" in own.selected
        assert own.notes[0].startswith("No feature map could be made: ")


def test_a_dimension_set_by_hand_is_never_above_what_a_fold_keeps(study):
    settings = FeatureMapSettings(
        dimensions=(2,), reason="to be quick", widths=(4,), penalties=(0.02,), folds=2, steps=5,
        polish_steps=1, refit_steps=5, restarts=1, iterate=False,
    )  # fmt: skip
    others = tuple(name for name in study.variables if name != "S1")
    screening = ScreeningSettings(force_in=("S1",), force_out=others)
    found = analyses_without_each(study, WholeAnalysis(screening, settings, (LINEAR,)), folds=2)
    assert [own.feature_map.dimension for own in found.analyses] == [1, 1]


def test_a_person_of_several_trajectories_is_in_one_fold(study):
    twice = replace(study, subjects=tuple(f"P{i // 2}" for i in range(18)))
    found = analyses_without_each(twice, HOW, folds=3, seed=1)
    assert all(found.fold[2 * i] == found.fold[2 * i + 1] for i in range(9))


def test_values_say_that_they_are_of_whole_analyses(study, analyses):
    policy = everybody(study)
    (whole,) = evaluate_policies(study, [policy], SETTINGS, analyses=analyses)
    (quick,) = evaluate_policies(study, [policy], SETTINGS, seed=1)
    assert whole.whole_analysis
    assert not whole.quick
    assert quick.quick
    assert whole.seed == 1
    assert list(whole.table["policy"]) == list(quick.table["policy"])
    assert any("done anew" in note for note in whole.notes)
    # What was done needs no model where everybody is available: nearly the same either way.
    observed = [v.table.set_index("policy").loc["observed"].iloc[0] for v in (whole, quick)]
    assert observed[0]["estimate"] == pytest.approx(observed[1]["estimate"], abs=0.2)


def test_policies_learned_otherwise_are_refused(study, analyses):
    fitted = map_kind("identity").fit(study, IdentitySettings())
    other = learn_policy(study, fitted, replace(LINEAR, discount=0.9), seed=5)
    with pytest.raises(SettingError, match="other settings"):
        evaluate_policies(study, [other], SETTINGS, analyses=analyses)
    policy = everybody(study)
    changed = replace(study, utilities=study.utilities * 2)
    with pytest.raises(DataError, match="other data"):
        evaluate_policies(changed, [policy], SETTINGS, analyses=analyses)


def test_any_policies_are_judged_side_by_side(study, analyses):
    prepared = study_in_folds(study, analyses, SETTINGS, discount=0.5, also=("S6",))
    of_fold = [
        Rule(("S1",), lambda states, k=k: (states[..., 0] > 0.1 * k).astype(np.int64))
        for k in range(3)
    ]
    mine = Rule(("S6",), lambda states: (states[..., 0] > 0).astype(np.int64))
    judged = judged_in_folds(
        prepared, {"learned": analyses.policies(), "card": of_fold, "mine": [mine]}, SETTINGS
    )
    names = ["learned", "card", "mine", "observed", "always 0", "always 1"]
    assert list(judged.values["policy"]) == names
    assert len(judged.differences) == 15
    found = judged.differences.set_index(["policy", "against"])
    values = judged.values.set_index("policy")["estimate"]
    assert found.loc[("card", "mine"), "estimate"] == pytest.approx(values["card"] - values["mine"])
    (value,) = evaluate_policies(study, [everybody(study)], SETTINGS, analyses=analyses)
    assert value.estimate == pytest.approx(values["learned"])
    gain = found.loc[("learned", "observed")]
    pd.testing.assert_series_equal(
        value.gain[["estimate", "lower"]].astype(float), gain[["estimate", "lower"]].astype(float),
        check_names=False,
    )  # fmt: skip
    with pytest.raises(DataError, match="2 policies for 3 folds"):
        judged_in_folds(prepared, {"card": of_fold[:2]}, SETTINGS)


def test_an_action_that_folds_would_lose_is_an_error_of_data(study):
    actions = np.zeros_like(study.actions)
    actions[:2] = study.actions[:2]
    rare = replace(study, actions=actions)
    with pytest.raises(DataError, match="The action '1' was taken by 2 of 18 subjects"):
        analyses_without_each(rare, HOW, folds=3, seed=1)


def test_copies_of_one_person_say_nothing_about_others(study):
    copies = replace(study.take(np.zeros(12, dtype=np.int64)), subjects=study.subjects[:12])
    with pytest.raises(DataError, match="All 12 people have the same treatments and outcomes"):
        analyses_without_each(copies, HOW, folds=3)
    with pytest.raises(DataError, match="copies of one person"):
        evaluate_policies(copies, [everybody(study)], SETTINGS)


def test_it_is_saved_and_read(analyses, tmp_path):
    write_plain(analyses, tmp_path / "folds")
    assert read_plain(tmp_path / "folds") == analyses

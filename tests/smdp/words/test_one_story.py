"""Numbers of several pages are told apart, with their signs in the utility's direction."""

import smdp
from smdp.data.outcome import OutcomeName
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.trial_effects import trial_summary
from smdp.evaluation.value import evaluate_policy
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.samples import sample_file
from smdp.words.one_story import (
    Quantity,
    how_they_relate,
    how_they_relate_in_short,
    numbers_on_treatments,
)


def walking():
    table = smdp.read_table(sample_file("three_action_synthetic.csv"))
    prepared = smdp.prepare(table, smdp.guess_roles(table))
    kept = prepared.trajectories
    policy = learn_policy(kept, identity_feature_map(kept), PolicySettings(bootstraps=0))
    value = evaluate_policy(kept, policy, EvaluationSettings(bootstraps=20, refit_map=False))
    return prepared, policy, value


def test_each_number_says_which_page_it_is_of_and_what_it_means():
    prepared, policy, value = walking()
    trial, kept = trial_summary(prepared), prepared.trajectories
    told = numbers_on_treatments(trial, policy, "linear", value, kept)
    steps = OutcomeName("steps", "", "steps")
    lines = how_they_relate(told, steps)
    assert [line.split(":")[0] for line in lines[1:4]] == ["Effects", "Q-functions", "Policy"]
    assert lines[0].startswith("The pages give 3 numbers for ")
    assert "in steps" in lines[0]
    row = trial.effects.iloc[0]
    assert f"{abs(row['estimate']):.1f}"[:2] in lines[1]
    assert "counting 90 %" in lines[2]
    assert lines[4]
    assert "(95 % interval " in lines[1]
    assert len(lines) == 6  # and the other treatment
    assert lines[5].startswith("For ")
    assert all(page in lines[5] for page in ("Effects", "Q-functions", "Policy"))
    short = how_they_relate_in_short(told, steps)
    assert "in steps" in short
    assert "Different questions" in short


def test_one_number_alone_needs_no_relation_and_missing_results_are_left_out():
    prepared, policy, value = walking()
    kept = prepared.trajectories
    alone = numbers_on_treatments(trial_summary(prepared), None, "", None, kept)
    assert alone == numbers_on_treatments(None, None, "", None, None) == []
    assert how_they_relate(alone) == []
    assert how_they_relate_in_short(alone) == ""
    lines = how_they_relate(numbers_on_treatments(None, policy, "linear", value, kept))
    assert [line.split(":")[0] for line in lines[1:3]] == ["Q-functions", "Policy"]


def test_an_interval_that_includes_zero_has_no_direction():
    assert Quantity("Effects", 0.2, 0.1, 0.3, "").direction == 1
    assert Quantity("Effects", -0.2, -0.3, -0.1, "").direction == -1
    assert Quantity("Effects", 0.2, -0.1, 0.3, "").direction == 0
    assert Quantity("Policy", -0.2, float("nan"), float("nan"), "").direction == -1

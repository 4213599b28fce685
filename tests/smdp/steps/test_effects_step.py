"""What the step Effects knows beside its result."""

import math
from dataclasses import replace

import pytest

import smdp
from smdp.steps import TRIAL
from smdp.steps.trial import base_of_outcome, telling
from tests.small_trial import quick_plan, study_frame


@pytest.mark.parametrize(
    ("formula", "base"),
    [
        ("log(craving + 0.5)", math.e),
        ("log10(craving + 1)", 10),
        ("lag(log(craving + 1))", math.e),
        ("2 * log(craving)", None),
        ("sqrt(craving)", None),
    ],
)
def test_a_logarithm_is_known_from_the_step_that_made_it(formula, base):
    plan = quick_plan()
    computed = smdp.ComputeColumn("reward", formula)
    copied = smdp.ComputeColumn("copy", "reward")
    for shape, outcome in (
        ((computed,), "reward"),
        ((computed, smdp.RenameColumn("reward", "outcome")), "outcome"),
        ((computed, copied), "copy"),
    ):
        shaped = plan.replace(
            reading=replace(plan.reading, shape=shape),
            roles=replace(plan.roles, utility=outcome),
        )
        assert base_of_outcome(shaped) == base
    assert base_of_outcome(plan) is None


def test_the_next_value_of_a_logarithm_is_one():
    plan = quick_plan()
    shape = (smdp.ComputeColumn("craving", "log(craving + 1)", replace=True),)
    assert isinstance(plan.roles.utility, smdp.NextValue)
    assert base_of_outcome(plan.replace(reading=replace(plan.reading, shape=shape))) == math.e


def test_effects_are_of_the_outcome_itself_and_of_every_decision(tmp_path):
    """The plan's utility is minus the next craving: less is better, and told as such."""
    plan = quick_plan()
    plan = plan.replace(trial=smdp.TrialPlan(), stop_after="trial")
    study_frame().to_csv(tmp_path / "study.csv", index=False)
    done = smdp.run_analysis(tmp_path / "study.csv", plan)
    told = telling(done)
    assert told.outcome.name == "next craving"
    assert done.trial.sign == -1
    minus = smdp.trial_summary(done.prepared, each_decision=False, kind="continuous")
    assert done.trial.effects["estimate"].iloc[0] == pytest.approx(
        -minus.effects["estimate"].iloc[0], rel=0.05
    )
    assert (
        "Which way is good: less craving is better, so that effects below 0 are good."
    ) in TRIAL.says(done)

"""What the step Effects knows beside its result."""

from dataclasses import replace

import pytest

import smdp
from smdp.steps import TRIAL
from smdp.steps.trial import outcome_is_logarithm, telling
from tests.small_trial import quick_plan, study_frame


@pytest.mark.parametrize(
    ("formula", "known"),
    [("log(craving + 0.5)", True), ("2 * log(craving)", False), ("sqrt(craving)", False)],
)
def test_a_logarithm_is_known_from_the_step_that_made_it(formula, known):
    plan = quick_plan()
    shape = (smdp.ComputeColumn("reward", formula),)
    plan = plan.replace(
        reading=replace(plan.reading, shape=shape), roles=replace(plan.roles, utility="reward")
    )
    assert outcome_is_logarithm(plan) is known
    assert not outcome_is_logarithm(quick_plan())


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

"""The Policy page, on a quick policy that is put in place of the steps before it."""

from dataclasses import replace

import numpy as np
import pytest
from waiting import finish

from dashboard.session import Key
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.value import evaluate_policy
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.steps.step_plans import EvaluationPlan, FeatureMapPlan, PolicyPlan
from tests.small_policies import random_policy

EVALUATION = 9  # its place in the sidebar
QUICK = EvaluationSettings(folds=2, bootstraps=20, refit_map=False)


def with_policies(app, variables, *more):
    """As if a map and policies had been made of the study that is prepared."""
    own = app.at.session_state[Key.ANALYSIS].with_plan(features=FeatureMapPlan("identity", True))
    trajectories, settings = own.prepared.trajectories, PolicySettings(bootstraps=20)
    fitted = identity_feature_map(trajectories.select(variables))
    policies = (learn_policy(trajectories, fitted, settings), *more)
    asked = tuple(PolicyPlan(replace(settings, model=each.kind)) for each in policies)
    own = own.with_result("features", fitted).with_plan(policies=asked)
    app.at.session_state[Key.ANALYSIS] = own.with_result("policy", policies)
    return app.go("policy")


@pytest.fixture
def smoking(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    sample.go("rescaling").press("Rescale all variables")
    variables = ("stress", "weekend", "cigs")
    neural = random_policy(variables, hidden=(4,), actions=("0", "1"))
    return with_policies(sample, variables, neural)


@pytest.fixture
def judged(smoking):
    """The linear policy's value, in place of the neural one's too."""
    own = smoking.at.session_state[Key.ANALYSIS].with_plan(
        evaluation=EvaluationPlan(judged="quick")
    )
    value = evaluate_policy(own.prepared.trajectories, own.policies[0], QUICK)
    smoking.at.session_state[Key.ANALYSIS] = own.with_result("evaluation", (value, value))
    return smoking.run()


@pytest.fixture
def walking(app):
    app.press("Walking after a knee operation").press("Use these roles")
    app.go("missing_values").press("mpute").go("rescaling").press("Rescale all variables")
    return with_policies(app, ("pain",))


def quick(app):
    app.at.number_input(key="evaluation.bootstraps").set_value(20)
    app.at.number_input(key="evaluation.folds").set_value(2)
    return app.run()


def estimate(app):
    quick(app).press("Estimate what it would earn")
    return finish(app)


def tables(app, column):
    return [d.value for d in app.at.dataframe if column in d.value.columns]


def test_an_empty_page_says_where_to_begin(app):
    app.go("policy")
    assert "No file is loaded yet" in app.text
    assert not app.at.error


def test_before_the_estimate_it_shows_whom_it_would_treat(smoking):
    assert "The values, with their intervals, appear here" in smoking.text
    shares = tables(smoking, "from")[0]
    assert len(shares) == 27
    actions = shares[["action 0 (%)", "action 1 (%)", "no recommendation (%)"]]
    assert actions.sum(axis=1).between(99.7, 100.3).all()
    assert "Appears here once" in smoking.text
    assert "observational study" not in smoking.text  # the sample says that a coin decided


def test_value_with_intervals_for_every_policy(judged):
    values = tables(judged, "effective subjects")[0]
    assert values["policy"].tolist()[:4] == [
        "linear policy (quick)", "as in the study", "always action 0", "always action 1",
    ]  # fmt: skip
    assert set(values["method"].iloc[4:]) == {
        "fitted-Q evaluation (diagnostic)",
        "weighted importance sampling (diagnostic)",
    }
    assert "mean minus next cigs a decision, later decisions counting less" in judged.text
    assert "nobody in the study followed this policy" in judged.text
    assert "taken (%)" in tables(judged, "least probability")[0]
    judged.at.selectbox(key="the policy").set_value("neural")
    judged.run()
    assert "**The neural policy" in judged.text
    judged.at.number_input(key="evaluation.folds").set_value(4)
    judged.run()
    assert "not those that the result" in judged.text
    judged.press("Next: patient")
    assert judged.title == "Patient"


def test_a_quick_value_is_called_so_wherever_it_stands(judged):
    assert "quick" in judged.sidebar[EVALUATION]
    told = "variables and features were chosen with everybody, so this is too optimistic"
    assert judged.text.count(told) >= 2  # under the figure, and with the difference
    judged.at.radio(key="evaluation.judged").set_value("whole analysis")
    judged.run()
    assert "not those that the result" in judged.text


@pytest.mark.usefixtures("in_this_process")
def test_one_press_does_the_folds_and_the_value(walking):
    assert walking.at.radio(key="evaluation.judged").value == "whole analysis"
    estimate(walking)
    own = walking.at.session_state[Key.ANALYSIS]
    assert own.state("folds") == own.state("evaluation") == "done"
    assert own.values[0].whole_analysis
    assert "too optimistic" not in walking.text
    assert "found anew without the people judged" in walking.text
    walking.at.radio(key="evaluation.judged").set_value("quick")
    walking.run().press("Estimate what it would earn")
    finish(walking)
    assert walking.at.session_state[Key.ANALYSIS].values[0].quick
    assert "quick" in walking.sidebar[EVALUATION]


@pytest.mark.usefixtures("in_this_process")
def test_folds_that_were_stopped_are_gone_on_with(walking):
    estimate(walking)
    own = walking.at.session_state[Key.ANALYSIS]
    whole = own.fold_analyses
    partly = replace(whole, analyses=whole.analyses[:1], complete=False)
    stopped = own.with_result("folds", partly)
    walking.at.session_state[Key.ANALYSIS] = stopped
    walking.run()
    assert "1 of 2 folds are done and will be used" in walking.text


def test_subgroups_are_named_in_their_own_units(smoking):
    smoking.at.selectbox(key="policy.subgroup").set_value("weekend")
    smoking.run()
    assert tables(smoking, "group")[0]["group"].tolist() == ["0", "1"]
    smoking.at.selectbox(key="policy.subgroup").set_value("age")
    smoking.run()
    assert "Not used by the policy" in smoking.text
    assert all("2" in name for name in tables(smoking, "group")[0]["group"])


@pytest.mark.usefixtures("in_this_process")
def test_placebo_of_the_chosen_policy(walking):
    assert "Not checked yet for the linear policy" in walking.text
    walking.at.number_input(key="placebo.repeats").set_value(5)
    quick(walking).press("Check with shuffled treatments")
    finish(walking)
    assert "shuffled among the people at each time, 5 times, the linear" in walking.text


@pytest.mark.usefixtures("in_this_process")
def test_three_actions_with_known_probabilities_and_unavailable_decisions(walking):
    assert "Read as an observational study" not in walking.text
    assert tables(walking, "from")[0]["decisions without a choice"].sum() > 0
    estimate(walking)
    assert walking.sidebar[EVALUATION].startswith("value 2")
    assert ", observed 20" in walking.sidebar[EVALUATION]
    assert tables(walking, "effective subjects")[0]["policy"].nunique() == 5


@pytest.mark.usefixtures("in_this_process")
def test_too_few_subjects_is_the_librarys_message_and_no_traceback(walking):
    own = walking.at.session_state[Key.ANALYSIS]
    few = own.prepared.trajectories.take(np.arange(24) < 6)
    own = own.with_result("rescaling", replace(own.prepared, trajectories=few))
    own = own.with_result("features", own.feature_map).with_result("policy", own.policies)
    walking.at.session_state[Key.ANALYSIS] = own
    walking.at.number_input(key="evaluation.folds").set_value(7)
    walking.run().press("Estimate what it would earn")
    finish(walking)
    assert len(walking.at.error) == 1
    assert "fewer than the 7 folds" in walking.text


def test_new_policies_put_the_estimate_out_of_date(judged):
    own = judged.at.session_state[Key.ANALYSIS]
    anew = tuple(replace(policy, seed=policy.seed + 1) for policy in own.policies)
    judged.at.session_state[Key.ANALYSIS] = own.with_result("policy", anew)
    judged.run()
    assert judged.sidebar[EVALUATION] == "out of date"
    assert "learned anew since the last estimate" in judged.text

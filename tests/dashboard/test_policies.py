"""The Q-functions and Patient pages, from the settings to one person's recommendation."""

from dataclasses import replace

import pytest
from waiting import finish

from dashboard.session import Key
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan
from tests.small_policies import random_policy

POLICY = 8  # its place in the sidebar
SMOKING = ("stress", "weekend", "cigs")
WALKING = ("pain", "mood")


def with_features(app, variables):
    """As if a map of these variables had been made of the study that is prepared."""
    own = app.at.session_state[Key.ANALYSIS].with_plan(features=FeatureMapPlan("identity", True))
    fitted = identity_feature_map(own.prepared.trajectories.select(variables))
    app.at.session_state[Key.ANALYSIS] = own.with_result("features", fitted)
    return app.go("q_functions")


def with_policies(app, *more):
    """As if a quick linear policy had been learned, and these."""
    own = app.at.session_state[Key.ANALYSIS]
    settings = PolicySettings(bootstraps=20)
    policy = learn_policy(own.prepared.trajectories, own.feature_map, settings)
    policies = (policy, *more)
    asked = tuple(PolicyPlan(replace(settings, model=each.kind)) for each in policies)
    own = own.with_plan(policies=asked).with_result("policy", policies)
    app.at.session_state[Key.ANALYSIS] = own
    return app.run()


@pytest.fixture
def smoking(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    return with_features(sample.go("rescaling").press("Rescale all variables"), SMOKING)


@pytest.fixture
def both(smoking):
    neural = random_policy(SMOKING, hidden=(4,), actions=("0", "1"))
    return with_policies(smoking, neural)


@pytest.fixture
def walking(app):
    app.press("Walking after a knee operation").press("Use these roles")
    app.go("missing_values").press("mpute").go("rescaling").press("Rescale all variables")
    return with_policies(with_features(app, WALKING))


def test_of_two_linear_policies_each_can_be_looked_at(smoking):
    own = smoking.at.session_state[Key.ANALYSIS]
    settings = [PolicySettings(discount=discount, bootstraps=20) for discount in (0.9, 0.2)]
    data, fitted = own.prepared.trajectories, own.feature_map
    policies = tuple(learn_policy(data, fitted, each) for each in settings)
    own = own.with_plan(policies=tuple(map(PolicyPlan, settings))).with_result("policy", policies)
    smoking.at.session_state[Key.ANALYSIS] = own
    choice = smoking.run().at.selectbox(key="the policy")
    assert choice.value == "linear (discount 0.9)"
    parameters = tab(smoking, "Tables").dataframe[0].value
    choice.set_value("linear (discount 0.2)")
    smoking.run()
    assert "linear (discount 0.2)" in smoking.text
    assert not parameters.equals(tab(smoking, "Tables").dataframe[0].value)
    for page in ("policy", "patient"):
        assert smoking.go(page).at.selectbox(key="the policy").value == "linear (discount 0.2)"


def tab(app, label):
    return next(t for t in app.at.tabs if t.label == label)


def test_empty_pages_teach(sample):
    for page in ("q_functions", "patient"):
        assert "works on the result of **Data**" in sample.go(page).text


def test_a_policy_is_learned_in_the_background_and_read(smoking):
    assert "action 0, action 1" in smoking.text
    assert "not known to be randomised" not in smoking.text  # the sample says: by a coin
    assert "An outcome 7 decisions later counts about half" in smoking.text
    smoking.at.checkbox(key="policy.linear").set_value(False)
    smoking.at.checkbox(key="policy.neural").set_value(False)
    smoking.run()
    assert next(b for b in smoking.at.button if "Learn" in b.label).disabled
    smoking.at.checkbox(key="policy.linear").set_value(True)
    smoking.at.slider(key="policy.discount").set_value(0.5)
    finish(smoking.run().press("Learn the Q-functions"))
    assert smoking.sidebar[POLICY] == "linear, discount 0.5"
    assert "Action 1 is favoured over action 0" in smoking.text
    assert "Linear Q-function settled" in smoking.text.replace("The l", "L")
    assert "nothing to compare with yet" in smoking.text
    smoking.at.slider(key="policy.discount").set_value(0.6)
    assert "not those that the result" in smoking.run().text
    finish(smoking.press("Learn the Q-functions"))
    compared = smoking.at.selectbox(key="q.compare")
    assert compared.options == ["linear Q, 3 variables as they are, discount 0.5"]
    assert "same best treatment" in smoking.text
    smoking.press("Next: policy")
    assert smoking.title == "Policy"


def test_every_control_of_the_page_gives_a_page(both):
    app = both
    for view in ("Their difference", "Each treatment"):
        app.at.segmented_control(key="q.view").set_value(view)
        app.run()
    app.at.selectbox(key="q.variable").set_value("weekend")
    app.at.selectbox(key="q.across").set_value("stress")
    app.run().at.selectbox(key="q.up").set_value("cigs")
    app.run()
    assert "Empty where fewer than 5 decisions" in app.text
    assert "have the same best treatment at" in app.text
    app.at.selectbox(key="the policy").set_value("neural")
    assert "the feature favours the treatment named" in app.run().text
    assert not app.at.error


def test_one_feature_alone(smoking):
    app = with_policies(with_features(smoking, ("stress",)))
    assert "There is one feature only" in app.text
    assert "Recommended" in app.go("patient").text or "No recommendation" in app.text


def test_non_convergence_is_said(smoking):
    app = with_policies(smoking)
    own = app.at.session_state[Key.ANALYSIS]
    (policy,) = own.policies
    unsettled = replace(policy, converged=False, notes=("Policy iteration did not settle: so.",))
    app.at.session_state[Key.ANALYSIS] = own.with_result("policy", (unsettled,))
    assert "Policy iteration did not settle: so." in app.run().text
    assert any("settle" in w.value for w in app.at.warning)


def test_an_out_of_date_policy_is_shown_with_the_data_it_came_from(both):
    app = both
    app.go("rescaling").at.radio(key="rescaling.way").set_value("Own units")
    app.run().press("Keep own units")
    assert "out of date" in app.go("patient").text
    assert "ahead of" in app.text
    del app.at.session_state[Key.KNOWN]
    assert "The data that the policy was learned from are gone" in app.run().text
    app.go("rescaling").at.radio(key="rescaling.way").set_value("Ordinal: common levels")
    app.run().press("Rescale all variables")
    assert "ahead of" in app.go("patient").text


def test_three_actions_are_compared_in_pairs(walking):
    assert "not known to be randomised" not in walking.text
    pair = walking.at.selectbox(key="q.pair")
    assert pair.options == [
        "call rather than none",
        "message rather than none",
        "message rather than call",
    ]
    pair.set_value(("message", "call"))
    walking.run()
    assert not walking.at.error


def test_one_person_at_one_time(both):
    app = both.go("patient")
    said = "".join(b.value for b in (*app.at.success, *app.at.warning, *app.at.info))
    assert "Recommended" in said or "No recommendation" in said
    assert "the parts add up" in app.text
    assert "decisions of the study most like this one" in app.text
    app.at.selectbox(key="patient.subject").set_value("S04")
    app.run()
    app.at.selectbox(key="patient.decision.S04").set_value(5)
    assert "S04 at decision 6" in app.run().text
    app.at.checkbox(key="patient.typed").set_value(True)
    app.run()
    stress = next(n for n in app.at.number_input if n.label == "stress")
    assert stress.value == 6.0
    assert "0 to 10" in stress.help
    stress.set_value(42.0)
    app.run()
    assert "with other values of stress" in app.text
    assert "'stress' is 42, outside the range seen in the study, 0 to 10" in app.text


def test_nothing_is_recommended_where_nothing_can_be_chosen(walking):
    trajectories = walking.at.session_state[Key.ANALYSIS].prepared.trajectories
    row, time_ = (~trajectories.available & trajectories.valid).nonzero()
    subject, decision = trajectories.subjects[row[0]], int(time_[0])
    app = walking.go("patient")
    app.at.selectbox(key="patient.subject").set_value(subject)
    app.run().at.selectbox(key=f"patient.decision.{subject}").set_value(decision)
    app.run()
    assert app.at.button_group(key=f"patient.possible.{subject}.{decision}").value == []
    assert "No recommendation** for" in app.text
    assert "No treatment can be chosen now" in app.text
    assert not app.at.success
    app.at.button_group(key=f"patient.possible.{subject}.{decision}").set_value(["call"])
    app.run()
    assert "call" in "".join(b.value for b in app.at.warning)

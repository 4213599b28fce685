"""The tab Rule card: a card by one click, rules of one's own by clicks and by formula."""

from __future__ import annotations

import pytest
from waiting import finish

from dashboard.session import Key
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan


@pytest.fixture
def walking(app):
    """Three actions, not always available."""
    app.press("Walking after a knee operation").press("Use these roles")
    app.go("missing_values").press("mpute").go("rescaling").press("Rescale all variables")
    own = app.at.session_state[Key.ANALYSIS].with_plan(features=FeatureMapPlan("identity", True))
    trajectories, settings = own.prepared.trajectories, PolicySettings(bootstraps=5)
    fitted = identity_feature_map(trajectories.select(("pain", "mood")))
    policy = learn_policy(trajectories, fitted, settings)
    own = own.with_result("features", fitted).with_plan(policies=(PolicyPlan(settings),))
    app.at.session_state[Key.ANALYSIS] = own.with_result("policy", (policy,))
    return app.go("policy")


@pytest.mark.usefixtures("in_this_process")
def test_a_card_and_rules_of_ones_own(walking):
    assert "No card has been made of the linear policy yet" in walking.text
    walking.at.selectbox(key="rule.click variable").set_value("pain")
    walking.run().at.selectbox(key="rule.click sign False").set_value("<=")
    walking.at.number_input(key="rule.click value pain").set_value(4.0)
    walking.run().press("If pain <= 4")
    walking.at.selectbox(key="rule.click action").set_value("message")
    walking.run().press("Add")
    typed = walking.at.text_area(key="rule.own 1")
    assert typed.value == "pain <= 4 -> message; else none"
    typed.set_value(typed.value + "\nmod <= 3 -> call; else none")
    walking.run()
    assert "Did you mean mood?" in walking.text
    walking.at.text_area(key="rule.own 1").set_value(
        typed.value.replace("mod", "mood") + "\npain > 99 -> call; else none"
    )
    walking.at.number_input(key="rule.resamples").set_value(3)
    walking.at.number_input(key="evaluation.folds").set_value(2)
    walking.at.number_input(key="evaluation.bootstraps").set_value(20)
    walking.run().press("Make the rule card")
    finish(walking)
    assert "The card says:" in walking.text
    assert "My rule 1 (pain <= 4 -> message; else none)" in walking.text
    assert "Nobody ever fulfils a condition of 'pain > 99 -> call; else none'" in walking.text
    report = walking.at.session_state[Key.ANALYSIS].rule
    assert len(report.own_rules) == 3
    assert set(report.values["policy"]) >= {"card", "learned", "my rule 1", "observed"}
    assert "minus rule card" not in walking.text
    walking.press("Estimate what it would earn")
    finish(walking)
    compared = next(d.value for d in walking.at.dataframe if "minus rule card" in d.value.columns)
    assert list(compared["candidate"])[:3] == ["linear policy", "rule card", "my rule 1"]
    walking.at.selectbox(key="policy.risk.of").set_value("card")
    walking.run()
    assert "under the rule card" in walking.text

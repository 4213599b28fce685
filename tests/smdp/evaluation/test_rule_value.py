"""Finding a card and judging it: three actions, availability, nothing to find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import smdp
from smdp.errors import SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.placebo import shuffled_actions
from smdp.evaluation.rule_learning import learn_rule_card, stability_of
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.rule_value import make_rule_card
from smdp.feature_map.identity import no_features
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.three_action import three_action
from smdp.words.policy_comparison import describe_risk
from smdp.words.rule_card import describe_rule

QUICK = EvaluationSettings(folds=3, bootstraps=20, segments=3)
FEW = RuleSettings(resamples=5)
OWN = "pain <= 4 -> message; mood <= 3 -> call; else none"


@pytest.fixture(scope="module")
def walking():
    """60 people: a message helps when pain is low, a call when mood is low."""
    frame = three_action(seed=3, subjects=60)
    prepared = smdp.prepare(frame, smdp.guess_roles(frame))
    fitted = smdp.identity_feature_map(prepared.trajectories.select(["pain", "mood", "fatigue"]))
    settings = PolicySettings(discount=0.5, bootstraps=0)
    return prepared, smdp.learn_policy(prepared.trajectories, fitted, settings)


@pytest.fixture(scope="module")
def report(walking):
    return make_rule_card(
        *walking, FEW, own=(OWN, "pain > 99 -> call; else none"), evaluation=QUICK
    )


def test_the_card_asks_for_what_is_planted(report):
    assert {"pain", "mood"} & set(report.card.asked)
    assert set(report.card.asked) <= {"pain", "mood", "fatigue"}
    assert report.card.depth <= 2
    assert "message" in report.card.in_words()
    gain = report.difference("card", "observed")
    assert gain["lower"] > 0


def test_what_is_reported(report):
    always = [f"always {label}" for label in report.card.action_labels]
    named = ["card", "learned", "my rule 1", "my rule 2", "observed", *always]
    assert list(report.values["policy"]) == named
    cost = report.cost
    assert cost["lower"] < cost["estimate"] < cost["upper"]
    assert cost["estimate"] == pytest.approx(-report.difference("card", "learned")["estimate"])
    assert 0.5 < report.agreement <= 1
    assert report.own["fulfilled"].iloc[1] == 0
    assert 0 < report.own["fulfilled"].iloc[0] < 1
    assert len(report.folds) == 3
    assert report.folds["people"].sum() == report.subjects
    assert report.first["share"].sum() == pytest.approx(1)
    assert (report.questions["near"] <= report.questions["again"]).all()


def test_the_card_stands_among_the_candidates_with_the_same_differences(walking, report):
    prepared, policy = walking
    value = smdp.evaluate_policy(prepared.trajectories, policy, QUICK)
    values = {"linear": value}
    found = smdp.comparison_of([policy], values, 2.0, rule=report, rule_of="linear")
    assert list(found.values["candidate"])[:4] == ["linear", "card", "my rule 1", "my rule 2"]
    for name, against in (("card", "linear"), ("card", "observed"), ("my rule 1", "card")):
        own = found.difference(name, against)
        other = report.difference(name, "learned" if against == "linear" else against)
        for part in ("estimate", "lower", "upper"):
            assert own[part] == pytest.approx(other[part])
    elsewhere = smdp.comparison_of(
        [policy], values, 2.0, rule=replace(report, seed=7), rule_of="linear"
    )
    assert "card" not in set(elsewhere.values["candidate"])


def test_outcomes_under_the_card_are_spread_as_under_a_policy(walking, report):
    risk = smdp.outcome_risk(
        report.judged.only("card", "observed"), coverage=0.95, least_effective=2.0, seed=0
    )
    assert list(dict.fromkeys(risk.figures["policy"])) == ["card", "observed"]
    assert describe_risk(risk, "card")[0].count("under the rule card") == 1


def test_a_rule_that_nobody_fulfils_is_always_the_other_action(report):
    nobody, never = report.value("my rule 2"), report.value("always none")
    assert nobody["estimate"] == pytest.approx(never["estimate"], abs=1e-9)


def test_the_same_again_to_the_last_bit(walking, report):
    again = make_rule_card(
        *walking, FEW, own=(OWN, "pain > 99 -> call; else none"), evaluation=QUICK
    )
    assert again == report


def test_with_nothing_to_find_questions_gain_nothing_for_other_people(walking):
    """Nor on average: neither the tree nor the model that it was found by has seen them."""
    prepared, policy = walking
    errors = []
    for seed in range(8):
        nothing = shuffled_actions(prepared.trajectories, np.random.default_rng(seed))
        own = learn_rule_card(nothing, policy, FEW, evaluation=QUICK).depths.iloc[-1]
        errors.append(own["gain"] / own["standard_error"])
    assert sum(each > 2 for each in errors) <= 1
    assert np.mean(errors) < 2 / np.sqrt(len(errors))


def test_it_is_said_whether_its_questions_are_needed(report):
    not_needed = "does not show that they are needed"
    own = report.depths.iloc[-1]
    assert own["gain"] > 2 * own["standard_error"]
    assert not any(not_needed in told for told in describe_rule(report))
    chance = replace(report, depths=report.depths.assign(gain=0.0))
    assert sum(not_needed in told for told in describe_rule(chance)) == 1


def test_it_asks_only_for_what_the_policy_looks_at_unless_told_otherwise(walking):
    prepared, _ = walking
    own = prepared.trajectories
    settings = PolicySettings(discount=0.5, bootstraps=0)
    policy = smdp.learn_policy(own, smdp.identity_feature_map(own.select(["fatigue"])), settings)

    def asked(how):
        found = learn_rule_card(own, policy, how, evaluation=QUICK)
        return {each.variable for each in found.asked.each}

    assert asked(FEW) == {"fatigue"}
    assert {"pain", "mood", "fatigue"} < asked(replace(FEW, among="all"))
    assert asked(replace(FEW, variables=("pain",))) == {"pain"}


def test_a_policy_that_looks_at_nothing_has_a_card_without_a_question(walking):
    prepared, _ = walking
    policy = smdp.learn_policy(
        prepared.trajectories, no_features(), PolicySettings(discount=0.5, bootstraps=0)
    )
    found = learn_rule_card(prepared.trajectories, policy, FEW, evaluation=QUICK)
    assert found.card.questions == ()
    came_back = stability_of(found, FEW, 0)
    assert list(came_back.first["variable"]) == [""]


@pytest.mark.parametrize("scores", ["model", "doubly robust"])
def test_other_people_can_give_other_questions(walking, scores):
    """With the model's values too, which are theirs then: not those of everybody, counted anew."""
    prepared, policy = walking
    nothing = shuffled_actions(prepared.trajectories, np.random.default_rng(1))
    how = RuleSettings(resamples=20, scores=scores)
    found = learn_rule_card(nothing, policy, how, evaluation=QUICK)
    assert stability_of(found, how, 0).agreement < 0.95


def test_all_people_alike(walking):
    prepared, policy = walking
    own = prepared.trajectories
    alike = replace(own, states=np.where(np.isfinite(own.states), 1.0, np.nan))
    card = learn_rule_card(alike, policy, FEW, evaluation=QUICK).card
    assert card.questions == ()


def test_a_search_without_an_end_is_refused(walking):
    deep = replace(FEW, depth=3, resamples=100_000)
    with pytest.raises(SettingError, match="three questions in a row would take about"):
        learn_rule_card(*_bare(walking), deep, evaluation=QUICK)


def _bare(walking):
    prepared, policy = walking
    return prepared.trajectories, policy

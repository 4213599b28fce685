"""A recommendation is never firmer than what is known of its policy and of the person."""

from dataclasses import replace

import pandas as pd
import pytest

from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import PreparationSettings
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.value import evaluate_policy
from smdp.explanation.person import explain_person, person_now
from smdp.explanation.standing import Standing, deciding_values, standing_of
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.samples import sample_file
from smdp.words.standing import footing, reserve

FIRM = Standing(recommended=True, gain="better", chance="randomised")


@pytest.mark.parametrize(
    ("change", "firmness", "said"),
    [
        ({}, "firm", ""),
        ({"chance": "assumed"}, "firm", ""),
        ({"recommended": False}, "none", ""),
        ({"gain": "not clear"}, "weak", "does not tell whether the linear policy does better"),
        ({"gain": "worse"}, "weak", "does worse than what was done"),
        ({"gain": "no interval"}, "weak", "no interval that can be trusted"),
        ({"gain": "not estimated"}, "weak", "was not estimated (page Policy)"),
        ({"chance": "observed"}, "weak", "not known to be randomised"),
        ({"deciding": ("mood",)}, "weak", "'mood' was not reported but filled in"),
        ({"outside": ("pain",)}, "weak", "'pain' lies outside what was seen"),
        ({"quick": True}, "weak", "judged the quick way"),
    ],
)
def test_one_thing_that_is_missing_takes_the_firmness_away(change, firmness, said):
    standing = replace(FIRM, **change)
    assert standing.firmness == firmness
    assert said in reserve(standing, "linear")
    assert bool(reserve(standing, "linear")) == (firmness == "weak")
    assert bool(footing(standing, "linear")) == (firmness == "firm")


@pytest.fixture(scope="module")
def walking():
    table = read_table(sample_file("three_action_synthetic.csv"))
    prepared = prepare(table, guess_roles(table), PreparationSettings())
    kept = prepared.trajectories
    policy = learn_policy(kept, identity_feature_map(kept), PolicySettings(bootstraps=12))
    return prepared, policy


def test_a_filled_in_value_decides_only_if_another_value_changes_the_recommendation(walking):
    prepared, policy = walking
    subject = prepared.trajectories.subjects[0]
    now = person_now(policy, prepared, subject, 3)
    values = dict(zip(now.values["variable"], now.values["value"], strict=True))
    reported = replace(now, values=now.values.assign(filled=False))
    assert deciding_values(policy, prepared, reported, values, policy.action_labels) == ()
    filled = replace(now, values=now.values.assign(filled=True))
    found = deciding_values(policy, prepared, filled, values, policy.action_labels)

    def recommended(changed):
        return explain_person(policy, prepared, changed).best

    first = recommended(values)
    for row in now.values.itertuples():
        others = {recommended({**values, row.variable: v}) for v in (row.low, row.high)}
        if others - {first}:
            assert row.variable in found
    # With a single treatment that can be chosen nothing decides, and what was typed in is reported.
    assert deciding_values(policy, prepared, filled, values, policy.action_labels[:1]) == ()
    typed = {name: value + 1e-6 for name, value in values.items()}
    assert deciding_values(policy, prepared, filled, typed, policy.action_labels) == ()


def test_the_standing_follows_the_interval_the_study_and_the_assumption(walking):
    prepared, policy = walking
    now = person_now(policy, prepared, prepared.trajectories.subjects[0], 3)
    values = dict(zip(now.values["variable"], now.values["value"], strict=True))
    patient = explain_person(policy, prepared, values)
    settings = EvaluationSettings(bootstraps=20, refit_map=False)
    value = evaluate_policy(prepared.trajectories, policy, settings)
    roles, kept = prepared.study.roles, prepared.trajectories

    def of(lower, upper, trusted=True, own=roles):
        gain = value.differences.assign(lower=lower, upper=upper, trusted=trusted)
        return standing_of(patient, replace(value, differences=pd.DataFrame(gain)), own, kept)

    assert of(0.1, 0.4).gain == "better"
    assert of(-0.1, 0.4).gain == "not clear"
    assert of(-0.4, -0.1).gain == "worse"
    assert of(0.1, 0.4, trusted=False).gain == "no interval"
    assert standing_of(patient, None, roles, kept).gain == "not estimated"
    assert of(0.1, 0.4).chance == "randomised"
    observed = replace(roles, assignment="observed")
    assert of(0.1, 0.4, own=observed).chance == "observed"
    assert of(0.1, 0.4, own=replace(observed, nothing_hidden=True)).chance == "assumed"

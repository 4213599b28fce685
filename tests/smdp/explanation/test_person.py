"""People of a study in the units of its table: values, choices, recommendations."""

import numpy as np
import pytest

from smdp.data.column_roles import ColumnRoles
from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.errors import DataError
from smdp.explanation.person import (
    explain_person,
    in_policy_units,
    person_now,
    person_over_time,
    q_intervals,
    similar_decisions,
)
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import learn_policy
from smdp.policy.point_of_use import point_of_use
from smdp.policy.policy_settings import PolicySettings
from smdp.simulation.samples import sample_file
from smdp.words.patient import describe_similar, headline, value_table


def walking(rescaled, lags, action_lags=0):
    table = read_table(sample_file("three_action_synthetic.csv"))
    guessed = guess_roles(table)
    roles = ColumnRoles(
        guessed.subject,
        guessed.time,
        guessed.action,
        ["pain", "mood", "fatigue", "rain"],
        guessed.utility,
        available=guessed.available,
        probability=guessed.probability,
        lags=lags,
        action_lags=action_lags,
    )
    rescaling = RescalingSettings() if rescaled else None
    prepared = prepare(table, roles, PreparationSettings(rescaling=rescaling))
    features = identity_feature_map(prepared.trajectories)
    policy = learn_policy(prepared.trajectories, features, PolicySettings(bootstraps=12))
    return prepared, policy


@pytest.fixture(
    scope="module",
    params=[(False, 0), (True, 1), (False, 0, 2)],
    ids=["own units", "levels, lags", "earlier actions"],
)
def case(request):
    return walking(*request.param)


def values_of(now):
    return dict(zip(now.values["variable"], now.values["value"], strict=True))


def test_own_values_lead_back_to_the_state_of_the_study(case):
    prepared, policy = case
    use = point_of_use(policy.feature_map.variables_used, prepared)
    used = [policy.variables.index(name) for name in use.variables]
    for i, subject in enumerate(prepared.trajectories.subjects[:3]):
        for decision in person_over_time(policy, prepared, subject).decision:
            values = values_of(person_now(policy, prepared, subject, int(decision)))
            state = [in_policy_units(use, values)[name] for name in use.variables]
            np.testing.assert_allclose(state, prepared.trajectories.states[i, decision, used])


def test_over_time_is_what_the_policy_decides(case):
    prepared, policy = case
    trajectories = prepared.trajectories
    unavailable = 0
    for i, subject in enumerate(trajectories.subjects[:8]):
        person = person_over_time(policy, prepared, subject)
        inside = person.decision < trajectories.actions.shape[1]
        places = person.decision[inside]
        unavailable += int((~person.available).sum())
        assert (person.recommended[~person.available] == -1).all()
        assert (person.done[~person.available] == -1).all()
        np.testing.assert_array_equal(person.done[inside], trajectories.actions[i, places])
        possible = trajectories.available[i, places, None] & (
            trajectories.probabilities[i, places] != 0
        )
        decided = policy.decide(trajectories.states[i, places], possible)
        np.testing.assert_array_equal(person.recommended[inside], decided.recommended)
    assert unavailable > 0


def test_one_decision_is_explained_in_the_tables_units(case):
    prepared, policy = case
    subject = prepared.trajectories.subjects[0]
    person = person_over_time(policy, prepared, subject)
    place = int(np.flatnonzero(person.available)[3])
    now = person_now(policy, prepared, subject, int(person.decision[place]))
    values = values_of(now)
    patient = explain_person(policy, prepared, values, available=now.possible)
    assert (
        dict(zip(patient.variables["variable"], patient.variables["value"], strict=True)) == values
    )
    assert (
        patient.variables["value"]
        .between(patient.variables["low"], patient.variables["high"])
        .all()
    )
    assert patient.warnings == ()
    assert patient.variables.set_index("variable").loc["pain", "high"] == 10
    assert 1 < patient.variables.set_index("variable").loc["pain", "average"] < 9
    label = (
        None if person.recommended[place] < 0 else policy.action_labels[person.recommended[place]]
    )
    assert patient.recommendation == label
    total = patient.variables["contribution"].sum()
    assert total == pytest.approx(patient.margin - patient.average_margin)
    q = q_intervals(policy, prepared, values)
    assert (q["lower"] < q["q"]).all()
    assert q["q"].max() - q["q"].nlargest(2).iloc[1] == pytest.approx(patient.margin)
    similar = similar_decisions(policy, prepared, values)
    assert sum(similar.shares.values()) == pytest.approx(1)
    assert "most like this one" in describe_similar(similar, 0.05)
    table = value_table(patient, now)
    assert table["variable"].tolist() == list(values)
    assert "reported" in table


def test_nothing_is_recommended_where_nothing_can_be_chosen(case):
    prepared, policy = case
    subject = next(
        s
        for s in prepared.trajectories.subjects
        if not person_over_time(policy, prepared, s).available.all()
    )
    person = person_over_time(policy, prepared, subject)
    place = int(person.decision[~person.available][0])
    now = person_now(policy, prepared, subject, place)
    assert now.possible == ()
    assert now.done is None
    patient = explain_person(policy, prepared, values_of(now), available=now.possible)
    assert patient.recommendation is None
    assert headline(patient) == ("No recommendation", "No treatment can be chosen now.")


def test_a_typed_value_outside_the_range_is_said(case):
    prepared, policy = case
    now = person_now(policy, prepared, prepared.trajectories.subjects[0], 4)
    patient = explain_person(policy, prepared, {**values_of(now), "pain": 99.0})
    assert [w.about for w in patient.warnings] == ["pain"]
    assert (
        "'pain' is 99, outside the range seen in the study, 0 to 10" in patient.warnings[0].message
    )


def test_who_and_when_must_exist(case):
    prepared, policy = case
    with pytest.raises(DataError, match="no subject 'nobody'"):
        person_over_time(policy, prepared, "nobody")
    with pytest.raises(DataError, match="no decision 900"):
        person_now(policy, prepared, prepared.trajectories.subjects[0], 899)

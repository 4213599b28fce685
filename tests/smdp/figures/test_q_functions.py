"""Figures of the Q-functions and Patient pages: what is drawn is what was found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_policies import random_policy, trajectories_of

from smdp.data.variables import Variable
from smdp.explanation.patient_explanation import explain_patient
from smdp.explanation.person import PersonOverTime
from smdp.explanation.policy_explanation import explain_policy
from smdp.explanation.q_differences import (
    compare_policies,
    observed_differences,
    over_two_features,
    over_variable,
)
from smdp.figures.patient import (
    contributions_figure,
    features_figure,
    over_time_figure,
    q_values_figure,
)
from smdp.figures.q_differences import (
    comparison_figure,
    curve_figure,
    differences_histogram,
    plane_figure,
)
from smdp.figures.q_functions import (
    MOST_FEATURES,
    MOST_VARIABLES,
    action_colour,
    convergence_figure,
    feature_effects_figure,
    parameters_figure,
)
from smdp.policy.decision_rule import Reason

NAMES = ("stress", "mood", "week<b>end", "age")
ACTIONS = ("none", "message", "2")


@pytest.fixture
def study():
    random = np.random.default_rng(3)
    states = random.normal(0, 1, (10, 9, len(NAMES)))
    states[:, :, 2] = random.integers(0, 2, states.shape[:2])
    return trajectories_of(states, NAMES, ACTIONS)


@pytest.fixture
def policy():
    return random_policy(NAMES, features=2, actions=ACTIONS, unused=(3,))


def test_parameters_stand_beside_the_weights_row_by_row(policy):
    figure = parameters_figure(policy)
    heat, *bars = figure.data
    assert [bar.name for bar in bars] == ["none", "message", "action 2"]
    assert [bar.marker.color for bar in bars] == [action_colour(k) for k in range(3)]
    for place, bar in enumerate(bars):
        np.testing.assert_allclose(bar.x, policy.parameters.iloc[place, 1:])
        assert list(bar.y) == list(heat.y) == list(policy.feature_map.features)
        rows = policy.parameter_intervals
        own = rows[(rows["action"] == ACTIONS[place]) & (rows["parameter"] != "intercept")]
        np.testing.assert_allclose(bar.error_x.array, own["upper"] - own["estimate"])
        assert bar.error_x.visible
    # By size, the unused one left out, and no name is taken for markup.
    assert set(heat.x) == {"stress", "mood", "week&lt;b&gt;end"}
    assert heat.yaxis == "y2"
    assert figure.layout.yaxis2.matches == "y"


def test_without_refits_there_are_no_intervals():
    figure = parameters_figure(random_policy(NAMES, resamples=0))
    assert not any(bar.error_x.visible for bar in figure.data[1:])


def test_many_features_are_cut_to_those_that_matter_most():
    names = [f"v{j}" for j in range(60)]
    policy = random_policy(names, features=50, resamples=0)
    heat, *bars = parameters_figure(policy).data
    assert len(heat.y) == MOST_FEATURES
    assert len(heat.x) == MOST_VARIABLES
    differences = np.ptp(policy.parameters.to_numpy()[:, 1:], axis=0)
    best = policy.feature_map.features[int(differences.argmax())]
    assert best in bars[0].y


def test_a_networks_effects_are_those_of_its_explanation(study):
    policy = random_policy(NAMES, hidden=(6,), actions=ACTIONS)
    explanation = explain_policy(policy, study, action="message", reference="2")
    bar = feature_effects_figure(policy, explanation).data[1]
    np.testing.assert_allclose(bar.x, explanation.features["estimate"])
    assert bar.name == "message rather than action 2"


def test_the_histogram_holds_every_decision_once_on_its_side_of_zero(study, policy):
    found = observed_differences(policy, study, "message", "2")
    figure = differences_histogram(found, ACTIONS)
    assert sum(len(trace.x) for trace in figure.data) == len(found.difference)
    by_name = {trace.name.partition(" (")[0]: trace for trace in figure.data}
    assert (np.array(by_name["message ahead"].x) > 0).all()
    assert (np.array(by_name["action 2 ahead"].x) <= 0).all()
    bins = figure.data[0].xbins
    assert (0 - bins.start) / bins.size == pytest.approx(round(-bins.start / bins.size))


def test_curves_are_drawn_in_the_variables_own_units(study, policy):
    about = (Variable("stress", unit="points", rescaled_from=(10.0, 30.0)),)
    curve = over_variable(policy, replace(study, about=about), "stress", "message", "none")
    figure = curve_figure(curve)
    assert figure.layout.xaxis.title.text == "stress (points)"
    line = next(t for t in figure.data if t.name == "average difference")
    np.testing.assert_allclose(line.x, 10 + 20 * curve.at)
    assert {t.name for t in figure.data} == {"95 % band", "average difference", "decisions seen"}
    two = curve_figure(over_variable(policy, study, NAMES[2], "message", "none"))
    assert next(t for t in two.data if t.name == "average difference").error_y.visible


def test_planes_and_comparisons_show_every_decision(study, policy):
    plane = over_two_features(policy, study, *policy.feature_map.features, "message", "none")
    drawn = plane_figure(plane, ACTIONS).data
    assert sum(len(t.x) for t in drawn if t.type == "scatter") == len(plane.seen)
    other = random_policy(NAMES, seed=8, hidden=(5,), actions=ACTIONS)
    found = compare_policies(policy, other, study, "message", "none")
    figure = comparison_figure(found, "one", "another")
    assert sum(len(t.x) for t in figure.data) == len(found.first)
    assert "another" in figure.layout.yaxis.title.text


def test_convergence_has_both_axes(policy):
    figure = convergence_figure(policy)
    assert [t.yaxis for t in figure.data] == [None, "y2"]


def test_the_waterfall_leads_from_the_average_to_this_person(policy):
    patient = explain_patient(policy, {"stress": 1.5, "mood": -1.0, NAMES[2]: 1.0})
    steps = contributions_figure(patient).data[0]
    assert list(steps.measure) == [
        "absolute",
        "relative",
        "relative",
        "relative",
        "relative",
        "total",
    ]
    assert sum(steps.x[:-1]) == pytest.approx(patient.margin)
    assert steps.text[-1] == f"{patient.margin:.2f}"
    assert len(features_figure(patient, policy).data[-1].x) == 2


def long_course(decisions):
    random = np.random.default_rng(0)
    done = random.integers(0, 3, decisions)
    available = np.arange(decisions) % 5 != 0
    return PersonOverTime(
        subject="s",
        decision=np.arange(decisions),
        time=("",) * decisions,
        values=pd.DataFrame(random.normal(size=(decisions, 2)), columns=["stress", "mood"]),
        filled=np.zeros((decisions, 2), dtype=bool),
        available=available,
        done=np.where(available, done, -1),
        recommended=np.where(available, 1, -1),
        reason=np.where(available, Reason.RECOMMENDED, Reason.UNAVAILABLE),
        margin=np.ones(decisions),
    )


def test_each_decision_is_marked_once_and_a_long_course_is_shown_around_now():
    person = long_course(30)
    figure = over_time_figure(person, ACTIONS, ["mood", "stress"], now=12)
    strips = [t for t in figure.data if t.yaxis is None]
    recommended = [x for t in strips for x, y in zip(t.x, t.y, strict=True) if y == "recommended"]
    assert sorted(recommended) == list(range(1, 31))
    closed = next(t for t in strips if t.name == "nothing could be chosen")
    assert list(closed.x) == [1, 6, 11, 16, 21, 26]
    assert figure.layout.xaxis.range is None
    low, high = over_time_figure(long_course(200), ACTIONS, ["mood"], now=150).layout.xaxis.range
    assert low < 151 < high < 175
    low, high = over_time_figure(long_course(200), ACTIONS, ["mood"], now=199).layout.xaxis.range
    assert high == pytest.approx(200.7)


def test_what_cannot_be_chosen_is_an_open_mark(policy):
    q = pd.DataFrame({"action": ACTIONS, "q": [1.0, 2.0, 3.0], "lower": np.nan, "upper": np.nan})
    marks = q_values_figure(q, ("none",)).data
    assert [m.marker.symbol for m in marks] == ["circle", "circle-open", "circle-open"]
    assert not marks[0].error_x.visible


def test_many_levels_of_a_variable_have_room_to_be_named():
    levels = tuple((float(code), f"level {code}") for code in range(8))
    person = long_course(30)
    named = replace(person, about=(Variable("mood", kind="nominal", levels=levels),))
    plain, roomy = (over_time_figure(each, ACTIONS, ["mood"], 12) for each in (person, named))
    low, high = roomy.layout.yaxis2.domain
    assert roomy.layout.height > plain.layout.height
    assert (high - low) * roomy.layout.height > 8 * 14

"""The Feature dimension and Weights pages."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from quick_steps import InThisProcess, tiny
from small_candidates import with_tried
from small_policies import map_of
from waiting import finish, wait_until

from dashboard import jobs
from dashboard.jobs import Job, JobState
from dashboard.running import AskedStep
from dashboard.session import Key
from smdp.analysis.analysis import run_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.blocks import Paragraph
from smdp.data.guess_roles import guess_roles
from smdp.data.read_table import read_table
from smdp.feature_map import kinds
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.kinds import map_kind
from smdp.feature_map.layers import Layer
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.samples import sample_file
from smdp.steps import FEATURES
from smdp.steps.features import dimension_section
from smdp.steps.step_plans import FeatureMapPlan, ScreeningPlan
from tests.dashboard.conftest import open_file

SEVEN = ("quit_attempts", "weekend", "stress", "urge", "drinks", "burden", "cigs")


@pytest.fixture(autouse=True)
def quick_training(monkeypatch):
    tiny(monkeypatch)


@pytest.fixture(scope="module")
def analysis_so_far():
    """The sample study, with seven variables kept by hand: what a test finds is no matter here."""
    frame = read_table(sample_file("basics_mobile_synthetic.csv"))
    roles = guess_roles(frame)
    others = tuple(v.name for v in roles.states if v.name not in (*SEVEN, "age"))
    chosen = ScreeningSettings(level=0.01, force_in=SEVEN, force_out=others)
    plan = AnalysisPlan(roles=roles, screening=ScreeningPlan(chosen, 0))
    return analysis_to_bytes(run_analysis(frame, plan))


@pytest.fixture
def screened(analysis_so_far):
    return open_file(analysis_so_far).go("feature_dimension")


def test_empty_pages_teach(sample):
    sample.go("feature_dimension")
    assert "works on the result of **Data**" in sample.text
    sample.go("weights")
    assert "works on the result of **Data**" in sample.text


@pytest.mark.usefixtures("in_this_process")
def test_principal_components_from_page_to_weights(screened):
    assert "7 variables to one feature" in screened.text
    screened.at.selectbox(key="features.kind").set_value("pca")
    finish(screened.run().press("Fit the feature map"))
    assert screened.sidebar[5].startswith("dimension")
    assert "no test has chosen its dimension" in screened.text
    screened.press("Next: weights")
    assert screened.title == "Weights"
    assert "Feature 1 is large at" in screened.text
    screened.at.radio(key="weights.order").set_value("by group")
    screened.run()
    assert not screened.at.exception


def test_a_kind_of_map_from_outside_is_on_the_list(screened, monkeypatch):
    other = replace(map_kind("pca"), name="other", title="A map from another package")
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    kinds.register(other)
    screened.run()
    assert screened.at.selectbox(key="features.kind").options[-1] == other.title
    screened.at.selectbox(key="features.kind").set_value("other")
    screened.run()
    assert not screened.at.exception


@pytest.mark.usefixtures("in_this_process")
def test_another_kind_of_map_is_another_result(screened):
    for kind in ("pca", "identity"):
        screened.at.selectbox(key="features.kind").set_value(kind)
        finish(screened.run().press("Fit the feature map"))
    assert "7 features made of 7 of 7" in screened.text
    screened.at.checkbox(key="features.use_all").set_value(True)
    finish(screened.run().press("Fit the feature map"))
    assert "15 features made of 15 of 15" in screened.text


@pytest.mark.usefixtures("in_this_process")
def test_alternating_network_with_a_dimension_by_hand(screened):
    screened.at.number_input(key="features.by_hand").set_value(2)
    screened.run()
    button = next(b for b in screened.at.button if b.label == "Fit the feature map")
    assert button.disabled
    screened.at.text_input(key="features.why").set_value("two for a figure")
    finish(screened.run().press("Fit the feature map"))
    assert not screened.at.error
    assert "2 features made of" in screened.text
    assert "Reason given: two for a figure" in screened.text
    screened.at.text_input(key="features.why").set_value("another reason")
    screened.run()
    assert "Reason given: two for a figure" in screened.text
    assert "not those that the result" in screened.text
    screened.go("weights")
    assert "Signs and order of features are a convention" in screened.text
    assert "Weights of the map's one layer" in screened.text
    _the_same_stopped_early(screened)
    _the_same_but_deep(screened)


def test_which_numbers_of_features_can_be_asked_for(screened):
    assert screened.at.radio(key="features.choose_by").value == "exact_first"
    tests = screened.at.radio(key="features.test")
    assert tests.value == "closed"
    assert len(tests.options) == 3
    assert "keep of what the state says of the outcome (in practice)" in screened.text
    # Earlier versions compared with the full state: a plan may say so, the page does not.
    own = screened.at.session_state[Key.ANALYSIS]
    earlier = FeatureMapPlan(settings=FeatureMapSettings(test="relative"))
    saved = analysis_to_bytes(own.with_plan(features=earlier))
    other = open_file(saved).go("feature_dimension")
    assert other.at.radio(key="features.test").value == "closed"
    assert not other.at.exception


def test_both_questions_are_answered_on_the_page(screened):
    own = screened.at.session_state[Key.ANALYSIS]
    fitted = with_tried(map_of([Layer(np.eye(2, len(SEVEN)), np.zeros(2))], SEVEN))
    planned = own.with_plan(features=FeatureMapPlan(settings=fitted.settings))
    screened.at.session_state[Key.ANALYSIS] = planned.with_result("features", fitted)
    screened.run()
    assert not screened.at.exception
    assert screened.sidebar[5] == "dimension 2, keeps 97 %"
    assert "2 features are enough in practice" in screened.text
    assert "Exactly, 4 would be needed (p = .21)." in screened.text
    assert [tab.label for tab in screened.at.tabs][:3] == [
        "Candidates", "Error out of fold", "Value",
    ]  # fmt: skip
    assert "What one decision by the features costs" in screened.text
    report = dimension_section(
        screened.at.session_state[Key.ANALYSIS], lambda *about: Paragraph(about[3])
    )
    assert any("one-sided 95 % bound" in getattr(block, "text", "") for block in report)


def _the_same_stopped_early(app):
    """As if another fit had been stopped: it replaces the earlier result only when asked to."""
    own = app.at.session_state[Key.ANALYSIS]
    notice = "Stopped after pass 1; not iterated to the end."
    finished = replace(own.feature_map, complete=False, notes=(notice,))
    other = replace(own.plan.features, seed=own.plan.features.seed + 1)
    job = Job(
        Path("nowhere"), AskedStep(FEATURES, own.with_plan(features=other), {"features": other})
    )
    job.state, job.stopped_early, job.result = JobState.DONE, True, finished
    app.at.session_state[Key.JOBS]["features"] = job
    app.go("feature_dimension")
    assert notice not in app.text
    assert "What was finished (dimension 2" in app.text
    app.press("Use what was finished")
    assert notice in app.text
    assert "What was finished" not in app.text
    assert not app.at.session_state[Key.JOBS]
    known = app.at.session_state[Key.KNOWN].of("features")
    # The same settings would run to the end.
    assert [each.result.complete for each in known] == [True]
    assert notice in app.go("weights").text


def _the_same_but_deep(app):
    own = app.at.session_state[Key.ANALYSIS]
    layers = (*own.feature_map.layers, Layer(np.eye(2), np.zeros(2)))
    deep = replace(own.feature_map, layers=layers)
    app.at.session_state[Key.ANALYSIS] = own.with_result("features", deep)
    app.run()
    assert "Average gradients" in app.text
    assert "The first layer's column norms" in app.text
    assert "Weights of the map's one layer" not in app.text


def test_no_variable_survived_screening(screened):
    own = screened.at.session_state[Key.ANALYSIS]
    nothing = replace(own.screening, selected=())
    screened.at.session_state[Key.ANALYSIS] = own.with_result("screening", nothing)
    screened.run()
    button = next(b for b in screened.at.button if b.label == "Fit the feature map")
    assert button.disabled
    assert "tick 'Use all variables'" in screened.text
    screened.at.checkbox(key="features.use_all").set_value(True)
    screened.run()
    assert "a map of 15 variables" in screened.text


def test_weights_without_a_map_say_where_to_make_one(screened):
    screened.go("weights")
    assert "result of **Feature dimension**, which is not done yet" in screened.text


def test_stability_over_resamples_cancelled_after_two(screened):
    screened.at.number_input(key="features.by_hand").set_value(1)
    screened.run()
    screened.at.text_input(key="features.why").set_value("quick")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_worker", InThisProcess)
        finish(screened.run().press("Fit the feature map")).go("weights")
    screened.at.number_input(key="stability.bootstraps").set_value(300)
    screened.run().press("Check stability")
    job = screened.at.session_state[Key.JOBS]["stability"]
    wait_until(
        lambda: job.message.startswith("Refit 3") or job.state != JobState.RUNNING,
        told=lambda: job.message,
    )
    assert job.state == JobState.RUNNING, job.error
    finish(screened.run().press("Cancel"))
    assert "How stable is it?" in [s.value for s in screened.at.header]
    refits = int(re.search(r"In (\d+) refits on resampled people", screened.text)[1])
    assert 2 <= refits < 300
    assert "Stopped before all the refits asked for" in screened.text


def test_only_a_map_that_can_keep_something_is_asked_to_when_it_is_cancelled(screened):
    for kind, keeps in (("adnn", True), ("tnn", False)):
        screened.at.selectbox(key="features.kind").set_value(kind)
        screened.run().press("Fit the feature map")
        job = screened.at.session_state[Key.JOBS]["features"]
        assert job.keeps_what_is_finished == keeps
        job.end()
        screened.run()

"""The choice between the recommended analysis and the paper's, on Start."""

import pytest
from waiting import finish

from smdp.analysis.plan import AnalysisPlan


def choose(app, option):
    app.go("start")
    app.at.segmented_control(key="paper or default").set_value(option)
    return app.run()


@pytest.fixture
def rescaled(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    return sample.go("rescaling").press("Rescale all variables")


def plan_of(app) -> AnalysisPlan:
    return app.at.session_state["analysis"].plan


def test_it_says_what_it_changes(rescaled):
    rescaled.go("start")
    assert "Screening, look for: Smallest closed set." in rescaled.text
    choose(rescaled, "As in the paper")
    assert "Screening, look for: Whatever is related, as in the paper." in rescaled.text
    assert "Feature dimension, updates: one treatment after the other." in rescaled.text


@pytest.mark.usefixtures("in_this_process")
def test_pages_and_plan_follow_and_come_back(rescaled):
    choose(rescaled, "As in the paper").go("screening")
    assert rescaled.at.radio(key="screening.method").value == "paper"
    rescaled.at.number_input(key="screening.permutations").set_value(199)
    finish(rescaled.run().press("Screen 15 variables"))
    assert plan_of(rescaled).screening.settings.method == "paper"
    assert rescaled.sidebar[4].endswith("variables kept")
    choose(rescaled, "Recommended")
    assert plan_of(rescaled).screening.settings.method == "closed_set"
    assert plan_of(rescaled).screening.settings.permutations == 199  # the rest stays
    assert rescaled.sidebar[4] == "out of date"
    assert rescaled.go("screening").at.radio(key="screening.method").value == "closed_set"


def test_without_a_file_there_is_nothing_to_choose(app):
    assert not [each for each in app.at.segmented_control if each.key == "paper or default"]

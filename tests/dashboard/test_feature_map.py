"""The Feature dimension and Weights pages."""

import time

import pytest


@pytest.fixture
def screened(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    sample.go("rescaling").press("Rescale all variables").go("screening")
    return finish(sample.press("Screen 15 variables"), 3).go("feature_dimension")


def finish(app, step, seconds=240):
    deadline = time.monotonic() + seconds
    while app.sidebar[step] == "running" and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    return app


def test_empty_pages_teach(sample):
    sample.go("feature_dimension")
    assert "works on the result of **Data**" in sample.text
    sample.go("weights")
    assert "works on the result of **Data**" in sample.text


def test_principal_components_from_page_to_weights(screened):
    assert "7 variables to one feature" in screened.text
    screened.at.selectbox(key="features.kind").set_value("pca")
    finish(screened.run().press("Fit the feature map"), 4)
    assert screened.sidebar[4].startswith("dimension")
    assert "no test has chosen its dimension" in screened.text
    screened.press("Next: weights")
    assert screened.title == "Weights"
    assert "Feature 1 is large at" in screened.text.replace("Component", "Feature")


def test_alternating_network_with_a_dimension_by_hand(screened):
    screened.at.number_input(key="features.by_hand").set_value(2)
    screened.run()
    button = next(b for b in screened.at.button if b.label == "Fit the feature map")
    assert button.disabled
    screened.at.text_input(key="features.why").set_value("two for a figure")
    finish(screened.run().press("Fit the feature map"), 4)
    assert not screened.at.error
    assert "2 features made of" in screened.text
    assert "Reason given: two for a figure" in screened.text
    screened.go("weights")
    assert "Signs and order of features are a convention" in screened.text


def test_weights_without_a_map_say_where_to_make_one(screened):
    screened.go("weights")
    assert "result of **Feature dimension**, which is not done yet" in screened.text


def test_stability_over_resamples(screened):
    screened.at.number_input(key="features.by_hand").set_value(1)
    screened.run()
    screened.at.text_input(key="features.why").set_value("quick")
    finish(screened.run().press("Fit the feature map"), 4).go("weights")
    screened.at.number_input(key="weights.bootstraps").set_value(5)
    screened.run().press("Check stability")
    deadline = time.monotonic() + 240
    while "How stable is it?" not in [s.value for s in screened.at.subheader]:
        assert time.monotonic() < deadline
        time.sleep(0.5)
        screened.run()
    assert "In 5 refits on resampled people" in screened.text

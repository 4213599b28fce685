"""A step and a kind of map of another package: in the sidebar, on a page, in a worker, reported."""

import os
import sys
from pathlib import Path

import pytest
from streamlit.util import calc_hash
from waiting import finish

from dashboard.session import Key
from smdp import plugins
from smdp.analysis.analysis import load_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.errors import SettingError
from smdp.feature_map import kinds
from smdp.report.collect import build_report
from smdp.report.html import to_html
from smdp.steps import remove_step
from tests.dashboard.conftest import open_file, saved

SPREAD = 3  # its place in the sidebar


@pytest.fixture(scope="module")
def extended():
    """The program with the extension, its workers too, as where it is started with it."""
    folder = str(Path(__file__).parents[1])
    paths = [folder, os.environ.get("PYTHONPATH", "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMDP_PLUGINS", "toy_plugin")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        plugins.load_plugins.cache_clear()
        known = "toy_plugin" in sys.modules  # and taken out again by the tests before
        assert "toy_plugin" in plugins.load_plugins()
        if known:
            sys.modules["toy_plugin"].add()
        yield
        remove_step("spread")
        del kinds._kinds["largest"]
    plugins.load_plugins.cache_clear()


@pytest.fixture
def prepared(extended, sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    return sample.go("rescaling").press("Rescale all variables")


def stay_on(app, step):
    """Streamlit's test runner goes to files only; this is the page that the common skeleton has."""
    app.at._page_hash = calc_hash(step)


def test_a_step_from_sidebar_to_report(prepared, autosaves):
    app = prepared
    assert app.sidebar[SPREAD] == "ready"
    app.press("Next: spread")
    assert app.title == "Spread"
    stay_on(app, "spread")
    assert "How far do the values lie apart?" in app.text
    app.at.radio(key="spread.measure").set_value("range")
    finish(app.run().press("Run: Spread"))
    assert not app.at.error, app.text
    assert app.sidebar[SPREAD] == "spread of 15 variables"
    assert "lie furthest apart" in app.text
    assert any("spread" in shown.value.columns for shown in app.at.dataframe)
    app.at.radio(key="spread.measure").set_value("sd")
    assert "not those that the result" in app.run().text
    app.at.radio(key="spread.measure").set_value("range")
    assert "not those that the result" not in app.run().text
    assert any(b.label == "Next: effects" for b in app.at.button)

    assert "Spread" in app.go("report").text
    analysis = saved(app, autosaves)
    page = to_html(build_report(analysis))
    assert "The spread of each variable was measured by its range." in page
    assert "Spread of the variables" in page
    again = AnalysisPlan.from_toml(analysis.plan.to_toml())
    assert again.spread.measure == "range"
    content = analysis_to_bytes(analysis)
    assert load_analysis(content).results["spread"].table.equals(analysis.results["spread"].table)
    opened = open_file(content)
    assert opened.sidebar[SPREAD] == "spread of 15 variables"


def test_a_kind_of_map_is_among_those_of_the_page_and_is_fitted(prepared):
    app = prepared.go("feature_dimension")
    assert "works on the result of **Screening**" in app.text
    own = app.at.session_state[Key.ANALYSIS]
    app.at.session_state[Key.ANALYSIS] = own.run(
        "screening", permutations=299, force_in=("stress", "urge", "cigs")
    )
    app.run()
    assert "The largest variables" in app.at.selectbox(key="features.kind").options
    app.at.selectbox(key="features.kind").set_value("largest")
    app.run().at.number_input(key="features.count").set_value(3)
    finish(app.run().press("Fit the feature map"))
    assert not app.at.error, app.text
    assert app.at.session_state[Key.ANALYSIS].feature_map.kind == "largest"
    assert "3 features" in app.text
    assert "not those that the result" not in app.text
    app.at.number_input(key="features.count").set_value(2)
    assert "not those that the result" in app.run().text


def test_an_extension_that_cannot_be_loaded_is_named(monkeypatch):
    monkeypatch.setenv("SMDP_PLUGINS", "no_such_module")
    with pytest.raises(SettingError, match=r"'no_such_module' cannot be loaded.*SMDP_PLUGINS"):
        plugins.load_plugins.__wrapped__()

"""Pages with nominal variables, a vector and a text."""

from __future__ import annotations

import pytest
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

from smdp.analysis.analysis import Analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.policy.policy_settings import PolicySettings
from smdp.screening_settings import ScreeningSettings
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan, ScreeningPlan, TrialPlan
from tests.dashboard.conftest import open_file

VIEWS = (
    "data", "missing_values", "rescaling", "effects", "screening", "feature_dimension", "weights",
    "markov_check", "q_functions", "policy", "patient", "twin", "passport", "new_data", "report",
    "history",
)  # fmt: skip


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    plan = AnalysisPlan(
        roles=roles_of_every_kind(),
        screening=ScreeningPlan(ScreeningSettings(force_in=("weather",), permutations=199)),
        features=FeatureMapPlan("identity"),
        policies=(PolicyPlan(PolicySettings(bootstraps=6)),),
        trial=TrialPlan(),
    )
    analysis = Analysis.begin(plan, table_of_every_kind()).run_all()
    path = analysis.save(tmp_path_factory.mktemp("kinds") / "study.smdp")
    return path.read_bytes()


def test_every_page_shows_the_study(content: bytes) -> None:
    app = open_file(content)
    for view in VIEWS:
        app.go(view)
        assert not app.at.error, (view, [e.value for e in app.at.error])
        assert not app.at.exception, (view, [e.value for e in app.at.exception])


def test_a_level_is_chosen_and_a_text_is_written(content: bytes) -> None:
    app = open_file(content).go("patient")
    app.at.checkbox(key="patient.typed").set_value(True)
    app.run()
    boxes = [box for box in app.at.selectbox if box.label == "weather"]
    assert boxes, [box.label for box in app.at.selectbox]
    assert {"sun", "rain", "snow"} <= set(boxes[0].options)
    boxes[0].set_value(2.0)
    app.run()
    areas = [area for area in app.at.text_area if area.label == "diary"]
    areas[0].set_value("tired work boss")
    app.run()
    assert not app.at.exception
    assert "weather" in app.text

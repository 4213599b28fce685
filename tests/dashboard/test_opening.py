"""Opening what was saved elsewhere: a plan's file, a workbook's sheet, settings of no page."""

import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dashboard.session import Key
from smdp.analysis.analysis import run_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.preparation_settings import ImputationSettings, PreparationSettings
from smdp.data.shaping.compute import ComputeColumn
from smdp.data.shaping.rows_and_names import KeepRows
from smdp.policy.policy_settings import PolicySettings
from smdp.screening_settings import ScreeningSettings
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan, ReadingSettings, ScreeningPlan
from tests.dashboard.conftest import open_file, saved
from tests.small_trial import quick_plan, study_frame

PLAN = AnalysisPlan(
    roles=ColumnRoles(
        "person",
        "day",
        "treated",
        ["stress", "noise", "craving"],
        NextValue("craving", -1),
        action_levels={"0": "nothing", "1": "a message"},
    ),
    reading=ReadingSettings(missing_codes={"stress": (-9,)}),
)
NO_SCREENING = PLAN.replace(
    features=FeatureMapPlan("identity", True),
    policies=(PolicyPlan(PolicySettings(discount=0.5, bootstraps=3), 4),),
)


def as_csv(name="trial.csv"):
    file = io.BytesIO(study_frame().to_csv(index=False).encode())
    file.name = name
    return file


@pytest.fixture(scope="module")
def workbook():
    """The study on the second sheet, half of it on the third."""
    file = io.BytesIO()
    with pd.ExcelWriter(file) as writer:
        pd.DataFrame({"about": ["a trial"]}).to_excel(writer, sheet_name="Read me", index=False)
        study_frame().to_excel(writer, sheet_name="Data", index=False)
        study_frame()[:84].to_excel(writer, sheet_name="First half", index=False)
    return file.getvalue()


def of_workbook(content, sheet):
    file = io.BytesIO(content)
    file.name = "trial.xlsx"
    reading = replace(PLAN.reading, sheet=sheet)
    return run_analysis(file, PLAN.replace(reading=reading, stop_after="rescaling"))


def sheet_box(app):
    return next((box for box in app.at.selectbox if box.label == "Sheet"), None)


def test_a_map_of_all_variables_needs_no_screening(autosaves):
    app = open_file(analysis_to_bytes(run_analysis(as_csv(), NO_SCREENING)))
    assert app.title == "Q-functions"
    assert app.sidebar[4] == "ready"
    assert "out of date" not in app.sidebar
    for page in ("feature_dimension", "weights", "q_functions", "patient", "report"):
        assert "not done yet" not in app.go(page).text, page
        assert "out of date" not in app.text, page
    assert not saved(app, autosaves).out_of_date


def test_nor_does_it_depend_on_one(autosaves):
    plan = NO_SCREENING.replace(screening=ScreeningPlan(ScreeningSettings(permutations=299)))
    app = open_file(analysis_to_bytes(run_analysis(as_csv(), plan)))
    before = app.sidebar[5:8]
    app.go("screening").at.number_input(key="screening.level").set_value(0.2)
    own = app.run().at.session_state[Key.ANALYSIS]
    app.at.session_state[Key.ANALYSIS] = own.with_settings("screening", level=0.2).run("screening")
    app.go("feature_dimension")
    assert app.sidebar[5:8] == before
    assert "out of date" not in app.text


def test_settings_beyond_a_page_do_not_break_it():
    plan = PLAN.replace(
        preparation=PreparationSettings(
            exclude_above=0.505, imputation=ImputationSettings(span=2.5)
        ),
        screening=ScreeningPlan(ScreeningSettings(level=0.9, permutations=299)),
        features=FeatureMapPlan("pca", True),
        policies=(PolicyPlan(PolicySettings(discount=0.995, bootstraps=2)),
                  PolicyPlan(PolicySettings(discount=0.1, bootstraps=2), 7)),
    )  # fmt: skip
    app = open_file(analysis_to_bytes(run_analysis(as_csv(), plan)))
    for page in ("missing_values", "screening", "feature_dimension", "q_functions", "policy"):
        assert not app.go(page).at.error
        assert "out of date" not in app.text


def test_actions_without_names_are_those_of_the_plan():
    plan = quick_plan()
    roles = replace(plan.roles, action_levels=None)
    file = io.BytesIO(study_frame().to_csv(index=False).encode())
    analysis = run_analysis(file, plan.replace(roles=roles, stop_after="data"))
    app = open_file(analysis_to_bytes(analysis)).go("data")
    assert "What was understood is shown" in app.text
    assert "not those that the result" not in app.text


def test_a_plan_that_shapes_the_table_first(autosaves):
    reading = ReadingSettings(
        missing_codes={"stress": (-9,)},
        shape=(
            ComputeColumn("strain", "stress + noise"),
            KeepRows("day > 1"),
        ),
    )
    roles = replace(PLAN.roles, states=["strain", "craving"])
    plan = PLAN.replace(reading=reading, roles=roles, stop_after="rescaling")
    analysis = run_analysis(as_csv(), plan)
    app = open_file(analysis_to_bytes(analysis)).go("data")
    assert "strain" in list(app.at.data_editor[0].value["column"])
    assert "strain" in app.text  # what was done is told
    assert "not those that the result" not in app.text
    assert app.sidebar[:3] == [record.summary for record in analysis.records.values()]
    app.press("Use these roles")
    assert saved(app, autosaves).plan.reading == reading


def test_a_sheet_of_a_workbook(workbook, autosaves):
    analysis = of_workbook(workbook, "Data")
    app = open_file(analysis_to_bytes(analysis)).go("data")
    assert sheet_box(app) is None
    assert "Sheet Data of the workbook" in app.text
    assert "not those that the result" not in app.text
    assert saved(app, autosaves).plan.reading == analysis.plan.reading
    app.upload("trial.xlsx", workbook)
    sheet_box(app).set_value("First half")
    assert app.run().at.session_state[Key.TABLE].sheet == "First half"
    assert set(app.sidebar[:3]) == {"out of date"}
    sheet_box(app).set_value("Data")
    assert app.run().sidebar[:3] == [r.summary for r in analysis.records.values()]


@pytest.mark.parametrize("sheet", ["Data", 1])
def test_a_workbook_for_an_analysis_without_data(workbook, autosaves, sheet):
    analysis = of_workbook(workbook, sheet)
    app = open_file(analysis_to_bytes(analysis, with_data=False))
    app.at.file_uploader[1].upload("trial.xlsx", workbook)
    assert "every cell is the same" in app.run().text
    assert sheet_box(app.go("data")).value == "Data"
    assert "not those that the result" not in app.text
    assert app.sidebar[2] == analysis.records["rescaling"].summary
    assert saved(app, autosaves).plan.reading == analysis.plan.reading
    sheet_box(app).set_value("Read me")
    assert not app.run().at.exception
    assert app.sidebar[0] == "out of date"


GOLDEN = Path(__file__).parents[1] / "golden" / "format-1"
PAGES = (
    "data", "missing_values", "rescaling", "screening", "feature_dimension", "weights",
    "markov_check", "q_functions", "policy", "patient", "report",
)  # fmt: skip


@pytest.mark.parametrize("name", ["students", "walking", "continuous", "pca", "tnn"])
def test_a_file_of_the_first_format_shows_its_plan_on_every_page(name):
    app = open_file((GOLDEN / f"{name}.smdp").read_bytes())
    plan = app.at.session_state[Key.ANALYSIS].plan
    for page in PAGES:
        said = app.go(page).text
        assert not app.at.error, page
        assert "out of date" not in said, page
        if (
            page == "feature_dimension"
            and getattr(plan.features.settings, "test", "") == "relative"
        ):
            # What decided then is not made any more.
            assert app.at.radio(key="features.test").value == "closed"
            assert "An earlier version of this program has found this dimension" in said
        elif page != "policy":  # where the placebo check is of other settings than the estimate
            assert "not those that the result" not in said, page
    app.go("q_functions")
    assert app.at.slider(key="policy.discount").value == plan.policies[0].settings.discount
    assert app.at.number_input(key="policy.seed").value == plan.policies[0].seed
    app.go("policy")
    assert app.at.number_input(key="evaluation.seed").value == plan.evaluation.seed


def test_choices_of_the_first_format_do_not_hide_the_plan(autosaves):
    analysis = run_analysis(as_csv(), NO_SCREENING)
    kept = {"policy.seed": 77, "report.title": "My trial", "q.seed": 4, "policy.model": "linear"}
    app = open_file(analysis_to_bytes(replace(analysis, choices={"kept": kept})))
    assert app.at.number_input(key="policy.seed").value == 4
    assert app.at.session_state[Key.KEPT]["report.title"] == "My trial"
    assert "not those that the result" not in app.text

"""The Simulation page: no file, live runs, our figures beside the paper's, planning."""

import pytest
from small_simulation import small_how
from waiting import finish, wait_until

from dashboard import jobs, session
from dashboard.jobs import JobState
from smdp.simulation.compare import compare_with_paper
from smdp.simulation.requests import SimulationRequest, StudyPlanRequest
from smdp.simulation.study_run import run_study
from smdp.simulation.study_settings import (
    PaperComparison,
    PlanningSettings,
    SimulationSetting,
)
from smdp.words.simulation import beside_the_paper, notes_on, others_behind, trials_so_far

SMALL = SimulationSetting("linear", 0, 12, 15)
PAPER = SimulationSetting("linear", 0)


@pytest.fixture
def page(app):
    return app.go("simulation")


def small_comparison(page, replications=2):
    page.at.button_group(key="simulation.maps").set_value(["oracle", "identity"])
    page.at.number_input(key="simulation.replications").set_value(replications)
    page.at.number_input(key="simulation.subjects").set_value(12)
    page.at.number_input(key="simulation.times").set_value(15)
    return page.run().press("Simulate")


def test_empty_page_teaches_and_promises_no_time(page):
    assert "No file is needed" in page.text
    button = next(b for b in page.at.button if b.label.startswith("Simulate"))
    assert button.label == "Simulate"
    assert not button.disabled


def test_every_control_has_help(page):
    controls = [*page.at.selectbox, *page.at.button_group, *page.at.number_input, *page.at.slider]
    controls += [*page.at.checkbox, *page.at.radio]
    assert len(controls) >= 10
    assert all(each.help for each in controls)


@pytest.mark.usefixtures("in_this_process")
def test_comparison_without_a_file_and_not_out_of_date_with_one(page):
    finish(small_comparison(page))
    assert "2 simulated trials in 1 setting" in page.text
    assert "The paper has no figures for trials of this size" in page.text
    assert "Training was quick" in page.text
    shown = next(d.value for d in page.at.dataframe if "judgement" in d.value.columns)
    assert set(shown["feature map"]) == {"all states", "S1 to S4"}
    page.go("start").press("Smoking in students").go("simulation")
    assert "2 simulated trials in 1 setting" in page.text
    assert "out of date" not in page.text
    assert page.at.number_input(key="simulation.subjects").value == 12


@pytest.mark.usefixtures("in_this_process")
def test_more_trials_are_added_to_those_there_are_and_told_as_they_finish(page):
    first = finish(small_comparison(page, 1))
    earlier = first.at.session_state[session.Key.SIMULATED]["simulation"].result.rows
    page.at.number_input(key="simulation.replications").set_value(2)
    page.run().press("Simulate")
    job = page.at.session_state[session.Key.JOBS]["simulation"]
    finish(page)
    later = page.at.session_state[session.Key.SIMULATED]["simulation"].result.rows
    assert len(later) == 2 * len(earlier)
    assert set(earlier["seconds"]) < set(later["seconds"])  # the same runs, not repeated ones
    said = trials_so_far(job.messages)
    assert [line.split(":")[0] for line in said] == ["trial 2, all states", "trial 2, S1 to S4"]
    assert all("NN Q " in line for line in said)


def test_no_feature_map_no_run(page):
    page.at.button_group(key="simulation.maps").set_value([])
    page.run()
    assert next(b for b in page.at.button if b.label.startswith("Simulate")).disabled
    assert "Choose at least one feature map" in page.text


def test_cancel_keeps_the_finished_replications(page):
    small_comparison(page, replications=500)
    job = page.at.session_state[session.Key.JOBS]["simulation"]
    wait_until(lambda: job.message.startswith("3 of 1000 done"), told=lambda: job.message)
    page.run().press("Cancel")
    finish(page)
    assert "Stopped early" in page.text
    found = page.at.session_state[session.Key.SIMULATED]["simulation"].result
    assert 3 <= len(found.rows) < 1000


@pytest.mark.usefixtures("in_this_process")
def test_plan(page):
    page.at.radio(key="simulation.part").set_value("Plan a study")
    page.run()
    assert "How many people does it take?" in page.text
    page.at.selectbox(key="simulation.plan.noise").set_value(0)
    page.at.text_input(key="simulation.plan.subjects").set_value("8, 20")
    page.at.text_input(key="simulation.plan.times").set_value("20")
    page.at.number_input(key="simulation.plan.replications").set_value(2)
    page.at.checkbox(key="simulation.plan.quick").set_value(True)
    finish(page.run().press("Simulate"))
    assert "all true variables" in page.text
    assert "Each size was simulated 2 times" in page.text
    shown = next(d.value for d in page.at.dataframe if "subjects" in d.value.columns)
    assert list(shown["subjects"]) == [8, 20]


def test_sizes_that_are_none_are_one_clear_message(page):
    page.at.radio(key="simulation.part").set_value("Plan a study")
    page.run().at.text_input(key="simulation.plan.subjects").set_value("ten, 20")
    page.run()
    assert len(page.at.error) == 1
    assert "ten" in page.at.error[0].value


def test_a_stopped_plan_is_a_plan():
    asked = PlanningSettings(
        noise=0, subjects=(8, 12), times=(15,), replications=500, discount=0.5,
        how=small_how(seed=1),
    )  # fmt: skip
    job = jobs.start(StudyPlanRequest(asked), keeps_what_is_finished=True)
    wait_until(lambda: job.message.startswith("3 of 1000 done"), told=lambda: job.message)
    job.cancel()
    wait_until(lambda: job.state != JobState.RUNNING)
    assert job.state == JobState.DONE
    assert job.stopped_early
    assert job.result.study.how.seed == 1
    assert list(job.result.table["subjects"]) == [8, 12]
    assert job.result.table["replications"].sum() == len(job.result.study.rows) < 1000


def test_cancelling_before_anything_is_finished():
    asked = PaperComparison(PAPER, ("adnn",), 1, quick=False, how=small_how(seed=0))
    request = SimulationRequest(asked)
    job = jobs.start(request, keeps_what_is_finished=True)
    wait_until(lambda: job.message.startswith("0 of 1 done"), told=lambda: job.message)
    job.cancel()
    wait_until(lambda: job.state != JobState.RUNNING)
    assert job.state == JobState.CANCELLED
    assert job.result is None


def test_where_we_are_behind_is_in_words_too():
    study = run_study([PAPER], maps=["oracle"], replications=2, how=small_how())
    rows = study.rows.assign(linear=[2.0, 2.01], neural=[9.0, 9.1])
    comparison = compare_with_paper(type(study)(rows, study.how))
    shown = beside_the_paper(comparison).set_index("measure")
    assert shown.loc["Linear Q", "judgement"] == "behind *"
    assert shown.loc["NN Q", "judgement"] == "not behind"
    assert shown.loc["nVar", "judgement"] == ""
    (sentence,) = others_behind(comparison)
    assert "S1 to S4, Linear Q" in sentence
    assert "NN Q" not in sentence


def test_notes_say_what_is_not_comparable():
    study = run_study([SMALL], maps=["oracle"], replications=1, how=small_how())
    assert [p.about for p in notes_on(study, SMALL)] == ["subjects"]
    other = SimulationSetting("linear", 0, discount=0.9)
    assert [p.about for p in notes_on(study, other)] == ["discount"]
    assert notes_on(study, PAPER) == []


def test_a_study_made_on_the_command_line_is_opened(page, tmp_path):
    settings = [SMALL, SimulationSetting("quad", 0, 12, 15)]
    how = small_how(further_discount=0.95)
    run_study(settings, maps=["oracle"], replications=2, how=how, folder=tmp_path)
    page.at.radio(key="simulation.part").set_value("Open a study")
    page.run()
    assert "smdp simulate --paper" in page.text
    page.at.file_uploader[0].upload("mine.sqlite", b"no database")
    page.run()
    assert "'mine.sqlite' cannot be used" in page.text
    page.at.file_uploader[0].upload("study.sqlite", (tmp_path / "study.sqlite").read_bytes())
    page.run()
    assert "study.sqlite: 4 analyses of simulated trials" in page.text
    assert "Model: linear; 0 noise variables; 12 subjects" in page.text
    choice = page.at.selectbox(key="simulation.opened.setting")
    choice.set_value("Quadratic, 0 noise variables, n = 12, T = 15")
    page.run()
    assert "Model: quadratic" in page.text
    assert "Further ahead" in [tab.label for tab in page.at.tabs]
    page.go("start").go("simulation")
    assert "Model: quadratic" in page.text


def test_a_trial_is_sized_at_once_and_bad_input_is_one_message(page):
    page.at.radio(key="simulation.part").set_value("Size a trial")
    page.run()
    assert "people** are needed for 80 % power" in page.text
    page.at.number_input(key="simulation.size.probability").set_value(0.4)
    page.at.selectbox(key="simulation.size.effect_shape").set_value("quadratic")
    page.at.selectbox(key="simulation.size.availability_shape").set_value("quadratic")
    page.at.number_input(key="simulation.size.availability").set_value(0.5)
    page.run()
    page.at.number_input(key="simulation.size.availability_turn").set_value(42)
    page.run()
    assert "**46 people**" in page.text  # MRTSampleSize's documented example
    assert "With 46 participants" in page.at.code[0].value
    page.at.radio(key="simulation.size.outcome").set_value("yes/no")
    page.run()
    assert "average risk ratio of 1.2" in page.at.code[0].value
    page.at.number_input(key="simulation.size.probability").set_value(0.0)
    page.run()
    assert len(page.at.error) == 1
    assert "'probability'" in page.at.error[0].value
